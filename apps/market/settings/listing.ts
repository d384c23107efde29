// PARLEY_MARKET_DATA and PARLEY_LISTING_RULES, parsed: whom to ask about a token's market, and what
// is wanted of a token. Every sentence names the field; a key is quoted in none.

import { defaultPowerRules, type PowerRules, powers } from '@parley/tokens/inspection.ts';
import Type from 'typebox';
import { checkOf } from './check.ts';
import { closed } from './entries.ts';
import type { Reader } from './environment.ts';
import { isSafeUrl } from './networks.ts';

export const marketNumbers = [
  'capUsd',
  'liquidityUsd',
  'volume24hUsd',
  'holders',
  'ageSeconds',
  'topHoldersShare',
] as const;

/** `ageSeconds`: since the first known pool. `topHoldersShare`: 0 to 1, of ten, without pools. */
export type MarketNumber = (typeof marketNumbers)[number];

/** Whether requests may go there: to nobody in the clear, except on this machine. */
export function mayAsk(base: string): boolean {
  if (!URL.canParse(base)) return false;
  const url = new URL(base);
  return url.username + url.password + url.search + url.hash === '' && isSafeUrl(url);
}

type Asked = {
  /** Instead of the provider's own address. */
  readonly url?: string;
  /** Instead of what it allows everybody. */
  readonly perMinute?: number;
};

export type ProviderSettings =
  | (Asked & { readonly provider: 'geckoterminal' | 'goplus' })
  | (Asked & {
      readonly provider: 'coingecko';
      readonly plan: 'demo' | 'pro';
      readonly key: string;
    });

/** The least, of `topHoldersShare` the most; null = not asked for. */
export type Thresholds = Readonly<Record<MarketNumber, number | null>>;

export type ListingRules = {
  /** The treatment of a token over which somebody has a power. */
  readonly powers: PowerRules;
  readonly list: Thresholds;
  /** To stay listed: looser, so that a token at the edge does not open and close every day. */
  readonly keep: Thresholds;
};

export const defaultListingRules: ListingRules = {
  powers: defaultPowerRules,
  list: {
    capUsd: 100_000,
    liquidityUsd: 25_000,
    volume24hUsd: 10_000,
    holders: 200,
    ageSeconds: 86_400,
    topHoldersShare: 0.5,
  },
  keep: {
    capUsd: 50_000,
    liquidityUsd: 10_000,
    volume24hUsd: 1_000,
    holders: 100,
    // It only grows, and a provider that comes to know fewer pools may know a younger one.
    ageSeconds: null,
    topHoldersShare: 0.7,
  },
};

const names = ['geckoterminal', 'goplus', 'coingecko'] as const;
const provider = Type.Object(
  {
    provider: Type.Unsafe({ enum: names }),
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    perMinute: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    plan: Type.Optional(Type.Unsafe({ enum: ['demo', 'pro'] })),
    key: Type.Optional(Type.String({ pattern: '^[!-~]{1,256}$' })),
  },
  closed,
);
const least = Type.Optional(Type.Unsafe({ type: ['integer', 'null'], minimum: 0, maximum: 1e15 }));
const most = Type.Optional(Type.Unsafe({ type: ['number', 'null'], minimum: 0, maximum: 1 }));
const thresholds = Type.Optional(
  Type.Object(
    Object.fromEntries(
      marketNumbers.map((each) => [each, each === 'topHoldersShare' ? most : least]),
    ),
    closed,
  ),
);
const outcome = Type.Optional(Type.Unsafe({ enum: ['pass', 'wait', 'reject'] }));
const rules = Type.Object(
  {
    list: thresholds,
    keep: thresholds,
    powers: Type.Optional(
      Type.Object(Object.fromEntries(powers.map((each) => [each, outcome])), closed),
    ),
  },
  closed,
);

const checkProvider = checkOf(provider, 'it');
const checkRules = checkOf(rules, 'it');

/** Names, or objects of them, in the order in which they are asked. */
export function readMarketData({ json, refuse }: Reader): readonly ProviderSettings[] {
  const setting = 'PARLEY_MARKET_DATA';
  const given = json(setting, []);
  if (!Array.isArray(given)) {
    refuse(`${setting} must be an array of ${names.join(', ')}, or of objects with "provider"`);
    return [];
  }
  const entries = given.map((each) => (typeof each === 'string' ? { provider: each } : each));
  for (const [at, each] of entries.entries()) {
    const sentence = checkProvider(each) ?? wrongOf(each as Entry, entries.slice(0, at));
    if (sentence !== null) refuse(`${setting}[${at}]: ${sentence}`);
  }
  return entries as ProviderSettings[];
}

type Entry = Asked & {
  readonly provider: string;
  readonly plan?: string;
  readonly key?: string;
};

function wrongOf(entry: Entry, before: readonly unknown[]): string | null {
  const keyed = entry.provider === 'coingecko';
  if (keyed && (entry.key === undefined || entry.plan === undefined)) {
    return 'coingecko needs "key" and "plan" (demo or pro)';
  }
  if (!keyed && (entry.key !== undefined || entry.plan !== undefined)) {
    return `${entry.provider} takes no "key" and no "plan"`;
  }
  if (entry.url !== undefined && !mayAsk(entry.url)) {
    return '"url" must begin with https://, without user, query and fragment';
  }
  const twice = before.some((each) => (each as Partial<Entry> | null)?.provider === entry.provider);
  return twice ? `${entry.provider} is named twice` : null;
}

export function readListingRules({ json, refuse }: Reader): ListingRules {
  const setting = 'PARLEY_LISTING_RULES';
  const given = json(setting, {});
  const sentence = checkRules(given);
  if (sentence !== null) {
    refuse(`${setting}: ${sentence}`);
    return defaultListingRules;
  }
  const own = given as { readonly [Part in keyof ListingRules]?: Partial<ListingRules[Part]> };
  const value: ListingRules = {
    powers: { ...defaultListingRules.powers, ...own.powers },
    list: { ...defaultListingRules.list, ...own.list },
    keep: { ...defaultListingRules.keep, ...own.keep },
  };
  for (const each of ['list', 'keep'] as const) {
    const share = (value[each].topHoldersShare ?? 0) * 10_000;
    // Reasons say hundredths of a percent.
    if (Math.abs(share - Math.round(share)) < 1e-9) continue;
    refuse(`${setting}: "${each}.topHoldersShare" has more than four decimals`);
  }
  for (const each of marketNumbers) {
    if (!isStricter(each, value.keep[each], value.list[each])) continue;
    refuse(`${setting}: "keep" is stricter than "list" about ${each}`);
  }
  return value;
}

/** The keeping rule must not close on the same day a token that the listing rule lists. */
function isStricter(number: MarketNumber, keep: number | null, list: number | null): boolean {
  if (keep === null) return false;
  if (list === null) return true;
  return number === 'topHoldersShare' ? keep < list : keep > list;
}
