// What one escrow shows: its account at `confirmed` and `finalized`, joined with the transactions
// that say how it came about. The account alone says what is true: logs are not asked, a
// transaction without the account is nothing, and no transaction can make a read fail.
//
//   account                 is shown as
//   none, the system's      not funded
//   full, open              funded, whole and once
//   full, claimed           claimed; its rent waits for a refund
//   one byte                claimed or refunded, as it says
//
// Each counts as deep when the account of the last finalized slot says so too.

import { ParleyError } from '../../core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '../../core/facts.ts';
import type { WatchedEscrow } from '../adapter.ts';
import { once } from '../sources.ts';
import { tellHistory } from './history.ts';
import { accountsAt, type Commitment } from './node.ts';
import { encodeTerms } from './plan.ts';
import { finalizedConfirmations } from './policy.ts';
import { type EscrowState, readState, stageOf } from './state.ts';
import { type Known, remember, type Verb, type Watch } from './watch.ts';

/** Shown where a node has the escrow and no longer the transaction. */
const unknownTxid = 'unknown';

export async function readEscrow(
  watch: Watch,
  watched: WatchedEscrow,
  signal: AbortSignal,
): Promise<EscrowFacts> {
  const known = remember(watch, watched);
  // The older one first: what is finalized by then is confirmed a moment later.
  const deep = await stateOf(watch, watched, 'finalized', signal);
  const now = await stateOf(watch, watched, 'confirmed', signal);
  narrow(known, deep);
  const shown = stageOf(now.state) >= stageOf(deep.state) ? now.state : deep.state;
  await tellHistory(watch, known, shown?.status ?? null, signal);
  const secret = watch.secrets.get(watched.terms.hashlock) ?? null;
  const isDeep = stageOf(deep.state) === stageOf(shown);
  noteDepth(watch, known, now.slot, shown === null ? null : { isDeep, finalized: deep.slot });
  if (shown === null) return { ...nothingSeen, secret };
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
  const { status } = shown;
  const settledDeep = deep.state !== null && deep.state.status === status;
  return {
    funded: sight('fund', deep.state !== null),
    claimed: status === 'claimed' ? sight('claim', settledDeep) : null,
    refunded: status === 'refunded' ? sight('refund', settledDeep) : null,
    secret,
    balance: status === 'open' ? watched.terms.amount : 0n,
    empty: status !== 'open' && settledDeep,
  };
}

/**
 * What is not yet deep is reported again by changes() until it is, and once more then: who reads
 * it here first may be somebody else than who follows it, and keeps nothing of it. An answer that
 * is older than what is known, from a node behind, ends nothing: whoever was given it asks again.
 */
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

/** Between which slots a claim can be: no other noise has to be read for it. */
function narrow({ history }: Known, deep: { slot: number; state: EscrowState | null }): void {
  if (deep.state === null || deep.state.status === 'open') {
    history.openAt = Math.max(history.openAt, deep.slot);
  } else {
    history.settledAt = Math.min(history.settledAt, deep.slot);
  }
}

/** The escrow as one commitment shows it. */
export async function stateOf(
  watch: Pick<Watch, 'rpc' | 'chain' | 'deployment'>,
  { address, terms }: Pick<WatchedEscrow, 'address' | 'terms'>,
  commitment: Commitment,
  signal: AbortSignal,
): Promise<{ readonly slot: number; readonly state: EscrowState | null }> {
  const { slot, accounts } = await accountsAt(watch.rpc, [address], commitment, signal);
  try {
    const account = accounts[0] ?? null;
    return { slot, state: readState(account, watch.deployment.program, encodeTerms(terms)) };
  } catch (cause) {
    if (cause instanceof ParleyError) throw cause;
    throw new ParleyError(
      'chain_unavailable',
      `the ${watch.chain} node shows for ${address} what the program never writes`,
      { chain: watch.chain, escrow: address },
      { cause },
    );
  }
}
