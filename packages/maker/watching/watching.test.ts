// A person sees of a maker a screen that fits its terminal, open swaps with their next step,
// and a greeting. All of it from plain values.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SwapRecord } from '@parley/sdk/stores/store.ts';
import { btc, dealOf, pair, partsOf } from '../testing/stage.ts';
import { greetingOf } from './greeting.ts';
import { recentLines } from './recent.ts';
import { type Shown, screenOf } from './screen.ts';
import { type SwapView, swapView } from './swaps.ts';
import { readView, type View, viewOf, writeView } from './view.ts';
import { drawn } from './watch.ts';

const nowMs = Date.parse('2026-11-30T12:00:00Z');
const nowSeconds = nowMs / 1_000;

const pairs = Array.from({ length: 12 }, (_, at) => ({
  name: `coin${at}/usd`,
  price: 100,
  bid: 99,
  ask: 102,
}));
const view: View = {
  atMs: nowMs - 1_000,
  startedAtMs: nowMs,
  market: 'https://market.example',
  mode: 'open',
  isLive: true,
  pairs,
  quotes: [{ pair: 'coin0/usd', gives: 'base', base: '1', quote: '102', untilMs: nowMs + 61_900 }],
  assets: [
    {
      name: 'usd',
      chain: 'evm',
      decimals: 6,
      balance: '5000000',
      promised: '4000000',
      reserve: '2000000',
    },
    { name: 'btc', chain: 'bitcoin', decimals: 8, balance: null, promised: '0', reserve: '0' },
  ],
  chains: [{ chain: 'evm', swapsPayable: 7 }],
  events: Array.from({ length: 30 }, (_, at) =>
    JSON.stringify({
      at: '2026-11-30T11:59:01.000Z',
      level: 'info',
      event: `event${at}`,
      swapId: 's',
    }),
  ),
};
const swap = (id: string, until: number | null): SwapView => {
  return { id, pair: 'coin0/usd', gives: 'base', next: 'funds first', until };
};
const shown: Shown = {
  view,
  swaps: [swap('late', nowSeconds + 7_200), swap('soon', nowSeconds + 599), swap('none', null)],
  nowMs,
  chainNowMs: nowMs,
};
const textOf = (of: Shown, size: Parameters<typeof screenOf>[1] = null) =>
  screenOf(of, size, 'q quits')
    .map(({ text }) => text)
    .join('\n');

test('the screen fits its terminal, shares its rows, and says how many it leaves out', () => {
  for (const [columns, rows] of [
    [80, 24],
    [40, 10],
    [200, 60],
    [1, 1],
  ] as const) {
    const lines = screenOf(shown, { columns, rows }, 'q quits');
    assert.ok(lines.length <= rows, `${lines.length} lines`);
    assert.ok(lines.every(({ text }) => [...text].length <= columns));
  }
  const small = textOf(shown, { columns: 80, rows: 24 });
  assert.match(small, /^ {2}… 7 more$/m);
  assert.match(small, /^soon +coin0\/usd +gives base +in 9 minutes +funds first$/m);
  assert.match(small, /^11:59:01 event29 swapId=s$/m, 'the newest event is first');
  assert.match(small, /q quits$/);
  const told = JSON.stringify({
    at: '2026-11-30T11:59:01.000Z',
    event: 'swap',
    market: 'm',
    swapId: '01a22be0-af05-73aa-b2f9-4658168d1f26',
    leg: null,
    text: 'funding -> funded',
  });
  const swapped = textOf(
    { ...shown, view: { ...view, events: [told] } },
    { columns: 80, rows: 24 },
  );
  assert.match(swapped, /^11:59:01 swap funding -> funded swapId=…168d1f26 market=m$/m);
  const long = { ...pairs[0], name: 'bitcoin-of-regtest/usd' } as (typeof pairs)[number];
  const narrow = { ...shown, view: { ...view, pairs: [long] } };
  assert.match(textOf(narrow, { columns: 80, rows: 24 }), /^bitcoin-o…\/usd +100 /m);
  assert.match(textOf(narrow, { columns: 110, rows: 24 }), /^bitcoin-of-regtest\/usd +100 /m);
});

test('it shows spread, skew, exposure and what is left of a quote, the next deadline first', () => {
  const all = textOf(shown);
  assert.match(all, /^coin0\/usd +100 +99 +102 +150\.0 +50\.0 +1$/m);
  assert.match(all, /^usd +5 +4 +2 +-1 +7 swaps$/m);
  assert.match(all, /^btc +– +0 +0 +– +–$/m);
  assert.match(all, /^coin0\/usd +1 coin0 +102 usd +61 s$/m);
  assert.ok(all.indexOf('soon') < all.indexOf('late') && all.indexOf('late') < all.indexOf('none'));
  const bad = screenOf(shown, null, '').filter(({ tone }) => tone === 'bad');
  assert.deepEqual(
    bad.map(({ text }) => text.split(' ')[0]),
    ['usd', 'btc', 'soon'],
  );
});

test('a maker that is away, killed or cut off is shown so', () => {
  const titleOf = (more: Partial<View> | null, later = 0) => {
    const of = more === null ? null : { ...view, ...more };
    const [title] = screenOf({ ...shown, view: of, nowMs: nowMs + later }, null, '');
    return `${title?.tone} ${title?.text}`;
  };
  assert.match(titleOf({}), /^title .*market\.example +quoting +feed live +12:00:00 UTC$/);
  assert.match(titleOf({ mode: 'killed' }), /^bad .*KILLED/);
  assert.match(titleOf({ isLive: false }), /^bad .*FEED DOWN/);
  assert.match(titleOf({}, 8_999), /^title/);
  assert.match(titleOf({}, 9_000), /^bad .*DOES NOT RUN, last seen 10 seconds ago/);
  assert.match(titleOf(null), /no maker has run/);
});

test('colours are left out where they are not wanted, and no line is left from before', () => {
  const lines = [
    { text: 'x', tone: 'bad' },
    { text: 'y', tone: 'plain' },
  ] as const;
  assert.equal(drawn(lines, false), '\u001b[Hx\u001b[K\r\ny\u001b[K\u001b[J');
  assert.equal(drawn(lines, true), '\u001b[H\u001b[31mx\u001b[0m\u001b[K\r\ny\u001b[K\u001b[J');
});

test('an open swap says its next step and until when', () => {
  const deadlines = {
    initiatorFundBy: 1,
    expiresAt: 2,
    counterpartyFundBy: 3,
    revealBy: 4,
    refundAt: { a: 5, b: 6 },
  };
  const record = (role: string, more: object) =>
    ({
      trade: { party: 'maker' },
      swap: { role, deadlines },
      funding: null,
      claim: null,
      refund: null,
      publicSecret: null,
      ...more,
    }) as unknown as SwapRecord;
  const sent = { txid: 't', raw: 't' };
  for (const [role, more, next, until] of [
    ['initiator', {}, /funds first/, 1],
    ['counterparty', {}, /once the other leg is final/, 3],
    ['initiator', { funding: sent }, /claims once/, 4],
    ['counterparty', { funding: sent }, /waits for the secret/, 5],
    ['counterparty', { funding: sent, publicSecret: 's' }, /secret is public/, 6],
    ['counterparty', { funding: sent, claim: sent }, /claim sent/, 6],
    ['counterparty', { funding: sent, refund: sent }, /refund sent/, null],
    ['initiator', { funding: sent, givenUp: {} }, /given up/, 5],
  ] as const) {
    const found = swapView(dealOf('t', 's'), record(role, more));
    assert.match(found.next, next);
    assert.equal(found.until, until, found.next);
  }
  assert.match(swapView({ ...dealOf('t', ''), swapId: null }, null).next, /waits for the swap/);
});

test('a view is written whole, with prices by the rules of the maker, and holds the last lines', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-maker-view-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const written: string[] = [];
  const recent = recentLines({ write: ((line: string) => written.push(line)) as never });
  recent.out.write('{"level":"debug"}\n');
  recent.out.write('{"level":"info"}\n');
  recent.out.write('{"level":"info","event":"levels","published":2}\n');
  assert.equal(written.length, 3);
  const parts = partsOf({ at: { ms: nowMs, price: '400', mode: 'open' } });
  const balances = new Map([['bitcoin coin', { units: 5n, readAtMs: nowMs }]]);
  const { promises, mode } = parts;
  const made = viewOf({
    ...parts,
    markets: [{ url: 'https://m.example', promises, mode }],
    config: { assets: [btc], pairs: [pair] },
    stock: { balances, payable: new Map() },
    isLive: true,
    events: recent.lines,
    startedAtMs: nowMs,
  });
  await writeView(dir, made);
  assert.deepEqual(await readView(dir), made);
  assert.deepEqual(made.events, ['{"level":"info"}']);
  assert.equal(made.assets[0]?.balance, '5');
  assert.equal(await readView(join(dir, 'none')), null);
});

test('the greeting names market, pairs, balances, switch and where to look, and no more than fits', () => {
  const text = greetingOf({
    config: {
      markets: [{ url: 'https://m.example', login: 'evm' } as never],
      pairs: Array(9).fill(pair),
      store: '/s',
      metricsPort: 9464,
    },
    program: 'npm run -s maker --',
    file: 'maker.toml',
    balances: ['btc on bitcoin: 1'],
    mode: 'killed',
    openSwaps: 2,
  });
  assert.match(text, /market +https:\/\/m\.example, signs in by the wallet on evm/);
  assert.match(text, /btc\/sol at 100 basis points\n(?:.*\n){6}.*… and 2 more\n/);
  assert.match(text, /switch +killed.*"resume"\n +swaps +2 are open/);
  assert.match(
    text,
    /npm run -s maker -- maker\.toml watch\n.*history\n +http:\/\/127\.0\.0\.1:9464/,
  );
});
