// A hedge hears of each swap at least once and in order, whatever fails, hangs or is killed between
// the deal on disk and the note that it was told.

import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import type { HedgeConfig } from '../config/config.ts';
import type { Deal, End } from '../journal.ts';
import { openLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { btc, dealOf, sol } from '../testing/stage.ts';
import { openHedge } from './hedge.ts';
import { type Notice, noticesOf } from './notices.ts';
import { tell } from './tell.ts';

const hedged = (threadId: string, end: End | null = null): Deal => ({
  ...dealOf(threadId, `swap-${threadId}`, 1_000),
  base: 1_000_000n,
  quote: 3_960_000_000n,
  hedged: true,
  end,
  endedAt: end && 1_060,
});

test('a deal says what a hedge is told, the same each time', () => {
  const assets = new Map([
    ['btc', btc],
    ['sol', sol],
  ]);
  const [agreed, ended] = noticesOf(hedged('t', 'received'), assets);
  assert.deepEqual(agreed, {
    id: 'swap-t:agreed',
    type: 'agreed',
    at: '1970-01-01T00:16:40Z',
    swapId: 'swap-t',
    threadId: 't',
    rfqId: 'r',
    takerId: 'u',
    pair: 'btc/sol',
    gives: { asset: 'btc', chain: 'bitcoin', token: null, amount: '1000000', coins: '0.01' },
    gets: { asset: 'sol', chain: 'solana', token: null, amount: '3960000000', coins: '3.96' },
  });
  assert.deepEqual([ended?.id, ended?.type], ['swap-t:ended', 'settled']);
  const types = (['refunded', 'lost', 'nothing', 'refused'] as const).map(
    (end) => noticesOf(hedged('t', end), assets)[1]?.type,
  );
  assert.deepEqual(types, ['refunded', 'lost', 'nothing', 'nothing']);
  const { hedged: _, ...before } = hedged('t');
  assert.deepEqual(noticesOf(before, assets), [], 'it was agreed while there was no hedge');
  assert.deepEqual(noticesOf({ ...hedged('t'), swapId: null }, assets), [], 'it is no swap yet');
  const [gone] = noticesOf(hedged('t'), new Map([['sol', sol]]));
  assert.deepEqual([gone?.gives.chain, gone?.gives.coins], [null, null]);
});

/** A server that answers as it is told to; `heard` are the notices it got. */
async function stage(t: TestContext, giveUpSeconds = 3_600) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-hedge-'));
  const heard: string[] = [];
  const answers = { status: 200, keys: [] as unknown[], tokens: [] as unknown[] };
  const server = createServer(async (request, response) => {
    const { id, type } = JSON.parse((await request.toArray()).join('')) as Notice;
    answers.keys.push(request.headers['idempotency-key']);
    answers.tokens.push(request.headers.authorization);
    heard.push(`${id} ${type}`);
    response.writeHead(answers.status).end();
  }).listen(0, '127.0.0.1');
  t.after(async () => {
    server.close();
    await rm(dir, { recursive: true });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const config: HedgeConfig = {
    to: { url: `http://127.0.0.1:${port}/`, tokenFile: null },
    timeoutMs: 60_000,
    giveUpSeconds,
  };
  const at = { ms: 1_000_000 };
  const deals = new Map<string, Deal>();
  const lines = new PassThrough();
  /** As after a restart. */
  const open = async (by = config) => {
    const hedge = await openHedge({
      config: by,
      dir,
      journal: { deals },
      assets: [btc, sol],
      log: openLog(lines, () => 0),
      metrics: createMetrics(),
      now: () => at.ms,
    });
    const look = async () => {
      await hedge.look();
      await hedge.stopped();
      return heard.splice(0);
    };
    return { look };
  };
  const put = (deal: Deal) => void deals.set(deal.threadId, deal);
  const events = () =>
    String(lines.read() ?? '')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line).event]));
  return { answers, at, config, deals, dir, events, open, put };
}

test('each swap is told once of its agreement and once of its end, over restarts', async (t) => {
  const { answers, deals, dir, open, put } = await stage(t);
  put(hedged('t'));
  const first = await open();
  assert.deepEqual(await first.look(), ['swap-t:agreed agreed']);
  assert.deepEqual(await first.look(), []);
  const second = await open();
  assert.deepEqual(await second.look(), [], 'the disk has it');
  put(hedged('t', 'refunded'));
  put(hedged('o', 'received'));
  // Both swaps side by side, each in its own order.
  assert.deepEqual((await second.look()).toSorted(), [
    'swap-o:agreed agreed',
    'swap-t:ended refunded',
  ]);
  assert.deepEqual(await second.look(), ['swap-o:ended settled']);
  assert.deepEqual(answers.keys[0], 'swap-t:agreed');
  assert.deepEqual(await (await open()).look(), []);
  // Killed before it noted that: the same notice comes again.
  await rm(join(dir, 'hedge', 't.json'));
  assert.deepEqual(await (await open()).look(), ['swap-t:agreed agreed']);
  deals.clear();
  await (await open()).look();
  await assert.rejects(readFile(join(dir, 'hedge', 't.json')), /ENOENT/, 'forgotten with its deal');
});

test('a swap whose acceptance had lapsed is told once it is there', async (t) => {
  const { open, put } = await stage(t);
  put({ ...hedged('t', 'lapsed'), swapId: null });
  const { look } = await open();
  assert.deepEqual(await look(), []);
  put(hedged('t'));
  assert.deepEqual(await look(), ['swap-t:agreed agreed']);
});

test('one that fails is tried again after growing pauses, holds up no other, and is given up', async (t) => {
  const { answers, at, events, open, put } = await stage(t, 60);
  put(hedged('t', 'received'));
  answers.status = 503;
  const { look } = await open();
  for (const [ms, tries] of [
    [0, 1],
    [999, 0],
    [1_000, 1],
    [2_999, 0],
    [3_000, 1],
  ] as const) {
    at.ms = 1_000_000 + ms;
    assert.equal((await look()).length, tries, String(ms));
  }
  put(hedged('o'));
  assert.deepEqual(await look(), ['swap-o:agreed agreed'], 'another one is told meanwhile');
  const triedOf = async () => (await look()).filter((each) => /-t/.test(each));
  at.ms = 0;
  assert.equal((await triedOf()).length, 1, 'a clock that was set back is waited for no longer');
  // It has waited 15 s by now, 31, and 63: more than 60, and then its end is tried.
  for (let tries = 5; tries <= 7; tries += 1) {
    at.ms += 60_000;
    assert.ok(!events().includes('hedge_given_up'), String(tries));
    assert.deepEqual(await triedOf(), ['swap-t:agreed agreed']);
  }
  answers.status = 200;
  assert.deepEqual(await triedOf(), ['swap-t:ended settled']);
  assert.ok(events().includes('hedge_given_up'));
});

test('a token goes with each notice, from a file that nobody else may read', async (t) => {
  const { answers, config, dir, open, put } = await stage(t);
  const tokenFile = join(dir, 'token');
  await writeFile(tokenFile, 'secret\n', { mode: 0o644 });
  assert.ok('url' in config.to);
  const withToken = { ...config, to: { ...config.to, tokenFile } };
  await assert.rejects(open(withToken), /has mode 0644/);
  await chmod(tokenFile, 0o600);
  put(hedged('t'));
  await (await open(withToken)).look();
  assert.deepEqual(answers.tokens, ['Bearer secret']);
});

test('a file of what was told that is damaged tells again, and stops nothing', async (t) => {
  const { dir, events, open, put } = await stage(t);
  put(hedged('t'));
  await (await open()).look();
  await writeFile(join(dir, 'hedge', 't.json'), '{"told":');
  assert.deepEqual(await (await open()).look(), ['swap-t:agreed agreed']);
  assert.ok(events().includes('hedge_file_damaged'));
});

test('a command reads the notice and is judged by its status; one that hangs is ended', async (t) => {
  const { dir } = await stage(t);
  const [notice] = noticesOf(hedged('t'), new Map());
  assert.ok(notice);
  const by = (script: string, timeoutMs = 60_000) =>
    tell(
      { to: { command: ['sh', '-c', script], folder: dir }, timeoutMs, giveUpSeconds: 1 },
      notice,
    );
  await by('cat > heard');
  assert.deepEqual(JSON.parse(await readFile(join(dir, 'heard'), 'utf8')), notice);
  await by('exit 0');
  await assert.rejects(by('cat > /dev/null; exit 3'), /sh ended with 3/);
  await assert.rejects(by('sleep 600 & wait', 50), /sh did not end within 0.05 s/);
  const missing = { command: ['./none'] as const, folder: dir };
  await assert.rejects(tell({ to: missing, timeoutMs: 9_000, giveUpSeconds: 1 }, notice), /ENOENT/);
});
