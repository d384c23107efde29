// The formats of Intl, each made once: making one takes as long as a hundred texts of it, and a page
// draws its times again every second.

import { remembered } from '@parley/core/remembered.ts';

/** One locale in one tab, with some ten formats. */
const most = 100;

/** `zone`: where a format is of the machine's time zone, which a traveller changes. */
export function madeOnce<Options, Format>(
  make: (locale: string | undefined, options: Options) => Format,
  zone = () => 0,
): typeof make {
  const made = remembered((text) => {
    const [locale, options] = JSON.parse(text);
    return make(locale ?? undefined, options);
  }, most);
  return (locale, options) => made(JSON.stringify([locale, options, zone()]));
}

/** The offset of today, since London and Paris had one in 1970. */
const zoneNow = () => new Date().getTimezoneOffset();

export const numberFormat = madeOnce(
  (locale, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options),
);
export const dateFormat = madeOnce(
  (locale, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options),
  zoneNow,
);
export const relativeFormat = madeOnce(
  (locale, options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options),
);
export const pluralRules = madeOnce(
  (locale, options: Intl.PluralRulesOptions) => new Intl.PluralRules(locale, options),
);
