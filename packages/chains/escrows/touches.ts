// The effect of calldata on escrows that are watched.

import type { Hashlock } from '@parley/core/hashlock.ts';
import { learn, type Names, secretsIn, type Watching } from '../kit/watch.ts';
import type { DecodedCall } from './calls.ts';

export type Verb = DecodedCall['verb'];

type Call = Pick<DecodedCall, 'verb' | 'secret'> & { readonly escrow: string };

type Watched = Pick<Watching, 'byHashlock' | 'secrets' | 'owed'> & {
  readonly names: Names;
  readonly known: ReadonlyMap<string, unknown>;
};

/** `data` is all that it says, hex with 0x: a memo can show a secret too. */
export function touchesIn(
  watching: Watched,
  data: string,
  isDirect: boolean,
  callsIn: (wanted: (hashlock: Hashlock) => boolean) => readonly Call[],
): Map<string, Verb | null> {
  const touched = new Map<string, Verb | null>();
  // To be named costs its sender little, so it touches nobody; a secret does (`learn`).
  for (const secret of secretsIn(watching, data, isDirect)) learn(watching, secret);
  for (const { verb, escrow, secret } of callsIn((each) => watching.byHashlock.has(each))) {
    if (watching.known.has(escrow)) touched.set(escrow, verb);
    if (secret === null) continue;
    for (const each of learn(watching, secret)) if (!touched.has(each)) touched.set(each, null);
  }
  return touched;
}
