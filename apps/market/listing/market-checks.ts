// Whether a token's market is large, old and spread enough. Markets change, so no finding here
// rejects for ever: a number below its threshold, or unknown, is read again.

import { ParleyError } from '@parley/core/errors.ts';
import { type Finding, found, passed } from '@parley/tokens/inspection.ts';
import { type Markets, marketChecks, type Purpose } from '../ports/markets.ts';
import type { ListingRules, Thresholds } from '../settings/listing.ts';
import { type MarketNumber, marketNumbers } from '../settings/listing.ts';
import type { MarketData, MarketFacts, Sourced } from './providers/facts.ts';

type Check = {
  readonly name: (typeof marketChecks)[number];
  readonly what: string;
  readonly shown: (value: number) => string;
  /** Thresholds of what is wanted at least are whole. */
  readonly wanted: 'least' | 'most';
};

const usd = (value: number) => `${plain(value)} USD`;

const checks: Readonly<Record<MarketNumber, Check>> = {
  capUsd: {
    name: 'capitalisation',
    what: 'its market capitalisation',
    shown: usd,
    wanted: 'least',
  },
  liquidityUsd: {
    name: 'liquidity',
    what: 'the liquidity of its pools',
    shown: usd,
    wanted: 'least',
  },
  volume24hUsd: {
    name: 'volume',
    what: 'its volume of the last 24 hours',
    shown: usd,
    wanted: 'least',
  },
  holders: {
    name: 'holders',
    what: 'the number of its holders',
    shown: plain,
    wanted: 'least',
  },
  ageSeconds: {
    name: 'age',
    what: 'the time since its first pool',
    shown: (value) => `${plain(value)} seconds`,
    wanted: 'least',
  },
  topHoldersShare: {
    name: 'concentration',
    what: 'the share of its ten largest holders',
    // Up, so that what is above a threshold is not shown as the threshold itself.
    shown: (value) => `${(Math.ceil(value * 10_000 - 1e-9) / 100).toFixed(2)} %`,
    wanted: 'most',
  },
};

/** Down, written out: no exponent, no separators. */
function plain(value: number): string {
  return BigInt(Math.floor(value)).toString();
}

/** A provider that is needed did not answer: the market concludes nothing from unknown numbers. */
export class MarketDataUnavailable extends ParleyError {
  constructor(providers: readonly string[]) {
    const names = providers.join(', ');
    const sentence = `market data is not available now (${names}); ask again later`;
    super('market_data_unavailable', sentence, { providers: names });
    this.name = 'MarketDataUnavailable';
  }
}

/** To keep a token, throws `MarketDataUnavailable` rather than find fault without answers. */
export function marketFindings(
  facts: MarketFacts,
  thresholds: Thresholds,
  purpose: Purpose,
): readonly Finding[] {
  if (isUnasked(facts, purpose)) return [];
  const findings = marketNumbers.flatMap((each) => {
    const threshold = thresholds[each];
    return threshold === null ? [] : [findingOf(checks[each], facts[each], threshold, facts)];
  });
  if (facts.honeypot !== null) findings.push(honeypotFinding(facts.honeypot));
  const faultless = findings.every(({ outcome }) => outcome === 'pass');
  const nothing = facts.honeypot === null && marketNumbers.every((each) => facts[each] === null);
  if (purpose === 'keep' && !faultless && (facts.unavailable.length > 0 || nothing)) {
    throw new MarketDataUnavailable(facts.unavailable.length > 0 ? facts.unavailable : facts.asked);
  }
  return findings;
}

/** A token of a chain that no provider knows was listed without them. */
function isUnasked({ asked }: MarketFacts, purpose: Purpose): boolean {
  return purpose === 'keep' && asked.length === 0;
}

function findingOf(
  { name, what, shown, wanted }: Check,
  fact: Sourced<number> | null,
  threshold: number,
  { asked, unavailable }: MarketFacts,
): Finding {
  const wants = `${wanted === 'least' ? 'at least' : 'at most'} ${shown(threshold)} is wanted`;
  if (fact === null) {
    if (unavailable.length > 0) {
      return found(name, 'wait', `${what} cannot be told: market data is not available now`);
    }
    const whom = asked.length === 0 ? 'any provider of market data' : asked.join(' or ');
    return found(name, 'wait', `${what} is not known to ${whom}; ${wants}`);
  }
  const { value, source } = fact;
  const enough = wanted === 'least' ? value >= threshold : value <= threshold;
  if (enough) return passed(name);
  return found(name, 'wait', `${what} is ${shown(value)}, says ${source}; ${wants}`);
}

function honeypotFinding({ value, source }: Sourced<boolean>): Finding {
  if (!value) return passed('honeypot');
  return found('honeypot', 'wait', `it can be bought but not sold, says ${source}`);
}

/** `data` null = no provider is configured: the checks ask no one. */
export function marketsOf(data: MarketData | null, rules: Pick<ListingRules, Purpose>): Markets {
  return {
    look: async ({ chain, address }, purpose, signal) => {
      if (data === null) return { findings: [], notChecked: marketChecks };
      const thresholds = rules[purpose];
      const facts = await data.look(chain, address, signal);
      const notChecked = marketNumbers
        .filter((each) => thresholds[each] === null || isUnasked(facts, purpose))
        .map((each) => checks[each].name);
      return { findings: marketFindings(facts, thresholds, purpose), notChecked };
    },
  };
}
