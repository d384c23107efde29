// Every refusal at its boundary, and over drawn histories that what is promised can be paid.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { type AssetRule, type Known, type PairRule, type Step, verdictOn } from './decide.ts';
import {
  balanceGoodMs,
  type Commitment,
  type Costs,
  nodesApartMs,
  shortageOf,
  swapsPayable,
  takesOf,
} from './inventory.ts';
import { parsePrice, type Terms } from './price.ts';

const asset = (name: string, chain: string, decimals: number, token: string | null): AssetRule => ({
  name,
  chain,
  token,
  decimals,
  mostOpen: null,
  mostADay: null,
  lean: null,
  sellDownTo: null,
  buyUpTo: null,
});
const btc = asset('btc', 'bitcoin', 8, null);
const usd = asset('usd', 'evm', 6, '0xd');
const pair: PairRule = {
  name: 'btc/usd',
  base: btc,
  quote: usd,
  least: 1_000_000n,
  most: 10_000_000n,
  spreadBps: 100n,
  tiers: [],
  leastSpreadBps: 0n,
  slipBps: 40n,
  gives: ['base', 'quote'],
};
const onBitcoin: Costs = {
  fund: 1_000n,
  claim: 500n,
  refund: 500n,
  deposit: 0n,
  settlesFromAmount: true,
};
const onEvm: Costs = { fund: 30n, claim: 20n, refund: 10n, deposit: 0n, settlesFromAmount: false };
const balance = (units: bigint, readAtMs = 0) => ({ units, readAtMs });

const known: Known = {
  mode: 'open',
  nowMs: 0,
  price: parsePrice('64000'),
  commitments: [],
  givenToday: new Map(),
  reserves: new Map(),
  balances: new Map([
    ['bitcoin coin', balance(20_000_000n)],
    ['evm coin', balance(1_000n)],
    ['evm 0xd', balance(1_000_000_000n)],
  ]),
  costsOf: ({ chain }) => (chain === 'evm' ? onEvm : onBitcoin),
  heldOf: () => null,
};
/** 633.6 dollars for 0.01 bitcoin is a quote at 64 000. */
const fair: Terms = { gives: 'quote', base: 1_000_000n, quote: 633_600_000n };
const sells: Terms = { gives: 'base', base: 1_000_000n, quote: 646_400_000n };

function codeOf(change: {
  readonly pair?: Partial<PairRule>;
  readonly terms?: Terms;
  readonly step?: Step;
  readonly known?: Partial<Known>;
}): string {
  const { step = 'quote', terms = fair } = change;
  const verdict = verdictOn({ ...pair, ...change.pair }, terms, step, {
    ...known,
    ...change.known,
  });
  return verdict.refused?.code ?? 'yes';
}

const quoted = (amount: bigint, more: Partial<Commitment> = {}): Commitment => ({
  id: 'one',
  kind: 'quote',
  asset: 'usd',
  amount,
  fundedAtMs: null,
  before: new Map([['evm 0xd', amount]]),
  after: new Map(),
  ...more,
});
const capped = (cap: Partial<AssetRule>) => ({ quote: { ...usd, ...cap } });

/** A basis point for each 5 bitcoin beyond 100. */
const leant = { base: { ...btc, lean: { target: 100n, per: 5n, bps: 1n, mostBps: 9n } } };
const bounds = (sellDownTo: bigint, buyUpTo: bigint) => ({
  base: { ...btc, buyUpTo: buyUpTo || null },
  quote: { ...usd, sellDownTo: sellDownTo || null },
});
const held = (units: bigint, dollars = units): Partial<Known> => ({
  heldOf: ({ name }) => (name === 'btc' ? units : dollars),
});

test('each rule refuses beyond its boundary, and not at it', () => {
  for (const [what, change, code] of [
    ['a fair quote', {}, 'yes'],
    ['a fair sale', { terms: sells }, 'yes'],
    ['a pause stops quotes', { known: { mode: 'paused' } }, 'paused'],
    ['and answers to proposals', { known: { mode: 'paused' }, step: 'proposal' }, 'paused'],
    ['and no acceptance', { known: { mode: 'paused' }, step: 'acceptance' }, 'yes'],
    ['the kill switch stops those', { known: { mode: 'killed' }, step: 'acceptance' }, 'killed'],
    ['a side that is not given', { pair: { gives: ['base'] } }, 'side'],
    ['the least size', { pair: { least: 1_000_000n } }, 'yes'],
    ['below it', { pair: { least: 1_000_001n } }, 'size'],
    ['the largest size', { pair: { most: 1_000_000n } }, 'yes'],
    ['above it', { pair: { most: 999_999n } }, 'size'],
    ['no price', { known: { price: null } }, 'no_price'],
    ['a unit more than the spread', { terms: { ...fair, quote: 633_700_000n } }, 'guard'],
    // 640 / 636.2 is 59.7 basis points, and 640 / 636.1 is 61.3.
    ['within the slip', { terms: { ...fair, quote: 636_100_000n }, step: 'acceptance' }, 'yes'],
    ['beyond it', { terms: { ...fair, quote: 636_200_000n }, step: 'acceptance' }, 'guard'],
    // 640 / 634.9 is 80.3 basis points, and 640 / 635 is 78.7.
    ['half of the slip', { terms: { ...fair, quote: 634_900_000n }, step: 'proposal' }, 'yes'],
    ['more of it', { terms: { ...fair, quote: 635_000_000n }, step: 'proposal' }, 'guard'],
    ['a price that moved', { known: { price: parsePrice('63500') }, step: 'acceptance' }, 'guard'],
    ['the exposure', { pair: capped({ mostOpen: 633_600_000n }) }, 'yes'],
    ['more', { pair: capped({ mostOpen: 633_599_999n }) }, 'exposure'],
    [
      'an open quote counts to it',
      { pair: capped({ mostOpen: 633_600_000n }), known: { commitments: [quoted(1n)] } },
      'exposure',
    ],
    [
      'the day',
      {
        pair: capped({ mostADay: 700_000_000n }),
        known: { givenToday: new Map([['usd', 66_400_000n]]) },
      },
      'yes',
    ],
    [
      'more than it',
      {
        pair: capped({ mostADay: 700_000_000n }),
        known: { givenToday: new Map([['usd', 66_400_001n]]) },
      },
      'day',
    ],
    // 640 for 633.6 is 101 basis points.
    ['a little more of it is held', { pair: leant, known: held(109n) }, 'yes'],
    ['and so much that less is paid for it', { pair: leant, known: held(110n) }, 'guard'],
    ['nobody knows what is held', { pair: leant }, 'unread'],
    ['what would be left', { pair: bounds(10n, 0n), known: held(633_600_010n) }, 'yes'],
    ['less', { pair: bounds(11n, 0n), known: held(633_600_010n) }, 'stop_selling'],
    ['what would be held', { pair: bounds(0n, 1_000_005n), known: held(5n, 10n ** 9n) }, 'yes'],
    ['more', { pair: bounds(0n, 1_000_004n), known: held(5n, 10n ** 9n) }, 'stop_buying'],
    ['fees that nobody knows', { known: { costsOf: () => null } }, 'unread'],
    ['a balance that is old', { known: { nowMs: balanceGoodMs } }, 'yes'],
    ['and too old', { known: { nowMs: balanceGoodMs + 1 } }, 'unread'],
    ['the reserve', { known: { reserves: new Map([['evm 0xd', 366_400_000n]]) } }, 'yes'],
    ['less than it', { known: { reserves: new Map([['evm 0xd', 366_400_001n]]) } }, 'inventory'],
    ['a quoted amount is promised', { known: { commitments: [quoted(366_400_000n)] } }, 'yes'],
    ['and no more is there', { known: { commitments: [quoted(366_400_001n)] } }, 'inventory'],
    // Giving a token takes the coin of its chain: 30 to fund and 10 to refund.
    ['gas', { known: { reserves: new Map([['evm coin', 960n]]) } }, 'yes'],
    ['too little gas', { known: { reserves: new Map([['evm coin', 961n]]) } }, 'inventory'],
    // Giving bitcoin takes gas where the dollars come.
    [
      'gas to claim',
      { terms: sells, known: { reserves: new Map([['evm coin', 981n]]) } },
      'inventory',
    ],
  ] as const) {
    assert.equal(codeOf(change as Parameters<typeof codeOf>[0]), code, what);
  }
});

test('a funding leaves the promised with a balance that was read well after it was shown', () => {
  const takes = takesOf(
    { chain: 'evm', token: '0xd', amount: 500n, costs: onEvm },
    { chain: 'bitcoin', token: null, amount: 1n, costs: onBitcoin },
  );
  const funded = quoted(500n, { kind: 'swap', ...takes, fundedAtMs: 1_000 });
  for (const [readAtMs, has] of [
    [1_000 + nodesApartMs - 1, false],
    [1_000 + nodesApartMs, true],
  ] as const) {
    const balances = new Map([['evm 0xd', balance(500n, readAtMs)]]);
    const stock = { balances, reserves: new Map(), commitments: [funded] };
    const short = shortageOf(stock, new Map([['evm 0xd', 500n]]), readAtMs);
    assert.equal(short === null, has);
  }
  // The cost of a refund stays promised.
  const coin = new Map([['evm coin', balance(10n, 99_000)]]);
  const stock = { balances: coin, reserves: new Map(), commitments: [funded] };
  assert.equal(shortageOf(stock, new Map([['evm coin', 1n]]), 99_000)?.taken, 10n);
});

test('all that is promised is there, whatever is quoted, dropped, funded and read', () => {
  const step = fc.record({
    what: fc.constantFrom('quote', 'drop', 'fund', 'show', 'read'),
    amount: fc.bigInt({ min: 1n, max: 60n }),
    at: fc.nat(20),
    ms: fc.nat(15_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      type Swap = Commitment & { sent: boolean };
      let nowMs = 0;
      let chain = 100n;
      let seen = balance(100n);
      let open: Swap[] = [];
      for (const { what, amount, at, ms } of steps) {
        nowMs += ms;
        const one = open.at(at % Math.max(1, open.length));
        if (what === 'quote') {
          const needs = new Map([['x coin', amount]]);
          const balances = new Map([['x coin', seen]]);
          const stock = { balances, reserves: new Map(), commitments: open };
          if (shortageOf(stock, needs, nowMs) !== null) continue;
          open.push({ ...quoted(amount), before: needs, sent: false });
        } else if (what === 'drop') open = open.filter((each) => each !== one || each.sent);
        else if (what === 'fund' && one?.sent === false) {
          [one.sent, chain] = [true, chain - one.amount];
        } else if (what === 'show' && one?.sent && one.fundedAtMs === null) {
          open = open.map((each) => (each === one ? { ...one, fundedAtMs: nowMs } : each));
        } else if (what === 'read') seen = balance(chain, nowMs);
        const due = open.filter(({ sent }) => !sent).reduce((sum, each) => sum + each.amount, 0n);
        assert.ok(due <= chain, `${due} promised of ${chain}`);
      }
    }),
    { numRuns: runs(200) },
  );
});

test('the swaps that a coin pays for', () => {
  assert.equal(swapsPayable(119n, onEvm), 1);
  assert.equal(swapsPayable(3_000n, onBitcoin), 3);
  assert.equal(swapsPayable(0n, onEvm), 0);
});
