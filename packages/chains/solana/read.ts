// The facts of one escrow: its account at `confirmed` and `finalized`, joined with the transactions
// that say how it came about. As long as there is an account, it alone says what is true: logs are
// not asked, and no transaction can make a read fail.
//
//   account                 is shown as
//   none, before timelock   not funded
//   full, open              funded, whole and once
//   full, claimed           claimed; its rent waits for a refund
//   one byte                claimed or released; its rent waits for the timelock
//   none, from it on        what its transactions say (ended.ts), else what was stored as deep;
//                           else its outcome is unknown, beside what was stored
//
// Each counts as deep when the account of the last finalized slot says so too.

import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen, type RentLeft, type Sighting } from '@parley/core/facts.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { Look, WatchedEscrow } from '../interface/reading.ts';
import { begun, gathering } from '../nodes/gathering.ts';
import { once } from '../nodes/sources.ts';
import { endOf } from './ended.ts';
import { tellHistory } from './history.ts';
import { accountsAt, type Commitment, clockIn, latestBlockhash } from './node.ts';
import { encodeTerms } from './plan.ts';
import { blockhashBlocks, finalizedConfirmations } from './policy.ts';
import { clockSysvar } from './programs.ts';
import { mayBeClosed, readState, type Shown, stageOf } from './state.ts';
import { type Known, remember, type Verb, type Watch } from './watch.ts';

/** Shown where a node has the escrow and no longer the transaction. */
const unknownTxid = 'unknown';

/** Clock and facts are of one answer; a slow node may name the block of a slot before. */
export async function look(
  watch: Watch,
  escrows: readonly WatchedEscrow[],
  signal: AbortSignal,
): Promise<Look> {
  const together = { ...watch, rpc: gathering(watch.rpc, signal) };
  for (let tries = 1; ; tries += 1) {
    const latest = begun(latestBlockhash(together.rpc, 'confirmed', signal));
    // The older one first: a finalized state is confirmed a moment later.
    const finalized =
      escrows.length === 0 ? null : begun(shownAt(together, escrows, 'finalized', signal));
    const { slot, clock, shown } = await shownAt(together, escrows, 'confirmed', signal);
    const block = await latest;
    if (block.slot !== slot && tries < mostTries) continue;
    const deep = await finalized;
    const facts = await Promise.all(
      escrows.map((each, at) => {
        const states = { deep: deep?.shown[at] as Shown, now: shown[at] as Shown };
        return factsAt(watch, each, states, signal);
      }),
    );
    const height = block.lastValidBlockHeight - blockhashBlocks;
    return { heads: { height, clock }, facts };
  }
}

const mostTries = 3;

async function factsAt(
  watch: Watch,
  watched: WatchedEscrow,
  { deep, now }: { readonly deep: Shown; readonly now: Shown },
  signal: AbortSignal,
): Promise<EscrowFacts> {
  const known = remember(watch, watched);
  learnFromDeep(known, deep);
  known.history.wasFunded ||= deep.state !== null;
  const life = await lifeOf(watch, known, { deep, now }, signal);
  const secret = watch.secrets.get(watched.terms.hashlock) ?? null;
  const depth =
    life === null || life === 'unknown' ? null : { isDeep: life.isDeep, finalized: deep.slot };
  noteDepth(watch, known, now.slot, depth);
  if (life === null) return { ...nothingSeen, secret };
  if (life === 'unknown') return untold(watch, watched, { deep, secret });
  const { status } = life;
  const sight = (verb: Verb, isDeep: boolean): Sighting => {
    const mark = known.marks.get(verb);
    if (mark === undefined) {
      once(watch, 'no_history', { chain: watch.chain, escrow: watched.address, verb });
    }
    const above = Math.max(0, now.slot - (mark?.slot ?? now.slot));
    return {
      txid: mark?.txid ?? unknownTxid,
      confirmations: isDeep
        ? finalizedConfirmations
        : Math.min(finalizedConfirmations - 1, above + 1),
      deep: isDeep,
    };
  };
  const left = rentLeft(now, watched);
  return {
    funded: sight('fund', deep.state !== null || life.isGoneDeep),
    claimed: status === 'claimed' ? sight('claim', life.hasEndedDeep) : null,
    refunded: status === 'refunded' ? sight('refund', life.hasEndedDeep) : null,
    secret,
    balance: status === 'open' ? watched.terms.amount : 0n,
    empty: status !== 'open' && life.hasEndedDeep,
    ...(left && { rentLeft: left }),
  };
}

function rentLeft({ state, lamports }: Shown, { terms }: WatchedEscrow): RentLeft | null {
  if (state === null || state.status === 'open') return null;
  return { lamports, from: state.isFull ? null : terms.timelock };
}

type Life = {
  readonly status: 'open' | 'claimed' | 'refunded';
  /** Whether the last finalized slot shows all of this, also what became of the rent. */
  readonly isDeep: boolean;
  /** Whether it shows this end. */
  readonly hasEndedDeep: boolean;
  /** Whether it shows no account any more. */
  readonly isGoneDeep: boolean;
};

/** null: it is unfunded. 'unknown': whether it was funded, or how it ended, is not known yet. */
async function lifeOf(
  watch: Watch,
  known: Known,
  { deep, now }: { readonly deep: Shown; readonly now: Shown },
  signal: AbortSignal,
): Promise<Life | 'unknown' | null> {
  const { timelock } = known.watched.terms;
  const isGone = mayBeClosed(now, timelock);
  const isGoneDeep = mayBeClosed(deep, timelock);
  if (isGone && deep.state === null) {
    await tellHistory(watch, known, 'gone', signal);
    const end = endOf(known);
    if (end === null) return 'unknown';
    if (end === 'unfunded') return null;
    return { status: end, isDeep: isGoneDeep, hasEndedDeep: isGoneDeep, isGoneDeep };
  }
  // An escrow that was open and is gone was refunded: after a claim something stays until it is
  // closed.
  const isRefunded = isGone && deep.state?.status === 'open';
  const shown = stageOf(now.state) >= stageOf(deep.state) ? now.state : deep.state;
  const status = isRefunded ? 'refunded' : (shown?.status ?? null);
  await tellHistory(watch, known, status, signal);
  if (status === null) return null;
  return {
    status,
    isDeep: !isGone && stageOf(deep.state) === stageOf(shown),
    hasEndedDeep: deep.state?.status === status,
    isGoneDeep,
  };
}

/** An account that is gone held no money, whatever became of it. */
function untold(
  watch: Watch,
  { address, terms, stored = nothingSeen }: WatchedEscrow,
  { deep, secret }: { readonly deep: Shown; readonly secret: Secret | null },
): EscrowFacts {
  const { funded, claimed, refunded } = stored;
  const seen = { funded, claimed, refunded, secret: secret ?? stored.secret };
  const facts = { ...seen, balance: 0n, empty: mayBeClosed(deep, terms.timelock) };
  if ((claimed ?? refunded)?.deep) return facts;
  once(watch, 'unknown_outcome', { chain: watch.chain, escrow: address });
  return { ...facts, outcome: 'unknown' };
}

/** Reported until final, and once more. Older answers end nothing. */
function noteDepth(
  { shallow }: Watch,
  { watched: { address }, marks }: Known,
  now: number,
  shown: { readonly isDeep: boolean; readonly finalized: number } | null,
): void {
  const until = shallow.get(address);
  const newest = Math.max(until ?? -1, ...[...marks.values()].map(({ slot }) => slot));
  if (now < newest) shallow.set(address, newest);
  else if (shown === null) return;
  else if (!shown.isDeep) shallow.set(address, now);
  else if (until !== undefined) shallow.set(address, Math.min(until, shown.finalized));
}

/** The lasting facts of a finalized slot. */
function learnFromDeep({ history, watched }: Known, deep: Shown): void {
  const { timelock } = watched.terms;
  const isExpired = deep.clock >= timelock;
  const { status = null } = deep.state ?? {};
  const isSettled = status === 'claimed' || status === 'refunded';
  if (isSettled) history.ended = status;
  // A claim is not possible any more.
  if (status === 'open' && isExpired) history.ended = 'refunded';
  // Between which slots a claim can be: no other noise has to be read for it.
  const mayBeSettled = isSettled || (status === null && isExpired);
  if (mayBeSettled) history.settledAt = Math.min(history.settledAt, deep.slot);
  else history.openAt = Math.max(history.openAt, deep.slot);
}

/** The escrow as one commitment shows it, with the clock of the same slot. */
export async function stateOf(
  watch: Pick<Watch, 'rpc' | 'chain' | 'deployment'>,
  escrow: Pick<WatchedEscrow, 'address' | 'terms'>,
  commitment: Commitment,
  signal: AbortSignal,
): Promise<Shown> {
  const { shown } = await shownAt(watch, [escrow], commitment, signal);
  return shown[0] as Shown;
}

async function shownAt(
  { rpc, chain, deployment }: Pick<Watch, 'rpc' | 'chain' | 'deployment'>,
  escrows: readonly Pick<WatchedEscrow, 'address' | 'terms'>[],
  commitment: Commitment,
  signal: AbortSignal,
): Promise<{ readonly slot: number; readonly clock: number; readonly shown: readonly Shown[] }> {
  const addresses = [...escrows.map(({ address }) => address), clockSysvar];
  const { slot, accounts } = await accountsAt(rpc, addresses, commitment, signal);
  const clock = clockIn(accounts.at(-1) ?? null, chain);
  const shown = escrows.map(({ address, terms }, at): Shown => {
    const account = accounts[at] ?? null;
    const lamports = BigInt(Math.floor(account?.lamports ?? 0));
    try {
      const state = readState(account, deployment.program, encodeTerms(terms));
      return { slot, clock, state, lamports };
    } catch (cause) {
      if (cause instanceof ParleyError) throw cause;
      throw new ParleyError(
        'chain_unavailable',
        `the ${chain} node shows for ${address} what the program never writes`,
        { chain, escrow: address },
        { cause },
      );
    }
  });
  return { slot, clock, shown };
}
