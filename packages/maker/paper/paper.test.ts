// Paper trading on recorded lines: the trades that count as won, and holdings and profit then, to
// the unit.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseConfig } from '../config/config.ts';
import { type Facts, silentLog } from '../log.ts';
import { backtest, replayed } from './backtest.ts';
import { profitNow, profitOf } from './book.ts';
import { decidedBy, isAsGood, mayBeOf } from './fills.ts';
import { linesOf, type Observed } from './lines.ts';
import { csvOf, textOf } from './report.ts';
import { agreementOf, at0, goneOf, head, priceOf, rfqOf, settings } from './testing/feed.ts';

const config = parseConfig(settings, '/nowhere/maker.toml');
let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-paper-'));
});
after(() => rm(dir, { recursive: true }));

const [some = assert.fail()] = config.assets;
const withIdle = [...config.assets, { ...some, name: 'idle', token: 'x' }];

// 0.01 BTC at 60 000: the maker pays 597 USDC, 50 basis points less.
const ours = 597_000_000n;
const minute = 60_000;
const wins: Observed[] = [
  ...head,
  rfqOf('a', 1_000),
  goneOf('a', 5_000),
  agreementOf('596000000', 0, { at: 600_000 }),
];

test('an RFQ that was agreed elsewhere at a price no better than one’s own is won', async () => {
  for (const [theirs, how] of [
    ['596999999', 'won'],
    ['597000000', 'won'],
    ['597000001', 'lost'],
  ] as const) {
    const lines = wins.with(-1, agreementOf(theirs, 0, { at: 600_000 }));
    const { report, fills } = await replayed({ ...config, assets: withIdle }, lines);
    assert.equal(report.rfqs[how], 1, theirs);
    assert.equal(report.rfqs.agreed, 1);
    const [btc, usdc] = report.assets;
    assert.equal(report.assets.length, 2, 'one of no pair is not shown');
    const isWon = how === 'won';
    assert.equal(btc?.change, isWon ? '0.01' : '0');
    assert.equal(usdc?.change, isWon ? '-597' : '0');
    assert.equal(usdc?.promised, '0');
    assert.equal(fills.length, isWon ? 1 : 0);
    assert.equal(report.pairs[0]?.profit, isWon ? '3' : undefined, '50 basis points of 600');
  }
});

test('a profit is rounded down on both sides, and by the last price counts what is held', () => {
  const units = { base: { decimals: 0 }, quote: { decimals: 0 } };
  const third = { over: 1n, under: 3n };
  assert.equal(profitOf({ gives: 'base', base: 4n, quote: 5n }, third, units), 3n);
  assert.equal(profitOf({ gives: 'quote', base: 4n, quote: 5n }, third, units), -4n);
  const sum = { won: 2, bought: 7n, sold: 3n, paid: 9n, got: 2n, profit: 0n };
  assert.equal(profitNow(sum, third, units), 1n - 7n);
  assert.equal(profitNow({ ...sum, bought: 0n, paid: 0n }, third, units), 2n - 1n);
});

test('what nobody shows, what was refused by then and what was not agreed is not won', async () => {
  const late = 24 * 60 * minute + 6_000;
  const cases = [
    ['unknown', [...wins.slice(0, -1), priceOf('60000', late)]],
    // The minute, the amount or the side is another.
    ['pending', [...wins.slice(0, -1), agreementOf('1', -2 * minute, { at: 600_000 })]],
    ['pending', wins.with(-1, agreementOf('1', 0, { at: 600_000, baseAmount: '1000001' }))],
    ['pending', wins.with(-1, agreementOf('1', 0, { at: 600_000, direction: 'buy_base' }))],
    // The price fell by 100 basis points: within a step, and beyond the slip.
    ['declined', wins.toSpliced(-2, 1, priceOf('59400', 4_990), goneOf('a', 4_999))],
  ] as const;
  for (const [how, lines] of cases) {
    const { report } = await replayed(config, lines);
    assert.equal(report.rfqs[how], 1, how);
    assert.equal(report.rfqs.won, 0);
    assert.equal(report.assets[1]?.promised, how === 'pending' ? '597' : '0');
  }
  for (const why of ['expired', 'cancelled'] as const) {
    const { report } = await replayed(config, wins.with(-2, { ...goneOf('a', 5_000), why }));
    assert.deepEqual([report.rfqs.agreed, report.rfqs.won], [0, 0]);
  }
});

test('an agreement decides one RFQ, and of several the best for the taker decides', async () => {
  const two = [...wins.slice(0, -1), rfqOf('b', 6_000), goneOf('b', 8_000)];
  const one = await replayed(config, [...two, agreementOf('596000000', 0, { at: 600_000 })]);
  assert.deepEqual([one.report.rfqs.won, one.report.rfqs.pending], [1, 1]);
  const left = { rfq: rfqOf('a', 0).rfq, ours, leftAtMs: at0 + 5_000 };
  const shown = ['596', '598', '597'].map((each) => agreementOf(each, 0));
  assert.equal(decidedBy(left, shown)?.agreement.quoteAmount, '598');
  const buys = { ...left, rfq: { ...left.rfq, direction: 'buy_base' as const } };
  const sold = ['596', '598'].map((each) => agreementOf(each, 0, { direction: 'buy_base' }));
  assert.equal(decidedBy(buys, sold)?.agreement.quoteAmount, '596');
  assert.ok(isAsGood('buy_base', 5n, 6n) && !isAsGood('buy_base', 6n, 5n));
  const { agreement } = agreementOf('1', 0);
  for (const [ms, fits] of [
    [-5_000, true],
    [-5_001, false],
    [64_999, true],
    [65_000, false],
  ] as const) {
    assert.equal(mayBeOf({ ...left, leftAtMs: at0 + ms }, agreement), fits, String(ms));
  }
});

test('a coin is promised once, by the settings’ own limits, until it is decided', async () => {
  const bounded = settings.replace('decimals = 6', 'decimals = 6\npaper = "1000"');
  const small = parseConfig(bounded, '/nowhere/maker.toml');
  const lines = [...wins.slice(0, -1), rfqOf('b', 6_000), goneOf('b', 9_000)];
  const { report } = await replayed(small, lines);
  assert.deepEqual([report.rfqs.seen, report.rfqs.agreed], [2, 1], '597 of 1000 are promised');
});

test('a trade of paper moves the next price, as the skew of the settings says', async () => {
  const leaning = settings.replace(
    'decimals = 8',
    'decimals = 8\npaper = "1"\ntarget = "1"\nskew_per = "0.01"\nskew_bps = 20',
  );
  const quoted: unknown[] = [];
  const info = (event: string, { quoteAmount }: Facts = {}) => {
    if (event === 'would_quote') quoted.push(quoteAmount);
  };
  const lines = [...wins, rfqOf('b', 601_000)];
  await replayed(parseConfig(leaning, '/nowhere/maker.toml'), lines, { ...silentLog, info });
  assert.deepEqual(
    quoted,
    [ours, 595_800_000n],
    '50 basis points, and 20 for the 0.01 it has more',
  );
});

test('a quote of a connection that was lost too long wins nothing', async () => {
  const feed = (isLive: boolean, ms: number): Observed => {
    return { is: 'feed', market: 'one', at: at0 + ms, isLive };
  };
  for (const [gone, count] of [
    [16_900, 1],
    [17_000, 0],
  ] as const) {
    const lines = [...head, rfqOf('a', 1_000), feed(false, 2_000), goneOf('a', gone)];
    const { report } = await replayed(config, lines);
    assert.equal(report.rfqs.agreed, count, 'cancel_seconds is 15');
  }
});

test('a file gives the same result each time; a cut end is left out, and a fault has its place', async () => {
  const text = wins.map((each) => JSON.stringify(each)).join('\n');
  const plain = join(dir, 'day.jsonl');
  const packed = join(dir, 'day.jsonl.gz');
  await writeFile(plain, `${text}\n{"at":17`);
  const whole = gzipSync(`${text}\n{"at":17`);
  await writeFile(packed, whole.subarray(0, whole.length - 8));
  const cuts: string[] = [];
  const how = { cut: (file: string) => cuts.push(file) };
  const results = [];
  for (const file of [plain, packed, plain]) results.push(await backtest(config, [file], how));
  assert.deepEqual(cuts, [plain, packed, plain]);
  assert.deepEqual(results[0], results[2]);
  assert.equal(results[1]?.report.rfqs.won, 1);
  const [{ report, fills } = assert.fail()] = results;
  assert.match(textOf(report), /^btc\/usdc {2}1 {4}0\.01 +0 +3 usdc +3 usdc$/m);
  assert.match(csvOf(fills, config), /,one,a,btc\/usdc,quote,0\.01,597,60000,3$/);
  for (const [wrong, says] of [
    ['{"is":"rfq"}', /line 1 of .*bad is no line of a recording/],
    [`${text}\n${JSON.stringify(head[0])}`, /line \d+ of .*bad is older than the one before/],
  ] as const) {
    await writeFile(join(dir, 'bad'), `${wrong}\n`);
    await assert.rejects(backtest(config, [join(dir, 'bad')]), says);
  }
  await writeFile(join(dir, 'empty'), '');
  await assert.rejects(backtest(config, [join(dir, 'empty')]), /the recording is empty/);
  for (const [file, says] of [
    ['none', /none cannot be read: there is no such file/],
    ['', /cannot be read: EISDIR/],
    ['bad.gz', /bad.gz cannot be read: incorrect header check/],
  ] as const) {
    await writeFile(join(dir, 'bad.gz'), 'no packed file');
    await assert.rejects(linesOf([join(dir, file)], () => {}).next(), says);
  }
});
