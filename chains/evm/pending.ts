// The pending block. A transaction bound to fail must not hide from others that theirs is wanted.

import { ParleyError } from '../../core/errors.ts';
import { opens } from '../../core/hashlock.ts';
import { once } from '../nodes/sources.ts';
import { sameAddress } from './address.ts';
import { type Block, blockAt, type Tx } from './node.ts';
import { decodeCall } from './plan.ts';
import { touchesOf, type Verb, type Waiting, type Watch } from './watch.ts';

/** Transactions tried in one call; the rest show when they are mined, or at a later call. */
const mostTrials = 32;
const batch = 8;

type Candidate = { readonly address: string; readonly verb: Verb; readonly tx: Tx };

export async function readPending(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const pending = await blockAt(watch.rpc, 'pending', true, signal).catch((error: unknown) => {
    if (error instanceof ParleyError && error.code === 'chain_timeout') throw error;
    once(watch, 'no_pending_block', { chain: watch.chain, why: String(error) });
    return null;
  });
  const candidates: Candidate[] = [];
  // Some nodes answer with the best block when they have no pending one.
  for (const tx of pending !== null && pending.number > head.number ? pending.txs : []) {
    for (const [address] of touchesOf(watch, tx)) {
      const verb = waitingVerb(watch, address, tx, head);
      if (verb !== null) candidates.push({ address, verb, tx });
    }
  }
  await tryAll(watch, candidates, head, signal);
  const waiting = new Map<string, Waiting>();
  for (const { address, verb, tx } of candidates) {
    const shown = verb === 'fund' || watch.tried.works.get(tx.hash) === true;
    if (shown && !waiting.has(address)) waiting.set(address, { verb, txid: tx.hash });
  }
  for (const address of new Set([...waiting.keys(), ...watch.waiting.keys()])) {
    const same = waiting.get(address)?.txid === watch.waiting.get(address)?.txid;
    if (!same && watch.known.has(address)) watch.owed.add(address);
  }
  watch.waiting = waiting;
}

/** Seconds by which the next block may be ahead of the best one's clock. */
const nextBlockSeconds = 60;

/** What a waiting transaction would do by its terms, sender and time. */
function waitingVerb(watch: Watch, address: string, tx: Tx, head: Block): Verb | null {
  const terms = watch.known.get(address)?.watched.terms;
  const call = tx.to === null ? null : decodeCall(tx.to, tx.input, watch.deployment);
  if (terms === undefined || call === null || call.escrow !== address) return null;
  switch (call.verb) {
    case 'fund': {
      // The funder's alone, and its approval may wait in the same block: not tried.
      const value = terms.token === null ? terms.amount : 0n;
      const isFunder = sameAddress(tx.from, terms.refund.address);
      return isFunder && tx.value === value ? 'fund' : null;
    }
    case 'claim':
      return opens(call.secret ?? '', terms.hashlock) ? 'claim' : null;
    case 'refund':
      return head.timestamp + nextBlockSeconds >= terms.timelock ? 'refund' : null;
  }
}

async function tryAll(
  watch: Watch,
  candidates: readonly Candidate[],
  head: Block,
  signal: AbortSignal,
): Promise<void> {
  if (watch.tried.head !== head.hash) watch.tried = { head: head.hash, works: new Map() };
  const { works } = watch.tried;
  const fresh = new Map<string, Tx>();
  for (const { verb, tx } of candidates) {
    if (fresh.size === mostTrials) break;
    if (verb !== 'fund' && !works.has(tx.hash)) fresh.set(tx.hash, tx);
  }
  const txs = [...fresh.values()];
  for (let at = 0; at < txs.length; at += batch) {
    const some = txs.slice(at, at + batch);
    const found = await Promise.all(some.map((tx) => wouldWork(watch, tx, signal)));
    for (const [place, tx] of some.entries()) works.set(tx.hash, found[place] === true);
  }
}

/** As it is, with all that its gas limit pays for. What cannot be tried does not show. */
async function wouldWork(watch: Watch, tx: Tx, signal: AbortSignal): Promise<boolean> {
  const { from, to, input: data, gas, accessList } = tx;
  // Not all nodes take delegations in a call.
  if (tx.delegates) return false;
  const value = `0x${tx.value.toString(16)}`;
  const call = { from, to, data, gas, value, ...(accessList === null ? {} : { accessList }) };
  try {
    await watch.rpc.call('eth_call', [call, 'latest'], signal);
    return true;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'chain_timeout') throw error;
    return false;
  }
}
