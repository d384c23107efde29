// The terms of a deal: sides, steps with their times, addresses, and the confirmations before.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Rfq, Thread } from '@parley/sdk/types.ts';
import {
  type AddressNeed,
  chosenAddress,
  confirmationsOf,
  endOf,
  foretoldTimes,
  type Known,
  lookOf,
  lostTo,
  needsOf,
  obstacleOf,
  ownTimes,
  partyIn,
  referenceOf,
  stepsOf,
  termsOf,
  type Unsure,
  unsureOf,
} from './terms.ts';
import '../../texts/testing.ts';

const rfq = {
  id: 'r',
  direction: 'sell_base',
  baseAmount: '1000',
  askAmount: null,
  baseAssetId: 'bitcoin',
  quoteAssetId: 'evm',
} as Rfq;
const leg = (chain: string, amount: string, timelockSeconds: number) => ({
  chain,
  assetId: chain,
  amount,
  long: false,
  timelockSeconds,
});
const thread = {
  makerId: 'm',
  takerId: 't',
  initiator: 'taker',
  quoteAmount: '500',
  rfq,
  legs: { a: leg('evm', '500', 40), b: leg('bitcoin', '1000', 90) },
} as unknown as Thread;

test('the own side, what it gives and gets, and whether it funds first', () => {
  assert.deepEqual(
    ['t', 'm', 'x'].map((id) => partyIn(thread, id)),
    ['taker', 'maker', null],
  );
  const taker = termsOf(thread, 'taker');
  assert.deepEqual(taker.role, 'initiator');
  assert.deepEqual(
    [taker.gives.chain, taker.gives.amount, taker.gives.leg],
    ['bitcoin', 1000n, 'b'],
  );
  const maker = termsOf(thread, 'maker');
  assert.deepEqual(
    [maker.role, maker.gives, maker.gets],
    ['counterparty', taker.gets, taker.gives],
  );
});

test('the screen shows what would be accepted, whatever the thread says of its legs', () => {
  const legs = { a: leg('evm', '700', 40), b: leg('bitcoin', '1', 90) };
  const { gives, gets } = termsOf({ ...thread, legs } as Thread, 'taker');
  assert.deepEqual([gives.amount, gets.amount], [1000n, 500n]);
  const { rfq: own } = thread;
  const swapped = { a: leg('bitcoin', '500', 40), b: leg('evm', '1000', 90) };
  const other = termsOf({ ...thread, legs: swapped } as Thread, 'taker');
  assert.deepEqual([other.gives.assetId, other.gets.assetId], [own.baseAssetId, own.quoteAssetId]);
});

test('another word of any part of a deal that a person sees is asked for anew', () => {
  const base = asset('BTC');
  const quote = asset('USD');
  const pinned = ({ id, chain, address, decimals }: Asset) => ({
    id,
    chain,
    token: address,
    decimals,
    highValueFrom: null,
  });
  const look = (fields: object = {}, order: object = {}, coin: Partial<Asset> = {}) => {
    const now = { ...thread, rfq: { ...rfq, ...order }, ...fields } as Thread;
    const named = { base: { ...base, ...coin }, quote };
    const deal = {
      party: 'taker' as const,
      rfq: now.rfq,
      threadId: now.id,
      quoteAmount: BigInt(now.quoteAmount),
      base: pinned(named.base),
      quote: pinned(quote),
      addresses: { evm: '0x1' },
    };
    return lookOf(deal, { terms: termsOf(now, 'taker'), ...named });
  };
  assert.equal(look({ updatedAt: 'later' }, { status: 'closed' }), look());
  for (const other of [
    look({ quoteAmount: '501' }),
    look({}, { baseAmount: '1001' }),
    look({}, { direction: 'buy_base' }),
    look({ initiator: 'maker' }),
    look({}, {}, { decimals: 3 }),
    look({}, {}, { address: '0xother' }),
    look({}, {}, { symbol: 'other' }),
  ]) {
    assert.notEqual(other, look());
  }
});

test('each step has its own deadline, and the refund is of the own leg', () => {
  const times = {
    initiatorFundBy: 1,
    expiresAt: 2,
    counterpartyFundBy: 3,
    revealBy: 4,
    refundAt: { a: 5, b: 6 },
  };
  const said = (...of: Parameters<typeof stepsOf>) =>
    stepsOf(...of).map(({ name, at }) => [name, at]);
  assert.deepEqual(said('initiator', 'b', times), [
    ['you_fund_first', 1],
    ['they_fund_second', 3],
    ['you_reveal', 4],
    ['refund', 6],
  ]);
  assert.deepEqual(said('counterparty', 'a', times), [
    ['they_fund_first', 1],
    ['you_fund_second', 3],
    ['they_reveal', 4],
    ['you_claim', 6],
    ['refund', 5],
  ]);
});

test('each side has its own last moment to pay, and the second one that of the other before it', () => {
  const times = {
    initiatorFundBy: 1,
    expiresAt: 2,
    counterpartyFundBy: 3,
    revealBy: 4,
    refundAt: { a: 5, b: 6 },
  };
  const first = { fundBy: 1, theirsBy: null, refundAt: 6, collectBy: 5 };
  const second = { fundBy: 3, theirsBy: 1, refundAt: 5, collectBy: 6 };
  assert.deepEqual(ownTimes('initiator', 'b', times), first);
  assert.deepEqual(ownTimes('counterparty', 'a', times), second);
  const pair = { initiatorFundBySeconds: 1, counterpartyFundBySeconds: 3 };
  const foretold = (party: 'taker' | 'maker') =>
    foretoldTimes(termsOf(thread, party), pair, 1_000 as never);
  assert.deepEqual(foretold('taker'), {
    fundBy: 1_001,
    theirsBy: null,
    refundAt: 1_090,
    collectBy: 1_040,
  });
  assert.deepEqual(foretold('maker'), {
    fundBy: 1_003,
    theirsBy: 1_001,
    refundAt: 1_040,
    collectBy: 1_090,
  });
});

test('nothing is accepted before keys, addresses, good checks and every tick', () => {
  const ready = { step: null, examined: { isGood: true }, isUnchecked: false, isConfirmed: true };
  assert.equal(obstacleOf(ready), null);
  for (const [fields, why] of [
    [{ step: 'vouch' }, 'deal.first.vouch'],
    [{ step: 'address' }, 'deal.first.address'],
    [{ examined: undefined }, 'deal.accept.wait_checks'],
    [{ examined: undefined, isUnchecked: true }, 'deal.checks.failed'],
    [{ examined: { isGood: false } }, 'deal.checks.refused'],
    [{ isConfirmed: false }, 'deal.confirm.first'],
    [{ examined: { isGood: false }, isConfirmed: false }, 'deal.checks.refused'],
  ] as const) {
    assert.equal(obstacleOf({ ...ready, ...fields }), why);
  }
});

test('the end of a negotiation is told by what ended it, to the moment an order runs out', () => {
  const expiresAt = '2026-11-27T12:00:00Z';
  const at = Date.parse(expiresAt);
  const end = (status: Rfq['status'], withdrawnAt: string | null, nowMs: number) =>
    endOf({ withdrawnAt, rfq: { status, expiresAt } as Rfq }, nowMs);
  assert.equal(end('negotiating', expiresAt, at - 1), 'taken_back');
  assert.equal(end('negotiating', expiresAt, at), 'expired');
  assert.equal(end('open', null, at - 1), 'closed');
  assert.equal(end('agreed', expiresAt, at - 1), 'agreed');
  assert.equal(end('cancelled', null, at - 1), 'cancelled');
});

test('a lost race has words of its own, another refusal those of the market', () => {
  assert.equal(lostTo('terms_moved'), 'terms_moved');
  assert.equal(lostTo('rfq_gone'), 'rfq_gone');
  assert.equal(lostTo('hashlock_used'), null);
});

const known: Known = {
  isHeld: (_, address) => address === 'bc1',
  families: new Map([
    ...(['bitcoin', 'evm', 'tron', 'solana'] as const).map((each) => [each, each] as const),
    ['base', 'evm'],
  ]),
  payouts: [
    { family: 'evm', paid: '0x1', receives: ['0x1', '0x2'] },
    { family: 'bitcoin', paid: 'key', receives: ['key', 'lost key', 'bc1'] },
    { family: 'solana', paid: null, receives: ['So1'] },
  ],
  wallets: {
    evm: { login: '0x1', proven: ['0x3'] },
    tron: { login: null, proven: ['T1'] },
    solana: { login: 'So9', proven: [] },
    bitcoin: { login: 'bc9', proven: [] },
  },
};

test('a payment comes to a wallet that may be paid; a refund to the funder, on Bitcoin to anywhere', () => {
  const between = (gives: string, gets: string) =>
    needsOf({ gives: { chain: gives }, gets: { chain: gets } } as never, known)?.map(
      ({ use, options, isFree }) => [use, options.join(' '), isFree],
    );
  assert.deepEqual(between('evm', 'bitcoin'), [
    ['funder', '0x1 0x3', false],
    ['paid', 'bc1', true],
  ]);
  assert.deepEqual(between('bitcoin', 'base'), [
    ['refund', 'bc1', true],
    ['paid', '0x1 0x2', false],
  ]);
  assert.deepEqual(between('tron', 'solana'), [
    ['funder', 'T1', false],
    ['paid', 'So1', false],
  ]);
  assert.deepEqual(between('solana', 'tron'), [
    ['funder', 'So1', false],
    ['paid', '', false],
  ]);
  assert.equal(between('evm', 'nowhere'), undefined);
  const need = { chain: 'evm', options: ['0x1'] };
  assert.equal(chosenAddress(need, {}), '0x1');
  assert.equal(chosenAddress(need, { evm: ' 0x2 ' }), '0x2');
  assert.equal(chosenAddress(need, { evm: '' }), '');
});

test('an address is confirmed that the market alone calls the person\u2019s', () => {
  const need = (use: AddressNeed['use'], family: 'evm' | 'bitcoin'): AddressNeed => ({
    use,
    family,
    chain: family,
    options: [`${family} 1`],
    isFree: family === 'bitcoin',
  });
  const has = (family: string, address: string) => `${family} ${address}` === 'evm evm 2';
  for (const [use, family, chosen, isUnsure] of [
    ['paid', 'evm', {}, true],
    ['paid', 'evm', { evm: 'evm 3' }, true],
    ['paid', 'evm', { evm: 'evm 2' }, false],
    // Its wallet has to sign for it.
    ['funder', 'evm', {}, false],
    ['paid', 'bitcoin', {}, true],
    ['refund', 'bitcoin', {}, true],
    ['refund', 'bitcoin', { bitcoin: 'typed' }, false],
  ] as const) {
    const found = unsureOf([need(use, family)], chosen, has);
    const what = `${use} ${family} ${JSON.stringify(chosen)}`;
    assert.equal(found.length, isUnsure ? 1 : 0, what);
    assert.deepEqual(
      found.map((each) => each.use),
      isUnsure ? [use] : [],
      what,
    );
  }
});

const recent = { baseAmount: 2n, quoteAmount: 1n };
const priced = (quoteAmount: string, fields: Partial<Rfq> = {}) => ({
  quoteAmount,
  rfq: { ...rfq, ...fields },
});

test('a price is held against recent swaps, else against what was asked, else against nothing', () => {
  assert.deepEqual(referenceOf(priced('485'), 'taker', recent), {
    from: 'recent',
    expected: 500n,
    bps: -300,
    isFar: true,
  });
  assert.equal(referenceOf(priced('485'), 'maker', recent)?.bps, 300);
  const asked = priced('900', { askAmount: '1000' });
  assert.equal(referenceOf(asked, 'taker', null)?.from, 'ask');
  // The taker's asking price is no reference for a maker.
  assert.equal(referenceOf(asked, 'maker', null), null);
  assert.equal(referenceOf(priced('900'), 'taker', null), null);
  // A market that names a bad price as that of recent swaps hides nothing of the own one.
  const lied = referenceOf(priced('500', { askAmount: '1000' }), 'taker', recent);
  assert.deepEqual([lied?.from, lied?.bps, lied?.isFar], ['ask', -5_000, true]);
  assert.equal(referenceOf(priced('500', { askAmount: '501' }), 'taker', recent)?.from, 'recent');
});

const asset = (symbol: string, verified = true): Asset => ({
  id: symbol,
  chain: symbol,
  symbol,
  address: `0x${symbol}`,
  decimals: 2,
  enabled: true,
  verified,
  source: 'api',
});

test('a far price is confirmed with its numbers, better or worse, and so is a token nobody looked at', () => {
  let unsure: readonly Unsure[] = [];
  const said = (amount: string, party: 'maker' | 'taker', fields: Partial<Rfq> = {}, ok = true) => {
    const deal = priced(amount, fields);
    const price = fields.askAmount === undefined ? recent : null;
    const reference = referenceOf(deal, party, price);
    const of = { thread: deal, party, reference, base: asset('BTC'), quote: asset('USD', ok) };
    return confirmationsOf({ ...of, unsure }).map((sentence) => sentence.replaceAll('\u00a0', ' '));
  };
  assert.deepEqual(said('486', 'taker'), []);
  for (const [amount, party, fields, words] of [
    ['400', 'taker', {}, /get 20% less .*: 4 USD instead of about 5 USD/],
    ['600', 'taker', {}, /20% better for me/],
    ['600', 'maker', {}, /pay 20% more than recent/],
    ['600', 'taker', { direction: 'buy_base' }, /pay 20% more than recent/],
    ['900', 'taker', { askAmount: '1000' }, /10% less than I asked for: 9 USD instead of 10 USD/],
  ] as const) {
    const [sentence = '', ...more] = said(amount, party, fields as Partial<Rfq>);
    assert.match(sentence, words);
    assert.deepEqual(more, []);
  }
  assert.match(said('500', 'taker', {}, false)[0] ?? '', /contract of USD .* 0xUSD/);
  // Another price is another sentence, and has no tick.
  assert.match(said('500', 'taker', { askAmount: null })[0] ?? '', /compare 5 USD with/);
  unsure = [{ use: 'paid', chain: 'ethereum', address: '0xabc' }];
  assert.match(said('486', 'taker')[0] ?? '', /I am paid on Ethereum at 0xabc, which is mine/);
});
