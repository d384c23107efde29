// A store for tests and tries: forgets everything when the process ends, and with it money.

import type { Hashlock, Secret } from '../../core/hashlock.ts';
import { readKept, type Store, writeKept } from './store.ts';

export function memoryStore(): Store {
  const secrets = new Map<Hashlock, Secret>();
  const swaps = new Map<string, string>();
  const trades = new Map<string, string>();
  return {
    putSecret: async (hashlock, secret) => {
      secrets.set(hashlock, secret);
    },
    getSecret: async (hashlock) => secrets.get(hashlock) ?? null,
    putTrade: async (trade) => {
      trades.set(trade.threadId, writeKept(trade));
    },
    getTrade: async (threadId) => {
      const text = trades.get(threadId);
      return text === undefined ? null : readKept(text);
    },
    putSwap: async (record) => {
      swaps.set(record.swap.id, writeKept(record));
    },
    getSwap: async (swapId) => {
      const text = swaps.get(swapId);
      return text === undefined ? null : readKept(text);
    },
    swapIds: async () => [...swaps.keys()],
  };
}
