import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type EscrowFacts, legStatus, nothingSeen } from '../../core/facts.ts';
import type { SwapState } from '../../core/swap.ts';
import { runs } from '../../test/support/runs.ts';
import { changeBetween, nothingTold } from './events.ts';
import { lateWatchSeconds, outcome, unknownRetrySeconds } from './outcome.ts';
import { escrowsOf, type Show, secret, shows, stateOf } from './testing/states.ts';

const fresh = stateOf('nothing', 'nothing');

function look(
  [long, short]: [Show, Show],
  wall: number,
  more: { full?: boolean; wasDone?: boolean; before?: SwapState } = {},
) {
  const { full = true, wasDone = false, before = fresh } = more;
  return outcome(before, { escrows: escrowsOf(long, short), full, wall, wasDone });
}

test('a swap expires after its funding deadline, when every escrow was looked at', () => {
  assert.equal(look(['nothing', 'nothing'], 150).status, 'agreed');
  assert.equal(look(['nothing', 'nothing'], 150).dueAt, 151);
  assert.equal(look(['nothing', 'nothing'], 151).status, 'expired');
  const partial = look(['nothing', 'nothing'], 151, { full: false });
  assert.deepEqual([partial.status, partial.state.lapsed], ['agreed', false]);
  assert.equal(partial.dueAt, 151, 'and is due for a full look at once');
});

test('lapsed is for ever', () => {
  const expired = look(['nothing', 'nothing'], 151);
  assert.equal(expired.state.lapsed, true);
  const late = look(['funded', 'nothing'], 152, { before: expired.state });
  assert.deepEqual([late.status, late.state.lapsed], ['initiator_funded', true]);
  const back = look(['nothing', 'nothing'], 50, { before: late.state });
  assert.equal(back.status, 'expired');
});

test('a funding on its way holds the expiry off; when it vanishes the swap is due', () => {
  const seen = look(['seen', 'nothing'], 151);
  assert.deepEqual([seen.status, seen.dueAt], ['agreed', null]);
  const gone = look(['nothing', 'nothing'], 152, { before: seen.state, full: false });
  assert.ok(gone.dueAt !== null && gone.dueAt <= 152);
});

test('the secret is taken from any escrow, former ones too, and only if it opens', () => {
  const former = { leg: 'b', address: 'old', facts: { ...nothingSeen, secret } } as const;
  const found = outcome(fresh, { escrows: [former], full: true, wall: 50 });
  assert.deepEqual([found.state.secret, found.status], [secret, 'initiator_claimed']);
  const wrong = { ...former, facts: { ...nothingSeen, secret: '22'.repeat(32) } };
  assert.equal(outcome(fresh, { escrows: [wrong], full: true, wall: 50 }).state.secret, null);
  const later = look(['nothing', 'nothing'], 50, { before: found.state });
  assert.equal(later.state.secret, secret);
});

test('a payment to a former escrow is not a funding, and keeps the swap open', () => {
  const former = { leg: 'b', address: 'old', facts: shows.funded } as const;
  const escrows = [former, ...escrowsOf('claimed', 'claimed')];
  const paid = outcome(fresh, { escrows, full: true, wall: 50 });
  assert.deepEqual([paid.status, paid.done], ['counterparty_claimed', false]);
  const alone = outcome(fresh, { escrows: [former], full: true, wall: 50 });
  assert.equal(alone.status, 'agreed');
});

test('it is done when both legs ended and every escrow is empty, after a full look', () => {
  for (const ended of [
    ['claimed', 'claimed'],
    ['refunded', 'refunded'],
    ['refunded', 'claimed'],
  ] as [Show, Show][]) {
    assert.equal(look(ended, 50).done, true, ended.join());
    assert.equal(look(ended, 50).dueAt, null);
    const partial = look(ended, 50, { full: false });
    assert.deepEqual([partial.done, partial.dueAt], [false, 50]);
    const again = look(ended, 50, { full: false, wasDone: true });
    assert.deepEqual([again.done, again.dueAt], [true, null], 'one chain reopens nothing');
  }
  for (const open of [
    ['funded', 'claimed'],
    ['claiming', 'claimed'],
    ['claimed', 'claiming'],
    ['refunding', 'refunded'],
    ['refunded', 'funded'],
    ['nothing', 'nothing'],
  ] as [Show, Show][]) {
    assert.equal(look(open, 50).done, false, open.join());
  }
});

test('what was never funded is watched a while after its last timelock, and not for ever', () => {
  const expired = look(['nothing', 'nothing'], 151);
  const until = 2_000 + lateWatchSeconds;
  assert.deepEqual([expired.done, expired.dueAt], [false, until]);
  const { state } = expired;
  assert.equal(look(['nothing', 'nothing'], until - 1, { before: state }).done, false);
  const over = look(['nothing', 'nothing'], until, { before: state });
  assert.deepEqual([over.done, over.dueAt, over.status], [true, null, 'expired']);
  const half = look(['refunded', 'nothing'], 2_500, { before: state });
  assert.deepEqual([half.done, half.dueAt, half.status], [false, until, 'refunded']);
});

test('a swap of which nothing was ever seen expires a week after its last timelock, unknown or not', () => {
  const until = 2_000 + lateWatchSeconds;
  const unknown = { ...nothingSeen, outcome: 'unknown' } as const;
  const at = (wall: number, facts: EscrowFacts, before = fresh, full = true) => {
    const [own, other] = escrowsOf('nothing', 'nothing');
    assert.ok(own && other);
    return outcome(before, { escrows: [{ ...own, facts }, other], full, wall });
  };
  const before = at(until - 1, unknown);
  assert.deepEqual([before.status, before.state.lapsed, before.done], ['agreed', false, false]);
  assert.equal(at(until, unknown, fresh, false).status, 'agreed', 'only after a look at both');
  const over = at(until, unknown);
  assert.deepEqual([over.status, over.state.lapsed, over.done], ['expired', true, true]);
  const { facts } = over.state.legs[escrowsOf('nothing', 'nothing')[0]?.leg ?? 'a'];
  assert.equal(facts.outcome, 'unknown', 'which is still not taken for unfunded');
  // What was seen once, or a secret that is public, stays what it was.
  const seen = at(until, { ...shows.seen, balance: 0n, empty: true, outcome: 'unknown' });
  assert.equal(seen.status, 'agreed');
  assert.equal(at(until, unknown, { ...fresh, secret }).status, 'initiator_claimed');
});

test('an outcome that nobody knows moves no status, tells nothing, and is asked for again', () => {
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
      const before = outcome({ ...fresh, lapsed }, { escrows: known, full: true, wall });
      const escrows = known.map((each) =>
        unknown.includes(each.leg)
          ? { ...each, facts: { ...each.facts, balance: 0n, outcome: 'unknown' as const } }
          : each,
      );
      const then = wall + later;
      const after = outcome(before.state, { escrows, full: true, wall: then });
      assert.equal(after.status, before.status);
      assert.equal(after.state.lapsed, before.state.lapsed);
      for (const name of unknown) {
        assert.notEqual(legStatus(after.state.legs[name].facts), 'unfunded');
      }
      assert.deepEqual(changeBetween({ ...before, told: nothingTold }, after).events, []);
      if (!after.done) assert.ok(after.dueAt !== null && after.dueAt <= then + unknownRetrySeconds);
    }),
    { numRuns: runs(1_000) },
  );
});
