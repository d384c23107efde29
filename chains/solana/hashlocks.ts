// The hashlocks of every funding, and of every secret that a claim shows, by the escrow program's
// transactions. Nodes list the newest first: a reading goes from the head back to where it last
// began.

import { ParleyError } from '../../core/errors.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { HashlockPage, HashlockReader } from '../interface/history.ts';
import type { Opened } from '../nodes/opened.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { fromOneSource, oneSource } from '../nodes/sources.ts';
import {
  chainClock,
  firstBlock,
  forgotten,
  isForgotten,
  isOnChain,
  type Signature,
  signaturesOf,
  transactionOf,
} from './node.ts';
import { decodeInstruction, hashlockOfFunding } from './plan.ts';
import { ownInner, type Watch } from './watch.ts';

export const pageTransactions = 200;
const batch = 8;
/** The chain's clock is an estimate that may lag. */
const clockSlackSeconds = 3_600;

/** `until`: read, and all older; `top`: the newest final one; `began`: the clock at its begin. */
type Place = {
  readonly since: number;
  readonly until: string | null;
  readonly top: string | null;
  readonly before: string | null;
  readonly began?: number;
};

export function hashlocksOf(watch: Watch, opened: Opened): HashlockReader {
  return {
    begin: async (since) => {
      const place: Place = {
        since: since - clockSlackSeconds,
        until: null,
        top: null,
        before: null,
      };
      return JSON.stringify(place);
    },
    next: opened((cursor: string, signal) => read(watch, JSON.parse(cursor) as Place, signal)),
  };
}

/** Where no node knows what was read, all since then is listed once more: that names its time. */
async function read(watch: Watch, place: Place, signal: AbortSignal): Promise<HashlockPage> {
  try {
    return await readFrom(watch, place, signal);
  } catch (error) {
    if (!isForgotten(error)) throw error;
    watch.log('begun_anew', { chain: watch.chain, since: place.since });
    return readFrom(watch, { since: place.since, until: null, top: null, before: null }, signal);
  }
}

async function readFrom(watch: Watch, place: Place, signal: AbortSignal): Promise<HashlockPage> {
  const { since, until } = place;
  const { by, began, listed, recent, isEnd } = await listOf(watch, place, signal);
  const found = new Set<string>();
  for (let from = 0; from < recent.length; from += batch) {
    const part = recent.slice(from, from + batch);
    const told = await Promise.all(part.map((each) => toldIn(watch, by, each, signal)));
    for (const hashlock of told.flat()) found.add(hashlock);
  }
  // A final transaction stays where it is in the list.
  const top = place.top ?? listed.find(({ finalized }) => finalized)?.txid ?? null;
  // A new entry is newer than this way back, as far as the clock is right.
  const later = Math.max(since, began - clockSlackSeconds);
  const next: Place = isEnd
    ? { since: later, until: top ?? until, top: null, before: null }
    : { since, until, top, before: listed.at(-1)?.txid ?? null, began };
  const left = isEnd ? 0 : pageTransactions;
  return {
    hashlocks: [...found],
    cursor: JSON.stringify(next),
    isWhole: isEnd,
    shownUntil: began,
    left,
  };
}

type Listed = {
  readonly by: Rpc;
  /** Its clock of before it listed anything of this way back. */
  readonly began: number;
  readonly listed: readonly Signature[];
  readonly recent: readonly Signature[];
  readonly isEnd: boolean;
};

/** The list of the first node that leaves nothing out. */
function listOf(watch: Watch, place: Place, signal: AbortSignal): Promise<Listed> {
  const { rpc, chain } = watch;
  return fromOneSource(
    rpc,
    (at) => listBy({ ...watch, rpc: oneSource(rpc, at) }, place, signal),
    () => `the ${chain} node does not list what is to be read`,
    signal,
  );
}

async function listBy(watch: Watch, place: Place, signal: AbortSignal): Promise<Listed> {
  const { rpc: by, deployment } = watch;
  const { since, until, before } = place;
  // Of this very node: another one may be ahead of what it lists.
  const began = place.began ?? (await chainClock(by, signal, 'finalized'));
  const range = { until, before, limit: pageTransactions };
  const listed = await signaturesOf(by, deployment.program, range, signal);
  const recent = listed.filter(({ at }) => at === null || at >= since);
  const isOlderListed = recent.length < listed.length;
  const isEnd = listed.length < pageTransactions || isOlderListed;
  if (isEnd && !isOlderListed) await mustReachBack(watch, place, signal);
  return { by, began, listed, recent, isEnd };
}

/** A node lists nothing of blocks that it has pruned, or has not got yet, and does not say so. */
async function mustReachBack({ rpc, chain }: Watch, { since, before }: Place, signal: AbortSignal) {
  const { slot, at } = await firstBlock(rpc, signal);
  if (at > since) {
    const sentence =
      `the ${chain} node has pruned what is to be read: its first block is ${slot}, ` +
      `${at - since} s later`;
    throw new ParleyError('chain_unavailable', sentence, { chain, slot, seconds: at - since });
  }
  if (before === null || (await isOnChain(rpc, before, signal))) return;
  // Nodes before Agave 4 list nothing, and do not say why.
  throw forgotten(rpc, before);
}

async function toldIn(watch: Watch, by: Rpc, { txid, failed }: Signature, signal: AbortSignal) {
  const transaction =
    (await transactionOf(watch.rpc, txid, signal)) ?? (await transactionOf(by, txid, signal));
  if (transaction === null) {
    const sentence = `the ${watch.chain} node lists the transaction ${txid} and does not give it`;
    throw new ParleyError('chain_unavailable', sentence, { chain: watch.chain, txid });
  }
  if (!('read' in transaction)) {
    // Of a version that nobody here can read, nor ever will.
    watch.log('transaction_unreadable', { chain: watch.chain, ...transaction });
    return [];
  }
  const { read, keys } = transaction;
  const isOurs = ({ program }: { readonly program: string | null }) =>
    program === watch.deployment.program;
  const called = [
    ...read.instructions.filter(isOurs).map(({ accounts, data }) => ({
      accounts: accounts.map((at) => keys[at] ?? null),
      data,
    })),
    ...ownInner(watch, transaction),
  ];
  return called.flatMap(({ accounts, data }) => {
    const found = decodeInstruction(data, accounts);
    if (found === null) return [];
    // A claim that failed has shown its secret all the same; a funding that failed is nothing.
    if (found.secret !== null) return [hashlockOf(found.secret)];
    return found.verb === 'fund' && !failed ? [hashlockOfFunding(data)] : [];
  });
}
