// The state machine of a settlement, as tables: each state, and both sides of each boundary that a
// rule has.

import assert from 'node:assert/strict';
import test from 'node:test';
import { lateWatchSeconds } from '@parley/core/remains.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import type { SwapRecord } from '../stores/store.ts';
import { now, secret } from '../testing/honest.ts';
import { type Facts, type Leaving, mayMove, next } from './machine.ts';
import { legWith, seenOf } from './record.ts';
import {
  counterpartyFundBy,
  funded,
  type Given,
  held,
  initiatorFundBy,
  kept,
  known,
  recordOf,
  refundAt,
  revealBy,
  revealed,
  shows,
  sighting,
} from './testing/machine.ts';

function factsFor(party: Party, given: Given) {
  const record = recordOf(party, given);
  const { wall = now, clock = wall, clockA = clock, clockB = clock, leaving } = given;
  const legs: Facts['legs'] = {};
  for (const name of ['a', 'b'] as const) {
    const shown = given[name] ?? 'none';
    if (shown === 'silent') continue;
    const isFresh = shown !== 'stale';
    legs[name] = { ...legWith(record, name, isFresh ? shows[shown] : held), isFresh };
  }
  const { isMarketDue = false, isRefundTried = false } = given;
  const left = leaving === undefined ? {} : { leaving: { a: leaving, b: leaving } };
  const clocks = { wall, a: clockA, b: clockB };
  return { facts: { record, legs, isMarketDue, isRefundTried, ...left }, clocks };
}

function answer(party: Party, given: Given) {
  const { facts, clocks } = factsFor(party, given);
  const { state, effects, owes } = next(given.state ?? 'preparing', facts, clocks);
  return { state, does: effects.map((each) => `${each.do} ${each.leg}`).join(', '), owes, effects };
}

const both = { a: 'final', b: 'final' } as const;

/** The kept record of this side, in a word. */
const keeps: Record<string, Partial<SwapRecord>> = {
  sent: funded,
  stuck: { ...funded, approval: kept },
  known,
  revealed,
  secret: { publicSecret: secret },
  raised: { funding: { txid: 'later', raw: '', former: ['own'] } },
  authorization: { authorization: { validBefore: 1 } as never },
  asked: { asked: { escrow: '', txid: null, keptAtMs: 1 } },
  told: { byHand: true },
  brought: { restored: true },
  ...Object.fromEntries(
    ['approval', 'claim', 'refund', 'cancel'].map((slot) => [slot, { [slot]: kept }]),
  ),
};

/** `what | party, legs a and b, what is kept @ times | state: effects`. */
const tables = {
  'the initiator funds first, until its time has passed by any clock': `
    at once | taker none none | funding: fund b
    last moment | taker none none @ wall=fundBy | funding: fund b
    too late by its own clock | taker none none @ wall=fundBy+1 clock=now | settled:
    by chain a | taker none none @ clockA=fundBy+1 | settled:
    by chain b | taker none none @ clockB=fundBy+1 | settled:
    with its funding in a pool | taker none pooled sent | funding: raise_funding b, wait b
    in a block | taker none mined sent | funding: wait b
    final | taker none final sent | funded: wait a
    taken back by a reorganisation | taker none none sent | funding: raise_funding b, fund b
  `,
  'the counterparty funds once the long leg is final, until its time has passed': `
    nothing there | maker none none | waiting_to_fund: wait b
    in a pool | maker none pooled | waiting_to_fund: wait b
    not final | maker none mined | waiting_to_fund: wait b
    final | maker none final | funding: fund a
    last moment | maker none final @ wall=fundBy | funding: fund a
    too late | maker none final @ wall=fundBy+1 clock=now | settled:
    by chain a | maker none final @ clockA=fundBy+1 | settled:
    by chain b | maker none final @ clockB=fundBy+1 | settled:
    being refunded | maker none refundPooled | waiting_to_fund: wait b
    of unknown outcome | maker none unknown | waiting_to_fund: wait b
    in a lane that its payee used up | maker unknown final | funding: wait a
    the same, too late | maker unknown final @ wall=fundBy+1 clock=now | settled:
    which it may have funded | maker unknown final sent @ wall=fundBy+1 | cancelling: cancel_funding a
    or a lost device | maker unknown final brought @ wall=lockA+1 | funding: wait a
    with the secret public | maker none final secret | claiming: claim b
    with an approval on its way | maker none mined approval | funding: push_approval a
    with its funding unseen | maker none final sent | funding: fund a
    in a block | maker mined final sent | funding: wait a
    final | maker final final sent | funded: wait a
  `,
  'the initiator reveals while both legs are final, until its time has passed by any clock': `
    both final | taker final final sent | revealing: reveal a
    short one not | taker mined final sent | funded: wait a
    long one not | taker final mined sent | funding: wait b
    last moment | taker final final sent @ wall=revealBy | revealing: reveal a
    too late | taker final final sent @ wall=revealBy+1 clock=now | funded: wait b
    by chain a | taker final final sent @ clockA=revealBy+1 | funded: wait b
    by chain b | taker final final sent @ clockB=revealBy+1 | funded: wait b
    being refunded | taker refundPooled final sent | funded: wait a
    own refund seen | taker final refundPooled sent | refunding: wait b
    of unknown outcome | taker unknown final sent | funded: wait a
  `,
  'a secret that is public is claimed with, by the chain that pays alone': `
    by the counterparty | maker final final known | claiming: claim b
    with its own chain silent | maker silent final known | claiming: claim b
    with its own chain slow | maker stale final known | claiming: claim b
    not by a chain that is slow | maker claimed stale known | claiming:
    seen and not kept | maker claimed final sent | claiming:
    claimed, and not read yet | maker claimedUnread final sent | claiming:
    not before it is kept | maker final silent sent | preparing:
    after revealBy | taker final final revealed @ wall=revealBy+1 | claiming: claim a
    with the own refund in a pool | taker final refundPooled revealed | claiming: claim a
    while a refund only waits | maker claimed refundPooled known | claiming: claim b
    not once that is mined | maker claimed refundMined known | claiming: wait b
    in a pool: again, and dearer | maker claimed claimPooled revealed | claiming: replace b, claim b
    of another in the pool | maker claimed claimPooled known | claiming: claim b
    in a block | maker claimed claimMined revealed | claiming: wait b
    final | maker claimed claimed revealed | settled:
    final, and its own leg open | taker claimed final revealed | received: wait b
    on Bitcoin past the timelock | maker claimed final known @ wall=lockB+1 | claiming: claim b
    elsewhere before it | taker final final revealed @ clockA=lockA-1 | claiming: claim a
    and no more at it | taker final final revealed @ clockA=lockA | funded: withdraw_claim a
  `,
  'money in the own escrow is refunded once its own chain is past the timelock': `
    EVM before | maker final final sent @ clockA=lockA-1 | funded: wait a
    EVM at it | maker final final sent @ clockA=lockA | refunding: refund a
    by the own clock alone | maker final final sent @ wall=lockA clock=now | funded: wait a
    Bitcoin at it | taker none final sent @ clockB=lockB | funded: wait b
    Bitcoin past it | taker none final sent @ clockB=lockB+1 | refunding: refund b
    with the other chain silent | maker final silent sent @ clockA=lockA | refunding: refund a
    on Bitcoin: dearer | taker none refundPooled sent refund | refunding: replace b, wait b
    in a block | maker refundMined final sent @ clockA=lockA | refunding: wait a
    final | maker refunded final sent @ clockA=lockA | settled:
    final, and the secret public | maker refunded final known | claiming: claim b
    paid twice | taker claimed claimedTwice revealed @ clockB=lockB+1 | refunding: refund b
  `,
  'a funding that no block took is cancelled once the own clock and its chain are past its time': `
    both | maker none none sent @ wall=fundBy+1 | cancelling: cancel_funding a
    the own clock alone | maker none none sent @ wall=fundBy+1 clockA=fundBy | funding:
    its chain alone | maker none none sent @ wall=fundBy clockA=fundBy+1 | funding:
    in a pool | maker pooled none sent @ wall=fundBy+1 | cancelling: cancel_funding a
    in a block | maker mined none sent @ wall=fundBy+1 | funding: wait a
    the same, its cancellation kept | maker mined none sent cancel @ wall=fundBy+1 | funding: wait a
    late | maker none none stuck @ wall=fundBy+1 | cancelling: push_approval a, cancel_funding a
    an approval alone | maker none none approval @ wall=fundBy+1 | funding: push_approval a
    the own claim was sent | taker silent none revealed @ wall=fundBy+1 | claiming:
    signed | maker none none authorization @ wall=fundBy+1 | cancelling: cancel_funding a
    asked of a wallet | maker none none asked @ wall=fundBy+1 | cancelling: cancel_funding a
    none was signed | maker none none @ wall=fundBy+1 | settled:
    the initiator’s | taker none none sent @ wall=fundBy+1 | cancelling: cancel_funding b
  `,
  'a payment by hand is waited for in time, never cancelled, and refunded if too little': `
    told | taker none none told | funding: fund b
    last moment | taker none none told @ wall=fundBy | funding: fund b
    nothing came | taker none none told @ wall=fundBy+1 | settled:
    in a pool | taker none pooled told | funding: wait b
    in a pool, late | taker none pooled told @ wall=fundBy+1 | funding: wait b
    too little, in time | taker none short told | funding: fund b
    too little, late | taker none short told @ wall=fundBy+1 | funding: wait a
    too little, and in a pool | taker none shortPooled told @ wall=fundBy+1 | funding:
    too little, at the end | taker none short told @ clockB=lockB+1 | refunding: refund b
    brought back, too little | taker none short brought @ clockB=lockB+1 | refunding: refund b
    brought back, nothing came | taker none none brought @ clockB=lockB+1 | settled:
    of a stranger, and none was told | taker none short @ wall=fundBy+1 | settled:
    its own leg moves no more | taker final none told @ due | funding: fund b
  `,
  'a restored swap is never funded, and goes on as if it had been': `
    nothing there | taker none none brought | waiting_to_fund: wait b
    of the counterparty | maker none final brought | waiting_to_fund: wait a
    its own leg moves no more | taker final none brought @ due | waiting_to_fund: wait b
    until its timelock | taker none none brought @ clockB=lockB | waiting_to_fund:
    own clock ahead | taker none short brought @ wall=lockB+1 clock=now | waiting_to_fund: wait b
    too little, and in a pool | taker none shortPooled brought @ clockB=lockB+1 | waiting_to_fund:
    both final | taker final final brought | revealing: reveal a
    once the secret is public | maker final final brought secret | claiming: claim b
  `,
  'a Bitcoin funding is raised while nothing but a block is missing': `
    last moment | taker none pooled sent @ wall=fundBy | funding: raise_funding b, wait b
    a former version waits | taker none pooled raised | funding: raise_funding b, wait b
    another pays the escrow | taker none pooledOther sent | funding: wait b
    its cancellation is kept | taker none pooled sent cancel | funding: wait b
    the own claim was sent | taker none pooled sent claim | funding: wait b
    not elsewhere | maker pooled final sent | funding: wait a
  `,
  'a payment whose funding was taken back too is waited for until its timelock': `
    before | maker claimed none revealed @ clockB=lockB-1 | claiming:
    at it | maker claimed none revealed @ clockB=lockB | settled:
  `,
  'rent that a claim may have left is fetched at the end, on Solana alone': `
    claimed | maker claimed claimed revealed @ family=solana | settled: take_rent a
    refunded | maker refunded final sent @ family=solana | settled:
  `,
  'before the secret is public both chains must answer, and the state stays': `
    not funding | maker none silent @ state=waiting_to_fund | waiting_to_fund:
    funded | taker silent final sent @ state=funded | funded:
    neither | taker silent silent sent @ state=revealing | revealing:
    public | taker silent silent revealed @ state=revealing | claiming:
  `,
  'a leg shown to be paid stays so while a chain is silent': `
    the own one | taker claimed silent revealed | received:
    not paid yet | taker claimMined silent revealed | claiming:
    the paying one, paid before | taker silent final revealed @ state=received | received:
    the same, never seen paid | taker silent final revealed @ state=claiming | claiming:
    taken back | taker silent final revealed @ state=received clockB=lockB+1 | refunding: refund b
    that is under way | taker claimed silent revealed @ state=refunding | refunding:
  `,
  'the market is asked where a leg is while that may still move': `
    both may | maker none none @ due | waiting_to_fund: ask_market null, wait b
    one may | maker none final @ due | funding: ask_market null, fund a
    none may | maker none final sent @ due | funding: fund a
    the secret is public | maker none final secret @ due | claiming: claim b
  `,
  'money beside the own funding is refunded once a run, and keeps none open': `
    beside a claim | taker claimed claimedTwice revealed @ wall=lockB | settled:
    in a later run | taker claimed claimedTwice revealed @ wall=lockB+1 | refunding: refund b
    renewed | taker claimed claimedTwice revealed @ wall=lockB+1 tried | settled:
    beside a refund | taker none refundedTwice sent refund @ wall=lockB+1 tried | settled:
    the funding | taker none final sent refund @ wall=lockB+1 tried | refunding: refund b
    past the timelock | taker none short @ wall=lockB+1 | refunding: refund b
    and renewed | taker none short @ wall=lockB+1 tried | settled:
    no block takes it | taker none wholePooled @ wall=fundBy | funding: wait b
    nor ever | taker none wholePooled @ wall=fundBy+1 | settled:
    in a block | taker none final @ wall=fundBy+1 | funded: wait a
  `,
  'a possible payment by hand is waited for, until a week past the timelock': `
    twice | taker claimed claimedMuch revealed told | received: wait b
    comes back | taker claimed claimedMuch revealed told @ wall=lockB+1 | refunding: refund b
    and is renewed | taker claimed claimedMuch revealed told @ wall=lockB+1 tried | settled:
    a dust beside it | taker claimed claimedTwice revealed told | settled:
    unmined | taker none wholePooled told @ wall=week | funding: wait b
    nor ever mined | taker none wholePooled told @ wall=week+1 | settled:
    too little, unmined | taker none shortPooled told @ wall=week | funding:
    that is never mined | taker none shortPooled told @ wall=week+1 | settled:
    renewed without end | taker none short told @ wall=week+1 tried | settled:
  `,
};

/** Unix seconds of `revealBy+1` and the like; `fundBy` is the party's own. */
function instant(text: string, party: Party): number {
  const [, name = '', more = 0] = /^(\w+?)([+-]\d+)?$/.exec(text) ?? [];
  const fundBy = party === 'taker' ? initiatorFundBy : counterpartyFundBy;
  const named = {
    now,
    fundBy,
    revealBy,
    lockA: refundAt.a,
    lockB: refundAt.b,
    week: refundAt.b + lateWatchSeconds,
  };
  return named[name as keyof typeof named] + Number(more);
}

function rowOf(line: string) {
  const [what = '', given = '', expected = ''] = line.split('|').map((each) => each.trim());
  const [words = '', times = ''] = given.split(' @ ');
  const [party = '', a, b, ...slots] = words.split(' ');
  const by = party as Party;
  const known: Record<string, unknown> = {};
  for (const each of times.split(' ').filter(Boolean)) {
    const [name = '', value = ''] = each.split('=');
    if (name === 'due') known.isMarketDue = true;
    else if (name === 'tried') known.isRefundTried = true;
    else if (name === 'family' || name === 'state') known[name] = value;
    else known[name] = instant(value, by);
  }
  const own = Object.assign({}, ...slots.map((slot) => keeps[slot] ?? assert.fail(slot)));
  return { what, party: by, given: { a, b, kept: own, ...known } as Given, expected };
}

for (const [promise, table] of Object.entries(tables)) {
  test(promise, () => {
    for (const line of table.split('\n').filter((each) => each.includes('|'))) {
      const { what, party, given, expected } = rowOf(line);
      const { state, effects } = answer(party, given);
      // They have a test of their own.
      const shown = effects.filter((each) => !each.do.startsWith('schedule_'));
      const does = shown.map((each) => `${each.do} ${each.leg}`).join(', ');
      assert.equal(`${state}: ${does}`.trim(), expected, `${party}: ${what}`);
    }
  });
}

test('signed refunds are of a final funding, before the timelock, and wait for a claim', () => {
  const has = (party: Party, given: Given) =>
    answer(party, given).effects.some((each) => each.do === 'schedule_refunds');
  assert.equal(has('taker', { b: 'mined', kept: funded }), false);
  assert.equal(has('taker', { b: 'final', kept: funded }), true);
  assert.equal(has('taker', { b: 'final', kept: funded, clockB: refundAt.b }), true);
  assert.equal(has('taker', { b: 'final', kept: funded, clockB: refundAt.b + 1 }), false);
  assert.equal(has('taker', { b: 'final', kept: { ...funded, refund: kept } }), false);
  assert.equal(has('taker', { a: 'final', b: 'final', kept: revealed }), false);
  assert.equal(has('taker', { a: 'claimed', b: 'final', kept: revealed }), true);
  assert.equal(has('taker', { a: 'claimed', b: 'claimPooled', kept: revealed }), false);
  assert.equal(has('maker', { ...both, kept: funded }), false, 'Bitcoin alone');
  assert.equal(has('taker', { a: 'claimed', b: 'stale', kept: revealed }), false, 'by old facts');
});

test('signed claims are of the final funding that pays, come before the own funding, and need no secret', () => {
  const does = (party: Party, given: Given) =>
    answer(party, given).effects.map((each) => `${each.do} ${each.leg}`);
  const has = (party: Party, given: Given) => does(party, given).includes('schedule_claims b');
  assert.equal(has('maker', { b: 'mined' }), false);
  const first = does('maker', { b: 'final' });
  assert.ok(first.indexOf('schedule_claims b') < first.indexOf('fund a'), `${first}`);
  assert.ok(first.includes('schedule_claims b') && first.includes('fund a'));
  assert.equal(has('maker', { ...both, kept: funded }), true);
  assert.equal(has('maker', { ...both, kept: funded, clockB: refundAt.b }), true);
  assert.equal(has('maker', { ...both, kept: funded, clockB: refundAt.b + 1 }), false);
  assert.equal(has('maker', { ...both, kept: known }), false, 'it claims now');
  assert.equal(has('maker', { a: 'final', b: 'stale', kept: funded }), false, 'by old facts');
  assert.equal(has('taker', { ...both, kept: funded }), false, 'Bitcoin alone');
});

test('each step that has an end says when that is', () => {
  const before = (party: Party, given: Given) => answer(party, given).effects.at(-1)?.before;
  assert.equal(before('taker', {}), initiatorFundBy);
  assert.equal(before('maker', { b: 'final' }), counterpartyFundBy);
  assert.equal(before('taker', { ...both, kept: funded }), revealBy);
  assert.equal(before('maker', { ...both, kept: known }), refundAt.b);
  assert.equal(before('maker', { ...both, kept: funded }), refundAt.a);
});

test('a claim or refund is left to a batch for so long, and a claim while it has time enough', () => {
  const needsSeconds = 3_600;
  const does = (leaving: Leaving, given: Given = {}) =>
    answer('taker', { ...both, kept: { funding: kept, publicSecret: secret }, leaving, ...given })
      .does;
  const at = (seconds: number) => ({ clockA: refundAt.a - seconds });
  const left = 'leave_to_batch a';
  assert.equal(does({ ms: 1_000, needsSeconds, since: null }), left);
  assert.equal(does({ ms: 1_000, needsSeconds, since: now }), left);
  assert.equal(does({ ms: 1_000, needsSeconds, since: now - 1 }), 'claim a');
  assert.equal(does({ ms: 1_001, needsSeconds, since: now - 1 }), left);
  // A clock that was set back.
  assert.equal(does({ ms: 1, needsSeconds, since: now + 900 }), left);
  assert.equal(does({ ms: Infinity, needsSeconds, since: null }, at(needsSeconds + 1)), left);
  assert.equal(does({ ms: Infinity, needsSeconds, since: null }, at(needsSeconds)), 'claim a');
  assert.equal(does({ ms: Infinity, needsSeconds, since: null }, { kept: revealed }), 'claim a');
  const refunding = { kept: funded, clockA: refundAt.a };
  const leaving = { ms: Infinity, needsSeconds, since: null };
  assert.equal(
    answer('maker', { ...both, ...refunding, leaving }).does,
    `${left}, schedule_claims b`,
  );
});

test('a claim is owed from the funding on, until it is final, or too late, or all has ended', () => {
  const owes = (party: Party, given: Given) => {
    const { claim, funding } = answer(party, given).owes ?? {};
    return `${claim ? 'claim' : ''} ${funding ? 'funding' : ''}`.trim();
  };
  assert.equal(owes('taker', {}), '');
  assert.equal(owes('taker', { kept: funded }), 'claim funding');
  assert.equal(owes('taker', { b: 'pooled', kept: funded }), 'claim funding');
  assert.equal(owes('taker', { b: 'mined', kept: funded }), 'claim');
  assert.equal(owes('taker', { b: 'mined' }), 'claim', 'funded by others');
  assert.equal(owes('taker', { ...both, kept: funded, clockA: refundAt.a - 1 }), 'claim');
  assert.equal(owes('taker', { ...both, kept: funded, clockA: refundAt.a }), '');
  assert.equal(
    owes('maker', { ...both, kept: funded, clockB: refundAt.b + 1 }),
    'claim',
    'Bitcoin',
  );
  assert.equal(owes('taker', { a: 'claimMined', b: 'final', kept: revealed }), 'claim');
  assert.equal(owes('taker', { a: 'claimed', b: 'final', kept: revealed }), '');
  assert.equal(owes('maker', { a: 'refunded', b: 'final', kept: funded, clockA: refundAt.a }), '');
  assert.equal(answer('taker', { a: 'silent', kept: funded }).owes, null);
});

test('a leg moves while nobody has funded it, nor signed to', () => {
  const moves = (party: Party, name: LegName, given: Given) => {
    const { facts, clocks } = factsFor(party, given);
    const seen = (leg: LegName) => ({
      leg: legWith(facts.record, leg, facts.legs[leg]!.facts),
      clock: now,
    });
    return mayMove(
      facts.record,
      seenOf(facts.record, { a: seen('a'), b: seen('b') }, clocks.wall),
      name,
    );
  };
  assert.equal(moves('maker', 'a', {}), true);
  assert.equal(moves('maker', 'a', { a: 'pooled' }), false);
  assert.equal(moves('maker', 'a', { kept: funded }), false);
  assert.equal(moves('maker', 'a', { kept: { authorization: {} as never } }), false);
  assert.equal(moves('maker', 'a', { kept: { asked: {} as never } }), false);
  assert.equal(moves('taker', 'b', {}), true);
  assert.equal(moves('taker', 'b', { kept: { byHand: true } }), false);
  assert.equal(moves('maker', 'b', {}), true);
  assert.equal(moves('maker', 'b', { kept: funded }), false);
  assert.equal(moves('maker', 'b', { kept: { restored: true } }), false);
  const { address } = recordOf('taker', {}).swap.legs.a.escrow!;
  assert.equal(moves('taker', 'a', { kept: funded }), true);
  for (const [confirmations, may] of [
    [0, true],
    [1, false],
  ] as const) {
    const seen = { [address]: { ...held, funded: sighting(confirmations) } };
    assert.equal(moves('taker', 'a', { kept: { ...funded, seen } }), may);
  }
  assert.equal(moves('maker', 'b', { kept: known }), false);
});
