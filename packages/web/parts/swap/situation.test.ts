// Which screen each state of a swap has, what it says, and what becomes of each payment by hand.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nothingSeen } from '@parley/core/facts.ts';
import type { SwapView } from '../../engine/types.ts';
import { happenedText, rateText, receiptOf, shown, whyBack } from './shown.ts';
import { fatesOf, mustStay, sidesOf, situationOf, situations } from './situation.ts';
import {
  agreedAt,
  deadlines,
  everyDoubt,
  happened,
  healthy,
  listed,
  payAsk,
  payment,
  seen,
  states,
} from './testing/views.ts';
import { type About, heldBy, inCoins, warningsOf } from './warnings.ts';
import '../../texts/testing.ts';

test('every state has one screen, and every screen a state', () => {
  for (const [name, is, each] of states) assert.equal(situationOf(each), is, name);
  const found = new Set(states.map(([, is]) => is));
  assert.deepEqual(
    [...situations].filter((each) => !found.has(each)),
    [],
  );
});

test('no screen says a name in the place of a value', () => {
  for (const [name, , each] of states) {
    const { title, now, next, away, lose, legs } = shown(each, listed);
    for (const said of [title, now, next, away, lose]) {
      assert.doesNotMatch(said, /[{}]|undefined|NaN/, `${name}: ${said}`);
    }
    for (const leg of legs) {
      assert.equal(leg.steps.length, 2, name);
    }
  }
});

test('the amounts are in the unit, and each side is named by what it is to this person', () => {
  const { title, legs } = shown(seen({ isByHand: true }), listed);
  assert.equal(title, 'Pay exactly 0.01\u00a0BTC');
  assert.deepEqual(
    legs.map((each) => each.title),
    ['You give 0.01\u00a0BTC', 'You get 640\u00a0USDX'],
  );
  const unlisted = shown(seen({ gives: 'USDX', state: 'waiting_to_fund' }), []);
  assert.equal(unlisted.legs[0].title, 'You give 640\u00a0token 0x5FbD…0aa3');
});

test('a leg is a step done only when that is final, and the other way out once it is taken back', () => {
  const stepsOf = (given: Parameters<typeof seen>[0]) =>
    shown(seen(given), listed).legs[0].steps.map(({ label, state, detail }) => [
      label,
      state,
      detail,
    ]);
  assert.deepEqual(stepsOf({ btc: 'mined' }), [
    ['You lock', 'now', '1 of 3 confirmations'],
    ['The other side collects', 'later', 'not yet'],
  ]);
  assert.deepEqual(stepsOf({ state: 'refunding', btc: 'refundMined' }), [
    ['You lock', 'done', 'final'],
    ['It comes back to you', 'now', '1 of 3 confirmations'],
  ]);
});

test('a leg is locked from its payment until it leaves, and not before or after', () => {
  const locks = (name: string) => {
    const found = states.find(([each]) => each === name)?.[2] ?? assert.fail(name);
    return shown(found, listed).legs.map(({ lock }) => lock?.replace(/ until .*/, '') ?? null);
  };
  const would = 'Will be locked';
  const is = 'Locked';
  assert.deepEqual(locks('pay'), [would, would]);
  assert.deepEqual(locks('waits for the other'), [is, would]);
  assert.deepEqual(locks('claim in a pool'), [is, null]);
  assert.deepEqual(locks('other one did not fund'), [is, null]);
  assert.deepEqual(locks('refund in a block'), [null, null]);
  for (const name of ['done', 'refunded', 'nothing']) assert.deepEqual(locks(name), [null, null]);
  const back = shown(seen({ state: 'refunding', btc: 'final' }), listed).legs[0].steps[1];
  assert.equal(back?.label, 'It comes back to you');
});

test('the history has its own sentence for every event, and the words of others are details', () => {
  const { swap } = seen({ isByHand: true });
  const told = (step: SwapView['history'][number]['step'], said = 'pay 1000000 sats') =>
    happenedText({ ...happened(step), text: said }, swap, listed);
  assert.equal(told('pay_by_hand').said, 'This page asked you for 0.01\u00a0BTC in one payment.');
  for (const step of ['waiting', 'market_refused', 'scheduled', 'evidence'] as const) {
    const { said, detail } = told(step, 'account has 5000000000000000 wei');
    assert.doesNotMatch(said, /account|wei|{/, step);
    assert.equal(detail, 'account has 0.005\u00a0ETH');
  }
});

test('coins that a Bitcoin script paid are said to come less a fee, and others are not', () => {
  const [, , done] = states.find(([name]) => name === 'done') ?? assert.fail();
  const { swap } = done;
  const other = { ...done, swap: { ...swap, gives: swap.gives === 'a' ? 'b' : 'a' } as const };
  assert.doesNotMatch(shown(done, listed).now, /fee/);
  assert.doesNotMatch(receiptOf(swap, 'Parley', listed), /fee/);
  assert.match(shown(other, listed).now, /less the network fee/);
  assert.match(receiptOf(other.swap, 'Parley', listed), /^Received: 0\.01 BTC .*less the fee/m);
});

test('confirmations beyond those required are not counted', () => {
  const deepIn = seen({ state: 'funding', isByHand: true, btc: 'final' });
  const { own } = sidesOf(deepIn.swap);
  const funded = { txid: 'aa', confirmations: 7, deep: false };
  const facts = { ...nothingSeen, funded, empty: false };
  const legs = { ...deepIn.swap.legs, b: { ...own, facts, requiredConfirmations: 2 } };
  const { now, legs: drawn } = shown({ ...deepIn, swap: { ...deepIn.swap, legs } }, listed);
  assert.match(now, /2 of 2/);
  assert.equal(drawn[0].steps[0]?.detail, '2 of 2 confirmations');
});

test('a payment that this page could not see is not asked for', () => {
  const problem = { kind: 'node', leg: 'b', code: null, sentence: 'silent' } as const;
  const { title, tone } = shown(
    seen({ isByHand: true, asks: [payAsk], problems: [problem] }),
    listed,
  );
  assert.deepEqual([title, tone], ['Do not pay now', 'bad']);
});

test('the page asks to stay open while what it sends next has no later time', () => {
  for (const [name, is, each] of states) {
    const asks = each.swap.asks.some(({ kind }) => kind === 'confirm_in_wallet');
    const wanted = asks || is === 'collect' || name === 'claim in a pool';
    assert.equal(mustStay(each, is), wanted, name);
  }
});

test('every payment by hand has an end that is told', () => {
  const main = payment(1_000_000n, 'funding');
  const little = payment(990_000n, 'too_little');
  const more = payment(1_500_000n, 'funding');
  const fates = (payments: (typeof main)[], given: Parameters<typeof seen>[0] = {}) =>
    fatesOf(seen({ isByHand: true, btc: 'final', payments, ...given })).map(({ fate, extra }) => [
      fate,
      extra,
    ]);
  assert.deepEqual(fates([main, little]), [
    ['swap', 0n],
    ['back_later', 0n],
  ]);
  assert.deepEqual(fates([more]), [['swap_more', 500_000n]]);
  assert.deepEqual(fates([little], { btc: 'none' }), [['back_later', 0n]]);
  assert.deepEqual(fates([main, little], { usd: 'claimed', state: 'received' }), [
    ['swap', 0n],
    ['takeable', 0n],
  ]);
  assert.deepEqual(
    fates([payment(1_500_000n, 'funding', 'claim'), payment(990_000n, 'too_little', 'refund')]),
    [
      ['collected_more', 500_000n],
      ['back', 0n],
    ],
  );
});

const about = (given: Parameters<typeof seen>[0], more: Partial<About> = {}): About => ({
  ...seen(given),
  isOtherTab: false,
  health: healthy,
  vault: 'checked',
  rescue: { swaps: 1, writtenAt: agreedAt, isSaved: true },
  ...more,
});

test('a possible cost is warned of before, the worst first, and nothing once a swap has ended', () => {
  const kinds = (...given: Parameters<typeof about>) =>
    warningsOf(about(...given)).map(({ kind }) => kind);
  const { initiatorFundBy } = deadlines;
  const hand = { isByHand: true } as const;
  assert.deepEqual(kinds(hand), []);
  assert.deepEqual(kinds({ ...hand, at: initiatorFundBy - 900 }), []);
  assert.deepEqual(kinds({ ...hand, at: initiatorFundBy - 899 }), ['near']);
  assert.deepEqual(kinds({ ...hand, btc: 'pooled', at: initiatorFundBy - 10 }), []);
  const off = (clockOffSeconds: number) => ({ health: { ...healthy, clockOffSeconds } });
  assert.deepEqual(kinds(hand, off(60)), []);
  assert.deepEqual(kinds(hand, off(-61)), ['clock']);
  const stored = (store: 'ephemeral' | 'unpromised' | 'full') => ({
    health: { ...healthy, store },
  });
  assert.deepEqual(kinds(hand, stored('ephemeral')), ['private']);
  const none = { swaps: 0, writtenAt: null, isSaved: false };
  assert.deepEqual(kinds(hand, { ...stored('unpromised'), rescue: none }), ['unpromised']);
  assert.deepEqual(kinds(hand, stored('full')), ['store']);
  const unsaved = { swaps: 1, writtenAt: agreedAt, isSaved: false };
  assert.deepEqual(kinds(hand, { isOtherTab: true, vault: 'unchecked', rescue: unsaved }), [
    'other_tab',
    'phrase',
    'rescue',
  ]);
  const saved = { ...unsaved, isSaved: true };
  assert.deepEqual(kinds(hand, { ...stored('unpromised'), rescue: unsaved }), ['rescue']);
  assert.deepEqual(kinds(hand, { ...stored('unpromised'), rescue: saved }), []);
  const problem = (kind: 'gas' | 'node', code: string | null) => ({
    ...({ kind, leg: 'a', code, sentence: 'told' } as const),
  });
  assert.deepEqual(kinds({ ...hand, problems: [problem('node', null), problem('gas', null)] }), [
    'gas',
    'node',
  ]);
  const lost = { state: 'claiming', problems: [problem('gas', null)] } as const;
  assert.deepEqual(kinds({ ...hand, ...lost }, { isOtherTab: true }), ['gas', 'other_tab']);
  const short = { problems: [problem('gas', 'claim_unpayable')] };
  const weightIn = (state: 'funding' | 'claiming') =>
    warningsOf(about({ ...hand, ...short, state })).map(({ weight }) => weight);
  assert.deepEqual(weightIn('funding'), ['warn']);
  assert.deepEqual(weightIn('claiming'), ['bad'], 'it may cost the swap');
  assert.deepEqual(kinds({ ...hand, problems: [problem('node', 'wrong_network')] }), [
    'wrong_network',
  ]);
  assert.deepEqual(kinds({ phase: 'ended', state: 'settled' }, { isOtherTab: true }), []);
});

test('a fault of the nodes of a chain is warned of with its numbers, each once', () => {
  const said = (given: Parameters<typeof about>[0]) =>
    warningsOf(about({ state: 'funded', btc: 'final', ...given })).map(
      ({ kind, weight, sentence }) => [kind, weight, sentence] as const,
    );
  const [stands, disagree, refused, ahead, behind, silent] = everyDoubt;
  assert.deepEqual(said({ doubts: everyDoubt.toReversed() }), [
    ['chain_stands', 'warn', stands?.sentence],
    ['nodes_disagree', 'warn', disagree?.sentence],
    ['answer_refused', 'warn', refused?.sentence],
    ['node_ahead', 'warn', ahead?.sentence],
    ['node_behind', 'info', behind?.sentence],
    ['node_silent', 'info', silent?.sentence],
  ]);
  const other = { code: 'chain_stands', sentence: 'so does another' } as const;
  const both = [stands, other].filter((each) => each !== undefined);
  assert.deepEqual(said({ doubts: both }), [
    ['chain_stands', 'warn', `${stands?.sentence}; so does another`],
  ]);
  // A gate that they keep shut is no node that is silent.
  const gate = { kind: 'node', leg: null, code: 'sources_disagree', sentence: 'not now' } as const;
  assert.deepEqual(said({ problems: [gate] }), [['nodes_disagree', 'warn', 'not now']]);
  assert.deepEqual(said({ phase: 'ended', state: 'settled', doubts: everyDoubt }), []);
});

test('a step that waits for reliable nodes is named as it is: locking, the secret, or the end', () => {
  const held = (given: Parameters<typeof seen>[0]) => heldBy(seen(given).swap);
  const initiator = { gives: 'BTC' } as const;
  const counterparty = { gives: 'USDX' } as const;
  for (const [given, wanted] of [
    [{ ...initiator, state: 'funding' }, 'lock'],
    [{ ...counterparty, state: 'waiting_to_fund' }, 'lock'],
    [{ ...initiator, state: 'funded' }, 'reveal'],
    [{ ...initiator, state: 'revealing' }, 'reveal'],
    // It collects with a secret that is out, or takes back: neither waits.
    [{ ...counterparty, state: 'funded' }, 'end'],
    [{ ...counterparty, state: 'claiming' }, 'end'],
    [{ ...initiator, state: 'claiming' }, 'end'],
    [{ ...initiator, state: 'refunding' }, 'end'],
  ] as const) {
    assert.equal(held(given), wanted, `${given.gives} ${given.state}`);
  }
});

test('a shortage for fees is told in coins, and other numbers stay', () => {
  const said = inCoins(
    '0xab12 has 0 wei on evm-dev, and 50000 gas may take 208716000000000 wei',
    'ETH',
  );
  assert.equal(
    said,
    '0xab12 has 0\u00a0ETH on evm-dev, and 50000 gas may take 0.000208716\u00a0ETH',
  );
  assert.equal(inCoins('it takes 1500000 sun', 'TRX'), 'it takes 1.5\u00a0TRX');
});

test('a receipt names every transaction of both legs, and no secret', () => {
  const done = states.find(([name]) => name === 'done')?.[2];
  const said = receiptOf(done?.swap ?? seen().swap, 'Parley', listed);
  assert.match(said, /^Parley: receipt of swap 0199aa00-/);
  assert.match(said, /Given: 0.01 BTC on Bitcoin \(dev\)/);
  assert.equal(said.match(/Collected in transaction: /g)?.length, 2);
  assert.doesNotMatch(said, /secret/i);
});

test('a receipt says that something was received or given only where a chain has shown it', () => {
  const said = (name: string) => {
    const { swap } = states.find(([each]) => each === name)?.[2] ?? assert.fail(name);
    return receiptOf(swap, 'Parley', listed);
  };
  assert.match(said('done'), /^Received: 640 USDX/m);
  assert.match(said('refunded'), /^Given: nothing; 0.01 BTC on Bitcoin \(dev\) came back to you$/m);
  for (const name of ['refunded', 'nothing', 'nothing by hand', 'lost']) {
    assert.match(said(name), /^Received: nothing/m, name);
  }
  assert.match(said('nothing by hand'), /^Given: nothing; .* were agreed$/m);
});

test('a payment that was too little comes back as what it is, and not as what was agreed', () => {
  const end = { end: 'refunded' } as never;
  const back = seen({ phase: 'ended', state: 'settled', isByHand: true, end, btc: 'littleBack' });
  const { title, situation } = shown(back, listed);
  assert.deepEqual([situation, title], ['done_refunded', 'Ended. You have your payment back']);
  const receipt = receiptOf(back.swap, 'Parley', listed);
  assert.match(receipt, /^Given: nothing; a payment of less than 0.01 BTC .* came back to you$/m);
});

test('a refund has its reason in calm words, by what the chains have shown', () => {
  const why = (given: Parameters<typeof seen>[0]) => whyBack(seen(given).swap);
  const back = { state: 'settled', btc: 'refunded' } as const;
  assert.match(why(back), /did not lock its coins/);
  assert.match(why({ ...back, isGivenUp: true }), /^You gave the swap up/);
  assert.match(why({ ...back, usd: 'final' }), /did not go through in time/);
  assert.match(why({ state: 'settled', btc: 'little' }), /^Too little arrived/);
  assert.match(why({ ...back, gives: 'USDX', usd: 'refunded' }), /did not collect/);
});

test('the agreed rate is that of the pair, whichever side one has', () => {
  assert.equal(rateText(seen().swap, listed), '64\u202f000\u00a0USDX for 1 BTC');
  assert.equal(rateText(seen({ gives: 'USDX' }).swap, listed), rateText(seen().swap, listed));
});
