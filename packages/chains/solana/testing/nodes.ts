// Nodes that hang, hand out nonsense, or lie about some calls, as long as their test runs.

import type { TestContext } from 'node:test';
import * as nodes from '../../testing/nodes.ts';

export type Call = nodes.Request & { readonly id: number };

export const hangingNode = (context: TestContext): Promise<string> =>
  nodes.within(context, nodes.hangingNode());

/** Answers every call with this text. */
export const fixedNode = (context: TestContext, text: string): Promise<string> =>
  nodes.within(context, nodes.fixedNode(text));

/** It says what `lie` makes of the true answer, for each call of a batch. */
export function lyingNode(
  context: TestContext,
  truth: string,
  lie: (call: Call, forward: () => Promise<Record<string, unknown>>) => Promise<object> | object,
): Promise<string> {
  return nodes.within(context, nodes.lyingNode(truth, lie as unknown as nodes.Lie));
}

/**
 * Knows nothing of what is below a slot, and says so as Agave does since 4.0: it does the same for
 * an older `until` or `before`, and for its oldest block.
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
