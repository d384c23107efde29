// Why nothing is sent for who asked, with the numbers. It is all told before anything is signed.

import { type Fact, ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { pessimistic } from '@parley/core/swap.ts';
import { partBesideClaims } from './bounds.ts';
import type { Passed } from './port.ts';
import { type Funds, freeOf, type Short } from './spending.ts';

export type AskedVerb = 'claim' | 'fund';

const nouns = { claim: 'claim', fund: 'funding' } as const;

/** Refuses what could not land in time any more. */
export function mustHaveTime(
  verb: AskedVerb,
  { leg, state, clocks }: Passed,
  { by, needs }: { readonly by: number; readonly needs: number },
): void {
  const now = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  if (now + needs <= by) return;
  const sentence = `sending it needs ${needs} s before ${by}, and it is ${now}`;
  throw unavailable(verb, sentence, { leg, now, by, needs });
}

export function tooBusy(chain: ChainKey): ParleyError {
  const sentence =
    `the gas key of "${chain}" has a transaction in flight, the most there may be; ` +
    'nothing was sent';
  return new ParleyError('overloaded', sentence, { chain });
}

/** The server that asked has given up waiting, and taken back its request. */
export function unanswered(chain: ChainKey): ParleyError {
  const sentence = `no watchtower of "${chain}" answered in time; nothing was sent`;
  return new ParleyError('overloaded', sentence, { chain });
}

/** `reserve`: the most that landing it may take. */
export function beyondFunds(
  verb: AskedVerb,
  chain: ChainKey,
  short: Short,
  funds: Funds,
  reserve: bigint,
): ParleyError {
  if (short === 'busy') return tooBusy(chain);
  const { dailyCap, sums } = funds;
  const takes = `and landing this may take ${reserve}`;
  const facts = { chain, reason: short, reserve };
  if (short === 'balance') {
    const free = freeOf(funds);
    const why = `the gas key of "${chain}" has ${free} to spare ${takes}`;
    return unavailable(verb, why, { ...facts, free });
  }
  const limit = dailyCap / partBesideClaims;
  const { spent, spentBeside, promised } = sums;
  const why =
    `the gas key of "${chain}" may spend ${dailyCap} today, ${limit} of it on requests and ` +
    `refunds; ${spent} is spent, ${spentBeside} of it on these, ${promised} is promised, ${takes}`;
  const numbers = { ...facts, dailyCap, spent, spentBeside, promised };
  return unavailable(verb, `${why}, until the UTC day ends`, numbers);
}

export function unavailable(
  verb: AskedVerb,
  sentence: string,
  facts: Readonly<Record<string, Fact>>,
): ParleyError {
  const whole = `${sentence}: send the ${nouns[verb]} yourself`;
  return new ParleyError('relay_unavailable', whole, facts);
}
