// How each leg is looked at by itself. With the secret public, a chain that is silent or slow holds
// up nothing on the other one: its look goes on, and counts in the pass that it comes in.

import { nothingSeen } from '../../core/facts.ts';
import type { Hex32 } from '../../core/hashlock.ts';
import { type LegName, otherLeg } from '../../core/trade.ts';
import { sleep } from '../http.ts';
import type { SwapRecord } from '../stores/store.ts';
import {
  type Context,
  type LegSeen,
  type Look,
  legWith,
  lookAt,
  type Seen,
  seenOf,
} from './context.ts';

/** What this pass could see. A leg without an entry has not been seen, or not yet. */
export type Sight = {
  readonly wall: number;
  readonly legs: Readonly<Partial<Record<LegName, LegSeen>>>;
  /** Why a leg was not seen. */
  readonly errors: ReadonlyMap<LegName, unknown>;
};

/** Waits for both chains; with the secret public for one, and a moment for the other. */
export async function sightOf(context: Context, record: SwapRecord): Promise<Sight> {
  const both = [lookOf(context, record, 'a'), lookOf(context, record, 'b')];
  const all = Promise.all(both.map(({ ended }) => ended));
  if (record.publicSecret === null) await all;
  else {
    await Promise.race(both.map(({ ended }) => ended));
    await Promise.race([all, sleep(context.pollMs, context.signal)]);
  }
  const legs: Partial<Record<LegName, LegSeen>> = {};
  const errors = new Map<LegName, unknown>();
  for (const [name, look] of context.looks) {
    if (look.found !== null) legs[name] = look.found;
    else if (look.error !== undefined) errors.set(name, look.error);
    else continue;
    context.looks.delete(name);
  }
  return { wall: await context.now(), legs, errors };
}

function lookOf(context: Context, record: SwapRecord, name: LegName): Look {
  const begun = context.looks.get(name);
  if (begun !== undefined) return begun;
  const found = lookAt(context, record, name);
  const ended = found.then(
    (seen) => {
      look.found = seen;
    },
    (error: unknown) => {
      look.error = error ?? new Error('no reason given');
    },
  );
  const look: Look = { ended, found: null, error: undefined };
  context.looks.set(name, look);
  return look;
}

export function secretIn({ legs: { a, b } }: Sight): Hex32 | null {
  return a?.leg.facts.secret ?? b?.leg.facts.secret ?? null;
}

export function wholeOf(record: SwapRecord, { legs: { a, b }, wall }: Sight): Seen | null {
  return a === undefined || b === undefined ? null : seenOf(record, { a, b }, wall);
}

/**
 * The swap by one of its chains alone, as if the other one had shown nothing. Good for a claim
 * with a public secret and for a refund, which go by no other chain, and for nothing else.
 */
export function aloneOf(record: SwapRecord, seen: LegSeen, wall: number): Seen {
  const { leg: name } = seen.leg;
  const other = otherLeg(name);
  const blank = { leg: legWith(record, other, nothingSeen), clock: wall };
  const both = { [name]: seen, [other]: blank } as Record<LegName, LegSeen>;
  return seenOf(record, both, wall);
}
