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

const funded1 = 'swap.funded initiator_funded';
const funded2 = 'swap.funded counterparty_funded';
const revealed = 'secret.revealed initiator_claimed';
const settled = 'swap.settled counterparty_claimed';
const refunded = 'swap.refunded refunded';
const half = 'swap.half_settled half_settled';

/** The facts of the long and the short leg, and the events emitted then. */
type Step = readonly [long: Show, short: Show, ...events: string[]];

const walks: [promise: string, ...steps: Step[]][] = [
  [
    'a swap that goes well emits each step once that is final',
    ['seen', 'nothing'],
    ['funded', 'nothing', funded1],
    ['funded', 'seen'],
    ['funded', 'funded', funded2],
    ['funded', 'claiming', revealed],
    ['funded', 'claimed'],
    ['claiming', 'claimed'],
    ['claimed', 'claimed', settled],
  ],
  [
    'steps that were skipped are emitted in order',
    ['claimed', 'claimed', funded1, funded2, revealed, settled],
  ],
  [
    'refunds that were skipped to are emitted after both fundings',
    ['refunded', 'refunded', funded1, funded2, refunded, refunded],
  ],
  [
    "the counterparty's leg alone is no step; with the initiator's both are told",
    ['nothing', 'funded'],
    ['funded', 'funded', funded1, funded2],
  ],
  [
    'each leg emits its refund',
    ['funded', 'funded', funded1, funded2],
    ['funded', 'refunded', refunded],
    ['refunded', 'refunded', refunded],
  ],
  [
    'a refund after a claim of the other leg makes it half settled',
    ['funded', 'claimed', funded1, funded2, revealed],
    ['refunded', 'claimed', refunded, half],
  ],
  [
    'a claim after a refund of the other leg makes it half settled',
    ['funded', 'refunded', funded1, funded2, refunded],
    ['claimed', 'refunded', revealed, settled, half],
  ],
  [
    'a fact that a reorganisation takes back is emitted, with the status it came to',
    ['funded', 'nothing', funded1],
    ['seen', 'nothing', 'swap.reorged agreed'],
    ['funded', 'funded', funded1, funded2],
    ['funded', 'nothing', 'swap.reorged initiator_funded'],
  ],
  [
    'a claim of a settled swap that is taken back is emitted, and emitted again when it is back',
    ['claimed', 'claimed', funded1, funded2, revealed, settled],
    ['funded', 'claimed', 'swap.reorged initiator_claimed'],
    ['claimed', 'claimed', settled],
  ],
  [
    'a secret is emitted once, whatever is taken back after it',
    ['funded', 'claimed', funded1, funded2, revealed],
    ['funded', 'funded'],
    ['funded', 'claimed'],
  ],
  [
    'with the secret public a funding is emitted once, however often it is shallow again',
    ['funded', 'claiming', funded1, funded2, revealed],
    ['seen', 'claiming'],
    ['funded', 'claiming'],
    ['seen', 'seen'],
    ['nothing', 'seen'],
    ['seen', 'funded'],
    ['funded', 'funded'],
    ['claimed', 'claimed', settled],
  ],
  [
    'a funding that counts only after the secret is public is emitted then, each once',
    ['seen', 'claiming', revealed],
    ['funded', 'seen', funded1],
    ['seen', 'funded'],
    ['funded', 'funded', funded2],
    ['seen', 'funded'],
    ['funded', 'funded'],
  ],
  [
    'after a reorganisation that was emitted, a funding that nobody saw fall is emitted again',
    ['funded', 'refunded', funded1, funded2, refunded],
    ['seen', 'refunded'],
    ['funded', 'refunded'],
    ['seen', 'refunded'],
    ['seen', 'nothing', 'swap.reorged agreed'],
    ['funded', 'nothing', funded1],
  ],
];
for (const [promise, ...steps] of walks) {
  test(promise, () => {
    let known = { ...begin, told: nothingTold };
    for (const [long, short, ...expected] of steps) {
      const next = after(known, long, short);
      const { events, told } = changeBetween(known, next);
      const words = events.map(({ topic, status }) => `${topic} ${status}`);
      assert.deepEqual(words, expected, `${long} ${short}`);
      known = { ...next, told };
    }
  });
}

test('expiry emits nothing, and funding after it is emitted', () => {
  const expired = after(begin, 'nothing', 'nothing', 151);
  assert.equal(expired.status, 'expired');
  assert.deepEqual(eventsBetween(begin, expired), []);
  const late = eventsBetween(expired, after(expired, 'funded', 'nothing', 160));
  assert.deepEqual(late, [{ topic: 'swap.funded', status: 'initiator_funded' }]);
});

test('the same poll twice emits nothing, from any state to any other', () => {
  const show = fc.constantFrom(...(Object.keys(shows) as Show[]));
  const wall = fc.integer({ min: 0, max: 3_000 });
  fc.assert(
    fc.property(fc.array(fc.tuple(show, show, wall), { minLength: 1 }), (steps) => {
      let known = { ...begin, told: nothingTold };
      const topics: string[] = [];
      for (const [long, short, at] of steps) {
        const next = after(known, long, short, at);
        const { events, told } = changeBetween(known, next);
        topics.push(...events.map(({ topic }) => topic));
        const again = after(next, long, short, at);
        assert.equal(again.status, next.status);
        assert.deepEqual(changeBetween({ ...next, told }, again), { events: [], told });
        known = { ...next, told };
      }
      const times = (topic: string) => topics.filter((each) => each === topic).length;
      assert.ok(times('secret.revealed') <= 1);
      assert.ok(times('swap.funded') <= 2 + 2 * times('swap.reorged'));
    }),
  );
});
