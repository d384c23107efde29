// Words into orders, and which quote is taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Thread } from '@parley/sdk/types.ts';
import { namedAsset } from '../assets.ts';
import { Failure } from '../failures.ts';
import type { Session } from '../session.ts';
import { goodOffers, isTime, offersIn } from './offers.ts';
import { keepsLimit, type OrderWords, orderOf, orderWords } from './order.ts';

const evm = (chainId: number, symbols: readonly string[]) => ({
  family: 'evm',
  chainId,
  nodes: [],
  tokens: Object.fromEntries(
    symbols.map((symbol, at) => [symbol, { address: `0x${at}`, decimals: 6 }]),
  ),
});
const chains: Record<string, unknown> = {
  bitcoin: { family: 'bitcoin', bitcoin: 'mainnet', nodes: [], tokens: {} },
  ethereum: evm(1, ['USDC', 'usdc', 'DAI']),
  base: evm(8_453, ['USDC']),
  // Its coin is not ETH.
  bsc: evm(56, ['BUSD']),
};
const session = {
  profile: { chains },
  chain: (name: string) => {
    if (Object.hasOwn(chains, name)) return chains[name];
    throw new Failure('usage', 'unknown_chain', name);
  },
} as unknown as Pick<Session, 'chain' | 'profile'>;

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
  return 'none';
};

test('an asset is named by its symbol and chain, and what may be several is asked about', () => {
  for (const [typed, name] of [
    ['btc', 'bitcoin'],
    ['bitcoin', 'bitcoin'],
    ['BTC@bitcoin', 'bitcoin'],
    ['eth@base', 'base'],
    ['dai', 'ethereum:DAI'],
    ['USDC@ethereum', 'ethereum:USDC'],
    ['usdc@ethereum', 'ethereum:usdc'],
    ['usdc@base', 'base:USDC'],
    ['ethereum:USDC', 'ethereum:USDC'],
  ] as const) {
    assert.equal(namedAsset(session, typed).name, name, typed);
  }
  for (const [typed, code] of [
    ['eth', 'ambiguous_asset'],
    ['usdc', 'ambiguous_asset'],
    ['Usdc@ethereum', 'ambiguous_asset'],
    ['eth@bsc', 'not_pinned'],
    ['wbtc', 'not_pinned'],
    ['usdc@tron', 'unknown_chain'],
    ['@base', 'unknown_chain'],
    ['a@b@c', 'unknown_chain'],
  ] as const) {
    assert.equal(
      codeOf(() => namedAsset(session, typed)),
      code,
      typed,
    );
  }
});

const words: OrderWords = { side: 'sell', amount: '0.01', base: 'btc', quote: 'dai' };
const sale = orderOf(session, { ...words, atLeast: '640' });
const purchase = orderOf(session, { ...words, side: 'buy', atMost: '640' });

test('the words of an order are checked whole, and the same trade has the same name', () => {
  assert.equal(orderWords(sale), 'sell 0.01 bitcoin for at least 640 ethereum:DAI');
  assert.equal(orderWords(purchase), 'buy 0.01 bitcoin with at most 640 ethereum:DAI');
  assert.equal(sale.id, orderOf(session, { ...words, atLeast: '1', waitSeconds: 5 }).id);
  assert.notEqual(sale.id, purchase.id);
  assert.notEqual(sale.id, orderOf(session, { ...words, amount: '0.011' }).id);
  assert.equal(orderOf(session, { ...words, id: 'a.1' }).id, 'id-a.1');
  for (const [more, code] of [
    [{ atMost: '1' }, 'usage'],
    [{ side: 'buy', atLeast: '1' }, 'usage'],
    [{ atLeast: '0' }, 'usage'],
    [{ atLeast: '0.0000001' }, 'bad_amount'],
    [{ amount: '1e3' }, 'bad_amount'],
    [{ base: 'dai', quote: 'usdc@ethereum' }, 'same_chain'],
    [{ id: '../words' }, 'usage'],
    [{ id: 'a'.repeat(65) }, 'usage'],
    [{ waitSeconds: 4 }, 'usage'],
    [{ waitSeconds: 43_201 }, 'usage'],
    [{ settled: 0 }, 'usage'],
  ] as const) {
    assert.equal(
      codeOf(() => orderOf(session, { ...words, ...more })),
      code,
      JSON.stringify(more),
    );
  }
});

const now = 1_800_000_000;
const quoted = (id: string, quoteAmount: string, more: object = {}) =>
  ({
    id,
    quoteAmount,
    status: 'open',
    proposedBy: 'maker',
    quoteExpiresAt: null,
    makerStanding: null,
    ...more,
  }) as unknown as Thread;
const endsIn = (seconds: number) => ({
  quoteExpiresAt: new Date((now + seconds) * 1_000).toISOString(),
});

test('the best standing quote that keeps the bound is taken, and no other', () => {
  const threads = [
    quoted('low', '639999999'),
    quoted('edge', '640000000'),
    quoted('high', '641000000'),
    quoted('known', '641000000', { makerStanding: { settled: 3 } }),
    quoted('closed', '900000000', { status: 'closed' }),
    quoted('own', '900000000', { proposedBy: 'taker' }),
    quoted('ended', '900000000', endsIn(1)),
    quoted('odd', '-9e9'),
    quoted('late', '640500000', endsIn(2)),
  ];
  const takenOf = (order: typeof sale) =>
    goodOffers(offersIn(threads, order, now), order).map(({ thread }) => thread.id);
  assert.deepEqual(takenOf(sale), ['known', 'high', 'late', 'edge']);
  assert.deepEqual(takenOf(purchase), ['low', 'edge']);
  assert.ok(keepsLimit({ side: 'sell', limit: null }, 1n));
});

test('a better quote may come for three seconds, unless the price or the wait ends before', () => {
  const at = { firstAt: now, until: now + 60 };
  const isAt = (seconds: number, endsAt: number | null, more: object = {}) =>
    isTime({ endsAt }, { ...at, ...more, now: now + seconds });
  assert.deepEqual([isAt(2, null), isAt(3, null)], [false, true]);
  assert.deepEqual([isAt(1, now + 5), isAt(2, now + 5)], [false, true]);
  assert.deepEqual(
    [isAt(0, null, { until: now + 2 }), isAt(1, null, { until: now + 2 })],
    [false, true],
  );
});
