import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EscrowFacts, legStatus, nothingSeen } from '@parley/core/facts.ts';
import { lateWatchSeconds } from '@parley/core/remains.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { changeBetween, nothingTold } from './events.ts';
import { type Look, outcome, unknownRetrySeconds } from './outcome.ts';
import { escrowsOf, type Show, secret, shows, stateOf } from './testing/states.ts';

const fresh = stateOf('nothing', 'nothing');

type More = Partial<Look> & { readonly before?: typeof fresh };

function look(pair: string, wall: number, { before = fresh, ...more }: More = {}) {
  const [long, short] = pair.split(' ') as [Show, Show];
  return outcome(before, { escrows: escrowsOf(long, short), full: true, wall, ...more });
}
const none = 'nothing nothing';
const until = 2_000 + lateWatchSeconds;

test('a swap expires after its funding deadline, when every escrow was read, for ever', () => {
  const early = look(none, 150);
  assert.deepEqual([early.status, early.dueAt], ['agreed', 151]);
  const partial = look(none, 151, { full: false });
  assert.deepEqual([partial.status, partial.state.lapsed], ['agreed', false]);
  assert.equal(partial.dueAt, 151, 'and is due for a full poll at once');
  const expired = look(none, 151);
  assert.deepEqual([expired.status, expired.state.lapsed], ['expired', true]);
  const late = look('funded nothing', 152, { before: expired.state });
  assert.deepEqual([late.status, late.state.lapsed], ['initiator_funded', true]);
  assert.equal(look(none, 50, { before: late.state }).status, 'expired');
});

test('a funding on its way holds the expiry off; when it vanishes the swap is due', () => {
  const seen = look('seen nothing', 151);
  assert.deepEqual([seen.status, seen.dueAt], ['agreed', null]);
  const gone = look(none, 152, { before: seen.state, full: false });
  assert.ok(gone.dueAt !== null && gone.dueAt <= 152);
});

test('the secret is taken from any escrow, former ones too, and only if it opens', () => {
  const by = (shown: string) => {
    const former = { leg: 'b', address: 'old', facts: { ...nothingSeen, secret: shown } } as const;
    return look(none, 50, { escrows: [former] });
  };
  const found = by(secret);
  assert.deepEqual([found.state.secret, found.status], [secret, 'initiator_claimed']);
  assert.equal(by('22'.repeat(32)).state.secret, null);
  assert.equal(look(none, 50, { before: found.state }).state.secret, secret, 'and kept');
});

test('a payment to a former escrow is not a funding, and keeps the swap open', () => {
  const former = { leg: 'b', address: 'old', facts: shows.funded } as const;
  const paid = look(none, 50, { escrows: [former, ...escrowsOf('claimed', 'claimed')] });
  assert.deepEqual([paid.status, paid.done], ['counterparty_claimed', false]);
  assert.equal(look(none, 50, { escrows: [former] }).status, 'agreed');
});

test('it is done when both legs ended and every escrow is empty, after a full poll', () => {
  for (const ended of ['claimed claimed', 'refunded refunded', 'refunded claimed']) {
    const ends = (more: More) => {
      const { done, dueAt } = look(ended, 50, more);
      return [done, dueAt];
    };
    assert.deepEqual(ends({}), [true, null], ended);
    assert.deepEqual(ends({ full: false }), [false, 50], ended);
    // One chain reopens nothing.
    assert.deepEqual(ends({ full: false, wasDone: true }), [true, null], ended);
  }
  const open = ['funded claimed', 'claiming claimed', 'claimed claiming', 'refunding refunded'];
  for (const pair of [...open, 'refunded funded', none]) {
    assert.equal(look(pair, 50).done, false, pair);
  }
});

test('an escrow that was never funded is watched a while after its last timelock, and not for ever', () => {
  const expired = look(none, 151);
  assert.deepEqual([expired.done, expired.dueAt], [false, until]);
  const { state: before } = expired;
  assert.equal(look(none, until - 1, { before }).done, false);
  const over = look(none, until, { before });
  assert.deepEqual([over.done, over.dueAt, over.status], [true, null, 'expired']);
  const half = look('refunded nothing', 2_500, { before });
  assert.deepEqual([half.done, half.dueAt, half.status], [false, until, 'refunded']);
});

test('payments by strangers are followed until a week after the last timelock, and no longer', () => {
  const legs = { a: { ...fresh.legs.a, amount: 1_000n }, b: { ...fresh.legs.b, amount: 1_000n } };
  const at = (pair: [Show, Show], paid: Partial<EscrowFacts>, wall: number, more: More = {}) => {
    const former = { leg: 'b', address: 'old', facts: { ...nothingSeen, empty: false, ...paid } };
    const escrows = [former as Look['escrows'][number], ...escrowsOf(...pair)];
    const { done, dueAt } = look(none, wall, { escrows, before: { ...fresh, legs }, ...more });
    return [done, dueAt];
  };
  const settled: [Show, Show] = ['claimed', 'claimed'];
  const pooled = { funded: { txid: 'p', confirmations: 0, deep: false } };
  for (const paid of [{ balance: 9n }, {}, pooled]) {
    assert.deepEqual(at(settled, paid, until - 1), [false, until], 'its refund is still offered');
    assert.deepEqual(at(settled, paid, until, { full: false }), [false, until], 'asks both chains');
    assert.deepEqual(at(settled, paid, until), [true, null]);
    assert.deepEqual(at(['nothing', 'nothing'], paid, until), [true, null]);
  }
  assert.deepEqual(at(settled, { balance: 10n }, until), [false, null], 'a hundredth is money');
  assert.deepEqual(at(['funded', 'claimed'], { balance: 9n }, until), [false, null]);
});

test('a swap of which nothing was ever seen expires a week after its last timelock, unknown or not', () => {
  const unknown = { ...nothingSeen, outcome: 'unknown' } as const;
  const at = (wall: number, facts: EscrowFacts, more: More = {}) => {
    const [own, other] = escrowsOf('nothing', 'nothing');
    return look(none, wall, { escrows: [{ ...own, facts }, other], ...more });
  };
  const before = at(until - 1, unknown);
  assert.deepEqual([before.status, before.state.lapsed, before.done], ['agreed', false, false]);
  assert.equal(at(until, unknown, { full: false }).status, 'agreed', 'only after a poll of both');
  const over = at(until, unknown);
  assert.deepEqual([over.status, over.state.lapsed, over.done], ['expired', true, true]);
  assert.equal(over.state.legs.b.facts.outcome, 'unknown', 'still not taken for unfunded');
  // A fact that was seen once, or a secret that is public, stays as it was.
  const seen = at(until, { ...shows.seen, balance: 0n, empty: true, outcome: 'unknown' });
  assert.equal(seen.status, 'agreed');
  const revealed = at(until, unknown, { before: { ...fresh, secret } });
  assert.equal(revealed.status, 'initiator_claimed');
});

test('an outcome that nobody knows moves no status, emits nothing, and is asked for again', () => {
  const show = fc.constantFrom<Show>('nothing', ...(Object.keys(shows) as Show[]));
  const drawn = fc.record({
    long: show,
    short: show,
    unknown: fc.constantFrom<readonly ('a' | 'b')[]>(['a'], ['b'], ['a', 'b']),
    lapsed: fc.boolean(),
    // Before and after its funding deadline.
    wall: fc.constantFrom(50, 150, 151, 2_500),
    later: fc.constantFrom(0, 1, 101, 3_000),
  });
  fc.assert(
    fc.property(drawn, ({ long, short, unknown, lapsed, wall, later }) => {
      const known = escrowsOf(long, short);
      const before = look(none, wall, { escrows: known, before: { ...fresh, lapsed } });
      const escrows = known.map((each) => {
        const facts = { ...each.facts, balance: 0n, outcome: 'unknown' as const };
        return unknown.includes(each.leg) ? { ...each, facts } : each;
      });
      const after = look(none, wall + later, { escrows, before: before.state });
      assert.deepEqual([after.status, after.state.lapsed], [before.status, before.state.lapsed]);
      for (const name of unknown) {
        assert.notEqual(legStatus(after.state.legs[name].facts), 'unfunded');
      }
      assert.deepEqual(changeBetween({ ...before, told: nothingTold }, after).events, []);
      const latest = wall + later + unknownRetrySeconds;
      assert.ok(after.done || (after.dueAt !== null && after.dueAt <= latest));
    }),
    { numRuns: runs(1_000) },
  );
});
