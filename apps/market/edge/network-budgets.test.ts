// The budgets that clients of one network have together, and all networks in an IPv6 /48.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../settings/config.ts';
import { type BudgetSettings, createBudgets, type Soon, type Spent } from './budgets.ts';
import { createMemoryBuckets } from './memory-buckets.ts';

function budgetsWith(some: Partial<BudgetSettings>) {
  const settings = { ...readSettings({}), ...some };
  const buckets = createMemoryBuckets(() => 0);
  return createBudgets(settings, buckets);
}

async function passes(spend: (each: string) => Soon<Spent>, all: readonly string[]) {
  let count = 0;
  for (const each of all) count += (await spend(each)).allowed ? 1 : 0;
  return count;
}

test('an IPv6 /48 has four times the requests of a network, and twice its mints and sign-ins', async () => {
  const limits = { rateLimit: 6, rateLimitPerNetwork: 5, mintLimit: 2, signInLimit: 3 };
  const budgets = budgetsWith(limits);
  const six = Array.from({ length: 48 }, (_, at) => `2001:db8:0:${at % 8}00::1`);
  const elsewhere = '2001:db8:1::1';
  assert.equal(await passes((ip) => budgets.spendClient(ip), six), 20);
  assert.equal((await budgets.spendClient(elsewhere)).allowed, true);
  for (const kind of ['mints', 'sign-ins'] as const) {
    const spend = (ip: string) => budgets.spend(kind, ip);
    assert.equal(await passes(spend, six), kind === 'mints' ? 4 : 6);
    assert.equal((await spend(elsewhere)).allowed, true);
    // The /24 of an IPv4 address is many customers.
    const v4 = [1, 2, 3, 4, 5, 6, 7, 8].map((at) => `192.0.2.${at}`);
    assert.equal(await passes(spend, v4), 8);
  }
});
