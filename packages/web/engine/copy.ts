// The engine of a saved copy: a rescue file says which chains there are (`rescue.open`). It keeps
// nothing beyond its page, and asks no market.

import type { Network } from '@parley/core/families.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { type OpenEngine, openEngine } from './engine.ts';
import { memoryKept } from './keeping.ts';

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
    // A wrong clock of the device shows by the chains.
    marketClock: async () => ({ offsetSeconds: 0, atMs: null }),
    clockEveryMs: 3_600_000,
  });
}

/** A market that is gone: every question fails as one that had no answer. */
const nobody = new Proxy({} as ParleyClient, {
  // An `await` of it gives the object itself, not an answer.
  get: (_, name) => (name === 'then' ? undefined : noAnswer),
});

async function noAnswer(): Promise<never> {
  const message = 'a saved copy asks no market';
  throw new ParleyApiError({ status: 0, code: 'no_answer', message });
}
