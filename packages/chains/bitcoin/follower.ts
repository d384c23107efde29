// Keeps an escrow index in step with its source: blocks, blocks taken back, the past of escrows
// watched late, the mempool. One bounded, resumable pass at a time. No single answer decides, since
// a source is several machines and any of them may be behind (address-past.ts). A shorter chain
// counts as no answer until the source shows that it took blocks back.

import { withResolvers } from '@parley/core/engines.ts';
import type { Heads, WatchedEscrow } from '../interface/reading.ts';
import { keptStart } from '../kit/follow.ts';
import { readAhead } from '../nodes/ahead.ts';
import { pause } from '../nodes/in-turn.ts';
import type { Said } from '../nodes/sources.ts';
import { type Asked, readAddresses } from './address-past.ts';
import type { BitcoinBackend, PastByBlock } from './backend.ts';
import type { Block } from './block.ts';
import {
  applyTransaction,
  type BlockMark,
  connectBlock,
  createIndex,
  dropTransaction,
  type EscrowIndex,
  isClaim,
  rollBackTo,
  unminedTransactions,
  unspentOutpoints,
  unwatchEscrow,
  type WatchedBytes,
  watchEscrow,
} from './escrow-index.ts';
import { timedOut, unavailable } from './http.ts';
import { recentBlocks } from './recent-blocks.ts';

/** Blocks of one pass. The next pass takes the rest. */
const maxBlocksPerPass = 40;
/** Blocks that are held at once. A full one has 4 MB. */
const blocksAhead = 4;
/** The deepest reorganisation walked; a deeper one reads every escrow's past again. */
const reorgDepth = 144;
/** Block marks kept: by them an escrow that is watched late knows which blocks it missed. */
const marksKept = 2_000;
/** For what another source is asked in one pass. */
const otherMs = 1_000;
const atOnce = 16;
/** How often the best block is asked for in one pass while another machine is behind. */
const mostTipTries = 4;
/** How far the clock that set `since` may be ahead of ours. */
const sinceMarginSeconds = 120;
/** Pasts of the same ten minutes share a search. */
const startSeconds = 600;

export type Log = Said['log'];

type PastJob = { next: number; to: number; readonly addresses: Set<string> };

export type Follower = ReturnType<typeof createFollower>;

/** `other`: a source whose mempool may still have what this one's has no more. */
export function createFollower(
  backend: BitcoinBackend,
  now: () => number,
  log: Log = () => {},
  other: Pick<BitcoinBackend, 'mempoolEntry'> | null = null,
) {
  return {
    backend,
    other,
    log,
    now,
    index: createIndex(),
    /** Watched escrows whose past was not read yet, with their `since`. */
    pastOf: new Map<string, number>(),
    /** By address, where the past is asked for so. */
    asked: new Map<string, Asked>(),
    /** The best block when the second source was asked about an escrow (read.ts). */
    heardAt: new Map<string, string>(),
    /** Transactions that the mempool had no more when it was read last. */
    missed: new Set<string>(),
    recent: recentBlocks(),
    /** The last pass told it. */
    heads: null as Heads | null,
    /** Readings of parts of `pastOf` that are under way. */
    jobs: [] as PastJob[],
    /** The height at which a past of these seconds begins, until blocks are taken back. */
    starts: new Map<number, number>(),
    isNewInterest: false,
    lock: Promise.resolve(),
  };
}

export function follow(follower: Follower, escrow: WatchedEscrow, bytes: WatchedBytes): void {
  if (!watchEscrow(follower.index, escrow, bytes)) return;
  follower.isNewInterest = true;
  follower.pastOf.set(escrow.address, escrow.since);
}

export function unfollow(follower: Follower, address: string): void {
  unwatchEscrow(follower.index, address);
  follower.pastOf.delete(address);
  follower.asked.delete(address);
  follower.heardAt.delete(address);
  for (const { addresses } of follower.jobs) addresses.delete(address);
}

/** One bounded pass; `complete` when nothing that the source shows was left for later. */
export async function followOnce(
  follower: Follower,
  about: string | null,
  signal: AbortSignal,
): Promise<{ readonly heads: Heads; readonly complete: boolean }> {
  return exclusively(follower, signal, async () => {
    const { isSame, heads: shown } = await sameBlock(follower, about, signal);
    if (isSame) return { heads: shown, complete: true };
    const { heads, atTip } = await readBlocks(follower, { about, shown }, signal);
    const isStill = atTip && (await followMempool(follower, about, signal)).isSame;
    const complete = isStill && (about === null || !follower.pastOf.has(about));
    return { heads, complete };
  });
}

/** One bounded pass over the blocks alone. */
export async function catchUp(follower: Follower, signal: AbortSignal): Promise<Heads> {
  const read = () => readBlocks(follower, { about: null, shown: null }, signal);
  return (await exclusively(follower, signal, read)).heads;
}

/** `shown`: the best block, where the source has just told it. */
async function readBlocks(
  follower: Follower,
  { about, shown }: { readonly about: string | null; readonly shown: Heads | null },
  signal: AbortSignal,
): Promise<{ readonly heads: Heads; readonly atTip: boolean }> {
  const heads = await bestBlock(follower, shown, signal);
  follower.heads = heads;
  const budget = { blocks: maxBlocksPerPass };
  const atTip = await followBlocks(follower, heads, budget, signal);
  if (atTip) await readPast(follower, about, budget, signal);
  return { heads, atTip };
}

/**
 * Most looks come while no block does. A Core node shows its mempool together with its best block:
 * where that is the one that was read last, all is known, and where it is not, a pass begins with it.
 */
async function sameBlock(
  follower: Follower,
  about: string | null,
  signal: AbortSignal,
): Promise<{ isSame: true; heads: Heads } | { isSame: false; heads: Heads | null }> {
  const { backend, index, pastOf, heads } = follower;
  const isAsked = backend.past.kind === 'by_block' && index.escrows.size > 0 && pastOf.size === 0;
  if (!isAsked || heads === null || heads.hash !== index.blocks.at(-1)?.hash) {
    return { isSame: false, heads: null };
  }
  const { isSame, best } = await followMempool(follower, about, signal);
  if (isSame) return { isSame, heads };
  return { isSame, heads: best !== null && 'height' in best ? best : null };
}

/** Passes until everything about this escrow is known. Throws `chain_timeout` with its signal. */
export async function followToEnd(
  follower: Follower,
  about: string,
  signal: AbortSignal,
): Promise<Heads> {
  for (;;) {
    const before = progressOf(follower);
    const { heads, complete } = await followOnce(follower, about, signal);
    if (complete) return heads;
    // Another machine, or the same a moment later, may have what this one lacks.
    if (progressOf(follower) === before) await pause(signal);
  }
}

function progressOf({ index, pastOf, jobs }: Follower): string {
  return `${index.blocks.at(-1)?.hash} ${pastOf.size} ${jobs.map(({ next }) => next)}`;
}

/** Runs `work` when the pass under way has ended, or gives up with the caller's signal. */
async function exclusively<T>(follower: Follower, signal: AbortSignal, work: () => Promise<T>) {
  const late = () => timedOut(follower.backend.name, signal.reason);
  if (signal.aborted) throw late();
  const done = follower.lock.then(() => {
    if (signal.aborted) throw late();
    return work();
  });
  follower.lock = done.then(noop, noop);
  const { promise, reject } = withResolvers<never>();
  const stop = () => reject(late());
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([done, promise]).finally(() => signal.removeEventListener('abort', stop));
}

const noop = () => {};

/** Throws `chain_unavailable` where it is below the one that was read last, which still stands. */
async function bestBlock(
  { backend, index }: Follower,
  shown: Heads | null,
  signal: AbortSignal,
): Promise<Heads> {
  const last = index.blocks.at(-1);
  for (let tries = 1; ; tries += 1) {
    const heads = (tries === 1 ? shown : null) ?? (await backend.tip(signal));
    if (last === undefined || heads.height >= last.height) return heads;
    if (await backend.tookBack?.(last.hash, signal)) return heads;
    if (tries < mostTipTries) continue;
    const why = `its best block is ${heads.height}, and it has shown block ${last.height}`;
    throw unavailable(backend.name, why);
  }
}

/** Walks back to the last block that still stands, then forward. True when at `heads`. */
async function followBlocks(
  follower: Follower,
  heads: Heads,
  budget: { blocks: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { index, backend, now } = follower;
  if (await takeNext(follower, heads, budget, signal)) return true;
  if (!(await walkBack(follower, heads, signal))) return false;
  const last = index.blocks.at(-1);
  if (last === undefined) {
    // The start: from here on every block is read; earlier blocks are read for each escrow.
    connectBlock(index, { height: heads.height, hash: heads.hash, readAt: now() }, []);
    return true;
  }
  const wanted = heightsFrom(last.height + 1, heads.height, budget);
  if (wanted.length === 0) return last.height >= heads.height;
  const { past } = backend;
  const hashes = past.kind === 'by_block' ? await past.blockHashes(wanted, signal) : [];
  const places = wanted.map((height, at): Place => ({ height, hash: hashes[at] }));
  const read = (place: Place, within: AbortSignal) => placedBlock(backend, place, within);
  const reading = readAhead(places, blocksAhead, read, signal);
  for await (const found of reading) {
    // The chain moved while we read: the next pass walks back.
    if (found === null || !(await take(follower, found, budget))) return false;
  }
  return last.height + wanted.length >= heads.height;
}

/**
 * Most passes find a new block or a few. They are read from the best one down to the child of the
 * last, which then stands, so none of them is asked for by its height. False: all is asked.
 */
async function takeNext(
  follower: Follower,
  heads: Heads,
  budget: { blocks: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { index, backend } = follower;
  const from = (index.blocks.at(-1)?.height ?? Number.NEGATIVE_INFINITY) + 1;
  if (from > heads.height || heads.height - from >= blocksAhead) return false;
  const found: Found[] = [];
  let { hash } = heads;
  for (let { height } = heads; height >= from; height -= 1) {
    // Another machine may lack it.
    const block = await backend.block(hash, signal).catch(() => null);
    if (block === null) return false;
    found.unshift({ height, block });
    hash = block.previous;
  }
  for (const each of found) if (!(await take(follower, each, budget))) return false;
  return true;
}

type Found = { readonly height: number; readonly block: Block };

/** False where it is not the child of the last one. */
async function take(
  follower: Follower,
  { height, block }: Found,
  budget: { blocks: number },
): Promise<boolean> {
  const { index, backend, recent, now } = follower;
  if (block.previous !== index.blocks.at(-1)?.hash) return false;
  const transactions = await block.transactions();
  const known = index.byOutpoint.size;
  connectBlock(index, { height, hash: block.hash, readAt: now() }, transactions);
  // The mempool may have had what spends it by the key, as a stranger's.
  if (index.byOutpoint.size > known) follower.isNewInterest = true;
  // A past that is asked for by address needs no block again.
  if (backend.past.kind === 'by_block') recent.keep(block);
  budget.blocks -= 1;
  if (index.blocks.length > marksKept) index.blocks.shift();
  return true;
}

function heightsFrom(from: number, to: number, budget: { readonly blocks: number }): number[] {
  const count = Math.max(0, Math.min(to - from + 1, budget.blocks));
  return Array.from({ length: count }, (_, at) => from + at);
}

type Place = { readonly height: number; readonly hash?: string | null | undefined };

/** By its hash, where that is known. null: above the best block. */
async function placedBlock(backend: BitcoinBackend, { height, hash }: Place, signal: AbortSignal) {
  const found = hash === undefined ? await backend.blockHash(height, signal) : hash;
  return found === null ? null : { height, block: await backend.block(found, signal) };
}

/** False where a machine was asked that has not got these blocks, which proves nothing. */
async function walkBack(follower: Follower, heads: Heads, signal: AbortSignal): Promise<boolean> {
  const { index, backend, pastOf } = follower;
  const last = index.blocks.at(-1);
  if (last === undefined || last.hash === heads.hash) return true;
  let standing: number | null = null;
  for (const mark of index.blocks.slice(-reorgDepth).toReversed()) {
    if (mark.height > heads.height) continue;
    const hash = await backend.blockHash(mark.height, signal);
    if (hash === null) return false;
    if (hash !== mark.hash) continue;
    standing = mark.height;
    break;
  }
  if (standing === last.height) return true;
  follower.starts.clear();
  if (standing !== null) {
    follower.log('blocks were taken back', { from: last.height, to: standing });
    rollBackTo(index, standing);
    return true;
  }
  follower.log('a reorganisation deeper than is walked: every escrow is read again', {
    from: last.height,
    walked: reorgDepth,
  });
  // Deeper than we can walk: no block that we hold is sure, so every past is read again.
  rollBackTo(index, -1);
  follower.jobs = [];
  follower.asked.clear();
  for (const [address, { escrow }] of index.escrows) pastOf.set(address, escrow.since);
  return true;
}

/** Reads what happened before escrows were watched, as far as the budget goes. */
async function readPast(
  follower: Follower,
  about: string | null,
  budget: { blocks: number },
  signal: AbortSignal,
): Promise<void> {
  const { backend, index, pastOf, jobs } = follower;
  for (const [address, since] of pastOf) {
    const isBegun = jobs.some(({ addresses }) => addresses.has(address));
    if (!isBegun && !hasPast(index, since)) pastOf.delete(address);
  }
  const { past } = backend;
  if (past.kind === 'by_address') return readAddresses(follower, past, about, budget, signal);
  const isLeft = () => (about === null ? pastOf.size > 0 : pastOf.has(about));
  while (isLeft() && budget.blocks > 0) {
    const job = await jobFor(follower, past, about, signal);
    if (!(await continueJob(follower, past, { job, budget }, signal))) return;
  }
}

/** The one with the least left, or a new one where that is less than half. */
async function jobFor(
  follower: Follower,
  past: PastByBlock,
  about: string | null,
  signal: AbortSignal,
): Promise<PastJob> {
  const { jobs } = follower;
  const [best] = jobs
    .filter(({ addresses }) => about === null || addresses.has(about))
    .sort((one, other) => other.next - one.next);
  if (best !== undefined && about === null) return best;
  const made = await startJob(follower, past, about, signal);
  if (best !== undefined && best.to - best.next < 2 * (made.to - made.next)) return best;
  jobs.push(made);
  return made;
}

/** Whether anything that mattered since then may have been read before the escrow was watched. */
function hasPast(index: EscrowIndex, since: number): boolean {
  const from = since - sinceMarginSeconds;
  const first = index.blocks[0];
  return first === undefined || first.readAt > from || index.blocks.some((b) => b.readAt >= from);
}

/** About one, with all of up to twice its age: those that are asked about next are among them. */
async function startJob(
  follower: Follower,
  past: PastByBlock,
  about: string | null,
  signal: AbortSignal,
): Promise<PastJob> {
  const { index, pastOf, now, starts } = follower;
  const since = (about === null ? null : pastOf.get(about)) ?? Number.NEGATIVE_INFINITY;
  const oldest = Math.min(since, 2 * since - now());
  const wanted = [...pastOf].filter(([, each]) => each >= oldest);
  const earliest = Math.min(...wanted.map(([, each]) => each));
  const from = earliest - sinceMarginSeconds;
  const second = Math.floor(from / startSeconds) * startSeconds;
  const first = index.blocks[0];
  // Blocks that we read ourselves have times of our own clock, which is the finer measure.
  const own = index.blocks.find(({ readAt }) => readAt >= from);
  const next =
    first !== undefined && first.readAt <= from && own !== undefined
      ? own.height
      : await keptStart(starts, second, () => past.firstHeight(second, signal));
  const to = index.blocks.at(-1)?.height ?? 0;
  return { next, to, addresses: new Set(wanted.map(([address]) => address)) };
}

/** True when it is done. */
async function continueJob(
  follower: Follower,
  past: PastByBlock,
  { job, budget }: { readonly job: PastJob; readonly budget: { blocks: number } },
  signal: AbortSignal,
): Promise<boolean> {
  const { backend, index, pastOf, jobs, recent } = follower;
  // To the best block of now: those that came since were read before their past was. A spend by the
  // key of Taproot is known by a payment of that past.
  job.to = index.blocks.at(-1)?.height ?? 0;
  const { to, addresses } = job;
  const hashes = await hashesAt(index, past, heightsFrom(job.next, to, budget), signal);
  const read = async (hash: string | null, within: AbortSignal) =>
    hash === null ? null : (recent.get(hash) ?? backend.block(hash, within));
  for await (const found of readAhead(hashes, blocksAhead, read, signal)) {
    // Taken back meanwhile, or the node is behind: the next pass hears which.
    if (found === null) return false;
    // The pass ends where nobody watches any of them any more.
    if (addresses.size === 0) {
      job.next = to + 1;
      break;
    }
    const transactions = await found.transactions();
    recent.keep(found);
    for (const tx of transactions) applyTransaction(index, tx, job.next);
    budget.blocks -= 1;
    job.next += 1;
  }
  if (job.next <= to) return false;
  for (const address of [...addresses]) {
    pastOf.delete(address);
    for (const each of jobs) each.addresses.delete(address);
    // In the mempool, too.
    if (index.escrows.get(address)?.bytes.taproot) follower.isNewInterest = true;
  }
  follower.jobs = jobs.filter(({ addresses: left }) => left.size > 0);
  return true;
}

/** Blocks that were followed are known by their marks; only those below are asked for. */
async function hashesAt(
  { blocks }: EscrowIndex,
  past: PastByBlock,
  heights: readonly number[],
  signal: AbortSignal,
): Promise<(string | null)[]> {
  const first = blocks[0]?.height ?? Number.POSITIVE_INFINITY;
  const below = heights.filter((height) => height < first);
  const asked = below.length === 0 ? [] : await past.blockHashes(below, signal);
  const followed = heights
    .slice(below.length)
    .map((height) => blocks[height - first]?.hash ?? null);
  return [...asked, ...followed];
}

/**
 * `isSame`: false where the best block is another by now, and the reading belongs to no one block.
 * `best`: null where there is no escrow to read for.
 */
async function followMempool(follower: Follower, about: string | null, signal: AbortSignal) {
  const { backend, index } = follower;
  if (index.escrows.size === 0) return { isSame: true, best: null };
  const { isNewInterest } = follower;
  const change = await backend.mempool(
    {
      outpoints: () => unspentOutpoints(index),
      unmined: unminedTransactions(index),
      addresses: () => [...index.escrows.keys()],
      isNewInterest,
      about,
    },
    signal,
  );
  if (isNewInterest) follower.isNewInterest = false;
  // A list has no order, and a payment to Taproot must be known before what spends it by its key.
  for (const tx of [...change.transactions, ...change.transactions]) {
    applyTransaction(index, tx, null);
  }
  // With another best block by now, what is gone may have been mined: the next pass sees.
  const { best } = change;
  if (best.hash !== index.blocks.at(-1)?.hash) return { isSame: false, best };
  const gone = goneFor(follower, change.gone);
  const held = await claimsElsewhere(follower, gone, signal);
  for (const txid of gone) if (!held.has(txid)) dropTransaction(index, txid);
  return { isSame: true, best };
}

/** One machine of several may lack what others have: then two passes have to miss it. */
function goneFor(follower: Follower, missed: readonly string[]): string[] {
  if (follower.backend.past.kind === 'by_block') return [...missed];
  const gone = missed.filter((txid) => follower.missed.has(txid));
  follower.missed = new Set(missed);
  return gone;
}

/** Claims that the other source still has: they may yet be mined. Silence is no word of one. */
async function claimsElsewhere(
  { other, index }: Follower,
  gone: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const claims = gone.filter((txid) => isClaim(index, txid));
  if (other === null || claims.length === 0) return new Set();
  const until = AbortSignal.any([signal, AbortSignal.timeout(otherMs)]);
  const held = new Set<string>();
  for (let at = 0; at < claims.length; at += atOnce) {
    const asking = claims.slice(at, at + atOnce).map(async (txid) => {
      const entry = await other.mempoolEntry(txid, until).catch(() => null);
      if (entry !== null) held.add(txid);
    });
    await Promise.all(asking);
  }
  return held;
}

/** Takes in what these blocks hold of watched escrows, as another source says that they do. */
export async function takeBlocks(
  follower: Follower,
  heights: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<void> {
  const { backend, index } = follower;
  await exclusively(follower, signal, async () => {
    for (const height of [...heights].sort((one, other) => one - other)) {
      const found = await placedBlock(backend, { height }, signal);
      if (found === null || !isOurs(index.blocks, { height, hash: found.block.hash })) continue;
      for (const tx of await found.block.transactions()) applyTransaction(index, tx, height);
    }
  });
}

function isOurs(marks: readonly BlockMark[], block: Pick<BlockMark, 'height' | 'hash'>): boolean {
  const mark = marks.find(({ height }) => height === block.height);
  const tip = marks.at(-1)?.height ?? 0;
  return mark === undefined ? block.height <= tip : mark.hash === block.hash;
}
