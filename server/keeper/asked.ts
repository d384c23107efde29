// What somebody asks the key to send, a claim or a funding, from the question to the answer: signed
// in a turn, once however often it is asked for, and refused with the numbers. Nothing is sent
// before the transaction that keeps it has committed.

import { type Fact, ParleyError } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import { type Clocks, pessimistic, type SwapState } from '../../core/swap.ts';
import type { LegName } from '../../core/trade.ts';
import type { Tx } from '../db/database.ts';
import { attemptsOf } from '../db/keeper-attempts.ts';
import { findJob } from '../db/keeper-jobs.ts';
import type { Deps } from '../ports/deps.ts';
import type { Gas } from '../ports/gas.ts';
import { turnPatienceMs } from './bounds.ts';
import { giveTurnBack, outOfTurn, type Turn, turnOn } from './sign.ts';
import { type AskedShort, isAskedFor } from './spending.ts';

export type AskedVerb = 'claim' | 'fund';

export type Asking = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  readonly signal: AbortSignal;
  /** Asked before chains are read for it; throws where this account has had enough of that. */
  readonly admit: () => Promise<void>;
};

export type Relayed = { readonly relayed: true; readonly txid: string };

type Wanted = { readonly gas: Gas; readonly verb: AskedVerb; readonly escrow: string };

/** Signed and not kept; or what was relayed before. */
export type Prepared<Own> =
  | { readonly before: Relayed; readonly wasAdmitted: boolean }
  | ({ readonly before: null; readonly turn: Turn; readonly wanted: Wanted } & Own);

/** Several requests may wait for the same: the first one signs. Throws what `sign` throws. */
export async function signInTurn<Own>(
  deps: Deps,
  wanted: Wanted,
  { accountId, signal }: Pick<Asking, 'accountId' | 'signal'>,
  sign: (turn: Turn) => Promise<Own>,
): Promise<Prepared<Own>> {
  const { gas, verb } = wanted;
  const kind = verb === 'claim' ? 'new' : 'fund';
  const how = { kind, patienceMs: turnPatienceMs, signal, accountId } as const;
  const turn = await turnOn(deps, gas, how);
  if (turn === null) throw outOfTurn(gas.account.chain, turnPatienceMs);
  try {
    const before = await relayedBefore(deps.db, wanted);
    if (before === null) return { before, turn, wanted, ...(await sign(turn)) };
    await giveTurnBack(deps, turn);
    return { before, wasAdmitted: true };
  } catch (error) {
    await giveTurnBack(deps, turn);
    throw error;
  }
}

/** The newest transaction for it, if it was taken on and is not given up. */
export async function relayedBefore(
  tx: Tx,
  { gas, verb, escrow }: Wanted,
): Promise<Relayed | null> {
  const { chain, address } = gas.account;
  const job = await findJob(tx, { chain, escrow, verb });
  if (job === null || !isAskedFor(job.purpose) || job.state === 'dropped') return null;
  const own = (await attemptsOf(tx, job.id, address)).filter((each) => each.verb === verb);
  const landed = own.find(({ fate }) => fate === 'mined' || fate === 'deep');
  const newest = landed ?? own.at(-1);
  return newest === undefined ? null : { relayed: true, txid: newest.txid };
}

/**
 * Whatever became of it: nobody waits for a turn that nothing is signed in any more. True: it was
 * admitted, and it is taken on.
 */
export async function endRelay(deps: Deps, prepared: Prepared<unknown>): Promise<boolean> {
  if (prepared.before !== null) return prepared.wasAdmitted;
  const { turn, wanted } = prepared;
  await giveTurnBack(deps, turn);
  return (await relayedBefore(deps.db, wanted)) !== null;
}

/** Refuses what could not land in time any more. */
export function mustHaveTime(
  verb: AskedVerb,
  of: { readonly name: LegName; readonly state: SwapState; readonly clocks: Clocks },
  { by, needs }: { readonly by: number; readonly needs: number },
): void {
  const { name: leg, state, clocks } = of;
  const now = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  if (now + needs <= by) return;
  const sentence = `sending it needs ${needs} s before ${by}, and it is ${now}`;
  throw unavailable(verb, sentence, { leg, now, by, needs });
}

const nouns = { claim: ['claim', 'relays'], fund: ['funding', 'fundings'] } as const;

/** As many are under way as may be: a place is free once a block has one of them. */
export function tooBusy(verb: AskedVerb, chain: ChainKey, underWay: number): ParleyError {
  const has = `the gas key of "${chain}" has ${underWay} ${nouns[verb][1]} under way`;
  const sentence = `${has}, the most there may be; nothing was sent`;
  return new ParleyError('overloaded', sentence, { chain, underWay });
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
