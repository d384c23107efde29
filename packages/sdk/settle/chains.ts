// Reads a swap from the customer's own chains. With the secret public a silent chain holds up
// nothing on the other one.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { LegName } from '@parley/core/trade.ts';
import { nodesOf } from '../chains.ts';
import { observe, othersMs } from '../evidence/observe.ts';
import { type Context, type LegRead, sourceOf } from './context.ts';
import {
  doubtsOf,
  formerOf,
  type LegSeen,
  legOf,
  legWith,
  memoryOf,
  ownSides,
  type Seen,
  seenOf,
  watchedOf,
} from './record.ts';

export type Poll = {
  readonly wall: number;
  readonly fresh: ReadonlyMap<LegName, LegSeen>;
  /** The same, and a leg whose read goes on as it was seen last. */
  readonly legs: ReadonlyMap<LegName, LegSeen>;
  readonly errors: ReadonlyMap<LegName, unknown>;
};

/** Waits for both chains; with the secret public for one, and a moment for the other. */
export async function poll(context: Context): Promise<Poll> {
  const ended = (['a', 'b'] as const).map((name) => readOf(context, name).ended);
  const all = Promise.all(ended);
  if (context.record.publicSecret === null) await all;
  else {
    await Promise.race(ended);
    await Promise.race([all, sleep(context.pollMs, context.signal)]);
  }
  const { reads, lastSeen } = context;
  const fresh = new Map<LegName, LegSeen>();
  const errors = new Map<LegName, unknown>();
  for (const [name, { found, error }] of reads) {
    if (found === null && error === undefined) continue;
    reads.delete(name);
    lastSeen.delete(name);
    if (found === null) errors.set(name, error);
    else for (const legs of [fresh, lastSeen]) legs.set(name, found);
  }
  return { wall: await context.now(), fresh, legs: lastSeen, errors };
}

/**
 * The same with these legs read or failed: a single poll has no later one that could include a slow
 * leg.
 */
export async function pollWhole(
  context: Context,
  names: readonly LegName[] = ['a', 'b'],
): Promise<Poll> {
  await Promise.all(names.map((name) => readOf(context, name).ended));
  return poll(context);
}

function readOf(context: Context, name: LegName): LegRead {
  const begun = context.reads.get(name);
  if (begun !== undefined) return begun;
  const ended = readLeg(context, name).then(
    (seen) => {
      read.found = seen;
    },
    (error: unknown) => {
      read.error = error ?? new Error('no reason given');
    },
  );
  const read: LegRead = { ended, found: null, error: undefined };
  context.reads.set(name, read);
  return read;
}

/** For the other nodes before something is begun: as long as to name their heads. */
const gateMs = 4_000;

/** The present state of both chains. Throws `sources_disagree` where nothing may begin by it. */
export async function snapshot(context: Context): Promise<Seen> {
  const look = (name: LegName) => readLeg(context, name, gateMs);
  const [a, b] = await Promise.all([look('a'), look('b')]);
  return sure(context, seenOf(context.record, { a, b }, await context.now()));
}

/** With a public secret nothing waits for nodes to agree. */
function sure({ record }: Context, seen: Seen): Seen {
  if (seen.doubt === undefined || record.publicSecret !== null) return seen;
  throw new ParleyError('sources_disagree', `no step begins now: ${seen.doubt}`, {});
}

export async function refreshed(
  context: Context,
  { state, clocks }: Seen,
  name: LegName,
): Promise<Seen> {
  const seen = await readLeg(context, name, gateMs);
  const legs = { ...state.legs, [name]: seen.leg };
  const secret = state.secret ?? seen.leg.facts.secret;
  const [doubt] = doubtsOf(seen);
  return sure(context, {
    state: { ...state, secret, legs },
    clocks: { ...clocks, wall: await context.now(), [name]: seen.clock },
    ...(doubt === undefined ? {} : { doubt }),
  });
}

/**
 * A chain's clock where one node is asked, and the device's where that is earlier: an invented time
 * must not end what a claim still needs.
 */
export async function clockOf(context: Context, chain: ChainKey): Promise<UnixSeconds> {
  const { clock } = await sourceOf(context, chain).adapter.heads(context.limit());
  return Math.min(clock, await context.now());
}

/** For one node beside those in turn: this part of what those may take. */
const oneNodeShare = 1 / 3;

/**
 * The answers of all nodes in turn, and then of each alone, before money or a secret relies on it:
 * one may hide what another one refuses. A silent one that is asked alone says nothing.
 */
export async function byEachNode<T>(
  context: Context,
  chain: ChainKey,
  ask: (adapter: ChainAdapter, limit: AbortSignal) => Promise<T>,
): Promise<readonly T[]> {
  const { adapter, nodes = [] } = sourceOf(context, chain);
  const alone = nodes.map(async (node): Promise<T[]> => {
    try {
      return [await ask(node, context.limit(oneNodeShare))];
    } catch (error) {
      context.signal?.throwIfAborted();
      if (isSilence(error)) return [];
      throw error;
    }
  });
  const [first, ...others] = await Promise.all([ask(adapter, context.limit()), ...alone]);
  return [first, ...others.flat()];
}

/** A node that fails in other words than the rules' own has not spoken either. */
function isSilence(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return true;
  return error.kind === 'timeout' || error.kind === 'unavailable';
}

/** `waitsMs`: for other nodes once one has answered; null: for each as long as for one. */
export async function readLeg(
  context: Context,
  name: LegName,
  waitsMs: number | null = othersMs,
): Promise<LegSeen> {
  const { record, watching, differing, denied, silent, late } = context;
  const { chain } = legOf(record, name);
  const source = sourceOf(context, chain);
  const watched = watchedOf(record, name);
  const former = formerOf(record, name);
  for (const { address } of [watched, ...former]) watching.set(address, nodesOf(source));
  const observed = await observe({
    source,
    watched,
    former,
    memory: memoryOf(record, watched.address),
    differing,
    denied,
    silent,
    late,
    wall: context.lastWall() ?? (await context.now()),
    now: context.now,
    limit: context.limit(),
    othersMs: waitsMs,
  });
  const { facts, latest, ...evidence } = observed;
  // Each leg takes the clock, among those of its nodes, that ends nothing too early.
  const clock = name === ownSides(record).gives ? latest : evidence.earliest;
  const leg = legWith(record, name, facts, evidence.strayed !== null);
  return { leg, clock, evidence };
}

/** Whichever way the settlement ends; one that goes on later watches again. */
export function stopWatching({ watching }: Context): void {
  for (const [address, adapters] of watching) {
    for (const each of adapters) each.unwatch([address]);
  }
}
