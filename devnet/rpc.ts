// JSON-RPC over HTTP to the nodes of the dev network: one call, a time limit, errors with the words
// of the node.

const callLimitMs = 30_000;

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

/** `url` may carry credentials. */
export function rpcTo(url: string): Rpc {
  const { username, password, origin, pathname } = new URL(url);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (username !== '') {
    headers.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }
  const address = origin + pathname;
  return async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const response = await fetch(address, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(callLimitMs),
    });
    const text = await response.text();
    if (!text.startsWith('{')) throw new RpcError(method, response.status, text.slice(0, 200));
    const reply: Reply = JSON.parse(text);
    if (reply.error) throw new RpcError(method, reply.error.code, reply.error.message);
    return reply.result as T;
  };
}
