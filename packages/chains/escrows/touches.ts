// The effect of calldata on escrows that are watched.

import type { Hashlock } from '@parley/core/hashlock.ts';
import { learn, type Watching } from '../kit/watch.ts';
import type { DecodedCall } from './calls.ts';

export type Verb = DecodedCall['verb'];

type Call = Pick<DecodedCall, 'verb' | 'secret'> & { readonly escrow: string };

type Watched = Pick<Watching, 'byHashlock' | 'secrets' | 'owed'> & {
  readonly known: ReadonlyMap<string, unknown>;
};

/** `callsIn`: its calls of escrows whose hashlock is wanted, at any depth of its bytes. */
export function touchesIn(
  watching: Watched,
  callsIn: (wanted: (hashlock: Hashlock) => boolean) => readonly Call[],
): Map<string, Verb | null> {
  const touched = new Map<string, Verb | null>();
  for (const { verb, escrow, secret } of callsIn((each) => watching.byHashlock.has(each))) {
    if (watching.known.has(escrow)) touched.set(escrow, verb);
    if (secret === null) continue;
    for (const each of learn(watching, secret)) if (!touched.has(each)) touched.set(each, null);
  }
  return touched;
}
