// Over drawn histories: the holdings once all is settled are known at any moment, however much of
// it the last balance has.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import type { Balance } from './inventory.ts';
import { type Motion, nothingYet, positionOf } from './position.ts';

const sold: Motion = { gives: 'x', given: 7n, gets: 'y', got: 3n, isOff: false, ...nothingYet };
const bought: Motion = { ...sold, gives: 'y', given: 3n, gets: 'x', got: 7n };
const at = (readAtMs: number): Balance => ({ units: 100n, readAtMs });

test('a leg counts until a balance was read once a block had it, and not after', () => {
  for (const [what, motion, readAtMs, held] of [
    ['it is to be funded', sold, 5, 93n],
    ['it was, after the reading', { ...sold, fundedAtMs: 6 }, 5, 93n],
    ['and before it', { ...sold, fundedAtMs: 5 }, 5, 100n],
    ['it came back, after the reading', { ...sold, fundedAtMs: 3, backAtMs: 6 }, 5, 107n],
    ['and before it', { ...sold, fundedAtMs: 3, backAtMs: 5 }, 5, 100n],
    ['it was never funded, and will not be', { ...sold, isOff: true }, 5, 100n],
    ['it is coming', bought, 5, 107n],
    ['it came, after the reading', { ...bought, paidAtMs: 6 }, 5, 107n],
    ['and before it', { ...bought, paidAtMs: 5 }, 5, 100n],
    ['it will not: the own leg came back', { ...bought, fundedAtMs: 1, backAtMs: 2 }, 5, 100n],
    ['it will not', { ...bought, isOff: true }, 5, 100n],
  ] as const) {
    assert.equal(positionOf('x', at(readAtMs), [motion]), held, what);
  }
  // Change of a payment on its way is held too.
  assert.equal(positionOf('x', { units: 1n, owned: 50n, readAtMs: 0 }, [sold]), 43n);
});

test('a bound counts on no taker: a coin counts once it is paid, and all that is given may come back', () => {
  for (const [what, motion, sells, buys] of [
    ['a sale that nobody has funded', sold, 93n, 100n],
    ['a sale that the balance shows', { ...sold, fundedAtMs: 5 }, 100n, 107n],
    ['a sale that is paid', { ...sold, fundedAtMs: 5, paidAtMs: 6 }, 100n, 100n],
    ['a sale that came back', { ...sold, fundedAtMs: 3, backAtMs: 5 }, 100n, 100n],
    ['a sale that is lost', { ...sold, fundedAtMs: 3, isOff: true }, 100n, 100n],
    ['a purchase', { ...bought, fundedAtMs: 5 }, 100n, 107n],
    ['a purchase that is paid, after the reading', { ...bought, paidAtMs: 6 }, 107n, 107n],
    ['a purchase that the balance shows', { ...bought, paidAtMs: 5 }, 100n, 100n],
  ] as const) {
    assert.equal(positionOf('x', at(5), [motion], 'sold'), sells, what);
    assert.equal(positionOf('x', at(5), [motion], 'bought'), buys, what);
  }
});

test('what is held does not depend on when the balance was read', () => {
  const step = fc.record({
    what: fc.constantFrom('agree', 'fund', 'pay', 'back', 'read'),
    sells: fc.boolean(),
    at: fc.nat(20),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let chain = 1_000n;
      let due = 1_000n;
      let balance: Balance = { units: chain, readAtMs: 0 };
      const all: Motion[] = [];
      for (const [before, { what, sells, at: place }] of steps.entries()) {
        const ms = before + 1;
        const index = place % Math.max(1, all.length);
        const one = all[index];
        const moves = one?.gives === 'x' ? -7n : 7n;
        if (what === 'agree') {
          all.push(sells ? sold : bought);
          due += sells ? -7n : 7n;
        } else if (what === 'fund' && one?.fundedAtMs === null) {
          all[index] = { ...one, fundedAtMs: ms };
          if (one.gives === 'x') chain += moves;
        } else if (what === 'pay' && one && one.paidAtMs === null && one.backAtMs === null) {
          all[index] = { ...one, paidAtMs: ms };
          if (one.gets === 'x') chain += moves;
        } else if (what === 'back' && one?.fundedAtMs && !one.paidAtMs && !one.backAtMs) {
          all[index] = { ...one, backAtMs: ms };
          if (one.gives === 'x') chain -= moves;
          due -= moves;
        } else if (what === 'read') balance = { units: chain, readAtMs: ms };
        assert.equal(positionOf('x', balance, all), due);
      }
    }),
    { numRuns: runs(200) },
  );
});
