// The budgets of one process: in its memory, or shared with others where VALKEY_URL is set.

import type { Deps } from '../ports/deps.ts';
import { type Budgets, createBudgets } from './budgets.ts';
import { createMemoryBuckets } from './memory-buckets.ts';

export type OpenBudgets = { readonly budgets: Budgets; close(): void };

export async function openBudgets(
  deps: Pick<Deps, 'settings' | 'now' | 'log' | 'metrics'>,
): Promise<OpenBudgets> {
  const { settings, now, log, metrics } = deps;
  const memory = createMemoryBuckets(now);
  if (settings.valkeyUrl === null) {
    return { budgets: createBudgets(settings, memory), close: () => {} };
  }
  // Not before it is needed: a process that has merely loaded the client answers a fifth to a
  // quarter fewer reads a second (`npm run bench -- reads`: 0.51 of bare node:http, 0.67 without).
  const [{ connectValkey }, { createValkeyBuckets }] = await Promise.all([
    import('../ports/valkey.ts'),
    import('./valkey-buckets.ts'),
  ]);
  const shared = createValkeyBuckets({
    client: connectValkey(settings.valkeyUrl),
    alone: memory,
    prefix: `${settings.shortName}:${settings.network}:`,
    log,
    metrics,
  });
  await shared.started;
  return { budgets: createBudgets(settings, shared), close: shared.close };
}
