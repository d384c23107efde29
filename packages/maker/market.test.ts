// A maker of several markets: one that refuses holds up no other, and one that has left the
// settings has its open deals settled.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, type TestContext, test } from 'node:test';
import { withResolvers } from '@parley/core/engines.ts';
import { createClock } from './clock.ts';
import { parseConfig } from './config/config.ts';
import type { Deal } from './journal.ts';
import { openLog } from './log.ts';
import { openMarkets, tradeOn } from './market.ts';
import { createMetrics } from './metrics.ts';
import { settings } from './paper/testing/feed.ts';
import { fakeMarket } from './testing/market.ts';
import { dealOf, partsOf } from './testing/stage.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-markets-'));
  await mkdir(join(dir, 'store'));
});
after(() => rm(dir, { recursive: true }));

const gone = 'https://gone.example';

/** The maker of these settings; `heard` resolves with the first line of its log that fits. */
async function maker(t: TestContext, text: string, deals: readonly Deal[] = []) {
  const config = parseConfig(text, join(dir, 'maker.toml'));
  const out = new PassThrough();
  const log = openLog(out, Date.now);
  const stop = new AbortController();
  t.after(() => stop.abort(new Error('enough')));
  const { signal } = stop;
  const metrics = createMetrics();
  const at = { ms: 0, price: '60000', mode: 'open' as const };
  const { prices, now } = partsOf({ at });
  const wallet = { family: 'evm', address: '0xa', signMessage: async () => '0x00' };
  const chains = { ethereum: { wallet } } as never;
  const stock = { balances: new Map(), reserves: new Map(), costsOf: () => null } as never;
  const clock = createClock({ chains: {}, log, metrics, now, movedMs: () => 0, signal });
  const journal = { deals: new Map(deals.map((each) => [each.threadId, each])) } as never;
  const known = { config, log, now, chains, metrics, signal, stock, prices, clock, journal };
  const withdrawing = new Map();
  const shared = { ...known, withdrawing, store: {} as never, switched: () => 'open' as const };
  const markets = await openMarkets(shared);
  const looks = new Set<() => void>();
  const trades = [...markets.values()].flatMap((desk) => {
    const undo: (() => unknown)[] = [];
    t.after(() => undo[0]?.());
    if (desk.trading === null) return [];
    return tradeOn({ ...shared, settling: {} as never, looks, undo }, desk, desk.trading);
  });
  for (const each of trades) each.catch(() => {});
  const heard = (market: string, event: string) => {
    const { promise, resolve } = withResolvers<void>();
    out.on('data', (line: Buffer) => {
      const said = JSON.parse(line.toString()) as Record<string, string>;
      if (said.market === market && said.event === event) resolve();
    });
    return promise;
  };
  return { markets, trades, heard };
}

test('a market that refuses holds up no other, and alone ends the program', {
  timeout: 30_000,
}, async (t) => {
  const well = await fakeMarket();
  const refusing = await fakeMarket();
  t.after(() => Promise.all([well.close(), refusing.close()]));
  refusing.state.isRefusing = true;
  const alone = settings.replace('https://one.example', refusing.url);
  const other = `[markets.east]\nurl = "${well.url}"\nlogin = "ethereum"\n`;
  const { trades } = await maker(t, alone);
  await assert.rejects(Promise.all(trades), /refused/);
  const { heard } = await maker(t, alone + other);
  await Promise.all([
    heard(new URL(refusing.url).host, 'sign_in_failed'),
    heard('east', 'started'),
  ]);
});

test('open deals of a market that has left the settings have one, where nothing is agreed', async (t) => {
  const deals = [
    { ...dealOf('t', 's'), market: gone },
    { ...dealOf('u', 'v'), market: 'https://over.example', end: 'received' as const },
  ];
  const { markets } = await maker(
    t,
    settings.replace('https://one.example', 'http://127.0.0.1:9'),
    deals,
  );
  assert.deepEqual([...markets.keys()], ['http://127.0.0.1:9', gone]);
  const left = markets.get(gone);
  assert.deepEqual([left?.name, left?.trading, left?.mode()], ['gone.example', null, 'killed']);
});
