// A store for tests and tries: forgets everything when the process ends, and with it money.

import type { Hex32 } from '../../core/hashlock.ts';
import { readRecord, type Store, writeRecord } from './store.ts';

export function memoryStore(): Store {
  const secrets = new Map<Hex32, Hex32>();
  const swaps = new Map<string, string>();
  return {
    putSecret: async (hashlock, secret) => {
      secrets.set(hashlock, secret);
    },
    getSecret: async (hashlock) => secrets.get(hashlock) ?? null,
    putSwap: async (record) => {
      swaps.set(record.swap.id, writeRecord(record));
    },
    getSwap: async (swapId) => {
      const text = swaps.get(swapId);
      return text === undefined ? null : readRecord(text);
    },
    swapIds: async () => [...swaps.keys()],
  };
}
