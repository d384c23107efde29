// The HTTP face of the simulator: /wallet/*, /walletsolidity/* and /jsonrpc on a port of loopback.
// Parameters come as JSON or in the query; int64 leave as plain numbers, as java-tron writes them.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { Log } from '@parley/host/log.ts';
import {
  type Asked,
  blockJson,
  createTransaction,
  getAccount,
  getAccountResource,
  getContract,
  getContractInfo,
  infoJson,
  shownText,
  storedJson,
  textOf,
  transactionJson,
  triggerConstantContract,
  triggerSmartContract,
} from './answers.ts';
import type { Block, StoredTransaction } from './blocks.ts';
import type { TronChain } from './chain.ts';
import { answerRpc } from './jsonrpc.ts';
import { decodeTransaction, packTransaction, type Transaction } from './messages.ts';
import { parameters } from './parameters.ts';
import { FormatError, type Json, type JsonObject } from './protobuf.ts';
import { Refusal } from './refusal.ts';

/** node.http.maxMessageSize. */
const bodyLimitBytes = 4 * 1024 * 1024;
const requestLimitMs = 30_000;
const blocksLimit = 100;

type Answer = (asked: Asked) => Promise<Json> | Json;

/** JSON.rawJSON writes a number of any size; TypeScript's library does not know it yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

export function stringify(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? rawJson(each.toString()) : each,
  );
}

function findStored({ chain, view, body }: Asked): StoredTransaction | undefined {
  const place = chain.find(textOf(body, 'value').toLowerCase());
  if (place === undefined || place.block.header.number > chain.tip(view).header.number) return;
  return place.block.transactions[place.index];
}

/** The head knows what waits for a block as if it were in one; no receipt tells of it. */
function waitingJson({ chain, view, body, visible }: Asked): JsonObject {
  const waiting = chain.waiting(textOf(body, 'value').toLowerCase());
  if (view === 'solid' || waiting === undefined) return {};
  const { visible: _, ...json } = transactionJson(waiting.tx, visible);
  return { ret: [{ contractRet: waiting.contractRet }], ...json };
}

function numbered({ chain, view }: Asked, number: unknown): Block | undefined {
  const at = Number(number ?? 0);
  return at > chain.tip(view).header.number ? undefined : chain.block(at);
}

const shownBlock = (block: Block | undefined, { visible }: Asked, detail = true): JsonObject =>
  block === undefined ? {} : blockJson(block, visible, detail);

function range(asked: Asked): JsonObject {
  const from = Number(asked.body.startNum ?? 0);
  const to = Number(asked.body.endNum ?? 0);
  const count = Math.min(Math.max(0, to - from), blocksLimit);
  const blocks = Array.from({ length: count }, (_, at) => numbered(asked, from + at));
  const block = blocks.filter((each) => each !== undefined);
  return block.length === 0 ? {} : { block: block.map((each) => blockJson(each, asked.visible)) };
}

/** The answers of both the full node and the solidified view. */
const shared: Readonly<Record<string, Answer>> = {
  getaccount: getAccount,
  getnowblock: (asked) => shownBlock(asked.chain.tip(asked.view), asked),
  getblock: (asked) => {
    const { chain, view, body } = asked;
    const at = body.id_or_num;
    const block = at === undefined || at === '' ? chain.tip(view) : numbered(asked, at);
    return shownBlock(block, asked, body.detail === true);
  },
  getblockbynum: (asked) => shownBlock(numbered(asked, asked.body.num), asked),
  getblockbylimitnext: range,
  gettransactionbyid: (asked) => {
    const stored = findStored(asked);
    return stored === undefined ? waitingJson(asked) : storedJson(stored, asked.visible);
  },
  gettransactioninfobyid: (asked) => {
    const stored = findStored(asked);
    return stored === undefined ? {} : infoJson(stored.info, asked.visible);
  },
  gettransactioninfobyblocknum: (asked) => {
    const block = numbered(asked, asked.body.num);
    return (block?.transactions ?? []).map(({ info }) => infoJson(info, asked.visible));
  },
  triggerconstantcontract: (asked) => extended(asked, triggerConstantContract),
};

const fullNode: Readonly<Record<string, Answer>> = {
  ...shared,
  createtransaction: createTransaction,
  triggersmartcontract: (asked) => extended(asked, triggerSmartContract),
  broadcasttransaction: (asked) => broadcast(asked, packTransaction(asked.body)),
  broadcasthex: broadcastHex,
  getaccountresource: getAccountResource,
  getcontract: getContract,
  getcontractinfo: getContractInfo,
  getchainparameters: () => ({
    chainParameter: Object.entries(parameters).map(([key, value]) => ({ key, value })),
  }),
  gettransactionfrompending: waitingJson,
};

/** Errors of these servlets are inside `result`, never `Error`. */
async function extended(
  asked: Asked,
  answer: (asked: Asked) => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    return await answer(asked);
  } catch (error) {
    const refused = error instanceof Refusal;
    if (!refused && !(error instanceof FormatError)) throw error;
    const code = refused ? error.code : 'OTHER_ERROR';
    const parse = 'class org.tron.core.services.http.JsonFormat$ParseException : ';
    const words = refused ? error.detail : parse + error.message;
    return { result: { code, message: shownText(words, asked.visible) } };
  }
}

async function broadcast(asked: Asked, tx: Transaction): Promise<JsonObject> {
  try {
    await asked.chain.broadcast(tx);
    return { result: true, txid: tx.txid };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const message = shownText(error.message, asked.visible);
    return { code: error.code, txid: tx.txid, message };
  }
}

async function broadcastHex(asked: Asked): Promise<JsonObject> {
  const tx = decodeTransaction(hexToBytes(textOf(asked.body, 'transaction')));
  const answer = await broadcast({ ...asked, visible: true }, tx);
  const transaction = stringify(transactionJson(tx, true));
  return { result: false, code: 'SUCCESS', message: '', ...answer, transaction };
}

/** As Util.processError names it. */
function errorJson(error: unknown): JsonObject {
  if (error instanceof Refusal) {
    const name = 'class org.tron.core.exception.ContractValidateException';
    return { Error: `${name} : ${error.detail}` };
  }
  const parse = 'class org.tron.core.services.http.JsonFormat$ParseException';
  if (error instanceof FormatError) return { Error: `${parse} : ${error.message}` };
  const { name, message } = error as Error;
  return { Error: `class ${name} : ${message}` };
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > bodyLimitBytes) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parametersOf(url: URL, text: string): JsonObject {
  const query = Object.fromEntries(url.searchParams);
  if (text === '') {
    const { visible, detail, ...rest } = query;
    return { ...rest, visible: visible === 'true', detail: detail === 'true' };
  }
  const value = JSON.parse(text) as Json;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as JsonObject;
  }
  throw new FormatError('the body is not an object');
}

export type HttpParts = {
  readonly chain: TronChain;
  readonly nowMs: () => number;
  readonly log: Log;
  /** First parts of the paths that are served: java-tron has a port for each. */
  readonly rooms: readonly string[];
};

/** Jetty's, for people. */
const noSuchPath =
  '<html><body><h2>HTTP method POST is not supported by this URL</h2></body></html>';

async function answerTo(parts: HttpParts, request: IncomingMessage): Promise<[number, unknown]> {
  const url = new URL(request.url ?? '/', 'http://node');
  const text = await readBody(request);
  if (text === null) return [413, { Error: 'Payload Too Large' }];
  const [, room = '', verb = ''] = url.pathname.split('/');
  const isHere = parts.rooms.includes(room);
  if (isHere && url.pathname === '/jsonrpc') return [200, await answerRpc(parts, text)];
  const table = room === 'wallet' ? fullNode : room === 'walletsolidity' ? shared : null;
  const answer = table !== null && Object.hasOwn(table, verb) ? table[verb] : undefined;
  if (!isHere || answer === undefined) return [request.method === 'POST' ? 405 : 404, noSuchPath];
  try {
    const body = parametersOf(url, text);
    const view = room === 'wallet' ? 'head' : 'solid';
    const { chain, nowMs } = parts;
    return [200, await answer({ chain, view, body, visible: body.visible === true, nowMs })];
  } catch (error) {
    const known = error instanceof Refusal || error instanceof FormatError;
    const facts = { path: url.pathname, reason: (error as Error).message };
    if (!known) parts.log.warn(facts, 'TRON simulator: a request failed');
    return [200, errorJson(error)];
  }
}

export type Listening = { readonly url: string; close(): Promise<void> };

export async function listen(parts: HttpParts, port: number): Promise<Listening> {
  const server = createServer({ requestTimeout: requestLimitMs }, (request, response) => {
    // Wallets in a browser ask from another origin; everything here is public.
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*');
    response.setHeader('access-control-max-age', '600');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    answerTo(parts, request).then(
      ([status, body]) => send(response, status, body),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${bound}`, close: () => closed(server) };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const isPage = body === noSuchPath;
  response.writeHead(status, { 'content-type': isPage ? 'text/html' : 'application/json' });
  response.end(isPage ? body : stringify(body));
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
