// Reads a swap from the customer's own chains. With the secret public a silent chain holds up
// nothing on the other one.

import { sleep } from '../../chains/nodes/turn.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts } from '../../core/facts.ts';
import type { LegName } from '../../core/trade.ts';
import { inTime } from '../waiting.ts';
import { type Context, type LegRead, sourceOf } from './context.ts';
import { type LegSeen, legOf, legWith, type Seen, seenOf, watchedOf } from './record.ts';

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

export async function snapshot(context: Context): Promise<Seen> {
  const [a, b] = await Promise.all([readLeg(context, 'a'), readLeg(context, 'b')]);
  return seenOf(context.record, { a, b }, await context.now());
}

export async function refreshed(
  context: Context,
  { state, clocks }: Seen,
  name: LegName,
): Promise<Seen> {
  const { leg, clock } = await readLeg(context, name);
  const legs = { ...state.legs, [name]: leg };
  const secret = state.secret ?? leg.facts.secret;
  return {
    state: { ...state, secret, legs },
    clocks: { ...clocks, wall: await context.now(), [name]: clock },
  };
}

export async function readLeg(context: Context, name: LegName): Promise<LegSeen> {
  const { record, watching } = context;
  const { chain } = legOf(record, name);
  const { adapter } = sourceOf(context, chain);
  const limit = context.limit();
  const watched = watchedOf(record, name);
  // Read again and again: what is learnt of it is kept.
  adapter.watch([watched]);
  watching.set(watched.address, adapter);
  const read = () => adapter.look([watched], limit);
  // A source of the customer's own may not heed its signal.
  const { heads, facts } = await inTime(read, limit).catch((error: unknown) => {
    if (error !== limit.reason || context.signal?.aborted) throw error;
    throw new ParleyError('chain_timeout', `the source of "${chain}" did not answer in time`, {});
  });
  return { leg: legWith(record, name, facts[0] as EscrowFacts), clock: heads.clock };
}

/** Whichever way the settlement ends; one that goes on later watches again. */
export function stopWatching({ watching }: Context): void {
  for (const [address, adapter] of watching) adapter.unwatch([address]);
}
