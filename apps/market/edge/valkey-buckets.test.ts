// The state of budgets while Valkey is away, with a real server that is killed, stopped, and
// started again: a decision always comes, and it is never an error.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { startValkey } from '@parley/verify/test/support/valkey.ts';
import { pino } from 'pino';
import { createMetrics } from '../ports/metrics.ts';
import { connectValkey } from '../ports/valkey.ts';
import { createMemoryBuckets } from './memory-buckets.ts';
import { createValkeyBuckets } from './valkey-buckets.ts';

const rule = { name: 'calls', limit: 5, windowMs: 60_000 } as const;

/** One process: its buckets, and what it logs. */
function start(t: TestContext, url: string, prefix: string, answerLimitMs = 20_000) {
  const lines: string[] = [];
  const metrics = createMetrics('parley');
  const client = connectValkey(url);
  const buckets = createValkeyBuckets({
    client,
    alone: createMemoryBuckets(() => Date.now()),
    prefix,
    log: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }),
    metrics,
    answerLimitMs,
  });
  t.after(() => client.disconnect());
  return {
    buckets,
    lines,
    used: async () => (await buckets.spend(rule, ['a'])).buckets[0]!.used,
    alone: async () => (await metrics.decisionsAlone.get()).values[0]!.value,
    /** Asks until a line with these words has been logged. */
    logged: async (words: string, from = 0) => {
      while (!lines.slice(from).some((line) => line.includes(words))) {
        await buckets.spend(rule, ['other']);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

const prefixOf = () => `t${randomBytes(6).toString('hex')}:`;

test('a server that dies leaves each process its own count, and is used again once back', async (t) => {
  const valkey = await startValkey();
  t.after(() => valkey.stop());
  const prefix = prefixOf();
  const one = start(t, valkey.url, prefix);
  const two = start(t, valkey.url, prefix);
  await Promise.all([one.buckets.started, two.buckets.started]);
  assert.equal(await one.used(), 1);
  assert.equal(await two.used(), 2);
  assert.equal(await one.alone(), 0);
  await valkey.kill();
  const used: number[] = [];
  for (let count = 0; count < 5; count += 1) used.push(await one.used());
  assert.deepEqual(used, [1, 2, 3, 4, 5]);
  assert.equal((await one.buckets.spend(rule, ['a'])).allowed, false);
  assert.equal(await one.alone(), 6);
  assert.equal(await two.used(), 1);
  const warnings = one.lines.filter((line) => line.includes('counts budgets alone'));
  assert.equal(warnings.length, 1);
  const oneSaid = one.lines.length;
  const twoSaid = two.lines.length;
  await valkey.start();
  await one.logged('shared through Valkey', oneSaid);
  await two.logged('shared through Valkey', twoSaid);
  // The server lost what it held: both begin again, together.
  assert.equal(await one.used(), 1);
  assert.equal(await two.used(), 2);
});

test('a server that stops answering holds up a decision for the limit only, then none', async (t) => {
  const valkey = await startValkey();
  t.after(() => valkey.stop());
  const { buckets, used, alone, logged, lines } = start(t, valkey.url, prefixOf(), 100);
  await buckets.started;
  await logged('shared through Valkey');
  valkey.pause();
  const said = lines.length;
  try {
    assert.equal(await used(), 1);
    assert.ok(lines.some((line) => line.includes('"reason":"TIMEOUT"')));
    assert.ok(!(buckets.spend(rule, ['at once']) instanceof Promise));
    assert.equal(await alone(), 2);
  } finally {
    valkey.resume();
  }
  await logged('shared through Valkey', said);
});

test('a password is used, and neither a right nor a wrong one is logged', async (t) => {
  const right = 'right-f00d';
  const wrong = 'wrong-f00d';
  const valkey = await startValkey({ requirepass: right });
  t.after(() => valkey.stop());
  const withPassword = (password: string) => valkey.url.replace('//', `//default:${password}@`);
  const good = start(t, withPassword(right), prefixOf());
  await good.logged('shared through Valkey');
  assert.equal(await good.used(), 1);
  for (const [url, reason] of [
    [withPassword(wrong), 'WRONGPASS'],
    [valkey.url, 'NOAUTH'],
  ] as const) {
    const bad = start(t, url, prefixOf());
    await bad.buckets.started;
    assert.equal(await bad.used(), 1);
    await bad.logged(`"reason":"${reason}"`);
    assert.doesNotMatch(bad.lines.join(), /f00d|redis:/);
  }
  assert.doesNotMatch(good.lines.join(), /f00d|redis:/);
});
