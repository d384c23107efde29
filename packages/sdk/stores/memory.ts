// A store for tests and tries: forgets everything when the process ends, and with it money.

import type { Hashlock } from '@parley/core/hashlock.ts';
import { heldSecret, heldSwap, heldTrade, named, newSecret } from './entries.ts';
import { type Store, writeKept } from './store.ts';

export function memoryStore(): Store {
  const secrets = new Map<Hashlock, string>();
  const swaps = new Map<string, string>();
  const trades = new Map<string, string>();
  return {
    putSecret: async (hashlock, secret) => {
      const added = newSecret(secrets.get(named(hashlock)) ?? null, hashlock, secret);
      if (added !== null) secrets.set(hashlock, added);
    },
    getSecret: async (hashlock) => heldSecret(secrets.get(named(hashlock)) ?? null, hashlock),
    putTrade: async (trade) => {
      trades.set(named(trade.threadId), writeKept(trade));
    },
    getTrade: async (id) => heldTrade(trades.get(named(id)) ?? null, id),
    putSwap: async (record) => {
      swaps.set(named(record.swap.id), writeKept(record));
    },
    getSwap: async (id) => heldSwap(swaps.get(named(id)) ?? null, id),
    swapIds: async () => [...swaps.keys()],
  };
}
