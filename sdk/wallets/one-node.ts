// Answers that only mean something together come of one node: another may be ahead or behind.

import { ParleyError } from '../../core/errors.ts';

/** For one answer of a node that others stand behind. */
export const oneOfManyTimeoutMs = 4_000;

export async function byOneNode<N, T>(
  nodes: readonly N[],
  signal: AbortSignal,
  ask: (node: N) => Promise<T>,
): Promise<T> {
  let failure: unknown = new Error('no node to ask');
  for (const node of nodes) {
    try {
      return await ask(node);
    } catch (error) {
      if (!(error instanceof ParleyError) || signal.aborted) throw error;
      failure = error;
    }
  }
  throw failure;
}
