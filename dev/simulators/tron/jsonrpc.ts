// java-tron's Ethereum-like JSON-RPC: logs and storage. Source:
// framework/src/main/java/org/tron/core/services/jsonrpc/TronJsonRpcImpl.java; documented in
// tronprotocol/documentation-en, docs/api/json-rpc.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { slotKey } from '@parley/contracts/tron/testing/state.ts';
import type { Log } from '@parley/host/log.ts';
import type { Block } from './blocks.ts';
import type { TronChain } from './chain.ts';
import { parseAddress } from './protobuf.ts';

type Parts = { readonly chain: TronChain; readonly log: Log };

/** node.jsonrpc: maxBlockRange; LogBlockQuery.MAX_RESULT. */
const blockRangeLimit = 5_000;
const resultsLimit = 10_000;

class RpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcFailure';
    this.code = code;
  }
}

type Params = readonly unknown[];
type Method = (chain: TronChain, params: Params) => unknown;

const quantity = (value: number | bigint): string => `0x${value.toString(16)}`;
const badParams = (message: string) => new RpcFailure(-32602, message);

/** 20 bytes in hex; 0x and 20 bytes, 41 and 20 bytes, or base58check come in. */
function addressOf(text: unknown): string {
  const given = String(text);
  const hex = given.replace(/^0x/, '').toLowerCase();
  if (/^[0-9a-f]{40}$/.test(hex)) return hex;
  if (/^41[0-9a-f]{40}$/.test(hex)) return hex.slice(2);
  try {
    return bytesToHex(parseAddress(given, true).subarray(1));
  } catch {
    throw badParams('invalid address hash value');
  }
}

function hashOf(text: unknown): string {
  if (!/^(0x)?[a-zA-Z0-9]{64}$/.test(String(text))) throw badParams('invalid hash value');
  return String(text).replace(/^0x/, '').toLowerCase();
}

function blockNumber(chain: TronChain, tag: unknown): number {
  if (tag === 'latest' || tag === undefined || tag === null) return chain.tip('head').header.number;
  if (tag === 'earliest') return 0;
  if (tag === 'finalized') return chain.tip('solid').header.number;
  if (tag === 'pending' || tag === 'safe') throw badParams(`TAG ${tag} not supported`);
  if (!/^0x[0-9a-fA-F]{1,13}$/.test(String(tag))) throw badParams('invalid block number');
  return Number(tag);
}

function onlyLatest(tag: unknown): void {
  if (tag === 'latest') return;
  if (['earliest', 'pending', 'finalized', 'safe'].includes(String(tag))) {
    throw badParams('TAG [earliest | pending | finalized | safe] not supported');
  }
  throw badParams('QUANTITY not supported, just support TAG as latest');
}

type LogJson = { address: string; topics: string[] } & Readonly<Record<string, unknown>>;

function logsOf(block: Block): LogJson[] {
  let logIndex = 0;
  return block.transactions.flatMap(({ info }, index) =>
    (info.log ?? []).map((log) => ({
      address: `0x${log.address}`,
      blockHash: `0x${block.id}`,
      blockNumber: quantity(block.header.number),
      blockTimestamp: quantity(Math.floor(block.header.timestamp / 1_000)),
      transactionHash: `0x${info.id}`,
      transactionIndex: quantity(index),
      logIndex: quantity(logIndex++),
      removed: false,
      topics: log.topics.map((topic) => `0x${topic}`),
      data: `0x${log.data}`,
    })),
  );
}

type Filter = {
  fromBlock?: unknown;
  toBlock?: unknown;
  address?: unknown;
  topics?: unknown;
};

function rangeOf(chain: TronChain, filter: Filter): [number, number] {
  const from = blockNumber(chain, filter.fromBlock);
  const to = blockNumber(chain, filter.toBlock);
  if (from > to) throw badParams('please verify: fromBlock <= toBlock');
  if (to - from > blockRangeLimit) throw badParams(`exceed max block range: ${blockRangeLimit}`);
  return [from, Math.min(to, chain.tip('head').header.number)];
}

function getLogs(chain: TronChain, [given]: Params): LogJson[] {
  const filter = (given ?? {}) as Filter;
  const [from, to] = rangeOf(chain, filter);
  const addresses = [filter.address ?? []].flat().map((each) => `0x${addressOf(each)}`);
  const topics = (filter.topics ?? []) as readonly (null | string | readonly string[])[];
  if (topics.length > 4) throw badParams('topics size should be <= 4');
  const wanted = topics.map((slot) =>
    slot === null ? [] : [slot].flat().map((each) => `0x${hashOf(each)}`),
  );
  const found: LogJson[] = [];
  for (let at = from; at <= to; at++) {
    for (const log of logsOf(chain.block(at) as Block)) {
      if (addresses.length > 0 && !addresses.includes(log.address)) continue;
      const fits = wanted.every(
        (slot, n) => slot.length === 0 || slot.includes(log.topics[n] ?? ''),
      );
      if (fits) found.push(log);
    }
  }
  if (found.length <= resultsLimit) return found;
  throw new RpcFailure(-32005, `query returned more than ${resultsLimit} results`);
}

const methods: Readonly<Record<string, Method>> = {
  eth_getLogs: getLogs,
  eth_getStorageAt: (chain, [who, slot, tag]) => {
    onlyLatest(tag);
    const word = hexToBytes(BigInt(String(slot)).toString(16).padStart(64, '0'));
    return chain.look('head', async ({ state }) => {
      return `0x${(state.get(slotKey(addressOf(who), word)) ?? '').padStart(64, '0')}`;
    });
  },
};

type Request = { id?: unknown; method?: unknown; params?: unknown };

async function answerOne({ chain, log }: Parts, request: Request): Promise<object> {
  const reply = { jsonrpc: '2.0', id: request.id ?? null };
  const name = String(request.method);
  try {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (method === undefined) {
      throw new RpcFailure(-32601, `the method ${name} does not exist/is not available`);
    }
    const params = Array.isArray(request.params) ? (request.params as Params) : [];
    return { ...reply, result: await method(chain, params) };
  } catch (error) {
    if (error instanceof RpcFailure) {
      const { code, message } = error;
      return { ...reply, error: { code, message, data: '{}' } };
    }
    const facts = { method: name, reason: (error as Error).message };
    log.warn(facts, 'TRON simulator: a JSON-RPC call failed');
    return { ...reply, error: { code: -32603, message: 'Internal error', data: '{}' } };
  }
}

export async function answerRpc(parts: Parts, text: string): Promise<unknown> {
  const nobody = { jsonrpc: '2.0', id: null };
  let asked: unknown;
  try {
    asked = JSON.parse(text);
  } catch {
    return { ...nobody, error: { code: -32700, message: 'JSON parse error' } };
  }
  return answerOne(parts, (asked ?? {}) as Request);
}
