// Asks each node of a chain about an escrow, and holds every answer against what was seen before.

import type { ChainAdapter } from '../../chains/adapter.ts';
import type { Heads, WatchedEscrow } from '../../chains/interface/reading.ts';
import { sleep } from '../../chains/nodes/turn.ts';
import { ParleyError } from '../../core/errors.ts';
import { type EscrowFacts, holdsPayment, nothingSeen } from '../../core/facts.ts';
import type { Millis, UnixSeconds } from '../../core/nominal.ts';
import { type ChainSource, nodesOf } from '../chains.ts';
import { inTime } from '../waiting.ts';
import { type Answer, type Bounds, type Evidence, type Judged, judge } from './judge.ts';
import {
  heldAgainst,
  type Kind,
  kinds,
  type Mark,
  type Marks,
  type Memory,
  remembered,
  withdrawnBy,
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

export type Asking = {
  readonly source: ChainSource;
  readonly watched: WatchedEscrow;
  /** Escrows that the leg moved off, which the same secret opens. */
  readonly former: readonly WatchedEscrow[];
  readonly memory: Memory;
  /** Since when its nodes differ, by escrow. Lives as long as its settlement. */
  readonly differing: Map<string, UnixSeconds>;
  /** The nodes' words of an escrow, by both. Lives as long as its settlement. */
  readonly silent: Map<string, Silence>;
  readonly wall: UnixSeconds;
  /** Of one look of one node. */
  readonly limit: AbortSignal;
  /** What slow nodes are asked, by node and escrow. Lives as long as its settlement. */
  readonly late: Map<string, Late>;
  /** For the others once one has answered; null: for each the whole limit, and a look of now. */
  readonly othersMs: Millis | null;
};

export type Observed = Judged & Evidence;

export type Looked = Answer & { readonly formerFacts: readonly EscrowFacts[] };

/** What a node said, or failed with. */
export type Word = { readonly answer: Looked | null; readonly failure: unknown };

/** Since when a node has said nothing, and whether it ever did. */
export type Silence = { readonly since: UnixSeconds; readonly hasSpoken: boolean };

/** A look that goes on beside the passes; `last`: what came of the one before it. */
export type Late = { readonly look: Promise<Word>; isGoing: boolean; last: Word | null };

/** Throws what the first node fails with where none answers. */
export async function observe(asking: Asking): Promise<Observed> {
  const { source, watched, former, memory, differing, wall } = asking;
  const nodes = nodesOf(source);
  const { looked, isWhole } = await lookAtAll(nodes, asking);
  const [first] = looked;
  const since = differing.get(watched.address);
  const isPatient = since === undefined || Math.abs(wall - since) < patienceSeconds;
  const judged = judge(looked, boundsOf(source, watched), { wall, isPatient });
  if (!judged.doubts.some(({ code }) => code === 'nodes_disagree')) {
    differing.delete(watched.address);
  } else if (since === undefined) differing.set(watched.address, wall);
  const picked = looked.find(({ node }) => node === judged.node) ?? first;
  const secrets = looked.flatMap(({ formerFacts }) => formerFacts.map(({ secret }) => secret));
  const secret = judged.facts.secret ?? secrets.find((each) => each !== null) ?? null;
  const at = former.findIndex(({ terms }, place) =>
    looked.some(({ formerFacts }) => {
      return holdsPayment(formerFacts[place] ?? nothingSeen, terms.amount);
    }),
  );
  const node = nodes[judged.node] ?? source.adapter;
  // One that is yet to speak may speak against it.
  const agreed = judged.agreed && isWhole;
  const marks = agreed ? await marksOf(node, picked, memory, asking.limit) : memory.marks;
  const facts = { ...judged.facts, secret };
  return { ...judged, agreed, facts, marks, strayed: former[at] ?? null };
}

function boundsOf({ view, adapter }: ChainSource, watched: WatchedEscrow): Bounds {
  const { chain, family, policy } = view;
  const { requiredConfirmations } = watched;
  return { chain, family, policy, requiredConfirmations, blockSeconds: adapter.blockSeconds ?? 0 };
}

type Words = { readonly looked: readonly [Looked, ...Looked[]]; readonly isWhole: boolean };

/**
 * A node that was slow the last time is asked on, and waited for no more: what it said then counts
 * until it says something else. `isWhole`: no node is left that may speak against what the others
 * say.
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
    const now = before?.isGoing ? before : begun(lookAt(node, place, asking), before?.last);
    late.set(key, now);
    const ended = now.look.then((word) => {
      words.set(place, word);
      if (!isHeard) late.delete(key);
    });
    if (before === undefined) prompt.push(ended);
    return { now, ended };
  });
  const all = Promise.all(asked.map(({ ended }) => ended));
  const isAnswered = () => [...words.values()].some(({ answer }) => answer !== null);
  const first = asked.map(async ({ ended }) => {
    await ended;
    if (!isAnswered()) await all;
  });
  await Promise.race(first);
  const others = othersMs === null ? all : Promise.all(prompt);
  await Promise.race([others, sleep(othersMs ?? mostMs, limit).catch(() => {})]);
  isHeard = true;
  if (!isAnswered()) throw words.get(0)?.failure;
  const said = asked.map(({ now }, place) => words.get(place) ?? now.last);
  const [answer, ...rest] = said.flatMap((word) => word?.answer ?? []);
  const looked: Words['looked'] = [answer as Looked, ...rest];
  const isSpoken = said.map((word, place) => {
    const key = keyOf(place);
    const before = silent.get(key) ?? { since: wall, hasSpoken: false };
    const isHeard = Boolean(word?.answer);
    silent.set(key, isHeard ? { since: wall, hasSpoken: true } : before);
    if (isHeard || wall - before.since > silenceSeconds) return true;
    // One that spoke a moment ago may have spoken against it.
    return othersMs !== null && !before.hasSpoken && (limit.aborted || word !== null);
  });
  return { looked, isWhole: isSpoken.every(Boolean) };
}

function begun(look: Promise<Looked>, last: Word | null = null): Late {
  const word = look.then(
    (answer): Word => ({ answer, failure: null }),
    (failure: unknown): Word => ({ answer: null, failure }),
  );
  const now: Late = { look: word, isGoing: true, last };
  void word.then((said) => Object.assign(now, { isGoing: false, last: said }));
  return now;
}

/** One node's look, held against memory by what the same node shows of the blocks. */
async function lookAt(node: ChainAdapter, place: number, asking: Asking): Promise<Looked> {
  const { watched, former, memory, limit } = asking;
  const escrows = [watched, ...former];
  // Read again and again: what is learnt of it is kept.
  node.watch(escrows);
  const read = () => node.look(escrows, limit);
  // A source of the customer's own may not heed its signal.
  const { heads, facts } = await inTime(read, limit).catch((error: unknown) => {
    if (error !== limit.reason || limit.reason?.name !== 'TimeoutError') throw error;
    const sentence = `the source of "${node.chain}" did not answer in time`;
    throw new ParleyError('chain_timeout', sentence, {});
  });
  const [shown = nothingSeen, ...formerFacts] = facts;
  const withdrawn = withdrawnBy(shown, memory);
  const isProven = withdrawn.length > 0 && (await provesChange(node, heads, withdrawn, asking));
  if (withdrawn.length === 0 || isProven) {
    return { node: place, heads, facts: shown, isRefused: false, formerFacts };
  }
  const held = heldAgainst(shown, memory, withdrawn, watched.requiredConfirmations);
  // Of an escrow that it shows to be open more is left to be done: a try too many costs a fee.
  const isOpen = !withdrawn.includes('funded');
  const believed = held ?? (isOpen ? shown : { ...remembered(memory), secret: shown.secret });
  return { node: place, heads, facts: believed, isRefused: held === null, formerFacts };
}

/** Whether this node has another block at the height of what it does not show any more. */
async function provesChange(
  node: ChainAdapter,
  { height }: Heads,
  withdrawn: readonly Kind[],
  { memory: { marks }, limit }: Asking,
): Promise<boolean> {
  for (const kind of withdrawn) {
    const mark = marks[kind];
    if (mark === undefined || node.blockHash === undefined || height < mark.height) return false;
    const hash = await node.blockHash(mark.height, limit);
    if (hash === null || hash === mark.hash) return false;
  }
  return true;
}

/** A block that cannot be had now is asked for by a later look. */
async function marksOf(
  node: ChainAdapter,
  { heads, facts }: Answer,
  { facts: before, marks }: Memory,
  limit: AbortSignal,
): Promise<Marks> {
  const kept: Partial<Record<Kind, Mark>> = {};
  for (const kind of kinds) {
    const found = facts[kind];
    if (found?.deep !== true) continue;
    const isKnown = before?.[kind]?.deep === true && before[kind].txid === found.txid;
    const known = isKnown ? marks[kind] : undefined;
    const height = heads.height - found.confirmations + 1;
    const hash =
      known === undefined ? await node.blockHash?.(height, limit).catch(() => null) : known.hash;
    if (known !== undefined) kept[kind] = known;
    else if (hash) kept[kind] = { height, hash };
  }
  return kept;
}
