// JSON-RPC over HTTP, as Solana nodes serve it.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '@parley/host/log.ts';
import { accountMethods, type Method } from './account-methods.ts';
import { chainMethods } from './chain-methods.ts';
import { fromJson, toJson } from './json.ts';
import type { Ledger } from './ledger.ts';
import { rpcCodes, SolanaRpcError } from './rpc-error.ts';
import { transactionMethods } from './transaction-methods.ts';

const mostBodyBytes = 512 * 1024;
const mostBatch = 200;
const requestLimitMs = 30_000;

const methods: Readonly<Record<string, Method>> = {
  ...accountMethods,
  ...chainMethods,
  ...transactionMethods,
};

export type RpcServer = { readonly port: number; close(): Promise<void> };

export async function serveRpc(
  ledger: Ledger,
  { host, port, log }: { readonly host: string; readonly port: number; readonly log: Log },
): Promise<RpcServer> {
  const answer = (request: unknown) => answerCall(ledger, log, request);
  const server = createServer((request, response) => void serve(answer, request, response));
  server.requestTimeout = requestLimitMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

type Answer = (request: unknown) => object | null;

async function serve(answer: Answer, request: IncomingMessage, response: ServerResponse) {
  // Wallets in a browser ask from another origin; everything here is public.
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-allow-headers', '*');
  response.setHeader('access-control-max-age', '600');
  if (request.method === 'OPTIONS') {
    response.writeHead(204).end();
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end();
    return;
  }
  const text = await readBody(request).catch(() => null);
  if (text === null) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const reply = answerText(answer, text);
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  response.end(reply ?? '');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > mostBodyBytes) throw new Error('too long');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function answerText(answer: Answer, text: string): string | null {
  let request: unknown;
  try {
    request = fromJson(text);
  } catch {
    return toJson(failure(null, rpcCodes.parse, 'Parse error'));
  }
  if (!Array.isArray(request)) {
    const reply = answer(request);
    return reply === null ? null : toJson(reply);
  }
  if (request.length > mostBatch) {
    return toJson(failure(null, rpcCodes.invalidRequest, `at most ${mostBatch} calls at a time`));
  }
  return toJson(request.map((each) => answer(each)).filter((reply) => reply !== null));
}

function failure(id: unknown, code: number, message: string, data?: unknown): object {
  return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id };
}

/** Null for a notification, which wants no answer. */
function answerCall(ledger: Ledger, log: Log, request: unknown) {
  const { id, method, params = [] } = (request ?? {}) as Record<string, unknown>;
  if (typeof method !== 'string') return failure(null, rpcCodes.invalidRequest, 'Invalid request');
  if (id === undefined) return null;
  if (!Array.isArray(params)) {
    return failure(id, rpcCodes.invalidParams, 'Invalid params: a list is expected');
  }
  try {
    const known = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (known === undefined) return failure(id, rpcCodes.noMethod, `Method not found: ${method}`);
    return { jsonrpc: '2.0', result: known(ledger, params), id };
  } catch (error) {
    if (error instanceof SolanaRpcError) return failure(id, error.code, error.message, error.data);
    log.error({ err: error, method }, 'a call to the Solana dev chain failed');
    return failure(id, -32603, 'Internal error');
  }
}
