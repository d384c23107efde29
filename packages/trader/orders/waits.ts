// For how long an order waits for quotes, in seconds. Data: the grammar of commands reads it.

/** Below the day for which a market keeps its answer to an idempotency key. */
export const waitSeconds = { least: 5, most: 43_200, usual: 60 } as const;
