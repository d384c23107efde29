// The chain as an Esplora server shows it over REST. Escrows are asked in turn, as it lists nothing
// new. Replacements are priced without descendants.
// https://github.com/Blockstream/esplora/blob/master/API.md

import { hexToBytes } from '@noble/hashes/utils.js';
import type { Heads } from '../interface/reading.ts';
import { type NodeLimits, withoutKeys } from '../nodes/exchange.ts';
import { pause } from '../nodes/in-turn.ts';
import { onceHeard } from '../nodes/offers.ts';
import type {
  AddressPast,
  BitcoinBackend,
  MempoolChange,
  MempoolInterest,
  MinedTx,
  PartOfPast,
} from './backend.ts';
import { blockOf, mustBeAsked } from './block.ts';
import { type FeeEstimate, pacesOf } from './fees.ts';
import { busy, exchange, unavailable } from './http.ts';
import type { BitcoinNetwork } from './networks.ts';
import type { Tx } from './raw-transaction.ts';
import { refusedBytes } from './rpc.ts';

const esploraName = 'Esplora server';

/** Escrows whose mempool is read in one pass: public servers allow some requests a second. */
const addressesPerPass = 20;
/** For one address in one reading: the next goes on below. */
const maxPages = 40;
/** One machine of several may not have yet what another has just named. */
const mostTries = 3;

const defaultLimits: NodeLimits = { timeMs: 15_000, bytes: 16_000_000 };

export type EsploraOptions = {
  readonly url: string;
  readonly network: BitcoinNetwork;
  readonly limits?: Partial<NodeLimits>;
};

type Get = (path: string, signal: AbortSignal) => Promise<Uint8Array | null>;
type State = {
  readonly get: Get;
  turn: number;
  checked: boolean;
  readonly network: BitcoinNetwork;
};

export function esploraBackend(options: EsploraOptions): BitcoinBackend {
  const limits = { ...defaultLimits, ...options.limits };
  const base = options.url.replace(/\/+$/, '');
  const get: Get = async (path, signal) => {
    const request = { url: `${base}/${path}`, method: 'GET' as const, headers: {} };
    const { status, body } = await exchange(esploraName, request, limits, signal);
    if (status === 404) return null;
    if (status !== 200) throw unavailable(esploraName, `it answered HTTP ${status}`);
    return body;
  };
  const state: State = { get, turn: 0, checked: false, network: options.network };
  return {
    name: esploraName,
    past: {
      kind: 'by_address',
      read: (address, part, signal) => past(get, address, part, signal),
      count: (address, signal) => minedCount(get, address, signal),
      one: async (txid, signal) => {
        const tx = await transaction(get, txid, signal);
        return tx && minedTx(tx);
      },
    },
    tip: (signal) => tip(state, signal),
    blockHash: async (height, signal) => {
      const hash = await get(`block-height/${height}`, signal);
      return hash === null ? null : text(hash);
    },
    block: async (hash, signal) => {
      const bytes = await named('a block', () => get(`block/${hash}/raw`, signal), signal);
      return blockOf(esploraName, hash, bytes);
    },
    mempool: (interest, signal) => mempool(state, interest, signal),
    feeEstimate: (at, signal) => feeEstimate(get, at, signal),
    mempoolEntry: async (txid, signal) => {
      const tx = await transaction(get, txid, signal);
      if (tx === null || tx.status.confirmed) return null;
      const feeSats = BigInt(tx.fee);
      const vsize = Math.ceil(tx.weight / 4);
      return { txid, vsize, feeSats, withDescendantsFeeSats: feeSats };
    },
    spenders: (outpoints, signal) => spenders(get, outpoints, signal),
    rawOf: (txid, _height, signal) => rawOf(get, txid, signal),
    send: (raw, txid, signal) => send({ base, limits, get }, raw, txid, signal),
  };
}

function text(body: Uint8Array): string {
  return new TextDecoder().decode(body).trim();
}

function json<T>(body: Uint8Array): T {
  let value: unknown;
  try {
    value = JSON.parse(text(body));
  } catch (cause) {
    throw unavailable(esploraName, 'its answer is not JSON', cause);
  }
  if (typeof value === 'object' && value !== null) return value as T;
  throw unavailable(esploraName, 'its answer is neither an object nor a list');
}

function mustHave(body: Uint8Array | null, what: string): Uint8Array {
  if (body === null) throw unavailable(esploraName, `it does not have ${what} that it named`);
  return body;
}

/** Asks again for what the server has named itself. */
async function named(
  what: string,
  ask: () => Promise<Uint8Array | null>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  for (let tries = 1; tries < mostTries; tries += 1) {
    const body = await ask();
    if (body !== null) return body;
    await pause(signal);
  }
  return mustHave(await ask(), what);
}

function list<T>(body: Uint8Array): T[] {
  const value = json<T[]>(body);
  if (Array.isArray(value)) return value;
  throw unavailable(esploraName, 'its answer is no list');
}

// The first block says which chain it is. Signet and the testnets each have one of their own, so
// only mainnet can be told apart from the rest.
const mainnetGenesis = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';

async function tip(state: State, signal: AbortSignal): Promise<Heads> {
  const { get, network } = state;
  if (!state.checked) {
    const genesis = text(mustHave(await get('block-height/0', signal), 'block 0'));
    // Any server may be named: a page of it is not quoted.
    if (!/^[0-9a-f]{64}$/.test(genesis)) {
      throw unavailable(esploraName, 'it is no Esplora: it names no hash of block 0');
    }
    if ((genesis === mainnetGenesis) !== (network.name === 'mainnet')) {
      const sentence = `its first block is ${genesis}, which is not of Bitcoin ${network.name}`;
      throw unavailable(esploraName, sentence);
    }
    state.checked = true;
  }
  const hash = text(mustHave(await get('blocks/tip/hash', signal), 'its best block'));
  const body = await named('its best block', () => get(`block/${hash}`, signal), signal);
  type Described = { id: string; height: number; mediantime: number };
  const { id, height, mediantime } = json<Described>(body);
  mustBeAsked(esploraName, hash, id);
  if (!Number.isInteger(height) || !Number.isInteger(mediantime)) {
    throw unavailable(esploraName, 'it describes its best block without height or median time');
  }
  return { height, hash, clock: mediantime };
}

type EsploraTx = {
  txid: string;
  fee: number;
  weight: number;
  vin: {
    txid: string;
    vout: number;
    is_coinbase: boolean;
    scriptsig?: string;
    sequence: number;
    witness?: string[];
    prevout?: { scriptpubkey: string } | null;
  }[];
  vout: { scriptpubkey: string; value: number }[];
  status: { confirmed: boolean; block_height?: number; block_hash?: string };
};

function toTx(tx: EsploraTx): Tx {
  return {
    txid: () => tx.txid,
    coinbase: tx.vin.some((input) => input.is_coinbase),
    inputs: tx.vin.map(({ txid, vout, scriptsig, sequence, witness, prevout }) => ({
      outpoint: () => `${txid}:${vout}`,
      ...(prevout && { script: hexToBytes(prevout.scriptpubkey) }),
      scriptSig: hexToBytes(scriptsig ?? ''),
      sequence,
      witness: (witness ?? []).map((item) => hexToBytes(item)),
    })),
    outputs: tx.vout.map(({ scriptpubkey, value }) => ({
      script: hexToBytes(scriptpubkey),
      amount: BigInt(value),
    })),
  };
}

async function minedCount(get: Get, address: string, signal: AbortSignal): Promise<number> {
  const body = mustHave(await get(`address/${address}`, signal), 'an address');
  const count = json<{ chain_stats?: { tx_count?: unknown } }>(body).chain_stats?.tx_count;
  if (typeof count === 'number') return count;
  throw unavailable(esploraName, 'it does not count the transactions of an address');
}

async function transaction(get: Get, txid: string, signal: AbortSignal) {
  const body = await get(`tx/${txid}`, signal);
  return body && json<EsploraTx>(body);
}

function minedTx(tx: EsploraTx): MinedTx | null {
  const { block_height: height, block_hash: block = null } = tx.status;
  return height === undefined ? null : { tx: toTx(tx), height, block };
}

/** Page by page, however long they are, until as many are found as are wanted. */
async function past(
  get: Get,
  address: string,
  { most, below }: PartOfPast,
  signal: AbortSignal,
): Promise<AddressPast> {
  const found = new Map<string, EsploraTx>();
  let pages = 0;
  let last = below;
  // The first page is asked for also where there is none: two answers err less than one.
  for (; pages < maxPages && (pages === 0 || found.size < most); pages += 1) {
    const body = await get(
      `address/${address}/txs/chain${last === null ? '' : `/${last}`}`,
      signal,
    );
    const page: EsploraTx[] = list(mustHave(body, 'an address'));
    const before = found.size;
    for (const tx of page) found.set(tx.txid, tx);
    if (found.size === before) break;
    last = page.at(-1)?.txid ?? null;
  }
  const mined = [...found.values()].map(minedTx).filter((each) => each !== null);
  return { mined, cutAt: pages === maxPages && found.size < most ? last : null };
}

async function mempool(
  state: State,
  { addresses, about, unmined }: MempoolInterest,
  signal: AbortSignal,
): Promise<MempoolChange> {
  const all = addresses();
  const asked = new Set(about === null ? [] : [about]);
  for (let count = Math.min(all.length, addressesPerPass); count > 0; count -= 1) {
    state.turn = (state.turn + 1) % all.length;
    asked.add(all[state.turn] ?? '');
  }
  const transactions: Tx[] = [];
  for (const address of asked) {
    const body = mustHave(await state.get(`address/${address}/txs/mempool`, signal), 'an address');
    transactions.push(...list<EsploraTx>(body).map(toTx));
  }
  const gone: string[] = [];
  for (const txid of unmined.slice(0, addressesPerPass)) {
    if ((await state.get(`tx/${txid}/status`, signal)) === null) gone.push(txid);
  }
  const hash = text(mustHave(await state.get('blocks/tip/hash', signal), 'its best block'));
  return { transactions, gone, best: { hash } };
}

async function feeEstimate(get: Get, at: number, signal: AbortSignal): Promise<FeeEstimate | null> {
  const body = await get('fee-estimates', signal);
  const rates = body === null ? {} : json<Record<string, unknown>>(body);
  const paces = pacesOf(rates);
  return paces && { ...paces, least: 1, at };
}

type Outspend = { spent: boolean; txid?: string; status?: { confirmed: boolean } };

async function spenders(get: Get, outpoints: readonly string[], signal: AbortSignal) {
  const found: string[] = [];
  for (const outpoint of outpoints) {
    const [txid = '', vout = ''] = outpoint.split(':');
    const body = mustHave(await get(`tx/${txid}/outspend/${vout}`, signal), 'a payment');
    const { spent, txid: by, status } = json<Outspend>(body);
    if (spent && by !== undefined && status?.confirmed !== true) found.push(by);
  }
  return found;
}

async function rawOf(get: Get, txid: string, signal: AbortSignal): Promise<string | null> {
  const body = await get(`tx/${txid}/hex`, signal);
  return body === null ? null : text(body);
}

/** Its node's code, in each form; the node may be of another machine than the one that is asked. */
const alreadyMined = /RPC error(?:: \{"code": ?| )-27\b/;

async function send(
  server: { readonly base: string; readonly limits: NodeLimits; readonly get: Get },
  raw: string,
  txid: string,
  signal: AbortSignal,
): Promise<void> {
  const headers = { 'content-type': 'text/plain' };
  const url = `${server.base}/tx`;
  const request = { url, method: 'POST' as const, headers, body: raw };
  const { status, body } = await exchange(esploraName, request, server.limits, signal);
  if (status === 200 && text(body) === txid) return;
  const words = withoutKeys(text(body), server.base).slice(0, 300);
  // It hands on what its node says with 400 alone. A page is of something before it.
  if (status !== 400 || words.startsWith('<')) {
    const why = `it answered HTTP ${status} without the txid`;
    throw busy(esploraName, why);
  }
  // The txid leaves the witness out: other bytes of the same id are not the ones it has.
  const there = await onceHeard(rawOf(server.get, txid, signal));
  if (there === raw || (there === null && alreadyMined.test(words))) return;
  throw refusedBytes(esploraName, { words }, { status });
}
