// The rescue file: all it takes, beside the phrase and nodes, to claim and refund what is open. It
// holds no secret and no key; its seal shows whether the phrase wrote it.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type EscrowFacts, isMuch, nothingSeen } from '@parley/core/facts.ts';
import { has, type Network } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { RescueError } from '../errors.ts';
import { ownSides } from '../settle/record.ts';
import { readKept, type SwapRecord, writeKept } from '../stores/store.ts';
import { type ChainView, type PinnedChains, sourceIn } from '../trade.ts';
import type { PhraseStore } from './store.ts';

const format = 'parley-rescue';
const version = 1;
/** About 1,000 swaps of 4 KB. */
export const mostBytes = 4_194_304;
/** A swap of which nothing was seen is left out so long after its last timelock. */
const unseenSeconds = 30 * 86_400;

/** The pinned facts of a chain, so that a source can be made for it; the policy is left out. */
export type RescueChain =
  | { readonly chain: string; readonly family: 'bitcoin'; readonly network: string }
  | Unpoliced<Exclude<ChainView, { readonly family: 'bitcoin' }>>;

type Unpoliced<View> = View extends ChainView ? Omit<View, 'policy'> : never;

export type RescueSwap = Pick<SwapRecord, 'trade' | 'swap' | 'former'>;

export type RescueFile = {
  readonly network: Network;
  readonly writtenAt: UnixSeconds;
  readonly chains: readonly RescueChain[];
  readonly swaps: readonly RescueSwap[];
};

type Written = {
  readonly format: string;
  readonly version: number;
  readonly content?: Partial<RescueFile> | null;
  readonly checksum: string;
  readonly seal: string;
};

/** JSON of all swaps of the store that are not over. Throws RescueError `too_large`. */
export async function writeRescue(store: PhraseStore, chains: PinnedChains): Promise<string> {
  const writtenAt = Math.floor(await store.now());
  const swaps: RescueSwap[] = [];
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId);
    if (record === null || isOver(record, writtenAt)) continue;
    const { trade, swap, former } = record;
    swaps.push(former === undefined ? { trade, swap } : { trade, swap, former });
  }
  const named = new Set(swaps.flatMap(({ swap }) => [swap.legs.a.chain, swap.legs.b.chain]));
  const known = [...named].map((chain) => chainOf(sourceIn(chains, chain).view));
  const content: RescueFile = { network: store.keys.network, writtenAt, chains: known, swaps };
  // The signature is over the text without blanks, so that no editor spoils it.
  const text = compact(writeKept(content));
  const checksum = bytesToHex(sha256(utf8ToBytes(text)));
  const seal = store.keys.seal(text);
  const file = JSON.stringify(
    { format, version, content: JSON.parse(text), checksum, seal },
    null,
    1,
  );
  const size = utf8ToBytes(file).length;
  if (size <= mostBytes) return file;
  const sentence = `${swaps.length} open swaps are ${size} bytes; a rescue file has ${mostBytes}`;
  throw new RescueError('too_large', sentence);
}

function compact(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

function chainOf(view: ChainView): RescueChain {
  if (has(view, 'coins')) {
    return { chain: view.chain, family: 'bitcoin', network: view.network.name };
  }
  const { policy: _, ...rest } = view;
  return rest;
}

/** By what its chains showed last: when nothing of it can come back or be taken any more. */
function isOver({ trade, swap, seen = {} }: SwapRecord, now: UnixSeconds): boolean {
  const { gives, gets } = ownSides({ trade });
  const factsOf = (leg: 'a' | 'b'): EscrowFacts =>
    seen[swap.legs[leg].escrow?.address ?? ''] ?? nothingSeen;
  const own = factsOf(gives);
  const other = factsOf(gets);
  const isTaken = (facts: EscrowFacts) => facts.claimed?.deep || facts.refunded?.deep;
  const { a, b } = swap.deadlines.refundAt;
  const isLate = now > Math.max(a, b) + unseenSeconds;
  // Less than a hundredth may be a stranger's, who could fill the file with it.
  const isLeft = isLate ? isMuch(own.balance, swap.legs[gives].amount) : own.balance > 0n;
  if (isTaken(own) && !isLeft) return Boolean(own.refunded?.deep || isTaken(other));
  return isLate && own.funded === null && !isLeft && other.funded === null;
}

/**
 * To look at: anybody could have made it. Throws RescueError `foreign_file`, `newer_file`,
 * `too_large`, and `bad_file` where it is cut or altered.
 */
export function readRescue(text: string): RescueFile {
  return opened(text).file;
}

/** Throws also `other_network`, and `other_phrase` where not this phrase has written it. */
export function readOwnRescue({ keys }: PhraseStore, text: string): RescueFile {
  const { file, content, seal } = opened(text);
  if (file.network !== keys.network) {
    const sentence = `the rescue file is of the network "${file.network}", the store of`;
    throw new RescueError('other_network', `${sentence} "${keys.network}"`);
  }
  if (keys.seal(content) === seal) return file;
  const sentence = 'the rescue file was not written with this phrase, or was altered since';
  throw new RescueError('other_phrase', sentence);
}

function opened(text: string): { file: RescueFile; content: string; seal: string } {
  if (text.length > mostBytes) {
    const sentence = `the file has ${text.length} characters; a rescue file has at most ${mostBytes}`;
    throw new RescueError('too_large', sentence);
  }
  const written = parsed(text);
  if (written?.format !== format) {
    throw new RescueError('foreign_file', `this is no rescue file: it has no format "${format}"`);
  }
  if (!Number.isInteger(written.version) || written.version < 1) {
    throw new RescueError('bad_file', 'the rescue file says no version: take another copy');
  }
  if (written.version > version) {
    const sentence = `the rescue file has version ${written.version}, this software reads ${version}`;
    throw new RescueError('newer_file', `${sentence}: use a newer one`);
  }
  const content = JSON.stringify(written.content ?? null);
  const isWhole = Array.isArray(written.content?.swaps) && Array.isArray(written.content.chains);
  if (!isWhole || bytesToHex(sha256(utf8ToBytes(content))) !== written.checksum) {
    throw new RescueError('bad_file', 'the rescue file was altered: its checksum does not fit');
  }
  return { file: readKept<RescueFile>(content), content, seal: written.seal };
}

function parsed(text: string): Written | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const isCut = text.includes(`"${format}"`);
    const [code, sentence] = isCut
      ? (['bad_file', 'the rescue file is cut or altered: it is no JSON'] as const)
      : (['foreign_file', 'this is no rescue file: it is no JSON'] as const);
    throw new RescueError(code, sentence, { cause });
  }
  return typeof value === 'object' && value !== null ? (value as Written) : null;
}
