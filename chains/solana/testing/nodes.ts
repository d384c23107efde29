// Nodes that hang, hand out nonsense, or lie about some calls.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type Call = {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly id: number;
};

function listen(context: TestContext, server: Server): Promise<string> {
  context.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

export function hangingNode(context: TestContext): Promise<string> {
  return listen(context, createServer());
}

/** Answers every call with this text. */
export function fixedNode(context: TestContext, text: string): Promise<string> {
  return listen(
    context,
    createServer((_, response) => response.end(text)),
  );
}

/**
 * What it says is what `lie` makes of the true answer, of each call of a batch; `status`: of HTTP,
 * where the call is no part of one.
 */
export function lyingNode(
  context: TestContext,
  truth: string,
  lie: (call: Call, forward: () => Promise<Record<string, unknown>>) => Promise<object> | object,
): Promise<string> {
  const answered = async (call: Call) => {
    const forward = async () => {
      const answer = await fetch(truth, { method: 'POST', body: JSON.stringify(call) });
      return (await answer.json()) as Record<string, unknown>;
    };
    const { status = 200, ...said }: { status?: number } = await lie(call, forward);
    return { status, said: { jsonrpc: '2.0', id: call.id, ...said } };
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void (async () => {
        const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        if (Array.isArray(body)) {
          const all = await Promise.all(body.map((call: Call) => answered(call)));
          response.end(JSON.stringify(all.map(({ said }) => said)));
          return;
        }
        const { status, said } = await answered(body as Call);
        response.statusCode = status;
        response.end(JSON.stringify(said));
        // What a test left behind may ask for the truth when there is none any more.
      })().catch(() => response.destroy());
    });
  });
  return listen(context, server);
}

/**
 * Knows nothing of what is below a slot, and says so as Agave does since 4.0: of an older `until`
 * or `before`, and of its oldest block.
 */
export function youngNode(
  context: TestContext,
  truth: string,
  oldest: () => number,
): Promise<string> {
  const isOlder = async (txid: unknown) => {
    const params = [[txid], { searchTransactionHistory: true }];
    const body = { jsonrpc: '2.0', id: 1, method: 'getSignatureStatuses', params };
    const answer = await fetch(truth, { method: 'POST', body: JSON.stringify(body) });
    const { result } = (await answer.json()) as { result: { value: ({ slot: number } | null)[] } };
    return (result.value[0]?.slot ?? -1) < oldest();
  };
  return lyingNode(context, truth, async ({ method, params }, forward) => {
    if (method === 'getFirstAvailableBlock') return { result: oldest() };
    if (method !== 'getSignaturesForAddress') return forward();
    const { until, before } = params[1] as Record<string, unknown>;
    for (const each of [before, until]) {
      if (each === undefined || !(await isOlder(each))) continue;
      return { error: { code: -32_020, message: `Transaction ${each} not found` } };
    }
    const { result } = (await forward()) as { result: { slot: number }[] };
    return { result: result.filter(({ slot }) => slot >= oldest()) };
  });
}
