import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changeBetween, type Known, nothingTold } from './events.ts';
import { outcome } from './outcome.ts';
import { escrowsOf, type Show, shows, stateOf } from './testing/states.ts';

const begin: Known = { state: stateOf('nothing', 'nothing'), status: 'agreed' };

function after(before: Known, long: Show, short: Show, wall = 50): Known {
  return outcome(before.state, { escrows: escrowsOf(long, short), full: true, wall });
}

/** The events between two states, with no memory of more. */
function eventsBetween(before: Known, then: Known) {
  return changeBetween({ ...before, told: nothingTold }, then).events;
}

/** The events of walking through these pairs of (long, short). */
function walk(...steps: [Show, Show][]): string[][] {
  let known = { ...begin, told: nothingTold };
  return steps.map(([long, short]) => {
    const next = after(known, long, short);
    const { events, told } = changeBetween(known, next);
    known = { ...next, told };
    return events.map(({ topic, status }) => `${topic} ${status}`);
  });
}

const funded1 = 'swap.funded initiator_funded';
const funded2 = 'swap.funded counterparty_funded';
const revealed = 'secret.revealed initiator_claimed';
const settled = 'swap.settled counterparty_claimed';

test('a swap that goes well tells each step when it comes to depth', () => {
  assert.deepEqual(
    walk(
      ['seen', 'nothing'],
      ['funded', 'nothing'],
      ['funded', 'seen'],
      ['funded', 'funded'],
      ['funded', 'claiming'],
      ['funded', 'claimed'],
      ['claiming', 'claimed'],
      ['claimed', 'claimed'],
    ),
    [[], [funded1], [], [funded2], [revealed], [], [], [settled]],
  );
});

test('steps that were skipped are told in order', () => {
  assert.deepEqual(walk(['claimed', 'claimed']), [[funded1, funded2, revealed, settled]]);
  assert.deepEqual(walk(['funded', 'claiming']), [[funded1, funded2, revealed]]);
  assert.deepEqual(walk(['refunded', 'refunded']), [
    [funded1, funded2, 'swap.refunded refunded', 'swap.refunded refunded'],
  ]);
});

test("the counterparty's leg alone is no step; with the initiator's both are told", () => {
  assert.deepEqual(walk(['nothing', 'funded'], ['funded', 'funded']), [[], [funded1, funded2]]);
});

test('each leg tells its refund, and a claim of the other makes it half settled', () => {
  assert.deepEqual(walk(['funded', 'funded'], ['funded', 'refunded'], ['refunded', 'refunded']), [
    [funded1, funded2],
    ['swap.refunded refunded'],
    ['swap.refunded refunded'],
  ]);
  const half = 'swap.half_settled half_settled';
  assert.deepEqual(walk(['funded', 'claimed'], ['refunded', 'claimed']), [
    [funded1, funded2, revealed],
    ['swap.refunded refunded', half],
  ]);
  assert.deepEqual(walk(['funded', 'refunded'], ['claimed', 'refunded']), [
    [funded1, funded2, 'swap.refunded refunded'],
    [revealed, settled, half],
  ]);
});

test('what a reorganisation takes back is told, with the status it came to', () => {
  assert.deepEqual(walk(['funded', 'nothing'], ['seen', 'nothing'], ['funded', 'nothing']), [
    [funded1],
    ['swap.reorged agreed'],
    [funded1],
  ]);
  const short = walk(['funded', 'funded'], ['funded', 'nothing']);
  assert.deepEqual(short[1], ['swap.reorged initiator_funded']);
});

test('a secret is told once, whatever is taken back after it', () => {
  assert.deepEqual(walk(['funded', 'claimed'], ['funded', 'funded'], ['funded', 'claimed']), [
    [funded1, funded2, revealed],
    [],
    [],
  ]);
});

test('with the secret public a funding is told once, however often it is shallow again', () => {
  assert.deepEqual(
    walk(
      ['funded', 'claiming'],
      ['seen', 'claiming'],
      ['funded', 'claiming'],
      ['seen', 'seen'],
      ['nothing', 'seen'],
      ['seen', 'funded'],
      ['funded', 'funded'],
      ['claimed', 'claimed'],
    ),
    [[funded1, funded2, revealed], [], [], [], [], [], [], [settled]],
  );
});

test('a funding that counts only after the secret is public is told then, each once', () => {
  assert.deepEqual(
    walk(
      ['seen', 'claiming'],
      ['funded', 'seen'],
      ['seen', 'funded'],
      ['funded', 'funded'],
      ['seen', 'funded'],
      ['funded', 'funded'],
    ),
    [[revealed], [funded1], [], [funded2], [], []],
  );
});

test('after a reorganisation that was told, a funding that nobody saw fall is told again', () => {
  assert.deepEqual(
    walk(
      ['funded', 'refunded'],
      ['seen', 'refunded'],
      ['funded', 'refunded'],
      ['seen', 'refunded'],
      ['seen', 'nothing'],
      ['funded', 'nothing'],
    ),
    [[funded1, funded2, 'swap.refunded refunded'], [], [], [], ['swap.reorged agreed'], [funded1]],
  );
});

test('expiry tells nothing, and funding after it is told', () => {
  const expired = after(begin, 'nothing', 'nothing', 151);
  assert.equal(expired.status, 'expired');
  assert.deepEqual(eventsBetween(begin, expired), []);
  const late = after(expired, 'funded', 'nothing', 160);
  assert.deepEqual(
    eventsBetween(expired, late).map((each) => each.status),
    ['initiator_funded'],
  );
});

test('a status that changes is told, and where it has not changed no event takes it back', () => {
  const names = Object.keys(shows) as Show[];
  const pairs = names.flatMap((long) => names.map((short) => [long, short] as const));
  for (const [long, short] of pairs) {
    const known = after(begin, long, short);
    for (const then of pairs) {
      const next = after(known, ...then);
      const told = eventsBetween(known, next).map(({ topic, status }) => [topic, status]);
      const words = `${known.status} to ${next.status}: ${told.join(' ')}`;
      const carries = told.some(([, status]) => status === next.status);
      if (known.status !== next.status) assert.ok(carries, words);
      // It has a status of its own only where a chain took something back.
      const reorged = told.filter(([topic]) => topic === 'swap.reorged');
      assert.ok(
        reorged.every(([, status]) => status === next.status),
        words,
      );
      if (known.status === next.status) assert.deepEqual(reorged, [], words);
      const half = told.findIndex(([topic]) => topic === 'swap.half_settled');
      if (half >= 0)
        assert.deepEqual([half, next.status], [told.length - 1, 'half_settled'], words);
    }
  }
});

test('the same look twice tells nothing, from any state to any other', () => {
  const show = fc.constantFrom(...(Object.keys(shows) as Show[]));
  const wall = fc.integer({ min: 0, max: 3_000 });
  fc.assert(
    fc.property(fc.array(fc.tuple(show, show, wall), { minLength: 1 }), (steps) => {
      let known = { ...begin, told: nothingTold };
      const times = new Map<string, number>();
      for (const [long, short, at] of steps) {
        const next = after(known, long, short, at);
        const { events, told } = changeBetween(known, next);
        for (const { topic } of events) times.set(topic, (times.get(topic) ?? 0) + 1);
        const again = after(next, long, short, at);
        assert.deepEqual(again.status, next.status);
        assert.deepEqual(changeBetween({ ...next, told }, again), { events: [], told });
        known = { ...next, told };
      }
      const told = (topic: string) => times.get(topic) ?? 0;
      assert.ok(told('secret.revealed') <= 1);
      assert.ok(told('swap.funded') <= 2 + 2 * told('swap.reorged'));
    }),
  );
});
