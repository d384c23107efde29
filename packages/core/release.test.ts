import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type EscrowFacts, nothingSeen } from './facts.ts';
import { answerGate, askGate, claimGate, fundGate, releaseGate, wishGate } from './gates.ts';
import { nextSteps } from './next.ts';
import { releaseOf } from './release.ts';
import { agreedAt, clocksAt, deep, facts, secret, seen, swapOf } from './testing.ts';
import type { LegName } from './trade.ts';

const funded = facts({ funded: deep() });
const shallow = facts({ funded: seen() });
const claimed = facts({ funded: deep(), claimed: deep() });
const refunding = facts({ funded: deep(), refunded: seen() });
const refunded = facts({ funded: deep(), refunded: deep() });
const unknown = facts({ outcome: 'unknown' });
const wish = { askedAt: agreedAt + 5, at: null, signature: null };
const given = { ...wish, at: agreedAt + 6, signature: '0x01' };
const now = agreedAt + 10;
const refused = (code: string) => ({ name: 'ParleyError', code });

type Given = NonNullable<Parameters<typeof swapOf>[0]>;
const swap = (over: Given) => swapOf({ consents: true, ...over });

function brief(over: Given, at = now): string {
  const steps = nextSteps(swap(over), clocksAt(at));
  const own = steps.map(({ by, action, leg }) => `${by} ${action} ${leg}`);
  return own.filter((each) => !each.includes(' wait ')).join(', ');
}

test('the initiator gives nothing up once the market was shown its secret', () => {
  const given_ = { long: funded, short: funded, shortShown: true };
  const { refundAt } = swap({}).deadlines;
  const told = swap(given_);
  assert.throws(() => wishGate(told, 'a', clocksAt(now)), refused('not_releasable'));
  assert.throws(() => releaseGate(told, 'a', clocksAt(now)), refused('not_releasable'));
  assert.equal(brief(given_), 'initiator claim a');
  assert.equal(brief({ ...given_, shortRelease: wish }), '');
  // No contract takes that claim any more.
  releaseGate(told, 'a', clocksAt(refundAt.a));
  // Its own leg is back, whatever the initiator was handed.
  releaseGate(swap({ ...given_, short: refunded }), 'b', clocksAt(now));
});

/** The long leg is `b`: its payee is the counterparty, who funds `a`. */
test('the counterparty releases the long leg only while its own cannot be taken', () => {
  const rows: readonly (readonly [string, Given, boolean, number?])[] = [
    ['was never funded', {}, true],
    ['is not known to be sent', { shortHanded: 'unknown' }, true],
    ['may have been sent', { shortHanded: 'sent' }, false],
    [
      'was not sent before its timelock',
      { shortHanded: 'sent' },
      true,
      swap({}).deadlines.refundAt.a,
    ],
    ['was seen', { short: shallow }, false],
    ['is funded', { short: funded }, false],
    ['is being refunded', { short: refunding }, false],
    ['is back at depth', { short: refunded }, true],
    ['is back, and something came beside', { short: { ...refunded, balance: 1n } }, false],
    ['is not known', { short: unknown }, false],
    ['is in an escrow that it moved off', { shortStrayed: true }, false],
  ];
  for (const [what, over, isFree, at = now] of rows) {
    const pass = () => releaseGate(swap({ long: funded, ...over }), 'b', clocksAt(at));
    if (isFree) pass();
    else assert.throws(pass, refused('not_releasable'), what);
  }
});

test('the initiator releases the short leg whatever became of its own', () => {
  for (const long of [nothingSeen, shallow, funded, refunding, refunded, unknown]) {
    for (const short of [nothingSeen, shallow, funded]) {
      releaseGate(swap({ long, short, longHanded: 'sent' }), 'a', clocksAt(now));
    }
  }
});

test('nobody releases a leg that is spent, without an escrow, or with the secret public', () => {
  const rows: readonly (readonly [LegName, Given, string])[] = [
    ['a', { short: claimed }, 'already_claimed'],
    ['a', { short: refunding }, 'already_refunded'],
    ['a', { short: funded, secret }, 'not_releasable'],
    ['b', { long: funded, short: refunded, secret }, 'not_releasable'],
    ['a', { addresses: false }, 'not_releasable'],
    ['b', { long: funded, consents: false }, 'not_releasable'],
  ];
  for (const [leg, over, code] of rows) {
    assert.throws(() => releaseGate(swap(over), leg, clocksAt(now)), refused(code));
  }
  assert.throws(
    () => wishGate(swap({ short: funded, secret }), 'a', clocksAt(now)),
    refused('not_releasable'),
  );
  assert.throws(
    () => wishGate(swap({ short: claimed }), 'a', clocksAt(now)),
    refused('already_claimed'),
  );
  // The wish alone costs nothing.
  wishGate(swap({ long: funded, short: funded }), 'b', clocksAt(now));
  wishGate(swap({ addresses: false, consents: false }), 'b', clocksAt(now));
});

test('from the first wish on nothing is funded, and its side shows no secret', () => {
  for (const over of [{ longRelease: wish }, { shortRelease: wish }, { shortRelease: given }]) {
    const early = swap(over);
    assert.throws(() => fundGate(early, 'b', clocksAt(now)), refused('given_up'));
    const half = swap({ long: funded, ...over });
    assert.throws(() => fundGate(half, 'a', clocksAt(now)), refused('given_up'));
    assert.doesNotMatch(brief({ long: funded, ...over }), /fund a/);
    assert.equal(brief({ addresses: false, ...over }), '');
  }
  const both = { long: funded, short: funded };
  for (const shortRelease of [wish, given]) {
    const own = swap({ ...both, shortRelease });
    assert.throws(() => claimGate(own, 'a', clocksAt(now)), refused('given_up'));
    assert.doesNotMatch(brief({ ...both, shortRelease }), /claim/);
    // Public anyway, it is claimed as ever.
    claimGate(swap({ ...both, shortRelease, secret }), 'a', clocksAt(now));
    const open = brief({ ...both, shortRelease, secret });
    assert.match(open, /initiator claim a.*counterparty claim b/);
  }
  // The wish of the other side binds the other side.
  claimGate(swap({ ...both, longRelease: wish }), 'a', clocksAt(now));
  assert.equal(brief({ ...both, longRelease: wish }), 'initiator claim a');
});

test('the way back at once: short leg first, then the long one', () => {
  const both = { long: funded, short: funded };
  assert.equal(brief({ ...both, shortRelease: wish }), 'initiator release a');
  assert.equal(brief({ ...both, shortRelease: given }), 'counterparty refund a');
  const half = { long: funded, short: refunding, shortRelease: given };
  assert.equal(brief(half), '');
  const back = { ...half, short: refunded };
  assert.equal(brief(back), 'counterparty release b');
  assert.equal(brief({ ...back, longRelease: given }), 'initiator refund b');
  assert.equal(brief({ ...back, long: refunded, longRelease: given }), '');
});

test('a leg that nobody will be paid for is released without a wish', () => {
  const { counterpartyFundBy, refundAt } = swap({}).deadlines;
  const long: Given = { long: funded };
  assert.equal(brief(long), 'counterparty fund a');
  assert.equal(brief(long, counterpartyFundBy + 1), 'counterparty release b');
  assert.equal(brief({ ...long, longRelease: wish }), 'counterparty release b');
  const both = 'initiator release a, counterparty release b';
  assert.equal(brief({ ...long, shortRelease: wish }), both);
  for (const shortHanded of ['unknown', 'sent'] as const) {
    const may = { ...long, longRelease: wish, shortHanded };
    assert.equal(brief(may), '');
    assert.equal(brief(may, refundAt.a), 'counterparty release b');
  }
  // Its refund is open by then.
  assert.equal(brief(long, refundAt.b), 'initiator refund b');
  const early = { short: funded, shortRelease: wish };
  assert.equal(brief(early), 'initiator release a');
});

test('a signature is for the escrow that the leg has, and for no former one', () => {
  const { a } = swap({ shortRelease: given }).legs;
  assert.equal(releaseOf(a, 'escrow-a'), '0x01');
  assert.equal(releaseOf(a, 'former-a'), null);
  assert.equal(releaseOf(swap({ shortRelease: wish }).legs.a, 'escrow-a'), null);
});

test('a released leg is refunded by its funder alone, and only while it holds something', () => {
  const given_ = { shortRelease: given };
  const steps = (short: EscrowFacts) => brief({ long: funded, short, ...given_ });
  assert.equal(steps(facts({ funded: seen() })), 'counterparty refund a');
  assert.equal(steps(nothingSeen), 'counterparty release b');
});

/** The long leg is on Bitcoin. */
function taproot(over: Given) {
  const forms = { payoutForm: 'p2tr', refundForm: 'p2tr' } as const;
  const made = swapOf(over);
  return { ...made, legs: { ...made.legs, b: { ...made.legs.b, ...forms } } };
}

test('both sides sign a claim once the secret is public, and a refund once its payee gave it up', () => {
  const free = { longRelease: wish, short: refunded };
  const public_ = { short: claimed, secret };
  const rows: readonly (readonly ['claim' | 'refund', Given, string | null, string | null])[] = [
    ['claim', {}, 'not_releasable', 'not_releasable'],
    ['claim', public_, null, null],
    ['claim', { ...public_, long: refunding }, 'already_refunded', 'already_refunded'],
    ['claim', { ...public_, long: claimed }, 'already_claimed', 'already_claimed'],
    ['refund', { short: refunded }, 'not_releasable', null],
    ['refund', free, null, null],
    ['refund', { ...free, short: funded }, null, 'not_releasable'],
    ['refund', { ...free, secret }, null, 'not_releasable'],
    ['refund', { ...free, long: refunding }, 'already_refunded', 'already_refunded'],
  ];
  for (const [verb, over, asks, answers] of rows) {
    const made = taproot({ long: funded, ...over });
    const gates = [
      [asks, () => askGate(made, 'b', verb)],
      [answers, () => answerGate(made, 'b', verb, clocksAt(now))],
    ] as const;
    for (const [code, pass] of gates) {
      if (code === null) pass();
      else assert.throws(pass, refused(code), `${verb} ${JSON.stringify(over, String)}`);
    }
  }
  const late = taproot({ long: funded, ...public_ });
  const { timelock } = late.legs.b;
  answerGate(late, 'b', 'claim', clocksAt(timelock));
  const signing = () => answerGate(late, 'b', 'claim', clocksAt(timelock + 1));
  assert.throws(signing, refused('not_releasable'));
  const half = swapOf({ long: funded, ...free });
  assert.throws(() => answerGate(half, 'b', 'refund', clocksAt(now)), refused('not_releasable'));
});
