// The operators' command, run as a program against a real database and a running market.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { startPostgres } from '@parley/host/postgres/postgres.ts';
import { type Commands, startCommands } from '@parley/verify/test/support/commands.ts';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import pg from 'pg';
import { addCandidate } from './db/candidates.ts';
import { migrate } from './db/migrate.ts';
import type { Frame } from './edge/testing/feed-client.ts';
import { type FeedMarket, feedMarket } from './edge/testing/feed-market.ts';
import { uuidv7 } from './ports/ids.ts';

let market: FeedMarket;
let taker: Trader;
let commands: Commands;

before(async () => {
  commands = startCommands();
  market = await feedMarket();
  taker = await market.trader();
});
after(() => Promise.all([market.close(), commands.stop()]));

const cli = (args: string[], env: Record<string, string> = {}) =>
  commands.run('apps/market/ops.ts', ['assets', ...args], { DATABASE_URL: market.url, ...env });

const about = (id: string, kind: string) => (frame: Frame) =>
  frame.type === 'rfq' && frame.kind === kind && frame.rfq.id === id;

test('candidates are shown with their reasons, and one that is forgotten may be asked for again', async () => {
  const at = new Date();
  const address = `0x${'ab'.repeat(20)}`;
  const candidate = {
    id: uuidv7(at.getTime(), randomBytes),
    chain: 'evm-dev',
    address: parseEvmAddress(address),
    source: 'launchpad:rocket',
    accountId: null,
    status: 'rejected' as const,
    reasons: ['transfer: 3 of 100 did not arrive'],
    createdAt: at,
    checkedAt: at,
    nextCheckAt: at,
    givesUpAt: at,
  };
  await addCandidate(market.db, candidate);
  const shown = await cli(['candidates', '--state', 'rejected']);
  assert.match(
    shown.out,
    /^rejected {2}evm-dev\/0xaB\w+ {2}launchpad:rocket {2}\(transfer: 3 of /i,
  );
  assert.equal((await cli(['candidates', '--state', 'pending'])).out, '');
  const json = JSON.parse((await cli(['candidates', '--json'])).out);
  assert.deepEqual([json.status, json.reasons], ['rejected', candidate.reasons]);
  const forgotten = await cli(['forget', `evm-dev/${address}`]);
  assert.deepEqual([forgotten.code, /^forgotten/.test(forgotten.out)], [0, true]);
  assert.equal((await cli(['candidates'])).out, '');
  const twice = await cli(['forget', `evm-dev/${address}`]);
  assert.deepEqual([twice.code, /there is no candidate/.test(twice.err)], [1, true]);
  for (const wrong of [
    ['candidates', 'x'],
    ['candidates', '--state', 'open'],
    ['forget', 'x'],
  ]) {
    assert.equal((await cli(wrong)).code, 2, wrong.join(' '));
  }
});

test('close and reopen: a running market tells its makers, its book and its list', async () => {
  const { usd } = market.assets;
  const maker = await market.maker(await market.trader());
  const { id } = await market.rfq(taker);
  await maker.frame(about(id, 'created'));
  const closed = await cli(['close', usd.id, '--reason', 'two', '--reason', 'reasons']);
  assert.equal(closed.code, 0, closed.err);
  assert.match(closed.out, /1 RFQ left the book/);
  assert.match(closed.out, /closed .* USD .*evm-dev\/0x.*operator since .*: two; reasons/);
  await maker.frame(about(id, 'cancelled'));
  const again = await cli(['close', usd.id, '--reason', 'two', '--reason', 'reasons']);
  assert.deepEqual([again.code, /it was so already/.test(again.out)], [0, true]);
  const listed = await cli(['list', '--state', 'closed', '--json']);
  const [only] = listed.out
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each));
  assert.deepEqual([only.id, only.state, only.symbol], [usd.id, 'closed', 'USD']);
  assert.deepEqual(only.closings.operator.reasons, ['two', 'reasons']);
  const { body } = await taker.get(`/v1/assets?enabled=false`);
  assert.deepEqual(
    body.assets.map((each: { id: string }) => each.id),
    [usd.id],
  );
  const reopened = await cli(['reopen', `evm-dev/${usd.address?.toUpperCase().replace('X', 'x')}`]);
  assert.equal(reopened.code, 0, reopened.err);
  assert.match(reopened.out, /1 RFQ came back to the book/);
  await maker.frame(() => maker.frames.filter(about(id, 'created')).length === 2);
  maker.close();
});

test('without DATABASE_URL it finds the database of a market that runs in PARLEY_HOME', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'parley-assets-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const own = { DATABASE_URL: '', PARLEY_HOME: home };
  const none = await cli(['list'], own);
  assert.equal(none.code, 1);
  assert.match(none.err, /no market runs in PARLEY_HOME .*: start it/);
  const quiet = { info: () => {}, warn: () => {}, error: () => {} };
  const postgres = await startPostgres({ dir: home, log: quiet });
  try {
    const empty = await cli(['list'], own);
    assert.match(empty.err, /of another version: start the market of this one first/);
    await migrate(postgres.url);
    const client = new pg.Client(postgres.url);
    await client.connect();
    await client.query(`insert into assets
      (id, chain, symbol, decimals, verified, source, created_at)
      values (gen_random_uuid(), 'bitcoin', 'BTC', 8, true, 'curated', now())`);
    await client.end();
    const { code, out } = await cli(['list'], own);
    assert.equal(code, 0);
    assert.match(out, /open .* BTC .*bitcoin\/native/);
  } finally {
    await postgres.stop();
  }
  const stopped = await cli(['list'], own);
  assert.match(stopped.err, /no market runs in PARLEY_HOME/);
  const away = await cli(['list'], { DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/parley' });
  assert.equal(away.code, 1);
  assert.match(away.err, /ECONNREFUSED 127\.0\.0\.1:1/);
  assert.ok(!away.err.includes('secret'));
});
