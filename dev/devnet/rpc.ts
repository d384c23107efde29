// JSON-RPC to dev nodes by node:http: `fetch` takes more than twice the processor time.

import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

const callLimitMs = 30_000;
// Nodes close what lies idle after 5 s or more, and what is sent just then is lost.
const agent = new Agent({ keepAlive: true, timeout: 4_000, scheduling: 'lifo' });

export class RpcError extends Error {
  readonly code: number;

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message}`);
    this.name = 'RpcError';
    this.code = code;
  }
}

export type Rpc = <T>(method: string, params?: readonly unknown[]) => Promise<T>;

type Reply = { result?: unknown; error?: { code: number; message: string } | null };

export function rpcTo(url: string): Rpc {
  return async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    return resultOf<T>(method, (await replyOf(url, method, callOf(method, params))) as Reply);
  };
}

export type Calls = readonly (readonly [method: string, params?: readonly unknown[]])[];

/** To a bitcoind, which takes and answers them in order, for a third of so many requests. */
export function rpcBatchTo(url: string) {
  return async <T extends readonly unknown[]>(calls: Calls): Promise<T> => {
    const bodies = calls.map(([method, params = []]) => callOf(method, params));
    const replies = (await replyOf(url, 'a batch', bodies)) as Reply[];
    return replies.map((reply) => resultOf('one of a batch', reply)) as unknown as T;
  };
}

const callOf = (method: string, params: readonly unknown[]) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});

async function replyOf(url: string, method: string, body: unknown): Promise<unknown> {
  const { status, text } = await post(url, JSON.stringify(body));
  if (!/^[{[]/.test(text)) throw new RpcError(method, status, text.slice(0, 200));
  return JSON.parse(text);
}

function resultOf<T>(method: string, { result, error }: Reply): T {
  if (error) throw new RpcError(method, error.code, error.message);
  return result as T;
}

function post(url: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const signal = AbortSignal.timeout(callLimitMs);
    const asked = request(url, { method: 'POST', headers, agent, signal }, (answer) => {
      const { statusCode: status = 0 } = answer;
      buffer(answer).then((all) => resolve({ status, text: all.toString() }), reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
