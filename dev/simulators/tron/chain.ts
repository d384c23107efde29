// The chain of the simulator: pending transactions, blocks, the state at the head and the state at
// the newest solidified block, which lags behind as confirmations of the other witnesses do.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { createTvm } from '@parley/contracts/tron/testing/engine.ts';
import { type Changes, TvmState } from '@parley/contracts/tron/testing/state.ts';
import { queue } from '@parley/core/queue.ts';
import type { Log } from '@parley/host/log.ts';
import { credit } from './accounts.ts';
import type { Block, Header, StoredTransaction } from './blocks.ts';
import { apply, type BlockTime, type Ledger } from './execution.ts';
import {
  blockId,
  headerSchema,
  reference,
  type Transaction,
  transactionBytes,
  transactionOf,
} from './messages.ts';
import { expirationLimitMs, transactionLimitBytes } from './parameters.ts';
import { encode, fromJson, type JsonObject, type Message } from './protobuf.ts';
import { Refusal } from './refusal.ts';
import { openStore, type Store } from './store.ts';

export type View = 'head' | 'solid';
export type Place = { readonly block: Block; readonly index: number };
export type Waiting = { readonly tx: Transaction; readonly contractRet: string };

export type TronChain = {
  readonly chainId: number;
  tip(view: View): Block;
  block(number: number): Block | undefined;
  find(txid: string): Place | undefined;
  pending(): number;
  /** One that waits for a block, and how it ended when it was taken. */
  waiting(txid: string): Waiting | undefined;
  /**
   * Runs `task` on a state that is thrown away afterwards, in the newest block of that view. As in
   * java-tron the head's has what waits for a block in it, too.
   */
  look<T>(view: View, task: (ledger: Ledger, block: BlockTime) => Promise<T>): Promise<T>;
  /** Throws Refusal. That it is taken says nothing of how it will end. */
  broadcast(tx: Transaction): Promise<void>;
  mine(): Promise<Block>;
  /** Forgets the newest blocks, as a fork of the chain would; never a solidified one. */
  takeBack(blocks: number): Promise<void>;
  stop(): Promise<void>;
};

type ChainOptions = {
  readonly file: string;
  readonly nowMs: () => number;
  /** Blocks on top of a block when it solidifies. */
  readonly solidityLag: number;
  readonly log: Log;
  /** Its 21-byte address gets all TRX there is, in hex. */
  readonly rich: string;
  /**
   * The genesis of the network that it stands for: the chain id follows from it. Default: its own.
   */
  readonly genesisId?: string | undefined;
};

/** All TRX of the chain, in sun: below 2^53, so that every client reads it. */
export const supply = 5_000_000_000_000_000n;
const headerVersion = 34;
const zeroHash = '0'.repeat(64);
const witnessKey = sha256(utf8ToBytes('the one witness of a simulated TRON chain'));
const witness = `41${bytesToHex(keccak_256(secp256k1.getPublicKey(witnessKey, false).subarray(1)).subarray(12))}`;

/** MerkleTree: pairs hashed together, an odd one taken up as it is. */
function merkleRoot(leaves: readonly Uint8Array[]): string {
  let row = [...leaves];
  while (row.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < row.length; at += 2) {
      const left = row[at] as Uint8Array;
      const right = row[at + 1];
      above.push(right === undefined ? left : sha256(concatBytes(left, right)));
    }
    row = above;
  }
  return row[0] === undefined ? zeroHash : bytesToHex(row[0]);
}

function sealed(header: Header, transactions: readonly StoredTransaction[]): Block {
  const message: Message = fromJson(headerSchema, header as unknown as JsonObject, false);
  const hash = sha256(encode(headerSchema, message));
  const signed = secp256k1.sign(hash, witnessKey, { prehash: false, format: 'recovered' });
  const signature = bytesToHex(concatBytes(signed.subarray(1), Uint8Array.of(signed[0] as number)));
  return { id: blockId(message), header, witness_signature: signature, transactions };
}

export function readStored({ raw, signatures }: StoredTransaction): Transaction {
  return transactionOf(hexToBytes(raw), signatures.map(hexToBytes));
}

type Inside = {
  readonly options: ChainOptions;
  readonly store: Store;
  readonly blocks: Block[];
  /** The changes of the blocks that are not solid yet. */
  readonly changes: Map<number, Changes>;
  readonly places: Map<string, Place>;
  readonly waiting: Waiting[];
  chainId: number;
  /** Number of the newest solidified block; never falls. */
  solidAt: number;
  solid: Ledger;
  head: Ledger;
};

export async function openChain(options: ChainOptions): Promise<TronChain> {
  const store = await openStore(options.file);
  const states = [new TvmState(), new TvmState()] as const;
  const none = { run: () => Promise.reject(new Error('no TVM yet')) };
  const inside: Inside = {
    options,
    store,
    blocks: [],
    changes: new Map(),
    places: new Map(),
    waiting: [],
    chainId: 0,
    solidAt: -1,
    head: { state: states[0], tvm: none },
    solid: { state: states[1], tvm: none },
  };
  for (const line of store.lines) {
    if ('backTo' in line) forget(inside, line.backTo);
    else take(inside, line.block, line.changes, false);
  }
  if (inside.blocks.length === 0) genesis(inside);
  // Wallet.getChainId: the last four bytes of the first block's id
  inside.chainId = Number.parseInt((inside.blocks[0] as Block).id.slice(-8), 16);
  const ledger = async (state: TvmState) => ({
    state,
    tvm: await createTvm(state, inside.chainId, { cancun: true }),
  });
  inside.head = await ledger(await rebuilt(inside));
  inside.solid = await ledger(inside.solid.state);
  return faceOf(inside);
}

function faceOf(inside: Inside): TronChain {
  const inTurn = queue();
  const tip = (view: View) => {
    const top = inside.blocks.length - 1;
    return inside.blocks[view === 'head' ? top : inside.solidAt] as Block;
  };
  return {
    chainId: inside.chainId,
    tip,
    block: (number) => inside.blocks[number],
    find: (txid) => inside.places.get(txid),
    pending: () => inside.waiting.length,
    waiting: (txid) => inside.waiting.find(({ tx }) => tx.txid === txid),
    look: (view, task) => inTurn(() => lookAt(inside, view, tip(view), task)),
    broadcast: (tx) => inTurn(() => accept(inside, tx)),
    mine: () => inTurn(() => mineOne(inside)),
    takeBack: (blocks) => inTurn(() => takeBack(inside, blocks)),
    stop: () => inTurn(async () => inside.store.close()),
  };
}

function nextOf({ blocks, options }: Inside): BlockTime {
  const { header } = blocks.at(-1) as Block;
  return {
    number: BigInt(header.number + 1),
    timestampMs: Math.max(header.timestamp + 1, options.nowMs()),
  };
}

/** A waiting transaction is run without a block: Manager.processTransaction(trx, null). */
const noBlock: BlockTime = { number: 0n, timestampMs: 0 };

async function runWaiting(inside: Inside): Promise<void> {
  const next = nextOf(inside);
  for (const { tx } of inside.waiting) await attempted(inside.head, tx, next, noBlock);
}

function lookAt<T>(
  inside: Inside,
  view: View,
  { header }: Block,
  task: (ledger: Ledger, block: BlockTime) => Promise<T>,
): Promise<T> {
  return discarding(inside[view], async () => {
    if (view === 'head') await runWaiting(inside);
    const { number, timestamp: timestampMs, parentHash } = header;
    return task(inside[view], { number: BigInt(number), timestampMs, parentHash });
  });
}

async function discarding<T>({ state }: Ledger, task: () => Promise<T>): Promise<T> {
  await state.checkpoint();
  try {
    return await task();
  } finally {
    await state.revert();
  }
}

/** The same on every machine, so that the chain id is. */
function genesis(inside: Inside): void {
  const { state } = inside.head;
  const { genesisId } = inside.options;
  credit(state, inside.options.rich.slice(2), supply, 0);
  const header = {
    number: 0,
    txTrieRoot: zeroHash,
    witness_address: witness,
    parentHash: zeroHash,
    version: headerVersion,
    timestamp: 0,
  };
  const block = { ...sealed(header, []), ...(genesisId === undefined ? {} : { id: genesisId }) };
  const changes = state.takeChanges();
  inside.store.append({ block, changes });
  take(inside, block, changes, true);
}

/** `known`: the head has these changes already. */
function take(inside: Inside, block: Block, changes: Changes, known: boolean): void {
  const { blocks, places } = inside;
  blocks.push(block);
  for (const [index, { info }] of block.transactions.entries()) {
    places.set(info.id, { block, index });
  }
  inside.changes.set(block.header.number, changes);
  if (!known) inside.head.state.load(changes);
  const solidTo = Math.max(0, block.header.number - inside.options.solidityLag);
  while (inside.solidAt < solidTo) {
    inside.solidAt += 1;
    inside.solid.state.load(inside.changes.get(inside.solidAt) ?? {});
    inside.changes.delete(inside.solidAt);
  }
}

function forget(inside: Inside, backTo: number): void {
  for (const block of inside.blocks.splice(backTo + 1)) {
    inside.changes.delete(block.header.number);
    for (const { info } of block.transactions) inside.places.delete(info.id);
  }
}

/** The head's state anew: the solid one and what came after it. */
async function rebuilt({ solid, changes }: Inside): Promise<TvmState> {
  const state = solid.state.copy();
  const later = [...changes].sort(([a], [b]) => a - b);
  for (const [, change] of later) state.load(change);
  return state;
}

async function takeBack(inside: Inside, count: number): Promise<void> {
  const backTo = inside.blocks.length - 1 - count;
  if (backTo < inside.solidAt) throw new Error('a solidified block is never taken back');
  inside.store.append({ backTo });
  forget(inside, backTo);
  const state = await rebuilt(inside);
  inside.head = { state, tvm: await createTvm(state, inside.chainId, { cancun: true }) };
}

async function accept(inside: Inside, tx: Transaction): Promise<void> {
  const { blocks, places, waiting, head } = inside;
  const { header } = blocks.at(-1) as Block;
  const expiration = Number(tx.raw.expiration ?? 0n);
  if (transactionBytes(tx).length > transactionLimitBytes) {
    throw new Refusal('TOO_BIG_TRANSACTION_ERROR', 'Transaction size is too big.');
  }
  if (expiration <= header.timestamp || expiration > header.timestamp + expirationLimitMs) {
    throw new Refusal('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
  }
  if (!refersToUs(inside, tx)) throw new Refusal('TAPOS_ERROR', 'Tapos check error.');
  if (places.has(tx.txid) || waiting.some((each) => each.tx.txid === tx.txid)) {
    throw new Refusal('DUP_TRANSACTION_ERROR', 'Dup transaction.');
  }
  const { contractRet } = await discarding(head, async () => {
    await runWaiting(inside);
    return apply(head, tx, nextOf(inside), noBlock);
  });
  waiting.push({ tx, contractRet });
}

/** The one of the newest 65,536 blocks with these two last bytes must have this id. */
function refersToUs({ blocks }: Inside, { raw }: Transaction): boolean {
  const bytes = bytesToHex((raw.ref_block_bytes ?? new Uint8Array()) as Uint8Array);
  if (!/^[0-9a-f]{4}$/.test(bytes)) return false;
  const top = blocks.length - 1;
  const low = Number.parseInt(bytes, 16);
  const number = top - ((((top - low) % 65_536) + 65_536) % 65_536);
  const block = blocks[number];
  if (block === undefined) return false;
  const { hash } = reference(BigInt(number), block.id);
  return hash === bytesToHex((raw.ref_block_hash ?? new Uint8Array()) as Uint8Array);
}

/** Null, with the state as before, for what cannot be part of this block. */
async function attempted(ledger: Ledger, tx: Transaction, next: BlockTime, shown = next) {
  await ledger.state.checkpoint();
  try {
    if (Number(tx.raw.expiration ?? 0n) <= next.timestampMs) {
      throw new Refusal('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
    }
    const done = await apply(ledger, tx, next, shown);
    await ledger.state.commit();
    return { done, refusal: null };
  } catch (error) {
    await ledger.state.revert();
    if (!(error instanceof Refusal)) throw error;
    return { done: null, refusal: error };
  }
}

async function mineOne(inside: Inside): Promise<Block> {
  const { blocks, waiting, head, store, options } = inside;
  const next = nextOf(inside);
  const stored: StoredTransaction[] = [];
  const leaves: Uint8Array[] = [];
  for (const { tx } of waiting.splice(0)) {
    const { done, refusal } = await attempted(head, tx, next);
    if (done === null) {
      const facts = { txid: tx.txid, code: refusal.code, reason: refusal.message };
      options.log.warn(facts, 'TRON simulator: a pending transaction is dropped');
      continue;
    }
    leaves.push(sha256(transactionBytes(tx)));
    stored.push({
      raw: bytesToHex(tx.rawBytes),
      signatures: tx.signatures.map(bytesToHex),
      ...done,
    });
  }
  const header = {
    number: Number(next.number),
    txTrieRoot: merkleRoot(leaves),
    witness_address: witness,
    parentHash: (blocks.at(-1) as Block).id,
    version: headerVersion,
    timestamp: next.timestampMs,
  };
  const block = sealed(header, stored);
  const changes = head.state.takeChanges();
  store.append({ block, changes });
  take(inside, block, changes, true);
  return block;
}
