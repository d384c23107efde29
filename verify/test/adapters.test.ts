// The same promises against all four adapters, each over its own dev node, and those of an escrow
// against Bitcoin's second form. A promise that a family cannot keep stands in
// verify/test/adapters/promises.ts by name, with its reason.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { families } from '@parley/core/families.ts';
import type { Driver } from './adapters/driver.ts';
import { startDriver } from './adapters/drivers.ts';
import { gasPromises } from './adapters/gas.ts';
import { ofNodes, promises } from './adapters/promises.ts';

const limits = { timeout: 120_000 };
const all = [...promises, ...gasPromises];
const kept = new Map<string, number>();
const drivers = [...families, 'taproot'] as const;

/** Taproot is a form of escrow: its nodes are those of Bitcoin. */
const promisesOf = (name: (typeof drivers)[number]) =>
  name === 'taproot' ? all.filter((each) => !ofNodes.includes(each)) : all;

for (const name of drivers) {
  const family = name === 'taproot' ? 'bitcoin' : name;
  describe(`the ${name} adapter`, { concurrency: false }, () => {
    let driver: Driver;
    before(async () => {
      driver = await startDriver[name]();
    }, limits);
    after(async () => {
      await driver?.stop();
    }, limits);
    for (const { name: promise, run, except } of promisesOf(name)) {
      if (except?.[family] !== undefined) continue;
      test(promise, limits, async () => {
        await run(driver);
        kept.set(name, (kept.get(name) ?? 0) + 1);
      });
    }
  });
}

test('every promise is kept by every family, but for the exceptions that are named', () => {
  for (const family of families) {
    const excused = all.filter(({ except }) => except?.[family] !== undefined);
    const count = kept.get(family) ?? 0;
    process.stdout.write(
      `${family}: ${count} of ${all.length} promises kept, ${excused.length} excused\n`,
    );
    for (const { name, except } of excused) {
      process.stdout.write(`  excused: ${name}: ${except?.[family]}\n`);
    }
    assert.equal(count + excused.length, all.length, family);
  }
  const alike = promisesOf('taproot').filter(({ except }) => except?.bitcoin === undefined);
  assert.equal(kept.get('taproot'), alike.length);
  const excuses = all.flatMap(({ except = {} }) => Object.values(except));
  // Five of what scripts and contracts cannot do, three of chains that answer of no past block,
  // eight of Bitcoin that has no gas keys, one of its second source, one of Solana's transactions.
  assert.ok(
    excuses.length <= 18,
    `${excuses.length} excuses of 18: raise it here, with the reason`,
  );
  assert.deepEqual(
    excuses.filter((reason) => reason.length <= 20),
    [],
  );
});
