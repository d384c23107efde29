// Decisions on a budget a second, account and key at once: in the memory of a process, and by the
// script in a Valkey over loopback.

import { pino } from 'pino';
import { type Budgets, createBudgets } from '../server/edge/budgets.ts';
import { createMemoryBuckets } from '../server/edge/memory-buckets.ts';
import { createValkeyBuckets } from '../server/edge/valkey-buckets.ts';
import { createMetrics } from '../server/ports/metrics.ts';
import { connectValkey } from '../server/ports/valkey.ts';
import { startValkey } from '../test/support/valkey.ts';
import { atLeast, type Effort, inRounds, median, perSecond, type Row } from './report.ts';

const accounts = 1_000;
/** Requests that wait for a decision at once. */
const atOnce = 256;
const settings = {
  rateLimit: 300,
  rateLimitPerNetwork: 1_000_000_000,
  mintLimit: 20,
  signInLimit: 120,
  listingLimit: 20,
  feedSocketsPerIp: 20,
  clientPrefixes: { ipv4: 32, ipv6: 56 },
};

const callers = Array.from({ length: accounts }, (_, at) => {
  const tail = String(at).padStart(12, '0');
  return { accountId: `0193b5a0-0000-7000-8000-${tail}`, keyId: `0193b5a1-0000-7000-8000-${tail}` };
});
let asked = 0;
const spend = async (budgets: Budgets) =>
  budgets.spendCaller(callers[asked++ % accounts]!, '192.0.2.1');

export async function benchBudgets(effort: Effort): Promise<Row[]> {
  const inMemory = createMemoryBuckets(() => Date.now());
  const memory = createBudgets(settings, inMemory);
  const shared = await inValkey(effort);
  const row = { unit: 'decisions/s', limit: 20_000, bar: 1 } as const;
  // Without a turn of the event loop between decisions: there is none to wait for.
  const many = async () => {
    for (let each = 0; each < accounts; each += 1) void spend(memory);
  };
  const value = accounts * (await warmed(effort, () => perSecond(1, effort.seconds, many)));
  const other = `budgets: budgets by ${shared.version}, ${atOnce} requests at once`;
  return [
    atLeast(`budgets: budgets in memory, ${accounts} accounts`, { ...row, value }, 'the limit'),
    atLeast(other, { ...row, value: shared.value }, 'the limit'),
  ];
}

async function inValkey(effort: Effort): Promise<{ value: number; version: string }> {
  const valkey = await startValkey();
  const metrics = createMetrics('bench');
  const buckets = createValkeyBuckets({
    client: connectValkey(valkey.url),
    alone: createMemoryBuckets(() => Date.now()),
    prefix: 'bench:',
    log: pino({ level: 'silent' }),
    metrics,
  });
  try {
    await buckets.started;
    const budgets = createBudgets(settings, buckets);
    const once = () => perSecond(atOnce, effort.seconds, () => spend(budgets));
    const value = await warmed(effort, once);
    const [alone] = (await metrics.decisionsAlone.get()).values;
    if (alone!.value > 0) throw new Error(`Valkey was too late for ${alone!.value} decisions`);
    return { value, version: valkey.version };
  } finally {
    buckets.close();
    await valkey.stop();
  }
}

async function warmed({ rounds }: Effort, measure: () => Promise<number>): Promise<number> {
  await measure();
  return median(await inRounds(rounds, measure));
}
