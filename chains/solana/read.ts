// What one escrow shows: its account at `confirmed` and `finalized`, joined with the transactions
// that say how it came about. The account alone says what is true: logs are not asked, and a
// transaction without the account is nothing.
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
import {
  accountsAt,
  type Commitment,
  type Signature,
  signaturesOf,
  signaturesPage,
  transactionOf,
} from './node.ts';
import { encodeTerms } from './plan.ts';
import { finalizedConfirmations } from './policy.ts';
import { type EscrowState, readState, stageOf } from './state.ts';
import { type Known, once, remember, take, type Verb, type Watch } from './watch.ts';

/** Pages of an escrow's history in one reading: more is somebody's noise. */
const mostPages = 5;
const batch = 8;
/** Tries for a transaction that the node lists and does not give. */
const mostTries = 20;
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
  await readHistory(watch, known, signal);
  const secret = watch.secrets.get(watched.terms.hashlock) ?? null;
  const shown = stageOf(now.state) >= stageOf(deep.state) ? now.state : deep.state;
  if (shown === null) {
    watch.shallow.delete(watched.address);
    return { ...nothingSeen, secret };
  }
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
  const facts: EscrowFacts = {
    funded: sight('fund', deep.state !== null),
    claimed: status === 'claimed' ? sight('claim', settledDeep) : null,
    refunded: status === 'refunded' ? sight('refund', settledDeep) : null,
    secret,
    balance: status === 'open' ? watched.terms.amount : 0n,
    empty: status !== 'open' && settledDeep,
  };
  const isDeep = stageOf(deep.state) === stageOf(shown);
  if (isDeep) watch.shallow.delete(watched.address);
  else watch.shallow.set(watched.address, now.slot);
  return facts;
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

/** All signatures of an address above a cursor, newest first. */
export async function signaturesAbove(
  watch: Watch,
  address: string,
  until: string | null,
  signal: AbortSignal,
): Promise<{ readonly list: readonly Signature[]; readonly isWhole: boolean }> {
  const all: Signature[] = [];
  for (let page = 0; page < mostPages; page++) {
    const before = all.at(-1)?.txid ?? null;
    const more = await signaturesOf(watch.rpc, address, { until, before }, signal);
    all.push(...more);
    if (more.length < signaturesPage) return { list: all, isWhole: true };
  }
  return { list: all, isWhole: false };
}

/** The transactions of this escrow, failed ones too, since the last time. */
async function readHistory(watch: Watch, known: Known, signal: AbortSignal): Promise<void> {
  const { address } = known.watched;
  const { list, isWhole } = await signaturesAbove(watch, address, known.cursor, signal);
  if (!isWhole) once(watch, 'long_history', { chain: watch.chain, escrow: address });
  const listed = new Set(list.map(({ txid }) => txid));
  // What was read above the cursor and is no longer listed was taken back.
  for (const txid of [...known.taken]) {
    if (listed.has(txid)) continue;
    known.taken.delete(txid);
    for (const [verb, mark] of known.marks) if (mark.txid === txid) known.marks.delete(verb);
  }
  const fresh = list.filter(({ txid }) => !known.taken.has(txid)).reverse();
  const all = await readTransactions(watch, fresh, signal);
  if (!all) return;
  const final = list.find(({ finalized }) => finalized);
  if (final === undefined) return;
  known.cursor = final.txid;
  // What is below the cursor is never listed again.
  const above = list.slice(0, list.indexOf(final));
  for (const txid of [...known.taken]) {
    if (!above.some((each) => each.txid === txid)) known.taken.delete(txid);
  }
}

/** Reads them in order; false when the node did not give one yet. */
export async function readTransactions(
  watch: Watch,
  list: readonly Signature[],
  signal: AbortSignal,
  taken: (txid: string, touched: ReadonlySet<string>) => void = () => {},
): Promise<boolean> {
  for (let from = 0; from < list.length; from += batch) {
    const part = list.slice(from, from + batch);
    const read = await Promise.all(part.map(({ txid }) => transactionOf(watch.rpc, txid, signal)));
    for (const [at, transaction] of read.entries()) {
      const txid = part[at]?.txid ?? '';
      if (transaction !== null) {
        watch.missing.delete(txid);
        taken(txid, take(watch, transaction));
        continue;
      }
      const tries = (watch.missing.get(txid) ?? 0) + 1;
      watch.missing.set(txid, tries);
      if (tries < mostTries) return false;
      watch.missing.delete(txid);
      watch.log('transaction_missing', { chain: watch.chain, txid });
    }
  }
  return true;
}
