// Finds secrets and Bitcoin keys of a phrase by what the market, a file or a chain shows of them.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { sleep } from '@parley/chains/nodes/turn.ts';
import type { Hashlock, Secret } from '@parley/core/hashlock.ts';
import { ttlSeconds } from '@parley/core/limits.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { defaultAcceptTtlSeconds } from '../trade.ts';
import { clockToleranceSeconds } from '../verify.ts';
import { draws, mostInSlot, type PhraseKeys, type SecretIndex, slotSeconds } from './derive.ts';

export type Wanted = { readonly hashlock: Hashlock; readonly agreedAt: UnixSeconds };

export type SearchOptions = {
  /**
   * Also what was offered up to 7 days before it was agreed, by a store none of whose other secrets
   * is wanted: 12 minutes of one processor core a swap.
   */
  readonly isDeep?: boolean;
  readonly signal?: AbortSignal;
  /** The share of one round of the search, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
};

/** An RFQ lives no longer, and a lapsed acceptance says the same hashlock again. */
const longestSeconds = ttlSeconds.most;
const nearSeconds = defaultAcceptTtlSeconds + clockToleranceSeconds;
/** Secrets of one ten seconds that are looked for where their maker is not known yet. */
const fewInSlot = 4;
/** Keys after the last one found that have to be unknown. */
export const keyGap = 100;
/** Tries between two turns of the event loop: about 12 ms. */
const triesAtOnce = 4_096;

/** Resolves to what was found. Throws the signal's reason. */
export async function findSecrets(
  keys: PhraseKeys,
  wanted: readonly Wanted[],
  { isDeep = false, signal, onProgress }: SearchOptions = {},
): Promise<Map<Hashlock, Secret>> {
  const found = new Map<Hashlock, Secret>();
  const open = new Map(wanted.map((each) => [each.hashlock, each]));
  const makers = new Set<number>();
  // Each try compares four bytes; text is made of what has them.
  const starts = new Set([...open.keys()].map((each) => startOf(hexToBytes(each))));
  const empty = sha256.create();
  const hash = empty.clone();
  const tries = (index: SecretIndex): boolean => {
    const secret = keys.secretAt(index);
    const digest = empty._cloneInto(hash).update(secret).digest();
    if (!starts.has(startOf(digest))) return false;
    const hashlock = bytesToHex(digest);
    if (!open.delete(hashlock)) return false;
    found.set(hashlock, bytesToHex(secret));
    return true;
  };
  const run = async (
    places: readonly number[],
    indices: (slot: number) => Iterable<SecretIndex>,
  ) => {
    let done = 0;
    let hit = false;
    for (const [at, slot] of places.entries()) {
      for (const index of indices(slot)) {
        if (open.size === 0) return hit;
        if (tries(index)) {
          hit = true;
          makers.add(index.draw);
        }
        done += 1;
        if (done % triesAtOnce === 0) await sleep(0, signal);
      }
      onProgress?.((at + 1) / places.length);
    }
    return hit;
  };
  const near = () => slotsBefore([...open.values()], nearSeconds);
  const far = () => slotsBefore([...open.values()], longestSeconds);
  const byKnown = async () => {
    if (makers.size === 0) return;
    await run(near(), (slot) => within(slot, makers, mostInSlot));
    await run(far(), (slot) => within(slot, makers, fewInSlot));
  };
  const everybody = new Set(Array.from({ length: draws }, (_, draw) => draw));
  if (await run(near(), (slot) => within(slot, everybody, 1))) await byKnown();
  if (await run(near(), (slot) => within(slot, everybody, fewInSlot, 1))) await byKnown();
  if (isDeep && (await run(far(), (slot) => within(slot, everybody, 1)))) await byKnown();
  return found;
}

function startOf(bytes: Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

function* within(slot: number, by: Iterable<number>, most: number, from = 0) {
  for (const draw of by) for (let nth = from; nth < most; nth += 1) yield { slot, draw, nth };
}

/** The likeliest first: right before the agreement, of all of them at once. */
function slotsBefore(wanted: readonly Wanted[], seconds: number): number[] {
  const slots = new Set<number>();
  const most = Math.ceil(seconds / slotSeconds);
  const ahead = Math.ceil(clockToleranceSeconds / slotSeconds);
  for (let back = 0; back <= most; back += 1) {
    for (const { agreedAt } of wanted) {
      const slot = Math.floor(agreedAt / slotSeconds);
      slots.add(slot - back);
      if (back <= ahead) slots.add(slot + back);
    }
  }
  return [...slots];
}

/** Which of these public keys are the phrase's, with their numbers. */
export function findBitcoinKeys(
  keys: PhraseKeys,
  pubkeys: ReadonlySet<string>,
): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = 0, last = -1; at <= last + keyGap && found.size < pubkeys.size; at += 1) {
    const { pubkey } = keys.bitcoinKey(at);
    if (!pubkeys.has(pubkey)) continue;
    found.set(pubkey, at);
    last = at;
  }
  return found;
}
