// Launches on Solana: an account's finalized transactions that call the launchpad's instruction,
// also through another program. All that is new is listed before any is read.

import { hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import type {
  InstructionSource,
  LaunchPage,
  LaunchPosition,
  LaunchReader,
  LaunchSource,
} from '@parley/tokens/launches.ts';
import { base58 } from '@scure/base';
import type { Opened } from '../nodes/opened.ts';
import {
  accountsAt,
  firstBlock,
  isForgotten,
  type Signature,
  signaturesOf,
  signaturesPage,
  slotAt,
  type Transaction,
  transactionOf,
} from './node.ts';
import { isTokenProgram } from './programs.ts';
import type { Watch } from './watch.ts';

/** Pages of a list read at once: older entries, after a long stop, are left out. */
const mostPages = 20;
const mostTransactions = 400;
const batch = 8;
/** No further ones are begun after this: the entries read so far must be reported. */
const readMs = 15_000;
/** Looks at one that the node lists and does not give, while it gives others. */
const mostTries = 20;
/** Behind by so many slots, the node is not merely another machine of the provider's. */
const rewindSlots = 1_500;
const slotsPerSecond = 2.5;
/** Base58 of an instruction that is worth decoding: 10 kB could be given. */
const mostDataText = 4_096;
const mintsAtOnce = 100;

/** The transactions that the node listed and did not give, by id: how often it was asked for. */
type Tries = Map<string, number>;

export function launchesOf(watch: Watch, opened: Opened): LaunchReader {
  const tries: Tries = new Map();
  return {
    read: opened(
      (source: LaunchSource, after: LaunchPosition | null, mostSeconds: number, signal) =>
        read(watch, tries, source, after, mostSeconds, signal),
    ),
    existing: opened((mints: readonly string[], signal) => existing(watch, mints, signal)),
  };
}

async function read(
  watch: Watch,
  tries: Tries,
  source: LaunchSource,
  after: LaunchPosition | null,
  mostSeconds: number,
  signal: AbortSignal,
): Promise<LaunchPage> {
  if (!('program' in source)) throw new Error(`${watch.chain}: a launchpad needs a program`);
  const finalized = await slotAt(watch.rpc, 'finalized', signal);
  const nothing = { tokens: [], skipped: 0 };
  if (after === null) {
    const range = { until: null, before: null };
    const list = await signaturesOf(watch.rpc, source.account, range, signal);
    const newest = list.find((each) => each.finalized && each.slot <= finalized);
    const position = { height: newest?.slot ?? finalized, hash: newest?.txid ?? '' };
    return { ...nothing, position, isWhole: true };
  }
  const oldest = Math.max(0, finalized - Math.floor(mostSeconds * slotsPerSecond));
  if (after.height > finalized + rewindSlots) {
    watch.log('launches_ahead_of_chain', { chain: watch.chain, at: after.height });
    return { ...nothing, position: { height: oldest, hash: '' }, isWhole: false };
  }
  const bounds = { finalized, oldest };
  try {
    const list = await listed(watch, source.account, after, bounds, signal);
    return await take(watch, tries, source, after, list, signal);
  } catch (error) {
    if (!isForgotten(error)) throw error;
  }
  await noteGap(watch, source.account, after, signal);
  // Its slot once more, as others in it may come after what was read.
  const from = { height: after.height - 1, hash: '' };
  const list = await listed(watch, source.account, from, bounds, signal);
  return take(watch, tries, source, from, list, signal);
}

/** The node does not list the transactions between those read and its oldest block. */
async function noteGap(
  { rpc, chain, log }: Watch,
  account: string,
  after: LaunchPosition,
  signal: AbortSignal,
): Promise<void> {
  const { slot } = await firstBlock(rpc, signal);
  if (slot > after.height) log('launches_left_out', { chain, account, slot });
}

type Bounds = { readonly finalized: number; readonly oldest: number };

/** The finalized transactions behind the position, oldest first. */
async function listed(
  watch: Watch,
  account: string,
  after: LaunchPosition,
  { finalized, oldest }: Bounds,
  signal: AbortSignal,
): Promise<readonly Signature[]> {
  const until = after.hash === '' ? null : after.hash;
  const least = Math.max(oldest, after.height + (until === null ? 1 : 0));
  const found: Signature[] = [];
  let before: string | null = null;
  for (let page = 0; ; page++) {
    const more: Signature[] = await signaturesOf(watch.rpc, account, { until, before }, signal);
    found.push(...more.filter((each) => each.finalized && each.slot <= finalized));
    before = more.at(-1)?.txid ?? null;
    const last = more.at(-1)?.slot ?? 0;
    if (more.length < signaturesPage || last < least) break;
    if (page < mostPages) continue;
    watch.log('launches_left_out', { chain: watch.chain, account, slot: last });
    break;
  }
  return found.filter(({ slot }) => slot >= least).reverse();
}

async function take(
  watch: Watch,
  tries: Tries,
  source: InstructionSource,
  after: LaunchPosition,
  list: readonly Signature[],
  signal: AbortSignal,
): Promise<LaunchPage> {
  const until = performance.now() + readMs;
  const found: (string | null)[] = [];
  let position = after;
  let done = 0;
  while (done < Math.min(list.length, mostTransactions) && performance.now() < until) {
    const part = list.slice(done, done + batch);
    const read = await Promise.all(
      part.map((each) => (each.failed ? 'failed' : transactionOf(watch.rpc, each.txid, signal))),
    );
    signal.throwIfAborted();
    const answered = read.some((each) => each !== null && each !== 'failed');
    let taken = 0;
    for (const [at, { txid, slot }] of part.entries()) {
      const transaction = read[at] ?? null;
      if (transaction === null && !isGivenUp(watch, tries, txid, answered || done > 0)) break;
      if (transaction !== null && transaction !== 'failed' && 'read' in transaction) {
        found.push(...mintsIn(source, transaction));
      }
      tries.delete(txid);
      position = { height: slot, hash: txid };
      taken += 1;
    }
    done += taken;
    if (taken === part.length) continue;
    if (done === 0 && !answered) throw silent(watch, part[0]?.txid ?? '');
    break;
  }
  const mints = found.filter((each) => each !== null);
  const skipped = found.length - mints.length;
  return { tokens: [...new Set(mints)], skipped, position, isWhole: done === list.length };
}

/** One that never comes must not hide all later ones; a node that gives nothing is only away. */
function isGivenUp(watch: Watch, tries: Tries, txid: string, isServing: boolean): boolean {
  const tried = (tries.get(txid) ?? 0) + (isServing ? 1 : 0);
  tries.set(txid, tried);
  if (tried < mostTries) return false;
  watch.log('launch_missing', { chain: watch.chain, txid });
  return true;
}

function silent({ chain }: Watch, txid: string): ParleyError {
  const sentence = `the ${chain} node lists the transaction ${txid} and does not give it`;
  return new ParleyError('chain_unavailable', sentence, { chain, txid });
}

/** The mints of its launches, null for each that names none. */
function mintsIn(source: InstructionSource, { read, inner, keys, failed }: Transaction) {
  if (failed) return [];
  const start = hexToBytes(source.discriminator);
  const own = read.instructions.filter(({ program }) => program === source.program);
  const calledBy = inner.filter(({ program }) => program === source.program);
  const called = [
    ...own.map(({ accounts, data }) => ({ accounts: accounts.map((at) => keys[at] ?? ''), data })),
    ...calledBy.map(({ accounts, data }) => ({ accounts, data: decoded(data) })),
  ];
  return called
    .filter(({ data }) => start.every((byte, at) => data[at] === byte))
    .map(({ accounts }) => accounts[source.mintAccount] || null);
}

function decoded(text: string): Uint8Array {
  if (text.length > mostDataText) return new Uint8Array();
  try {
    return base58.decode(text);
  } catch {
    return new Uint8Array();
  }
}

/** A mint without extensions; one with them says what it is behind the length of an account. */
const mintBytes = 82;
const accountBytes = 165;
const mintType = 1;

async function existing({ rpc }: Watch, mints: readonly string[], signal: AbortSignal) {
  const found: string[] = [];
  for (let from = 0; from < mints.length; from += mintsAtOnce) {
    const some = mints.slice(from, from + mintsAtOnce);
    const { accounts } = await accountsAt(rpc, some, 'finalized', signal);
    const isMint = (at: number) => {
      const account = accounts[at] ?? null;
      if (account === null || !isTokenProgram(account.owner)) return false;
      return account.data.length === mintBytes || account.data[accountBytes] === mintType;
    };
    found.push(...some.filter((_, at) => isMint(at)));
  }
  return found;
}
