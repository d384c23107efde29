// Profit and loss to the unit, by every grouping, from a ledger that a power cut has torn, beside
// the deals that an older version has kept.

import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { jsonOf } from '@parley/trader/io.ts';
import { type Deal, openJournal } from '../journal.ts';
import { btc, dealOf, sol } from '../testing/stage.ts';
import { historyAsked } from './asked.ts';
import { history } from './history.ts';
import { type Ended, profitOf } from './sums.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-maker-history-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** 1 BTC for 400 SOL. */
const value = { over: 400n, under: 1n, decimals: { base: 8, quote: 9 } };
const noon = Date.parse('2026-11-30T12:00:00Z') / 1_000;

const ended = (threadId: string, more: Partial<Deal>) =>
  ({
    ...dealOf(threadId, `s-${threadId}`),
    base: 1_000_000n,
    quote: 4_000_000_000n,
    value,
    end: 'received',
    endedAt: noon,
    ...more,
  }) as Ended;

test('a swap brings what it got less what it gave, at the price of its agreement, rounded down', () => {
  const third = { ...value, over: 1_200n, under: 3n };
  for (const [more, units] of [
    [{ gives: 'base', quote: 4_040_000_000n }, 40_000_000n],
    [{ gives: 'quote', quote: 3_960_000_000n }, 40_000_000n],
    [{ gives: 'base', quote: 3_999_999_999n, value: third }, -1n],
    // 1 satoshi for 1 lamport at 1/3 SOL a BTC: 3.33 of them.
    [{ gives: 'quote', base: 1n, quote: 1n, value: { ...value, over: 1n, under: 3n } }, 2n],
    [{ gives: 'base', base: 1n, quote: 1n, value: { ...value, over: 1n, under: 3n } }, -3n],
    [{ gives: 'base', end: 'lost' }, -4_000_000_000n],
    [{ gives: 'quote', end: 'lost', quote: 7n }, -7n],
    [{ end: 'refunded', value: undefined }, 0n],
    [{ end: 'received', value: undefined }, null],
  ] as const) {
    assert.equal(profitOf(ended('t', more as Partial<Deal>)), units, String(units));
  }
});

const assets = [btc, sol];
const shows = async (...args: string[]) =>
  JSON.parse(await history({ store: dir, assets }, historyAsked([...args, '--json'])));

test('history adds up by pair, day, counterparty and swap, and the last line of a swap counts', async () => {
  const journal = await openJournal(dir, () => noon, '');
  const fee = (units: bigint) => ({ chain: 'solana', txid: 'x', decimals: 9, units });
  const good = ended('t1', { takerId: 'ann', quote: 4_040_000_000n });
  await journal.keep(good);
  await appendFile(join(dir, 'history', '2026-11.jsonl'), '{"threadId":"torn');
  await journal.keep({ ...good, fees: [fee(5_000n), fee(10n)] });
  await journal.keep(ended('t2', { takerId: 'bob', end: 'lost', endedAt: noon + 86_400 }));
  await journal.keep(ended('t3', { takerId: 'bob', value: undefined as never }));
  await journal.keep(ended('t4', { swapId: null, end: 'lapsed' }));
  await journal.keep(ended('t5', { end: null, endedAt: null }));
  await journal.close();
  const [whole] = (await shows()).rows;
  assert.deepEqual(whole, {
    key: 'btc/sol',
    asset: 'sol',
    settled: 2,
    refunded: 0,
    lost: 1,
    nothing: 0,
    profit: '-3.96',
    profitUnits: '-3960000000',
    volume: '4.04',
    volumeUnits: '4040000000',
    unpriced: 1,
    fees: { solana: '0.00000501' },
    feesUnknown: 2,
  });
  const keysBy = async (by: string, ...more: string[]) =>
    (await shows('--by', by, ...more)).rows.map((row: { key: string; profit: string }) => [
      row.key,
      row.profit,
    ]);
  assert.deepEqual(await keysBy('day'), [
    ['2026-11-30', '0.04'],
    ['2026-12-01', '-4'],
  ]);
  assert.deepEqual(await keysBy('counterparty'), [
    ['ann', '0.04'],
    ['bob', '-4'],
  ]);
  assert.equal((await keysBy('swap')).length, 3);
  // The day that is named last is in, and a time is not.
  assert.equal((await keysBy('swap', '--to', '2026-11-30')).length, 2);
  assert.equal((await keysBy('swap', '--to', '2026-11-30T12:00Z')).length, 0);
  assert.equal((await keysBy('swap', '--from', '2026-12-01')).length, 1);
  assert.deepEqual((await shows()).torn, ['2026-11.jsonl:2']);
  // A month that cannot be read takes no other with it. A swap that ended twice counts by its last end.
  await mkdir(join(dir, 'history', '2026-10.jsonl'));
  const written = jsonOf(ended('t1', { end: 'lost', endedAt: noon - 40 * 86_400 }));
  await writeFile(join(dir, 'history', '2026-09.jsonl'), `${written}\n`);
  const { torn, rows } = await shows();
  assert.match(torn[1], /2026-10.jsonl cannot be read: EISDIR/);
  assert.deepEqual([rows[0].settled, rows[0].lost], [2, 1]);
  await rm(join(dir, 'history', '2026-10.jsonl'), { recursive: true });
});

test('a table says what counts beside its sums; CSV has a column of fees for each chain', async () => {
  const shown = (...args: string[]) => history({ store: dir, assets }, historyAsked(args));
  const table = await shown();
  assert.match(table, /^pair +settled +refunded +lost +nothing +volume +profit +bps +fees paid$/m);
  assert.match(table, /^total +2 +0 +1 +0 +4\.04 +-3\.96 +sol +-9802 +0\.00000501 solana$/m);
  assert.match(table, /^without a price.*: 1$/m);
  assert.equal(
    await shown('--csv', '--by', 'counterparty'),
    'counterparty,asset,settled,refunded,lost,nothing,volume,profit,unpriced,fees_unknown,fees_solana\r\n' +
      'ann,sol,1,0,0,0,4.04,0.04,0,0,0.00000501\r\nbob,sol,1,0,1,0,0,-4,1,2,0',
  );
  // A swap has its time, pair and counterparty, and the first that ended comes first.
  assert.match(
    await shown('--by', 'swap', '--to', '2026-12-01'),
    /^s-t1 +2026-11-30T12:00:00Z +btc\/sol +ann +1 .*\n.*\n.*s-t2 +2026-12-01T12:00:00Z/m,
  );
  assert.match(await shown('--by', 'swap', '--csv'), /^swap,ended,pair,counterparty,asset,settled/);
  assert.match(await shown('--from', '2027-01-01'), /^no swap has ended in that time$/m);
});

test('an argument that is not understood is named', () => {
  for (const [args, fault] of [
    [['--by', 'week'], /--by is pair, day, counterparty, swap, not "week"/],
    [['--csv', '--json'], /two forms/],
    [['--from', '2026-02-30'], /--from is a day.*not "2026-02-30"/],
    [['--from', '2026-12-01', '--to', '2026-11-30'], /--from 2026-12-01 is not before/],
    [['--to', 'now'], /--to is a day/],
    [['more'], /Unexpected argument 'more'/],
  ] as const) {
    assert.throws(() => historyAsked(args), fault);
  }
});
