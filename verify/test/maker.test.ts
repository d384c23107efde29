// The maker program on a real market: a taker trades with it, it is killed between acceptance and
// funding, comes back without the market, is killed while it accepts, and in the end it holds what
// it agreed to, to the unit.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { holdingOf, ledgers } from '@parley/dev/demo/ledger.ts';
import { newPerson, type Person } from '@parley/dev/demo/people.ts';
import { type Place, placeOf } from '@parley/dev/demo/place.ts';
import { assetsOf } from '@parley/dev/demo/trades.ts';
import { freePort } from '@parley/host/free-port.ts';
import { type Config, parseConfig } from '@parley/maker/config/config.ts';
import { turn } from '@parley/maker/control.ts';
import { historyAsked } from '@parley/maker/history/asked.ts';
import { createFees } from '@parley/maker/history/fees.ts';
import { history } from '@parley/maker/history/history.ts';
import { type Deal, readJournal } from '@parley/maker/journal.ts';
import { runMaker } from '@parley/maker/run.ts';
import { StoreTaken } from '@parley/maker/store-taken.ts';
import { prepareDevMaker } from '@parley/scripts/maker-dev.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import { type FaultProxy, faultProxy } from './support/fault-proxy.ts';
import {
  inventoryIs,
  type MakerProcess,
  newLog,
  quoteOf,
  startMaker,
  take,
  walletsIn,
} from './support/maker.ts';
import { sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
/** PARLEY_HOME. */
let home: string;
let folder: string;
let place: Place;
let taker: Person;
let now: () => number;
let port: number;
/** The maker's way to the market. */
let way: FaultProxy;
const log = newLog();
let running: MakerProcess | null = null;

before(async () => {
  web = await opened();
  home = await mkdtemp(join(tmpdir(), 'parley-maker-'));
  folder = join(home, 'maker');
  const status = await web.dev.status();
  place = placeOf(status);
  now = () => Math.floor(Date.now() / 1_000) + status.clockOffsetSeconds;
  const brand = { productName: 'Parley', shortName: 'parley' };
  taker = await newPerson('taker', 'evm', place, { url: web.url, brand, dev: web.dev, now });
  port = await freePort();
  way = await faultProxy(Number(new URL(web.market.ready.url).port));
});
after(async () => {
  await running?.kill();
  await way.close();
  await rm(home, { recursive: true, force: true });
});

const devUrl = () => web.market.ready.dev ?? '';

const ownUrl = () => `http://127.0.0.1:${way.port}`;

function start(): MakerProcess {
  const args = ['dev', '--url', ownUrl(), '--dev', devUrl()];
  // So that it starts without the market too.
  const brand = { PARLEY_PRODUCT_NAME: 'Parley', PARLEY_SHORT_NAME: 'parley' };
  const env = { ...brand, PARLEY_HOME: home };
  running = startMaker([...args, '--metrics', String(port)], log, env);
  return running;
}

test('killed again and again, and without its market, it holds what it agreed to', {
  timeout: 600_000,
}, async () => {
  await prepareDevMaker({ url: ownUrl(), dev: devUrl() }, folder);
  const maker = await walletsIn(folder);
  const had = await holdingOf(maker, place);
  const assets = await assetsOf(taker, place);
  const first = start();
  await first.heard(({ event }) => event === 'started');
  // The taker is the initiator, and nothing is funded yet.
  const sells = { gives: 'BTC', gets: 'EVM dollar', amount: 1_000_000n } as const;
  const one = await take(taker, assets, sells, now);
  assert.equal(one.quoteAmount, 636_800_000n, '64 000 dollars, and 50 basis points less');
  await first.heard(({ event, threadId }) => event === 'agreed' && threadId === one.threadId);
  await first.kill();
  const ends = [one.settles()];
  const second = start();
  await second.heard(({ event, openSwaps }) => event === 'settling' && openSwaps === 1);
  await second.heard(({ event, step }) => event === 'swap' && step === 'funded');
  way.fail();
  await second.kill();
  const alone = start();
  await alone.heard(({ event }) => event === 'sign_in_failed');
  // By its store and the chains alone.
  await alone.heard(({ event, threadId }) => event === 'ended' && threadId === one.threadId);
  assert.ok(!alone.has(({ event }) => event === 'started'));
  way.heal();
  await alone.heard(({ event }) => event === 'started');
  // Here the maker is the initiator, whose secret must not be lost.
  const buys = { gives: 'ETH', gets: 'BTC', amount: 10n ** 17n } as const;
  const taking = take(taker, assets, buys, now);
  await alone.heard(({ event, pair }) => event === 'accepting' && String(pair).startsWith('btc'));
  await alone.kill();
  const other = await taking;
  ends.push(other.settles());
  const third = start();
  await third.heard(({ event }) => event === 'started');
  await assert.rejects(sameStore(), StoreTaken);
  await third.heard((line) => line.event === 'ended' && line.threadId === other.threadId);
  assert.deepEqual(
    (await Promise.all(ends)).map(({ end }) => end),
    ['received', 'received'],
  );
  await inventoryIs(maker, place, had, [one, other], folder);
  await historyIs();
  const agreed = log.lines.filter(({ event }) => event === 'agreed');
  assert.equal(new Set(agreed.map(({ swapId }) => swapId)).size, 2);
  await nothingSecret([one.threadId, other.threadId]);
  await metricsAre(/^parley_maker_ended_total\{end="received",market="127\.0\.0\.1:\d+"\} 1$/m);
});

/** To the unit: both at 50 basis points of the maker's own price. */
async function historyIs(): Promise<void> {
  const file = join(folder, 'maker.toml');
  const config = parseConfig(await readFile(file, 'utf8'), file);
  const { rows } = JSON.parse(await history(config, historyAsked(['--json'])));
  const found = rows.map(({ asset, settled, profit, unpriced }: Record<string, unknown>) => {
    return [String(asset).split('-')[0], settled, profit, unpriced];
  });
  // 0.1 ETH are 0.004 BTC, and the maker gives 398 009 sats for it.
  assert.deepEqual(found.sort(), [
    ['eth', 1, '0.00049775', 0],
    ['usdv', 1, '3.2', 0],
  ]);
  await feesAre(config);
}

/** As the ledger of the demo reads them. */
async function feesAre({ store, chains }: Config): Promise<void> {
  const kept: Deal[] = [];
  const journal = {
    deals: new Map([...(await readJournal(store))].map(([id, { fees: _, ...deal }]) => [id, deal])),
    keep: async (deal: Deal) => void kept.push(deal),
    close: async () => {},
  };
  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const { signal } = new AbortController();
  const later = () => Date.now() + 3_600_000;
  const own = await fileStore(store);
  const fees = await createFees({
    dir: store,
    chains,
    store: own,
    journal,
    log,
    now: later,
    signal,
  });
  await fees.look();
  const paid = kept.flatMap((deal) => deal.fees ?? []);
  assert.deepEqual(paid.map(({ chain }) => chain.split('-')[0]).sort(), [
    'bitcoin',
    'bitcoin',
    'evm',
    'evm',
  ]);
  for (const { chain, txid, units } of paid) {
    const family = chain.startsWith('evm') ? 'evm' : 'bitcoin';
    assert.equal(units, (await ledgers[family].fee(place[family].rpcUrl, txid)).paid);
  }
}

async function sameStore() {
  const file = join(folder, 'maker.toml');
  const { metricsPort: _, ...config } = parseConfig(await readFile(file, 'utf8'), file);
  return runMaker({ ...config, metricsPort: null }, { out: process.stderr });
}

async function metricsAre(shows: RegExp): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.match(await answer.text(), shows);
}

/** Keys of wallets and market, and secrets of swaps, are in nothing that was printed. */
async function nothingSecret(threadIds: readonly string[]): Promise<void> {
  const families = ['bitcoin', 'evm', 'tron', 'solana'];
  const keys = families.map((each) => readFile(join(folder, 'keys', `${each}.key`), 'utf8'));
  const market = await readFile(join(folder, 'store', 'market-key.json'), 'utf8');
  const secrets = [...(await Promise.all(keys)).map((each) => each.trim())];
  secrets.push((JSON.parse(market) as { key: string }).key);
  for (const threadId of threadIds) {
    const { swapId } = await taker.client.thread(threadId);
    const { secret } = await taker.client.swap(swapId ?? '');
    assert.ok(secret);
    secrets.push(secret);
  }
  assert.ok(secrets.every((each) => each.length >= 40));
  for (const each of secrets) assert.ok(!log.text.includes(each), 'a secret was printed');
}

test('the kill switch ends quoting, resume begins it again, SIGTERM ends it well', {
  timeout: 120_000,
}, async () => {
  const maker = running;
  assert.ok(maker);
  await turn(join(folder, 'store'), 'kill');
  await maker.heard(({ event, mode }) => event === 'switched' && mode === 'killed');
  const assets = await assetsOf(taker, place);
  const rfq = await taker.client.createRfq({
    direction: 'buy_base',
    baseAssetId: assets.TRX.id,
    quoteAssetId: assets.SOL.id,
    baseAmount: '2000000000',
    ttlSeconds: 600,
  });
  await maker.heard(({ rfqId, code }) => rfqId === rfq.id && code === 'killed');
  assert.deepEqual((await taker.client.threadsOfRfq(rfq.id)).threads, []);
  await turn(join(folder, 'store'), 'resume');
  const thread = await quoteOf(taker, rfq.id);
  // 2 000 TRX are 640 dollars, those are 4 SOL, and 50 basis points more.
  assert.equal(thread.quoteAmount, '4020000000');
  await taker.client.cancelRfq(rfq.id);
  assert.equal(await maker.stop(), 0);
});
