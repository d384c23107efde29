// A store for tests and tries: forgets everything when the process ends, and with it money.

import { storeOver } from './entries.ts';
import type { Store, SwapNonces } from './store.ts';

export function memoryStore(): Store & SwapNonces {
  const folders = {
    secrets: new Map<string, string>(),
    trades: new Map<string, string>(),
    swaps: new Map<string, string>(),
    nonces: new Map<string, string>(),
  };
  return {
    ...storeOver({
      get: async (folder, name) => folders[folder].get(name) ?? null,
      put: async (folder, name, next) => {
        const text = next(folders[folder].get(name) ?? null);
        if (text !== null) folders[folder].set(name, text);
      },
      take: async (folder, name) => {
        const text = folders[folder].get(name) ?? null;
        folders[folder].delete(name);
        return text;
      },
    }),
    swapIds: async () => [...folders.swaps.keys()],
  };
}
