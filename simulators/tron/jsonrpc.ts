// java-tron's Ethereum-like JSON-RPC: the methods that a reader of contracts needs. Source:
// framework/src/main/java/org/tron/core/services/jsonrpc/TronJsonRpcImpl.java; documented in
// tronprotocol/documentation-en, docs/api/json-rpc.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { slotKey } from '../../contracts/tron/tvm/state.ts';
import type { Log } from '../../host/log.ts';
import { balanceOf } from './accounts.ts';
import type { Block } from './blocks.ts';
import type { Place, TronChain } from './chain.ts';
import { readStored } from './chain.ts';
import { callOf, type Ledger, outcome, runCall } from './execution.ts';
import { constantEnergyLimit, parameters } from './parameters.ts';
import { parseAddress } from './protobuf.ts';
import { Refusal } from './refusal.ts';

type Parts = { readonly chain: TronChain; readonly log: Log };

/** node.jsonrpc: maxBlockRange, maxBatchSize; LogBlockQuery.MAX_RESULT. */
const blockRangeLimit = 5_000;
const batchLimit = 100;
const resultsLimit = 10_000;
const noBloom = `0x${'0'.repeat(512)}`;
const noHash = `0x${'0'.repeat(64)}`;

class RpcFailure extends Error {
  readonly code: number;
  readonly data: string;

  constructor(code: number, message: string, data = '{}') {
    super(message);
    this.name = 'RpcFailure';
    this.code = code;
    this.data = data;
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

function blockJson(block: Block | undefined, full: boolean): object | null {
  if (block === undefined) return null;
  const { header, id, transactions } = block;
  const places = transactions.map((_, index) => ({ block, index }));
  return {
    number: quantity(header.number),
    hash: `0x${id}`,
    parentHash: `0x${header.parentHash}`,
    nonce: '0x0000000000000000',
    sha3Uncles: noHash,
    logsBloom: noBloom,
    transactionsRoot: `0x${header.txTrieRoot}`,
    stateRoot: '0x',
    receiptsRoot: noHash,
    miner: `0x${header.witness_address.slice(2)}`,
    difficulty: '0x0',
    totalDifficulty: '0x0',
    extraData: '0x',
    size: quantity(transactions.reduce((sum, each) => sum + each.raw.length / 2 + 70, 170)),
    gasLimit: '0x0',
    gasUsed: '0x0',
    timestamp: quantity(Math.floor(header.timestamp / 1_000)),
    transactions: places.map((place) =>
      full ? transactionJson(place) : `0x${storedAt(place).info.id}`,
    ),
    uncles: [],
    baseFeePerGas: '0x0',
    mixHash: noHash,
  };
}

function storedAt({ block, index }: Place) {
  const stored = block.transactions[index];
  if (stored === undefined) throw new RpcFailure(-32000, 'transaction not found');
  return stored;
}

function sides(place: Place) {
  const { contract, kind } = readStored(storedAt(place));
  const hex = (name: string) => {
    const bytes = contract[name] as Uint8Array | undefined;
    return bytes === undefined ? null : `0x${bytesToHex(bytes.subarray(1))}`;
  };
  const to = kind === 'TransferContract' ? hex('to_address') : hex('contract_address');
  return { from: hex('owner_address'), to, contract, kind };
}

function transactionJson(place: Place): object {
  const { block, index } = place;
  const { info } = storedAt(place);
  const { from, to, contract } = sides(place);
  const signature = bytesToHex(readStored(storedAt(place)).signatures[0] ?? new Uint8Array(65));
  const value = (contract.amount ?? contract.call_value ?? 0n) as bigint;
  return {
    blockHash: `0x${block.id}`,
    blockNumber: quantity(block.header.number),
    from,
    to,
    gas: quantity(energyOf(place)),
    gasPrice: quantity(parameters.getEnergyFee),
    hash: `0x${info.id}`,
    input: contract.data === undefined ? '0x' : `0x${bytesToHex(contract.data as Uint8Array)}`,
    nonce: '0x0000000000000000',
    transactionIndex: quantity(index),
    value: quantity(value),
    type: '0x0',
    r: `0x${signature.slice(0, 64)}`,
    s: `0x${signature.slice(64, 128)}`,
    v: `0x${signature.slice(128)}`,
  };
}

function energyOf(place: Place): number {
  return Number(storedAt(place).info.receipt.energy_usage_total ?? 0);
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

function receiptJson(place: Place): object {
  const { block, index } = place;
  const { info } = storedAt(place);
  const { from, to, kind } = sides(place);
  const before = block.transactions
    .slice(0, index + 1)
    .map((_, at) => energyOf({ block, index: at }));
  const created = kind === 'CreateSmartContract' ? `0x${info.contract_address?.slice(2)}` : null;
  return {
    blockHash: `0x${block.id}`,
    blockNumber: quantity(block.header.number),
    transactionIndex: quantity(index),
    transactionHash: `0x${info.id}`,
    from,
    to,
    cumulativeGasUsed: quantity(before.reduce((sum, each) => sum + each, 0)),
    effectiveGasPrice: quantity(parameters.getEnergyFee),
    gasUsed: quantity(energyOf(place)),
    contractAddress: created,
    logs: logsOf(block).filter(({ transactionHash }) => transactionHash === `0x${info.id}`),
    logsBloom: noBloom,
    status: info.result === 'FAILED' ? '0x0' : '0x1',
    type: '0x0',
  };
}

type Filter = {
  fromBlock?: unknown;
  toBlock?: unknown;
  blockHash?: unknown;
  address?: unknown;
  topics?: unknown;
};

function rangeOf(chain: TronChain, filter: Filter): [number, number] {
  if (filter.blockHash !== undefined) {
    if (filter.fromBlock !== undefined || filter.toBlock !== undefined) {
      throw badParams(
        'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
      );
    }
    const block = chain.blockById(hashOf(filter.blockHash));
    if (block === undefined) throw badParams('invalid blockHash');
    return [block.header.number, block.header.number];
  }
  const [from, to] = [blockNumber(chain, filter.fromBlock), blockNumber(chain, filter.toBlock)];
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

type CallArguments = { from?: string; to?: string; value?: string; data?: string; input?: string };

async function simulate(chain: TronChain, [given]: Params) {
  const { from, to, value = '0x0', data, input } = (given ?? {}) as CallArguments;
  const bytes = hexToBytes((input ?? data ?? '').replace(/^0x/, ''));
  const owner = hexToBytes(`41${from === undefined ? '0'.repeat(40) : addressOf(from)}`);
  const call_value = BigInt(value === '' || value === '0x' ? 0 : value);
  const txid = '0'.repeat(64);
  const rest = { owner_address: owner, call_value };
  try {
    return await chain.look('head', async (ledger, block) => {
      const call = to
        ? callOf(ledger.state, {
            kind: 'TriggerSmartContract',
            contract: { ...rest, contract_address: hexToBytes(`41${addressOf(to)}`), data: bytes },
            txid,
          })
        : callOf(ledger.state, {
            kind: 'CreateSmartContract',
            contract: {
              owner_address: owner,
              new_contract: { origin_address: owner, bytecode: bytes, call_value },
            },
            txid,
          });
      return runCall(ledger, call, constantEnergyLimit, txid, block);
    });
  } catch (error) {
    if (error instanceof Refusal) throw new RpcFailure(-32600, error.detail);
    throw error;
  }
}

async function succeeded(chain: TronChain, params: Params) {
  const result = await simulate(chain, params);
  if (result.failure === 'none') return result;
  throw new RpcFailure(-32000, outcome(result).words, `0x${bytesToHex(result.output)}`);
}

function ofState(read: (ledger: Ledger, params: Params) => string, tagAt: number): Method {
  return (chain, params) => {
    onlyLatest(params[tagAt]);
    return chain.look('head', async (ledger) => read(ledger, params));
  };
}

function placed(chain: TronChain, [txid]: Params, show: (place: Place) => object): object | null {
  const place = chain.find(hashOf(txid));
  return place === undefined ? null : show(place);
}

const methods: Readonly<Record<string, Method>> = {
  web3_clientVersion: () => 'TRON/simulator/parley',
  net_version: (chain) => quantity(chain.chainId),
  net_listening: () => true,
  net_peerCount: () => '0x0',
  eth_chainId: (chain) => quantity(chain.chainId),
  eth_syncing: () => false,
  eth_accounts: () => [],
  eth_gasPrice: () => quantity(parameters.getEnergyFee),
  eth_blockNumber: (chain) => quantity(chain.tip('head').header.number),
  eth_getBlockByNumber: (chain, [tag, full]) =>
    blockJson(chain.block(blockNumber(chain, tag)), full === true),
  eth_getBlockByHash: (chain, [id, full]) => blockJson(chain.blockById(hashOf(id)), full === true),
  eth_getTransactionByHash: (chain, params) => placed(chain, params, transactionJson),
  eth_getTransactionReceipt: (chain, params) => placed(chain, params, receiptJson),
  eth_getBlockReceipts: (chain, [tag]) => {
    const block = chain.block(blockNumber(chain, tag));
    if (block === undefined) return null;
    return block.transactions.map((_, index) => receiptJson({ block, index }));
  },
  eth_getLogs: getLogs,
  eth_getBalance: ofState(
    ({ state }, [who]) => quantity(balanceOf(state, addressOf(who)) ?? 0n),
    1,
  ),
  eth_getCode: ofState(({ state }, [who]) => `0x${state.get(`code/${addressOf(who)}`) ?? ''}`, 1),
  eth_getStorageAt: ofState(({ state }, [who, slot]) => {
    const word = hexToBytes(BigInt(String(slot)).toString(16).padStart(64, '0'));
    return `0x${(state.get(slotKey(addressOf(who), word)) ?? '').padStart(64, '0')}`;
  }, 2),
  eth_call: async (chain, params) => {
    if (typeof params[1] === 'string') onlyLatest(params[1]);
    return `0x${bytesToHex((await succeeded(chain, params)).output)}`;
  },
  eth_estimateGas: async (chain, params) => quantity((await succeeded(chain, params)).energyUsed),
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
      const { code, message, data } = error;
      return { ...reply, error: { code, message, data } };
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
  if (!Array.isArray(asked)) return answerOne(parts, (asked ?? {}) as Request);
  if (asked.length > batchLimit) {
    return { ...nobody, error: { code: -32005, message: `Batch size exceeds ${batchLimit}` } };
  }
  const answers: object[] = [];
  for (const request of asked) answers.push(await answerOne(parts, (request ?? {}) as Request));
  return answers;
}
