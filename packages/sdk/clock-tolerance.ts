// By how much two clocks that are right may differ. Apart, since what judges nodes needs it alone.

/** How far the market's clock may be from the customer's, in seconds. */
export const clockToleranceSeconds = 120;
