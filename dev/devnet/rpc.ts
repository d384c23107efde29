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
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const { status, text } = await post(url, body);
    if (!text.startsWith('{')) throw new RpcError(method, status, text.slice(0, 200));
    const reply: Reply = JSON.parse(text);
    if (reply.error) throw new RpcError(method, reply.error.code, reply.error.message);
    return reply.result as T;
  };
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
