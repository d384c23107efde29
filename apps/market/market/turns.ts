// Calls of strangers' contracts, which a wallet's proof may cause, by turns: nodes work on a few of
// them at a time, few wait, and whoever waits too long ends by its own signal.

import type { Rpc } from '@parley/chains/nodes/rpc.ts';
import { ParleyError } from '@parley/core/errors.ts';

/** At work at a time, on all the nodes together. */
const mostCalls = 4;
/** As many are served while a request waits for a chain, if each takes a second or less. */
const mostWaiting = 100;

/** The nodes, asked by turns. */
export function byTurns(nodes: readonly Rpc[]): Rpc[] {
  let calls = 0;
  const waiting = new Set<() => void>();
  /** The caller that ends hands its place on. */
  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      const ended = () => {
        waiting.delete(next);
        reject(signal.reason);
      };
      const next = () => {
        signal.removeEventListener('abort', ended);
        resolve();
      };
      signal.addEventListener('abort', ended, { once: true });
      waiting.add(next);
    });
  return nodes.map((node) => ({
    ...node,
    call: async (method, params, signal) => {
      if (calls < mostCalls) calls += 1;
      else if (waiting.size < mostWaiting) await turn(signal);
      else throw tooMany(node.chain);
      try {
        return await node.call(method, params, signal);
      } finally {
        const [next] = waiting;
        if (next === undefined) calls -= 1;
        else {
          waiting.delete(next);
          next();
        }
      }
    },
  }));
}

function tooMany(chain: string): ParleyError {
  const sentence = `too many wallets wait for the ${chain} node to say whether they signed`;
  return new ParleyError('chain_unavailable', sentence, { chain });
}
