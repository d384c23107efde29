// The engine of a saved copy: a rescue file says which chains there are (`rescue.open`). It keeps
// nothing beyond its page, and asks no market.

import type { Network } from '../../core/families.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import { ParleyApiError } from '../../sdk/errors.ts';
import { memoryStore } from '../../sdk/stores/memory.ts';
import { type OpenEngine, openEngine } from './engine.ts';
import { memoryKept } from './kept.ts';

/** As the app: blocks of a dev network come at once. */
const devPollMs = 1_000;
const pollMs = 5_000;

export function copyEngine(network: Network): Promise<OpenEngine> {
  return openEngine({
    name: 'parley-copy',
    network,
    chains: [],
    client: nobody,
    store: memoryStore(),
    kept: memoryKept(),
    isServed: false,
    pollMs: network === 'dev' ? devPollMs : pollMs,
    // Whose clock is wrong sees it by the chains.
    marketClock: async () => ({ offsetSeconds: 0, atMs: null }),
    clockEveryMs: 3_600_000,
  });
}

/** A market that is gone: every question fails as one that had no answer. */
const nobody = new Proxy({} as ParleyClient, {
  // Whoever awaits it has it, and no answer of its own.
  get: (_, name) => (name === 'then' ? undefined : noAnswer),
});

async function noAnswer(): Promise<never> {
  const message = 'a saved copy asks no market';
  throw new ParleyApiError({ status: 0, code: 'no_answer', message });
}
