// Why nothing is sent for who asked, with the numbers. It is all told before anything is signed.

import { type Fact, ParleyError } from '../core/errors.ts';
import type { ChainKey } from '../core/families.ts';
import { pessimistic } from '../core/swap.ts';
import type { Passed } from './port.ts';
import type { AskedShort } from './spending.ts';

export type AskedVerb = 'claim' | 'fund';

const nouns = { claim: ['claim', 'relays'], fund: ['funding', 'fundings'] } as const;

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

/** `underWay`: how many; null: one transaction that no block has yet. */
export function tooBusy(verb: AskedVerb, chain: ChainKey, underWay: number | null): ParleyError {
  const has =
    underWay === null
      ? `the gas key of "${chain}" has a transaction in flight`
      : `the gas key of "${chain}" has ${underWay} ${nouns[verb][1]} under way`;
  const sentence = `${has}, the most there may be; nothing was sent`;
  return new ParleyError('overloaded', sentence, { chain, underWay: underWay ?? 1 });
}

/** Who asked has given up waiting, and taken back what was asked. */
export function unanswered(chain: ChainKey): ParleyError {
  const sentence = `no watchtower of "${chain}" answered in time; nothing was sent`;
  return new ParleyError('overloaded', sentence, { chain });
}

/** Of what a UTC day may take. `reserve`: what this may. */
export function beyondBounds(
  verb: AskedVerb,
  chain: ChainKey,
  { what, limit, used }: AskedShort,
  reserve: bigint,
): ParleyError {
  // What is too much for a whole day is so on every day.
  const isOver = limit === 0n || ((what === 'share' || what === 'cap') && reserve > limit);
  const until = isOver ? '' : ', until the UTC day ends';
  const [, all] = nouns[verb];
  const takes =
    `on "${chain}" may take ${limit} today, ${used} of it is taken, ` +
    `and landing this may take ${reserve}`;
  const noAccount = `its receiver has no account of the token on "${chain}", and relays`;
  const sentences: Readonly<Record<AskedShort['what'], string>> = {
    number: `this account has had ${used} ${all} on "${chain}" today and ${limit} is the most`,
    failed: `${used} ${all} of this account failed on "${chain}" today; ${limit} is the most`,
    share: `${all} of this account ${takes}`,
    cap: `all ${all} ${takes}`,
    accounts:
      `${noAccount} asked for by you make or have made ${used} of the ${limit} that they make ` +
      'for one customer a day',
    'all accounts': `${noAccount} make or have made ${used} of the ${limit} that they make a day`,
  };
  const facts = { chain, reason: what, limit, used, reserve };
  return unavailable(verb, `${sentences[what]}${until}`, facts);
}

export function unavailable(
  verb: AskedVerb,
  sentence: string,
  facts: Readonly<Record<string, Fact>>,
): ParleyError {
  const whole = `${sentence}: send the ${nouns[verb][0]} yourself`;
  return new ParleyError('relay_unavailable', whole, facts);
}
