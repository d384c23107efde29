// The budgets of one process: in its memory, or shared with others where VALKEY_URL is set.

import type { Deps } from '../deps.ts';
import { connectValkey } from '../valkey.ts';
import { type Budgets, createBudgets } from './budgets.ts';
import { createMemoryBuckets } from './memory-buckets.ts';
import { createValkeyBuckets } from './valkey-buckets.ts';

export type OpenBudgets = { readonly budgets: Budgets; close(): void };

export async function openBudgets(
  deps: Pick<Deps, 'settings' | 'now' | 'log' | 'metrics'>,
): Promise<OpenBudgets> {
  const { settings, now, log, metrics } = deps;
  const memory = createMemoryBuckets(now);
  if (settings.valkeyUrl === null) {
    return { budgets: createBudgets(settings, memory), close: () => {} };
  }
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
