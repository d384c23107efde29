// Questions whose answers only mean something together: put to one node after the other until one
// answers them all. Two nodes are not equally far: one that is ahead may show a time that has
// passed, and one that is behind not yet the transaction that came before.

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
