// Paper mode on a market that notes what it is asked, its recorder, and what it keeps.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, type TestContext, test } from 'node:test';
import { withResolvers } from '@parley/core/engines.ts';
import { parseConfig } from '../config/config.ts';
import { fakeMarket } from '../testing/market.ts';
import { createBooks, type Fill } from './book.ts';
import { backtested } from './commands.ts';
import { runDry } from './dry-run.ts';
import { keepFills } from './kept.ts';
import { linesOf, type Observed } from './lines.ts';
import { createRecorder } from './record.ts';
import { runPaper } from './run.ts';
import { agreementOf, at0, goneOf, head, rfqOf, settings } from './testing/feed.ts';
import { createAgreements } from './watch-market.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-observe-'));
});
after(() => rm(dir, { recursive: true }));

/** It waits for lines of a log. */
const limited = { timeout: 30_000 };

/** Runs until the price is known and the fees are not, since no node of the chains answers. */
async function tried(t: TestContext, begin: typeof runPaper, folder: string) {
  const market = await fakeMarket();
  t.after(market.close);
  const { rfq } = rfqOf('a', 0);
  const open = { ...rfq, expiresAt: '2099-01-01T00:00:00.000Z' };
  market.state.frames = [
    { type: 'snapshot', rfqs: [open], seq: 1 },
    { type: 'ready', seq: 1 },
  ];
  const local = settings
    .replace('https://one.example', market.url)
    .replace('https://price.example', `${market.url}/price`)
    .replaceAll(/https:\/\/(esplora|node)\.example/g, 'http://127.0.0.1:9');
  const config = parseConfig(local, join(folder, 'maker.toml'));
  const out = new PassThrough();
  const lines: Record<string, unknown>[] = [];
  const judged = withResolvers<void>();
  out.on('data', (line: Buffer) => {
    lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
    if (lines.at(-1)?.event === 'not_quoted' && lines.at(-1)?.code === 'unread') judged.resolve();
  });
  const maker = await begin(config, { out });
  await judged.promise;
  if (begin === runPaper) await assert.rejects(runPaper(config, { out }), /another paper run/);
  await maker.stop();
  const posted = market.asked.filter((each) => !each.startsWith('GET '));
  assert.deepEqual(posted, ['POST /v1/keys']);
  const [greeting = {}, ...more] = market.greetings;
  assert.deepEqual(Object.keys(greeting).sort(), ['apiKey', 'resume']);
  assert.deepEqual(more, []);
  return { lines, kept: await readdir(config.store) };
}

test(
  'paper reads the book and prices, and posts nothing but a key of a stranger',
  limited,
  async (t) => {
    const folder = join(dir, 'paper');
    const { lines, kept } = await tried(t, runPaper, folder);
    assert.ok(lines.every(({ paper }) => paper === true));
    assert.deepEqual(await readdir(folder), ['store'], 'no key file is there');
    assert.deepEqual(kept, ['paper']);
  },
);

test('a dry run has the keys of the maker, and posts as little', limited, async (t) => {
  const folder = join(dir, 'dry');
  await mkdir(join(folder, 'keys'), { recursive: true });
  await writeFile(join(folder, 'keys', 'none'), '1'.repeat(64), { mode: 0o600 });
  const { lines, kept } = await tried(t, runDry, folder);
  assert.ok(lines.every(({ dryRun }) => dryRun === true));
  assert.deepEqual(kept, ['dry-run']);
  await assert.rejects(tried(t, runDry, join(dir, 'none')), /keys\/none is not there/);
});

test('no code of paper mode, recorder or backtest can read a key file', async () => {
  const seen = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = await readFile(file, 'utf8');
    const imports = /^(?:import|\} from|export .* from)\s(?!type\b)[^;]*?'(\.[^']+)'/gm;
    for (const [, path = ''] of text.matchAll(imports)) await visit(resolve(dirname(file), path));
  };
  for (const each of ['run.ts', 'commands.ts']) await visit(join(import.meta.dirname, each));
  assert.ok(seen.size > 20, 'the imports are found');
  for (const each of ['keys.ts', 'chains.ts', 'settling.ts', 'accepting.ts', 'run.ts']) {
    assert.ok(!seen.has(resolve(import.meta.dirname, '..', each)), each);
  }
});

const day: readonly Observed[] = [
  ...head,
  rfqOf('a', 1_000),
  goneOf('a', 5_000),
  agreementOf('596000000', 0, { at: 600_000 }),
];

test('a recording ends at its bounds, and each of several files can be read alone', async () => {
  const ended: string[] = [];
  const over = (why: string) => void ended.push(why);
  const recordTo = async (file: string, how: object, lines: readonly Observed[] = day) => {
    const bounds = { file, mostMs: 3_600_000, mostBytes: 1_000_000, keep: 1, ...how };
    const recorder = createRecorder(
      bounds,
      () => head.map((each) => ({ ...each, at: at0 + 5_000 })),
      over,
    );
    for (const each of lines) recorder.take(each);
    await recorder.close();
  };
  const read = async (...files: string[]) => {
    const lines: Observed[] = [];
    for await (const each of linesOf(files, assert.fail)) lines.push(each);
    return lines;
  };
  const one = join(dir, 'one.jsonl.gz');
  await recordTo(one, {});
  assert.deepEqual(await read(one), day);
  assert.deepEqual(ended, []);
  await assert.rejects(recordTo(one, {}), /one\.jsonl\.gz is there already/);
  await recordTo(join(dir, 'short'), { mostMs: 5_000 });
  await recordTo(join(dir, 'small'), { mostBytes: 500 });
  assert.deepEqual(ended, ['its time is over', 'the file is full']);
  assert.equal((await read(join(dir, 'short'))).at(-1)?.is, 'gone');
  const many = join(dir, 'many.jsonl');
  const soon = day.with(-1, agreementOf('1', 0, { at: 6_000 }));
  await recordTo(many, { mostMs: 5_000, keep: 2 }, soon);
  assert.equal((await read(join(dir, 'many-1.jsonl'))).length, day.length - 1);
  const next = await read(many);
  assert.deepEqual(
    next.map(({ is }) => is),
    [...head.map(({ is }) => is), 'agreement'],
  );
  assert.deepEqual((await readdir(dir)).filter((each) => /many/.test(each)).length, 2);
  const said: string[] = [];
  const to = { say: (text: string) => void said.push(text), warn: assert.fail };
  const config = parseConfig(settings, '/nowhere/maker.toml');
  assert.equal(await backtested(config, [one, '--json'], to), 0);
  assert.equal(JSON.parse(said[0] ?? '').rfqs.won, 1);
  await assert.rejects(backtested(config, [], to), /1 to 366 files/);
  await assert.rejects(backtested(config, [one, '--csv', '--json'], to), /choose one/);
});

test('the inventory of paper outlives its process, and half a line of it does not count', async () => {
  const file = join(dir, 'kept', 'fills.jsonl');
  const config = parseConfig(settings, '/nowhere/maker.toml');
  const fill: Fill = {
    atMs: 1,
    market: 'one',
    rfqId: 'a',
    pair: 'btc/usdc',
    gives: 'quote',
    base: 1_000_000n,
    quote: 597_000_000n,
    price: { over: 60_000n, under: 1n },
    fees: { ethereum: 10n },
  };
  const first = createBooks(config);
  const kept = await keepFills(file, first);
  first.begin('btc', 5n);
  first.begin('usdc', 10n ** 9n);
  first.add(fill);
  kept.add(fill);
  await kept.close();
  await writeFile(file, '{"atMs"', { flag: 'a' });
  for (const _ of ['once', 'again']) {
    const books = createBooks(config);
    await (await keepFills(file, books)).close();
    assert.deepEqual([...books.held], [...first.held]);
    assert.deepEqual(
      [...books.held],
      [
        ['btc', 1_000_005n],
        ['usdc', 403_000_000n],
      ],
    );
    assert.equal(books.sums.get('btc/usdc')?.profit, 3_000_000n);
    assert.equal(books.fees.get('ethereum'), 10n);
  }
  const more = await keepFills(file, createBooks(config));
  await writeFile(file, '{"atMs"', { flag: 'a' });
  await more.close();
  const later = await keepFills(file, createBooks(config));
  later.add(fill);
  await later.close();
  const both = createBooks(config);
  await (await keepFills(file, both)).close();
  assert.equal(both.sums.get('btc/usdc')?.won, 2, 'a line after half of one is whole');
  await writeFile(file, '{}}\n');
  await assert.rejects(keepFills(file, createBooks(config)), /line 1 of .* is damaged/);
});

test('each agreement is told once, and two that are the same are two', async () => {
  const one = agreementOf('1', 0).agreement;
  const other = agreementOf('2', 0).agreement;
  const told: string[] = [];
  const emit = (line: { is: string }) => {
    told.push((line as unknown as { agreement: { quoteAmount: string } }).agreement.quoteAmount);
  };
  const agreements = createAgreements('one', emit, () => at0);
  const shown = { list: [one] };
  const pairPrice = async () => ({ agreements: shown.list });
  const ask = () =>
    agreements.ask({ client: { keyless: { pairPrice } } } as never, new AbortController().signal);
  await ask();
  assert.deepEqual(told, [], 'only pairs on which one may come are asked about');
  agreements.expect('id-btc', 'id-usdc');
  await ask();
  await ask();
  shown.list = [other, one, one];
  await ask();
  assert.deepEqual(told, ['1', '1', '2']);
});
