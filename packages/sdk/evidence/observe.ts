// Asks each node of a chain about an escrow, and holds every answer against what was seen before.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Tip, WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, holdsPayment, nothingSeen } from '@parley/core/facts.ts';
import type { Millis, UnixSeconds } from '@parley/core/nominal.ts';
import { type ChainSource, nodesOf } from '../chains.ts';
import { inTime } from '../waiting.ts';
import {
  type Answer,
  type Bounds,
  type Doubt,
  type Evidence,
  isAhead,
  type Judged,
  judge,
  nameOf,
  outageOf,
} from './judge.ts';
import {
  doubtfulBy,
  heldAgainst,
  type Kind,
  kinds,
  type Mark,
  type Marks,
  type Memory,
  type Place,
  remembered,
  withdrawnBy,
  without,
} from './memory.ts';

/** Once one node has answered the others have so long: one that hangs must not hold up all. */
export const othersMs = 2_000;
/** Longer than any limit of one look. */
const mostMs = 600_000;
/** A node that has not reached another one's newest block is waited for so long. */
const patienceSeconds = 60;
/**
 * A node that fails after it has spoken holds up beginnings and ends for so long, and one that has
 * not spoken yet holds up ends: a busy or restarted one answers again by then, and may speak
 * against it. One that is gone for good holds up no more.
 */
const silenceSeconds = 600;
/** One that fails is told after so long: longer than one slow look, and than a single failure. */
const silentTellSeconds = 20;
/** Nodes that differ are told after so long: a block takes a moment to reach all of them. */
const differTellSeconds = 5;

export type Asking = {
  readonly source: ChainSource;
  readonly watched: WatchedEscrow;
  /** Escrows that the leg moved off, which the same secret opens. */
  readonly former: readonly WatchedEscrow[];
  readonly memory: Memory;
  /** Since when its nodes differ, by escrow. Lives as long as its settlement. */
  readonly differing: Map<string, UnixSeconds>;
  /** Since when all that count deny what is remembered, by escrow. Lives as long. */
  readonly denied: Map<string, UnixSeconds>;
  /** When each node of a chain spoke, by both. Lives as long as its settlement. */
  readonly silent: Map<string, Silence>;
  /** As the clock was read last. */
  readonly wall: UnixSeconds;
  /** The clock now: before a node is said to be ahead of it. */
  readonly now: () => Promise<UnixSeconds>;
  /** The limit of one poll of one node. */
  readonly limit: AbortSignal;
  /** Polls of slow nodes, by node and escrow. Lives as long as its settlement. */
  readonly late: Map<string, Late>;
  /** For the others once one has answered; null: for each the whole limit, and a look of now. */
  readonly othersMs: Millis | null;
};

export type Observed = Judged & Evidence;

export type Looked = Answer & {
  readonly formerFacts: readonly EscrowFacts[];
  /** Facts that were confirmed, and that this node does not show. */
  readonly denies: readonly Kind[];
};

/** The answer of a node, or its failure. */
export type Word = {
  readonly answer: Looked | null;
  readonly failure: unknown;
  /** When it was asked. */
  readonly at: UnixSeconds;
};

export type Silence = {
  readonly hasSpoken: boolean;
  /** Since when it fails; null: it does not. By its last word, looks far apart would age it. */
  readonly failedAt: UnixSeconds | null;
};

/** A poll that goes on beside the passes; `last`: the result of the one before it. */
export type Late = { readonly look: Promise<Word>; isGoing: boolean; last: Word | null };

/** Throws what the first node fails with where none answers. */
export async function observe(asking: Asking): Promise<Observed> {
  const { source, watched, former, memory, differing } = asking;
  const nodes = nodesOf(source);
  const bounds = boundsOf(asking);
  const { looked, isWhole, unheard } = await lookAtAll(nodes, asking);
  const [first] = looked;
  const isNewer = looked.some(({ heads }) => isAhead(heads, bounds, asking.wall));
  const wall = isNewer ? await asking.now() : asking.wall;
  const since = differing.get(watched.address);
  const lasted = since === undefined ? 0 : Math.abs(wall - since);
  const judged = judge(looked, bounds, { wall, isPatient: lasted < patienceSeconds });
  if (!judged.doubts.some(({ code }) => code === 'nodes_disagree')) {
    differing.delete(watched.address);
  } else if (since === undefined) differing.set(watched.address, wall);
  const isBrief = lasted < differTellSeconds;
  const forgotten = isWhole ? forgottenBy(judged, looked, asking, wall) : notDenied(asking);
  if (forgotten.length > 0) {
    const again = await observe({ ...asking, memory: without(memory, forgotten) });
    return { ...again, doubts: [forgetting(forgotten, bounds), ...again.doubts] };
  }
  const picked = looked.find(({ node }) => node === judged.node) ?? first;
  const secrets = looked.flatMap(({ formerFacts }) => formerFacts.map(({ secret }) => secret));
  const secret = judged.facts.secret ?? secrets.find((each) => each !== null) ?? null;
  const at = former.findIndex(({ terms }, place) =>
    looked.some(({ formerFacts }) => {
      return holdsPayment(formerFacts[place] ?? nothingSeen, terms.amount);
    }),
  );
  // One that is yet to speak may speak against it.
  const agreed = judged.agreed && isWhole;
  const sure = judged.counting.flatMap((place) => nodes[place] ?? []);
  const marks = agreed ? await marksOf(sure, picked, asking) : memory.marks;
  const facts = { ...judged.facts, secret };
  const doubts = [...judged.doubts, ...unheard];
  // One that fails for a moment may know that the others invent the time.
  const latest = isWhole ? judged.latest : Math.min(judged.latest, wall);
  return { ...judged, latest, agreed, facts, marks, doubts, strayed: former[at] ?? null, isBrief };
}

/**
 * Facts that all counting nodes deny for longer than an outage, and that one node alone has shown.
 * That one by itself does not withdraw it: an honest node that is stale for so long has shown it
 * itself, or is a customer's only one.
 */
function forgottenBy(
  { counting }: Judged,
  looked: readonly Looked[],
  asking: Asking,
  wall: UnixSeconds,
): Kind[] {
  const { source, watched, memory, denied } = asking;
  const sure = looked.filter(({ node }) => counting.includes(node));
  const isDenied = sure.length > 0 && sure.every(({ isRefused }) => isRefused);
  if (!isDenied) return notDenied(asking);
  const since = denied.get(watched.address) ?? wall;
  denied.set(watched.address, since);
  if (wall - since <= outageOf(boundsOf(asking))) return [];
  const of = nodesOf(source).length;
  const deniers = sure.map(({ node }) => ({ node, of }));
  const doubtful = doubtfulBy(memory, deniers);
  return doubtful.filter((kind) => sure.every(({ denies }) => denies.includes(kind)));
}

/** Its time begins anew. */
function notDenied({ denied, watched }: Asking): [] {
  denied.delete(watched.address);
  return [];
}

function forgetting(forgotten: readonly Kind[], bounds: Bounds): Doubt {
  const { chain } = bounds;
  const seconds = outageOf(bounds);
  const what = `that an escrow was ${forgotten.join(' and ')}`;
  const sentence = `one node of ${chain} alone showed ${what}, and all others have denied it`;
  return { code: 'answer_refused', sentence: `${sentence} for ${seconds} s: that is forgotten` };
}

function boundsOf({ source, watched }: Pick<Asking, 'source' | 'watched'>): Bounds {
  const { view, adapter } = source;
  const { chain, family, policy } = view;
  const { requiredConfirmations } = watched;
  const blockSeconds = adapter.blockSeconds ?? 0;
  const nodes = nodesOf(source).length;
  return { chain, nodes, family, policy, requiredConfirmations, blockSeconds };
}

type Words = {
  readonly looked: readonly [Looked, ...Looked[]];
  readonly isWhole: boolean;
  /** Nodes that have not answered for a while. */
  readonly unheard: readonly Doubt[];
};

/**
 * A slow node is still polled, but not waited for: its last answer counts until it gives another.
 * `isWhole`: no node is left that may speak against what the others say.
 */
async function lookAtAll(nodes: readonly ChainAdapter[], asking: Asking): Promise<Words> {
  const { watched, late, silent, wall, othersMs, limit } = asking;
  const words = new Map<number, Word>();
  const prompt: Promise<void>[] = [];
  let isHeard = false;
  const keyOf = (place: number) => `${place} ${watched.address}`;
  const asked = nodes.map((node, place) => {
    const key = keyOf(place);
    const before = othersMs === null ? undefined : late.get(key);
    const now = before?.isGoing ? before : begun(lookAt(node, place, asking), wall, before?.last);
    late.set(key, now);
    const isOld = wall - (before?.last?.at ?? wall) > patienceSeconds;
    const ended = now.look.then((word) => {
      words.set(place, word);
      if (!isHeard && !isOld) late.delete(key);
    });
    if (before === undefined) prompt.push(ended);
    return { now, ended, isOld };
  });
  const all = Promise.all(asked.map(({ ended }) => ended));
  const isAnswered = () => [...words.values()].some(({ answer }) => answer !== null);
  const first = asked.map(async ({ ended }) => {
    await ended;
    if (!isAnswered()) await all;
  });
  await Promise.race(first);
  // Passes are far apart where a word is old: by it a node that is slow would seem to stand still.
  const waitsMs = asked.some(({ isOld }) => isOld) ? null : othersMs;
  const others = waitsMs === null ? all : Promise.all(prompt);
  await Promise.race([others, sleep(waitsMs ?? mostMs, limit).catch(() => {})]);
  isHeard = true;
  if (!isAnswered()) throw words.get(0)?.failure;
  const said = asked.map(({ now }, place) => words.get(place) ?? now.last);
  const [answer, ...rest] = said.flatMap((word) => word?.answer ?? []);
  const looked: Words['looked'] = [answer as Looked, ...rest];
  const unheard: Doubt[] = [];
  const isSpoken = said.map((word, place) => {
    // Keyed by the node, and not by an escrow: a leg moves, and who has spoken may fail at that
    // moment.
    const key = `${place} ${asking.source.view.chain}`;
    const before = silent.get(key) ?? { hasSpoken: false, failedAt: null };
    const isAnswer = Boolean(word?.answer);
    const failedAt = before.failedAt ?? wall;
    const now = isAnswer ? { hasSpoken: true, failedAt: null } : { ...before, failedAt };
    silent.set(key, now);
    if (!isAnswer && wall - failedAt >= silentTellSeconds) {
      unheard.push(silenceOf(place, word?.failure, looked.length, asking));
    }
    if (isAnswer || wall - failedAt > silenceSeconds) return true;
    // One that spoke a moment ago may have spoken against it.
    return othersMs !== null && !before.hasSpoken && (limit.aborted || word !== null);
  });
  return { looked, isWhole: isSpoken.every(Boolean), unheard };
}

/** A fault of its chain or contract is emitted; any other failure may name its host. */
function silenceOf(place: number, failure: unknown, heard: number, asking: Asking): Doubt {
  const bounds = boundsOf(asking);
  const others = `${heard} of ${bounds.nodes} ${heard === 1 ? 'is' : 'are'} heard`;
  const isOther = failure instanceof ParleyError && isOfAnotherChain(failure);
  const what = isOther ? failure.message : `${nameOf(place, bounds)} does not answer`;
  return { code: 'node_silent', sentence: `${what}; ${others}`, node: place };
}

const isOfAnotherChain = ({ facts }: ParleyError) => 'chainId' in facts || 'contract' in facts;

function begun(look: Promise<Looked>, at: UnixSeconds, last: Word | null = null): Late {
  const word = look.then(
    (answer): Word => ({ answer, failure: null, at }),
    (failure: unknown): Word => ({ answer: null, failure, at }),
  );
  const now: Late = { look: word, isGoing: true, last };
  void word.then((said) => Object.assign(now, { isGoing: false, last: said }));
  return now;
}

/** One node's look, held against memory by what the same node shows of the blocks. */
async function lookAt(node: ChainAdapter, place: number, asking: Asking): Promise<Looked> {
  const { watched, former, memory, limit } = asking;
  const escrows = [watched, ...former];
  // The node is read again and again; each answer is kept.
  node.watch(escrows);
  const read = () => node.look(escrows, limit);
  // A source of the customer's own may not heed its signal.
  const { heads, facts } = await inTime(read, limit).catch((error: unknown) => {
    const bounds = boundsOf(asking);
    const name = nameOf(place, bounds);
    if (error === limit.reason && limit.reason?.name === 'TimeoutError') {
      throw new ParleyError('chain_timeout', `${name} did not answer in time`, {});
    }
    if (!(error instanceof ParleyError) || bounds.nodes < 2) throw error;
    throw new ParleyError(error.code, `${name}: ${error.message}`, error.facts, { cause: error });
  });
  const [shown = nothingSeen, ...formerFacts] = facts;
  const withdrawn = withdrawnBy(shown, memory);
  const isProven = withdrawn.length > 0 && (await provesChange(node, heads, withdrawn, asking));
  if (withdrawn.length === 0 || isProven) {
    return { node: place, heads, facts: shown, isRefused: false, formerFacts, denies: [] };
  }
  const held = heldAgainst(shown, withdrawn, watched.requiredConfirmations);
  // An open escrow leaves more to be done: a try too many costs a fee.
  const isOpen = !withdrawn.includes('funded');
  const believed = held ?? (isOpen ? shown : { ...remembered(memory), secret: shown.secret });
  const about = { node: place, heads, formerFacts, denies: withdrawn };
  return { ...about, facts: believed, isRefused: held === null };
}

/** Whether this node has another block at the height of what it does not show any more. */
async function provesChange(
  node: ChainAdapter,
  { height }: Tip,
  withdrawn: readonly Kind[],
  { memory: { marks }, limit }: Asking,
): Promise<boolean> {
  for (const kind of withdrawn) {
    const mark = marks[kind];
    if (mark === undefined || node.blockHash === undefined || height < mark.height) return false;
    // One too slow to name it has spoken all the same: its denial is not proven.
    const hash = await node.blockHash(mark.height, limit).catch(() => null);
    if (hash === null || hash === mark.hash) return false;
  }
  return true;
}

/**
 * The hash comes from each node that agrees: one alone could name a block that never was, and have
 * a true one refused by it. A block that cannot be had, or that they name differently, is asked for
 * again.
 */
async function marksOf(
  nodes: readonly ChainAdapter[],
  { node, heads, facts }: Answer,
  { source, memory: { facts: before, marks }, limit }: Asking,
): Promise<Marks> {
  const of = nodesOf(source).length;
  const isAlone = nodes.length === 1 && of > 1;
  const kept: Partial<Record<Kind, Mark>> = {};
  const alone: Partial<Record<Kind, Place>> = {};
  for (const kind of kinds) {
    const found = facts[kind];
    if (found?.deep !== true) continue;
    const isKnown = before?.[kind]?.deep === true && before[kind].txid === found.txid;
    const known = isKnown ? marks[kind] : undefined;
    const height = heads.height - found.confirmations + 1;
    const hash = known?.hash ?? (await hashBy(nodes, height, limit));
    if (hash !== null) kept[kind] = known ?? { height, hash };
    const by = isKnown ? marks.alone?.[kind] : { node, of };
    // One of two that have shown it may be silent by now.
    if (isAlone && by?.node === node && by.of === of) alone[kind] = by;
  }
  return Object.keys(alone).length > 0 ? { ...kept, alone } : kept;
}

/** null: no node says, or two name different ones. */
async function hashBy(
  nodes: readonly ChainAdapter[],
  height: number,
  limit: AbortSignal,
): Promise<string | null> {
  const asked = nodes.map(async (node) => node.blockHash?.(height, limit).catch(() => null));
  const hashes = new Set((await Promise.all(asked)).filter((each) => each));
  const [hash = null] = hashes;
  return hashes.size === 1 ? (hash ?? null) : null;
}
