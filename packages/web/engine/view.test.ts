// The view of a swap for a screen, by the record, the chains and the progress of the SDK.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { lateWatchSeconds } from '@parley/core/remains.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import type { Doubt } from '@parley/sdk/evidence/judge.ts';
import { legOf, legWith } from '@parley/sdk/settle/record.ts';
import type { Outcome } from '@parley/sdk/settle.ts';
import { keptRecord, now } from '@parley/sdk/testing/honest.ts';
import type { Ask } from './types.ts';
import { inOrder, isLookedAtAgain, mayStillCome, type Told, viewOf } from './view.ts';

const seen = { txid: 'aa'.repeat(32), confirmations: 1, deep: false };
const funded: EscrowFacts = { ...nothingSeen, funded: seen, balance: 1_000_000n, empty: false };
const tooLittle: EscrowFacts = { ...nothingSeen, balance: 999_999n, empty: false };

function toldOf(party: Party, more: Partial<Told> = {}): Told {
  const { trade, swap } = keptRecord(party);
  return {
    trade,
    swap,
    phase: 'running',
    state: 'preparing',
    shown: null,
    isVerified: true,
    isToPay: false,
    isByHand: false,
    isRefundLeft: false,
    isClaimLeft: false,
    isRestored: false,
    isGivenUp: false,
    relay: null,
    lacks: null,
    payout: null,
    away: [],
    prompts: [],
    waits: null,
    problems: [],
    history: [],
    end: null,
    ...more,
  };
}

/** The taker gives Bitcoin, leg b, the long one. */
function shownAs(facts: Partial<Record<LegName, EscrowFacts>>): Told['shown'] {
  const record = keptRecord('taker');
  const legs = (['a', 'b'] as const).flatMap((name) => {
    const found = facts[name];
    return found === undefined
      ? []
      : [[name, { leg: legWith(record, name, found), clock: now - 60 }] as const];
  });
  return { legs: new Map(legs) };
}

const { swap } = keptRecord('taker');
const by = swap.deadlines.initiatorFundBy;
const escrow = legOf(keptRecord('taker'), 'b').escrow.address;
const pay = {
  kind: 'pay_by_hand',
  leg: 'b',
  address: escrow,
  amount: 1_000_000n,
  notAfter: by,
  uri: `bitcoin:${escrow}?amount=0.01`,
} as const;
const asksOf = (more: Partial<Told>, at = now) => viewOf(toldOf('taker', more), at).asks;
const wait = (until: number | null, why = ''): Ask => ({ kind: 'wait', why, until });

test('a payment by hand is asked for until one of the amount is seen, and not after its time', () => {
  const toPay = { isToPay: true, state: 'funding' } as const;
  for (const [what, shown, at, asked] of [
    ['nothing is seen', shownAs({ b: nothingSeen }), now, true],
    ['too little came', shownAs({ b: tooLittle }), now, true],
    ['the last moment', shownAs({ b: nothingSeen }), by, true],
    ['its time is over', shownAs({ b: nothingSeen }), by + 1, false],
    ['one is in the mempool', shownAs({ b: funded }), now, false],
    ['the chain has not answered', shownAs({ a: nothingSeen }), now, false],
    ['nothing was read yet', null, now, false],
  ] as const) {
    const asks = asksOf({ ...toPay, shown }, at);
    assert.deepEqual(asks, asked ? [pay] : [wait(by)], what);
  }
  assert.deepEqual(asksOf({ shown: shownAs({ b: nothingSeen }) }), [wait(by)]);
});

test('an amount is told in coins as BIP 21 writes it', () => {
  const { trade, swap: kept } = keptRecord('taker');
  for (const [amount, coins] of [
    [1n, '0.00000001'],
    [100_000_000n, '1'],
    [2_100_000_000_000_000n, '21000000'],
    [123_456_780n, '1.2345678'],
    [1_000_000_000n, '10'],
  ] as const) {
    const b = { ...kept.legs.b, amount };
    const told = { trade, swap: { ...kept, legs: { ...kept.legs, b } }, isToPay: true };
    const [ask] = asksOf({ ...told, shown: shownAs({ b: nothingSeen }) });
    assert.equal(ask?.kind === 'pay_by_hand' && ask.uri, `bitcoin:${escrow}?amount=${coins}`);
  }
});

test('the most urgent is asked first', () => {
  const prompts = [{ verb: 'claim', is: 'needed', sinceMs: 5 }] as const;
  const urgent = { state: 'revealing', lacks: 'payout', away: ['a'], isToPay: true } as const;
  const more = { ...urgent, prompts };
  const asks = asksOf({ ...more, shown: shownAs({ b: nothingSeen }), waits: 'for a block' });
  assert.deepEqual(
    asks.map(({ kind }) => kind),
    ['name_payout', 'connect_wallet', 'sign', 'pay_by_hand', 'wait'],
  );
  const [payout, connect, sign] = asks;
  assert.deepEqual(payout, { kind: 'name_payout', leg: 'b', chain: 'bitcoin-regtest' });
  const { payTo } = keptRecord('taker').trade;
  assert.ok(connect?.kind === 'connect_wallet');
  assert.deepEqual([connect.family, connect.address], ['evm', payTo.address]);
  assert.deepEqual(sign, {
    kind: 'sign',
    leg: 'a',
    chain: 'evm-dev',
    family: 'evm',
    verb: 'claim',
  });
  assert.deepEqual(asksOf({ lacks: 'phrase' }), [{ kind: 'need_phrase' }]);
  // The wallet that receives is away, and the one that pays in waits for a click.
  const fund = [{ verb: 'fund', is: 'needed', sinceMs: 5 }] as const;
  const kinds = (away: readonly ('a' | 'b')[]) =>
    asksOf({ prompts: fund, away }).map((each) => [each.kind, 'leg' in each && each.leg]);
  assert.deepEqual(kinds(['a']).slice(0, 2), [
    ['sign', 'b'],
    ['connect_wallet', 'a'],
  ]);
  assert.deepEqual(kinds(['b']).slice(0, 2), [
    ['connect_wallet', 'b'],
    ['sign', 'b'],
  ]);
});

test('a wallet is where its prompt is: claims on the leg that pays, the rest on the own one', () => {
  for (const [party, verb, is, kind, leg] of [
    ['taker', 'claim', 'open', 'confirm_in_wallet', 'a'],
    ['taker', 'fund', 'open', 'confirm_in_wallet', 'b'],
    ['maker', 'fund', 'needed', 'sign', 'a'],
    ['maker', 'refund', 'declined', 'declined', 'a'],
    ['maker', 'claim', 'declined', 'declined', 'b'],
  ] as const) {
    const told = toldOf(party, { state: 'claiming', prompts: [{ verb, is, sinceMs: 7 }] });
    const [ask] = viewOf(told, now).asks;
    assert.ok(ask !== undefined && 'leg' in ask);
    assert.deepEqual([ask.kind, ask.leg], [kind, leg], `${party} ${verb} ${is}`);
  }
});

test('each state says until when one may be away', () => {
  const { deadlines, legs } = swap;
  for (const [party, state, until] of [
    ['taker', 'preparing', deadlines.initiatorFundBy],
    ['taker', 'waiting_to_fund', deadlines.initiatorFundBy],
    ['maker', 'waiting_to_fund', deadlines.counterpartyFundBy],
    ['maker', 'funding', deadlines.counterpartyFundBy],
    ['taker', 'funded', deadlines.revealBy],
    ['maker', 'funded', legs.a.timelock],
    ['taker', 'revealing', deadlines.revealBy],
    ['maker', 'claiming', legs.b.timelock],
    ['taker', 'claiming', legs.a.timelock],
    ['taker', 'refunding', legs.b.timelock],
    ['maker', 'cancelling', legs.a.timelock],
    ['taker', 'received', legs.b.timelock],
    ['taker', 'settled', null],
  ] as const) {
    assert.deepEqual(
      viewOf(toldOf(party, { state }), now).asks,
      [wait(until)],
      `${party} ${state}`,
    );
  }
  assert.deepEqual(asksOf({ waits: 'for a block' }), [wait(by, 'for a block')]);
});

test('legs show what the own nodes showed, and where this side is paid', () => {
  const shown = shownAs({ b: funded });
  const { legs, gives, checks } = viewOf(toldOf('taker', { shown, payout: 'bcrt1qmine' }), now);
  assert.equal(gives, 'b');
  assert.deepEqual([legs.a.facts, legs.a.clock], [null, null]);
  assert.deepEqual([legs.b.facts, legs.b.clock], [funded, now - 60]);
  assert.deepEqual([legs.a.isLong, legs.b.isLong], [false, true]);
  const { trade } = keptRecord('taker');
  assert.deepEqual([legs.a.asset, legs.b.asset], [trade.quote, trade.base]);
  assert.deepEqual([legs.a.ownAddress, legs.b.ownAddress], [trade.payTo.address, 'bcrt1qmine']);
  assert.ok(checks.length === 2 && checks.every(({ ok }) => ok));
  const before = viewOf(toldOf('taker', { isVerified: false }), now);
  assert.deepEqual(before.checks, []);
  assert.equal(before.legs.b.ownAddress, trade.refundTo.address);
});

test('a leg shows what is wrong with the answers of its nodes, and nothing where all is well', () => {
  const shown = shownAs({ a: nothingSeen, b: funded });
  const doubts: readonly Doubt[] = [{ code: 'node_behind', sentence: 'node 2 stands at block 7' }];
  const b = { ...(shown?.legs.get('b') ?? assert.fail()), evidence: { doubts, agreed: true } };
  const viewBy = (leg: typeof b) => {
    const of = new Map([...(shown?.legs ?? []), ['b', leg] as const]);
    return viewOf(toldOf('taker', { shown: { legs: of } }), now);
  };
  const { legs } = viewBy(b);
  assert.deepEqual([legs.a.doubts, legs.b.doubts], [[], doubts]);
  // A hold without a doubt lasts a moment.
  const isHeldUp = (evidence: typeof b.evidence) => viewBy({ ...b, evidence }).legs.b.isHeldUp;
  assert.equal(isHeldUp({ doubts, agreed: true }), false);
  assert.equal(isHeldUp({ doubts: [], agreed: false }), false);
  assert.equal(isHeldUp({ doubts, agreed: false }), true);
});

test('one that has ended asks for nothing and has no problems', () => {
  const problem = { kind: 'node', leg: null, code: null, sentence: 'gone' } as const;
  const end: Outcome = {
    swapId: swap.id,
    end: 'received',
    status: 'counterparty_claimed',
    txids: {
      a: { fund: null, claim: null, refund: null },
      b: { fund: null, claim: null, refund: null },
    },
    remains: null,
  };
  const more = { lacks: 'phrase', problems: [problem], end } as const;
  const open = viewOf(toldOf('taker', more), now);
  assert.deepEqual([open.asks.length, open.problems], [1, [problem]]);
  const ended = viewOf(toldOf('taker', { ...more, phase: 'ended' }), now);
  assert.deepEqual([ended.asks, ended.problems, ended.end], [[], [], end]);
});

test('open ones come by their next deadline, then ended ones, the newest first', () => {
  const of = (id: string, more: Partial<Told>, agreedAt = now) =>
    viewOf(toldOf('taker', { ...more, swap: { ...swap, id, agreedAt } }), now);
  const views = [
    of('old', { phase: 'ended' }, now - 9),
    of('late', { state: 'refunding' }),
    of('new', { phase: 'ended' }, now - 1),
    of('soon', { state: 'preparing' }),
    // Without a wait: the timelock of the own leg.
    of('stopped', { lacks: 'phrase' }),
  ];
  assert.deepEqual(
    inOrder(views).map(({ id }) => id),
    ['soon', 'late', 'stopped', 'new', 'old'],
  );
});

test('a payment on Bitcoin may come after the end, by hand or of a device that is lost', () => {
  // The taker of these gives Bitcoin, the maker EVM.
  for (const [party, how, end, may] of [
    ['taker', { isByHand: true }, 'nothing', true],
    ['taker', { isByHand: true }, 'refunded', false],
    ['taker', { isRestored: true }, 'nothing', true],
    ['taker', { isRestored: true }, 'received', false],
    ['taker', {}, 'nothing', false],
    ['maker', { isRestored: true }, 'nothing', false],
  ] as const) {
    assert.equal(
      mayStillCome(toldOf(party, how), { end } as Outcome),
      may,
      `${party} ${JSON.stringify(how)}`,
    );
  }
});

test('the rest of a swap that has ended is looked at until a week after its timelock', () => {
  const lookedAt = (remains: Outcome['remains'], now: number) =>
    isLookedAtAgain(toldOf('taker', {}), { end: 'received', remains } as Outcome, now);
  const left = { amount: 5_000n, refundableAt: 1_000 };
  assert.equal(lookedAt(null, 1_000), false);
  assert.equal(lookedAt(left, 900), true);
  assert.equal(lookedAt(left, 1_000 + lateWatchSeconds), true);
  assert.equal(lookedAt(left, 1_001 + lateWatchSeconds), false);
});

test('a claim that is too late is asked for no more, and one in the wallet is still shown', () => {
  for (const [state, verb, is, isShown] of [
    ['revealing', 'claim', 'needed', true],
    ['claiming', 'claim', 'declined', true],
    ['funded', 'claim', 'needed', false],
    ['refunding', 'claim', 'declined', false],
    ['refunding', 'claim', 'open', true],
    ['claiming', 'refund', 'needed', true],
  ] as const) {
    const told = toldOf('taker', { state, prompts: [{ verb, is, sinceMs: 7 }] });
    const asks = viewOf(told, now).asks.filter((each) => 'verb' in each);
    assert.equal(asks.length, isShown ? 1 : 0, `${state} ${verb} ${is}`);
  }
});
