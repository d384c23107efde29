// Servers before a Core node, for tests: one without txindex, and one of Esplora's shape.

import type { IncomingMessage } from 'node:http';
import { hexToBytes } from '@noble/hashes/utils.js';
import { type Rpc, RpcError } from '@parley/dev/devnet/rpc.ts';
import { nodeOf } from '../../testing/nodes.ts';

export type TestServer = { readonly url: string; close(): Promise<void> };

async function served(answer: Parameters<typeof nodeOf>[0]): Promise<TestServer> {
  const { url, stop } = await nodeOf(answer);
  return { url, close: stop };
}

type Call = { id?: unknown; method: string; params?: unknown[] };
type Reply = { id?: unknown; result: unknown; error: unknown };

/** Stands before a Core node. `instead`: its answer to a call, or null where the node gives it. */
export async function before(
  rpcUrl: string,
  instead: (call: Call) => Promise<Partial<Reply> | null>,
): Promise<TestServer> {
  const { username, password, origin } = new URL(rpcUrl);
  const authorization = `Basic ${btoa(`${username}:${password}`)}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const answerOne = async (call: Call): Promise<Reply> => {
    const own = await instead(call);
    if (own !== null) return { id: call.id, result: null, error: null, ...own };
    const real = await fetch(origin, { method: 'POST', headers, body: JSON.stringify(call) });
    return (await real.json()) as Reply;
  };
  return served(async (text) => {
    const asked = JSON.parse(text) as Call | Call[];
    const answers = Array.isArray(asked) ? Promise.all(asked.map(answerOne)) : answerOne(asked);
    return { text: JSON.stringify(await answers) };
  });
}

/** As a node without txindex: mined ones only by their block. */
export function withoutTxindex(rpcUrl: string, rpc: Rpc): Promise<TestServer> {
  return before(rpcUrl, async ({ method, params = [] }) => {
    if (method !== 'getrawtransaction' || params[2] !== undefined) return null;
    if ((await rpc<string[]>('getrawmempool')).includes(String(params[0]))) return null;
    return { error: { code: -5, message: 'No such mempool transaction. Use -txindex' } };
  });
}

type CoreTx = {
  txid: string;
  weight: number;
  vin: {
    txid?: string;
    vout?: number;
    coinbase?: string;
    scriptSig?: { hex: string };
    sequence: number;
    txinwitness?: string[];
    prevout?: { value: number; scriptPubKey: { hex: string } };
  }[];
  vout: { value: number; scriptPubKey: { hex: string } }[];
  fee?: number;
};

/** Where transactions are: everything in the chain and the mempool is searched. */
type Found = { tx: CoreTx; place: { hash: string; height: number } | null };

const pageLength = 25;

/** The part of Esplora's REST that is used, answered from a Core node with a txindex. */
export async function esploraServer(
  rpc: Rpc,
): Promise<TestServer & { readonly requests: string[] }> {
  const requests: string[] = [];
  const server = await served(async (body, request) => {
    requests.push(`${request.method} ${request.url}`);
    try {
      const [status, text] = await answer(rpc, request, body);
      return { status, text };
    } catch (error) {
      return { status: error instanceof RpcError ? 404 : 500, text: String(error) };
    }
  });
  return { ...server, requests };
}

async function answer(
  rpc: Rpc,
  request: IncomingMessage,
  sent: string,
): Promise<[number, string | Uint8Array]> {
  const path = (request.url ?? '').split('/').slice(1);
  const json = (value: unknown): [number, string] => [200, JSON.stringify(value)];
  const [first, second = '', third, fourth, fifth] = path;
  if (request.method === 'POST' && first === 'tx') return broadcast(rpc, sent);
  if (first === 'blocks' && third === 'height') {
    return [200, String(await rpc<number>('getblockcount'))];
  }
  if (first === 'blocks') return [200, await rpc<string>('getbestblockhash')];
  if (first === 'block-height') return [200, await rpc<string>('getblockhash', [Number(second)])];
  if (first === 'block' && third === 'raw') {
    return [200, hexToBytes(await rpc<string>('getblock', [second, 0]))];
  }
  if (first === 'block') {
    const header = await rpc<{ height: number; mediantime: number }>('getblockheader', [second]);
    return json({ id: second, ...header });
  }
  if (first === 'fee-estimates') return json({ 1: 12, 2: 10, 3: 8, 6: 5, 144: 1 });
  if (first === 'tx' && third === 'hex') {
    return [200, await rpc<string>('getrawtransaction', [second])];
  }
  if (first === 'tx' && third === 'outspend') {
    return json(await outspend(rpc, second, Number(fourth)));
  }
  if (first === 'tx') {
    const found = await transaction(rpc, second);
    return json(third === 'status' ? esploraTx(found).status : esploraTx(found));
  }
  if (first === 'address' && third === 'utxo') return json(await unspent(rpc, second));
  if (first === 'address') {
    const found = await ofAddress(rpc, second);
    const mempool = fourth === 'mempool';
    const chosen = found.filter(({ place }) => (place === null) === mempool);
    if (third === undefined) return json({ chain_stats: await statsOf(rpc, second, chosen) });
    const start = fifth === undefined ? 0 : chosen.findIndex(({ tx }) => tx.txid === fifth) + 1;
    return json(chosen.slice(start, start + pageLength).map(esploraTx));
  }
  return [404, 'not found'];
}

async function broadcast(rpc: Rpc, raw: string): Promise<[number, string]> {
  try {
    return [200, await rpc<string>('sendrawtransaction', [raw])];
  } catch (error) {
    return [400, `sendrawtransaction RPC error: ${String(error)}`];
  }
}

async function transaction(rpc: Rpc, txid: string): Promise<Found> {
  type Verbose = CoreTx & { blockhash?: string };
  const tx = await rpc<Verbose>('getrawtransaction', [txid, 2]);
  if (tx.blockhash !== undefined) {
    const place = await rpc<{ hash: string; height: number }>('getblockheader', [tx.blockhash]);
    return { tx, place };
  }
  // Core leaves fee and spent outputs out of unconfirmed ones.
  const { fees } = await rpc<{ fees: { base: number } }>('getmempoolentry', [txid]);
  const vin = [];
  for (const input of tx.vin) {
    const spent = await rpc<CoreTx>('getrawtransaction', [input.txid, 1]);
    const prevout = spent.vout[input.vout ?? 0];
    vin.push(prevout === undefined ? input : { ...input, prevout });
  }
  return { tx: { ...tx, vin, fee: fees.base }, place: null };
}

type CoreBlock = {
  readonly hash: string;
  readonly height: number;
  readonly previousblockhash?: string;
  readonly tx: readonly CoreTx[];
};
const blocks = new Map<string, CoreBlock>();

async function blockOf(rpc: Rpc, hash: string): Promise<CoreBlock> {
  const known = blocks.get(hash) ?? (await rpc<CoreBlock>('getblock', [hash, 3]));
  blocks.set(hash, known);
  return known;
}

async function ofAddress(rpc: Rpc, address: string): Promise<Found[]> {
  const { scriptPubKey } = await rpc<{ scriptPubKey: string }>('validateaddress', [address]);
  const involved = (tx: CoreTx) =>
    tx.vout.some((output) => output.scriptPubKey.hex === scriptPubKey) ||
    tx.vin.some((input) => input.prevout?.scriptPubKey.hex === scriptPubKey);
  const found: Found[] = [];
  for (const txid of await rpc<string[]>('getrawmempool')) {
    const each = await transaction(rpc, txid);
    if (involved(each.tx)) found.push(each);
  }
  let next: string | undefined = await rpc<string>('getbestblockhash');
  while (next !== undefined) {
    const block: CoreBlock = await blockOf(rpc, next);
    const { hash, height } = block;
    const mined = block.tx.filter(involved);
    found.push(...mined.map((tx) => ({ tx, place: { hash, height } })));
    next = block.previousblockhash;
  }
  return found;
}

/** The sums that these transactions have paid to an address, and spent of it. */
async function statsOf(rpc: Rpc, address: string, found: readonly Found[]) {
  const { scriptPubKey } = await rpc<{ scriptPubKey: string }>('validateaddress', [address]);
  const sumOf = (outputs: readonly (CoreTx['vout'][number] | undefined)[]) =>
    outputs
      .filter((output) => output?.scriptPubKey.hex === scriptPubKey)
      .reduce((sum, output) => sum + Math.round((output?.value ?? 0) * 1e8), 0);
  return {
    tx_count: found.length,
    funded_txo_sum: sumOf(found.flatMap(({ tx }) => tx.vout)),
    spent_txo_sum: sumOf(found.flatMap(({ tx }) => tx.vin.map(({ prevout }) => prevout))),
  };
}

/** The spend of an output: in a block, in the mempool, or nothing. */
async function outspend(rpc: Rpc, txid: string, vout: number) {
  if ((await rpc('gettxout', [txid, vout, true])) !== null) return { spent: false };
  const inBlocks = (await rpc('gettxout', [txid, vout, false])) === null;
  type Spending = { spendingtxid?: string };
  const [found] = await rpc<Spending[]>('gettxspendingprevout', [[{ txid, vout }]]);
  return { spent: true, txid: found?.spendingtxid, status: { confirmed: inBlocks } };
}

type Unspent = { txid: string; vout: number; amount: number };

/** As Esplora does: coins that the mempool spends are left out, those it pays are unconfirmed. */
async function unspent(rpc: Rpc, address: string) {
  const { unspents } = await rpc<{ unspents: Unspent[] }>('scantxoutset', [
    'start',
    [`addr(${address})`],
  ]);
  const confirmed = [];
  for (const { txid, vout, amount } of unspents) {
    if ((await rpc('gettxout', [txid, vout, true])) === null) continue;
    const value = Math.round(amount * 1e8);
    confirmed.push({ txid, vout, value, status: { confirmed: true } });
  }
  const { scriptPubKey } = await rpc<{ scriptPubKey: string }>('validateaddress', [address]);
  const unconfirmed = [];
  for (const txid of await rpc<string[]>('getrawmempool')) {
    const { tx } = await transaction(rpc, txid);
    for (const [vout, output] of tx.vout.entries()) {
      if (output.scriptPubKey.hex !== scriptPubKey) continue;
      const value = Math.round(output.value * 1e8);
      unconfirmed.push({ txid, vout, value, status: { confirmed: false } });
    }
  }
  return [...confirmed, ...unconfirmed];
}

function esploraTx({ tx, place }: Found) {
  return {
    txid: tx.txid,
    weight: tx.weight,
    fee: Math.round((tx.fee ?? 0) * 1e8),
    vin: tx.vin.map((input) => ({
      txid: input.txid ?? '00'.repeat(32),
      vout: input.vout ?? 0xffff_ffff,
      is_coinbase: input.coinbase !== undefined,
      scriptsig: input.scriptSig?.hex ?? '',
      sequence: input.sequence,
      witness: input.txinwitness ?? [],
      ...(input.prevout && { prevout: { scriptpubkey: input.prevout.scriptPubKey.hex } }),
    })),
    vout: tx.vout.map(({ value, scriptPubKey }) => ({
      scriptpubkey: scriptPubKey.hex,
      value: Math.round(value * 1e8),
    })),
    status:
      place === null
        ? { confirmed: false }
        : { confirmed: true, block_height: place.height, block_hash: place.hash },
  };
}
