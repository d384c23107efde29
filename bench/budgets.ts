// Decisions on a budget a second, account and key at once: in the memory of a process, and by the
// script in a Valkey over loopback.

import { pino } from 'pino';
import { type Budgets, createBudgets } from '../server/edge/budgets.ts';
import { createMemoryBuckets } from '../server/edge/memory-buckets.ts';
import { createValkeyBuckets } from '../server/edge/valkey-buckets.ts';
import { createMetrics } from '../server/ports/metrics.ts';
import { connectValkey } from '../server/ports/valkey.ts';
import { startValkey } from '../test/support/valkey.ts';
import type { Effort } from './reads.ts';
import { median, type Row, rowOf } from './report.ts';

const leastPerSecond = 20_000;
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
const address = '192.0.2.1';

const callers = Array.from({ length: accounts }, (_, at) => ({
  accountId: `0193b5a0-0000-7000-8000-${String(at).padStart(12, '0')}`,
  keyId: `0193b5a1-0000-7000-8000-${String(at).padStart(12, '0')}`,
}));

export async function benchBudgets(effort: Effort): Promise<Row[]> {
  const memory = createBudgets(
    settings,
    createMemoryBuckets(() => Date.now()),
  );
  const row = { bench: 'budgets', unit: 'decisions/s', limit: leastPerSecond, bar: 1 } as const;
  const rest = { is: 'atLeast', against: 'the limit' } as const;
  const inMemory = await rounds(effort, () => decideAtOnce(memory, effort.seconds));
  const shared = await inValkey(effort);
  return [
    rowOf({ ...row, row: `budgets in memory, ${accounts} accounts`, value: inMemory, ...rest }),
    rowOf({
      ...row,
      row: `budgets by ${shared.version}, ${atOnce} requests at once`,
      value: shared.perSecond,
      ...rest,
    }),
  ];
}

async function inValkey(effort: Effort): Promise<{ perSecond: number; version: string }> {
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
    const perSecond = await rounds(effort, () => decide(budgets, effort.seconds));
    const [alone] = (await metrics.decisionsAlone.get()).values;
    if (alone!.value > 0) throw new Error(`Valkey was too late for ${alone!.value} decisions`);
    return { perSecond, version: valkey.version };
  } finally {
    buckets.close();
    await valkey.stop();
  }
}

/** The median, after a round to warm up. */
async function rounds({ rounds }: Effort, measure: () => Promise<number>): Promise<number> {
  await measure();
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(await measure());
  return median(values);
}

/** Without a turn of the event loop between decisions: there is none to wait for. */
async function decideAtOnce(budgets: Budgets, seconds: number): Promise<number> {
  const began = performance.now();
  const until = began + seconds * 1_000;
  let made = 0;
  while (performance.now() < until) {
    for (const caller of callers) void budgets.spendCaller(caller, address);
    made += callers.length;
  }
  return (made * 1_000) / (performance.now() - began);
}

async function decide(budgets: Budgets, seconds: number): Promise<number> {
  const began = performance.now();
  const until = began + seconds * 1_000;
  let made = 0;
  const client = async () => {
    while (performance.now() < until) {
      await budgets.spendCaller(callers[made % accounts]!, address);
      made += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return (made * 1_000) / (performance.now() - began);
}
