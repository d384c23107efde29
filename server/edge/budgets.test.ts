// Budgets of keys, accounts and client addresses: specification part 8.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { clientNetwork, createBudgets } from './budgets.ts';

const settings = { rateLimit: 3, mintLimit: 2 };

test('a key has its limit in a window and has it back when the window ends, not before', () => {
  let now = 1_000;
  const budgets = createBudgets(settings, () => now);
  const caller = { keyId: 'k', accountId: 'a' };
  const remaining = [1, 2, 3].map(() => budgets.spendCaller(caller).remaining);
  assert.deepEqual(remaining, [2, 1, 0]);
  const over = budgets.spendCaller(caller);
  assert.deepEqual(over, {
    allowed: false,
    limit: 3,
    remaining: 0,
    resetSeconds: 60,
  });
  now += 59_999;
  assert.equal(budgets.spendCaller(caller).resetSeconds, 1);
  assert.equal(budgets.spendCaller(caller).allowed, false);
  now += 1;
  assert.equal(budgets.spendCaller(caller).allowed, true);
});

test('all keys of an account share its budget', () => {
  const budgets = createBudgets(settings, () => 0);
  const key = (keyId: string) => budgets.spendCaller({ keyId, accountId: 'a' });
  key('one');
  assert.equal(key('two').remaining, 1);
  assert.equal(key('three').remaining, 0);
  assert.equal(key('four').allowed, false);
  assert.equal(budgets.spendCaller({ keyId: 'other', accountId: 'b' }).remaining, 2);
});

test('a refused call spends nothing, whatever the order (property)', () => {
  const calls = fc.array(fc.record({ keyId: fc.constantFrom('1', '2'), wait: fc.nat(40_000) }));
  fc.assert(
    fc.property(calls, (list) => {
      let now = 0;
      const budgets = createBudgets(settings, () => now);
      let windowEnd = 0;
      let used = 0;
      for (const { keyId, wait } of list) {
        now += wait;
        if (now >= windowEnd) {
          windowEnd = now + 60_000;
          used = 0;
        }
        const { allowed, remaining } = budgets.spendCaller({ keyId, accountId: 'a' });
        assert.equal(allowed, used < settings.rateLimit);
        if (allowed) used += 1;
        assert.ok(remaining <= settings.rateLimit - used && remaining >= 0);
      }
    }),
  );
});

test('a clock set back does not lengthen a window', () => {
  let now = 1_000_000;
  const budgets = createBudgets(settings, () => now);
  for (let count = 0; count < 3; count += 1) budgets.spendClient('192.0.2.1');
  assert.equal(budgets.spendClient('192.0.2.1').allowed, false);
  now = 0;
  assert.equal(budgets.spendClient('192.0.2.1').allowed, true);
});

test('memory is bounded: the oldest are dropped when all windows are open', () => {
  const budgets = createBudgets(settings, () => 0, 100);
  for (let count = 0; count < 1_000; count += 1)
    budgets.spendClient(`10.0.${count >> 8}.${count & 255}`);
  // The last one is still counted.
  assert.equal(budgets.spendClient('10.0.3.231').remaining, 1);
});

describe('a client is counted by', () => {
  const cases = [
    ['its IPv4 address', '192.0.2.7', '192.0.2.7'],
    ['its IPv4 address, mapped', '::ffff:192.0.2.7', '192.0.2.7'],
    ['the /64 of its IPv6 address', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['the /64, shortened', '2001:db8::5', '2001:db8:0:0::/64'],
    ['the /64, padded', '2001:0db8:0000:0000::5', '2001:db8:0:0::/64'],
    ['the /64, with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['loopback', '::1', '0:0:0:0::/64'],
    ['whatever a proxy wrote, cut short', 'x'.repeat(200), 'x'.repeat(64)],
  ] as const;
  for (const [name, ip, expected] of cases) {
    test(name, () => assert.equal(clientNetwork(ip), expected));
  }
});
