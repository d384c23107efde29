// The rules that all commands of operators keep: one name with help, and a row for whatever they
// change, in the same transaction; and what those on assets do. A market runs beside them.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { startPostgres } from '@parley/host/postgres/postgres.ts';
import { type Commands, startCommands } from '@parley/verify/test/support/commands.ts';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import pg from 'pg';
import { addCandidate } from './db/candidates.ts';
import { storeOutcome } from './db/deliveries.ts';
import { migrate } from './db/migrate.ts';
import type { OperatorAction } from './db/operator-actions.ts';
import type { Frame } from './edge/testing/feed-client.ts';
import { agreeOn, type FeedMarket, feedMarket } from './edge/testing/feed-market.ts';
import { type Act, acts } from './ops/acts.ts';
import { uuidv7 } from './ports/ids.ts';

let market: FeedMarket;
let commands: Commands;

before(async () => {
  commands = startCommands();
  market = await feedMarket();
});
after(() => Promise.all([market.close(), commands.stop()]));

const ops = (args: readonly string[], env: Record<string, string> = {}) =>
  commands.run('apps/market/ops.ts', args, { DATABASE_URL: market.url, ...env });
const run = (text: string) => market.db.rows<Row>({ name: '', text, values: [] });
type Row = Record<string, unknown>;

async function rowsOf(command?: string): Promise<OperatorAction[]> {
  const { out } = await ops(['audit', '--json']);
  const rows = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  return rows.filter((each) => command === undefined || each.command === command);
}

async function newWebhook(by?: Trader): Promise<string> {
  const owner = by ?? (await market.trader());
  const { status, body } = await owner.post('/v1/webhooks', { url: 'https://example.org/in?word' });
  assert.equal(status, 201, JSON.stringify(body));
  return body.webhook.id;
}

/** A sample of each command that changes something: how it is asked, and what comes of it here. */
type Sample = readonly [line: string, outcome: OperatorAction['outcome'], code?: number];
const samples: Partial<Record<Act, Sample>> = {
  'assets close': ['assets close USD --reason why', 'done'],
  'assets reopen': ['assets reopen USD', 'done'],
  'assets curate': ['assets curate USD', 'unchanged'],
  'assets delist': ['assets delist USD --reason why --for-ever', 'done'],
  'assets forget': ['assets forget evm-dev/0x00', 'refused', 1],
  halt: ['halt --chain evm-dev --reason why', 'done'],
  resume: ['resume --chain evm-dev', 'done'],
  'accounts block': ['accounts block ACCOUNT --reason why', 'done'],
  'accounts unblock': ['accounts unblock ACCOUNT --reason why', 'done'],
  'accounts sign-out': ['accounts sign-out ACCOUNT --reason why', 'done'],
  'webhooks retry': ['webhooks retry WEBHOOK', 'unchanged'],
  'webhooks disable': ['webhooks disable WEBHOOK --reason why', 'done'],
  'webhooks enable': ['webhooks enable WEBHOOK --reason why', 'done'],
};

test('every command that changes something writes one row, with who, what and what came of it', async () => {
  assert.deepEqual(Object.keys(samples).sort(), acts.toSorted());
  const { username } = userInfo();
  const named: Record<string, string> = {
    ACCOUNT: (await market.trader()).accountId,
    WEBHOOK: await newWebhook(),
  };
  for (const [command, [line, outcome, code = 0]] of Object.entries(samples)) {
    const args = line.split(' ').map((word) => named[word] ?? word);
    const said = await ops(args, { PARLEY_OPERATOR: 'ada' });
    assert.equal(said.code, code, said.err);
    const [row, ...more] = await rowsOf(command);
    assert.ok(row !== undefined && more.length === 0, `${command}: ${1 + more.length} rows`);
    assert.deepEqual(
      [row.operator, row.osUser, row.host, row.outcome],
      ['ada', username, hostname(), outcome],
      command,
    );
  }
  assert.equal((await rowsOf()).length, Object.keys(samples).length);
});

test('agreements go on by an operator alone, whose word may end every API key', async () => {
  await market.trader();
  await run(`insert into gaps (why, began_at, ended_at, holds)
    values ('silence', '2026-11-21T13:00:00Z', '2026-11-21T14:00:00Z', true)`);
  const held = /agreements .*2026-11-21T13:00:00.000Z to 2026-11-21T14:00:00.000Z/;
  assert.match((await ops(['halt', 'list'])).out, held);
  for (const args of [
    ['--chain', 'bitcoin'],
    ['--reason', 'why'],
  ]) {
    assert.equal((await ops(['resume', '--agreements', ...args])).code, 2);
  }
  assert.equal((await ops(['resume', '--revoke-keys'])).code, 2);
  const taken = await ops(['halt', '--chain', 'evm-dev', '--reason', '--asset']);
  assert.equal(taken.code, 2, taken.err);
  assert.equal((await ops(['resume', '--agreements'])).out, 'agreements are made again\n');
  assert.doesNotMatch((await ops(['halt', 'list'])).out, held);
  const alive = async () => (await run('select 1 from api_keys where revoked_at is null')).length;
  assert.ok((await alive()) > 0);
  const again = await ops(['resume', '--agreements', '--revoke-keys']);
  assert.match(again.out, /^\d+ API keys are revoked\nagreements wait for no time: no change$/m);
  assert.equal(await alive(), 0);
});

test('the effect and its row are one transaction: without the row nothing is done', async (t) => {
  t.after(() => run('alter table operator_actions drop constraint no_halt'));
  await run(
    `alter table operator_actions add constraint no_halt check (command <> 'halt') not valid`,
  );
  const { code } = await ops(['halt', '--chain', 'bitcoin', '--reason', 'why']);
  assert.equal(code, 1);
  assert.deepEqual(await run('select * from halts'), []);
});

test('no row holds a key of a customer, and no text of another moves the cursor or makes up a line', async () => {
  const { key, accountId } = await market.trader();
  const prefix = key.slice(0, 'parley_test_'.length + 6);
  const done = await ops(['accounts', 'sign-out', key, '--reason', `leaked: ${key}`], {
    PARLEY_OPERATOR: 'eve\u001b[2J\n1  2026-11-21T00:00:00Z  ada  halt: done\u202e',
  });
  assert.equal(done.out, `${accountId}: 1 keys and 0 sessions ended\n`);
  const [row] = await rowsOf('accounts sign-out');
  assert.deepEqual(row?.arguments, { account: prefix, reason: `leaked: ${prefix}` });
  const unknown = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  await ops(['accounts', 'block', unknown, '--reason', 'why']);
  await ops(['assets', 'close', key, '--reason', 'why']);
  const kept = JSON.stringify(await run('select arguments, facts from operator_actions'));
  assert.ok(!kept.includes(key) && !kept.includes(unknown));
  const { out } = await ops(['audit']);
  assert.match(out, /^\d+ {2}\S+ {2}eve\\u001b\[2J\\u000a1 {2}2026.*done\\u202e \(.*$/m);
  const said = await ops(['accounts', 'show', '\u009b2J']);
  assert.match(said.err, /^there is no account \\u009b2J:/);
});

test('rows are only added: PostgreSQL refuses to change, delete or empty them', async () => {
  for (const text of [
    `update operator_actions set operator = 'eve'`,
    'delete from operator_actions where id = 1',
    'truncate operator_actions',
  ]) {
    await assert.rejects(run(text), /operator_actions is only added to: (update|delete|truncate)/);
  }
});

test('webhooks: those that fail are listed, what was given up is sent again, and off is off', async () => {
  assert.deepEqual(await ops(['webhooks', 'list']), {
    code: 0,
    out: 'no webhook fails\n',
    err: '',
  });
  const id = await newWebhook();
  const delivery = randomUUID();
  await run(`update webhooks set failing_since = '2026-11-21T10:00:00Z', last_status = 500
    where id = '${id}'`);
  await run(`insert into deliveries
    (id, webhook_id, event, position, body, attempts, state, next_at, created_at, done_at)
    values ('${delivery}', '${id}', 'ping', 1, '{}', 6, 'dropped', now(), now(), now())`);
  const stateOf = async () =>
    (await run(`select state from deliveries where id = '${delivery}'`))[0]?.state;
  const listed = await ops(['webhooks', 'list']);
  assert.equal(listed.code, 1);
  assert.match(
    listed.out,
    new RegExp(`^${id} {2}example.org {2}account .*failing since 2026-11-21T10`),
  );
  assert.match(listed.out, /last 500, 0 waiting, 1 given up\n$/);
  assert.doesNotMatch(listed.out, /word/);
  const again = await ops(['webhooks', 'retry', id]);
  assert.deepEqual([again.code, again.out], [0, `1 deliveries of ${id} are sent again\n`]);
  assert.equal(await stateOf(), 'waiting');
  const off = await ops(['webhooks', 'disable', id, '--reason', 'it floods']);
  assert.equal(off.out, `${id} is switched off\n`);
  assert.equal(await stateOf(), 'dropped');
  const at = new Date();
  const answered = { startedAt: at, endedAt: at, nextAt: null, delivered: true, status: 200 };
  const of = { id: delivery, webhookId: id, attempt: 1, error: null, answer: null };
  await storeOutcome(market.db, { ...of, ...answered });
  assert.match(
    (await ops(['webhooks', 'show', id])).out,
    / off, by an operator: it floods, last 200/,
  );
  const refused = await ops(['webhooks', 'retry', id]);
  assert.deepEqual(
    [refused.code, refused.err],
    [1, `webhook ${id} is switched off: enable it first\n`],
  );
  assert.match((await ops(['webhooks', 'list', '--off'])).out, new RegExp(`^${id} `, 'm'));
  assert.equal(
    (await ops(['webhooks', 'enable', id, '--reason', 'mended'])).out,
    `${id} is switched on\n`,
  );
  assert.equal((await ops(['webhooks', 'show', randomUUID()])).code, 1);
});

test('stats: what began on a day, by asset with both legs, and nothing of another day', async () => {
  await run(`update assets set closings = '{}', delisted_at = null`);
  const taker = await market.trader();
  const maker = await market.trader();
  // All of it begins on one day, which has only begun.
  market.deps.advance(86_400_000 - (market.deps.now() % 86_400_000));
  const { id } = await market.rfq(taker, { baseAmount: '777' });
  await agreeOn(market, id, taker, maker);
  // A day is one of ids, whose time other tests of the process may have moved ahead.
  const day = new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
    .toISOString()
    .slice(0, 10);
  const stats = JSON.parse((await ops(['stats', '--day', day, '--json'])).out);
  assert.deepEqual(stats.swaps, { agreed: 1, byStatus: { agreed: 1 } });
  assert.deepEqual(
    [stats.rfqs.rfqs, stats.rfqs.agreed, stats.quotes],
    [1, 1, { threads: 1, makers: 1 }],
  );
  const volumes = stats.assets.map(({ symbol, volume }: Row) => [symbol, volume]);
  assert.deepEqual(volumes, [
    ['BTC', '777'],
    ['USD', '65000000'],
  ]);
  assert.match(
    (await ops(['stats', '--day', day])).out,
    /^bitcoin BTC {2}1 agreed with 777; 0 settled with 0/m,
  );
  const other = JSON.parse((await ops(['stats', '--day', '2020-01-01', '--json'])).out);
  assert.deepEqual([other.rfqs.rfqs, other.swaps.agreed, other.assets], [0, 0, []]);
  assert.equal((await ops(['stats', '--day', '2026-02-30'])).code, 2);
  assert.equal((await ops(['stats', '--day', '1969-12-31'])).code, 2);
});

test('keeper: what today cost and what is stuck, which is exit status 1', async () => {
  const nothing = await ops(['keeper']);
  assert.deepEqual([nothing.code, nothing.out], [0, 'no job is open, and the day has no costs\n']);
  await run(`insert into keeper_turns (chain, until) values ('evm-dev', now())`);
  await run(`insert into keeper_attempts (chain, address, verb, txid, offer, most_cost, charged,
      signed_at, fate, purpose)
    values ('evm-dev', '0xkey', 'claim', '0x01', 1, 1, 21000000000000, now(), 'deep', 'relay'),
      ('evm-dev', '0xkey', 'claim', '0x03', 1, 1, 21000000000000, now() + '1 day', 'deep', 'relay'),
      ('evm-dev', '0xkey', 'claim', '0x02', 1, 1, 5, '2026-01-01', 'pending', 'relay')`);
  const { code, out } = await ops(['keeper']);
  assert.equal(code, 1);
  assert.match(out, /^spent \S+ {2}evm-dev {2}21000000000000 {2}\(1 transactions for relay\)$/m);
  assert.match(out, /^STUCK {2}evm-dev {2}transaction 0x02 is pending since /m);
  const json = JSON.parse((await ops(['keeper', '--json'])).out);
  assert.deepEqual([json.spent[0].charged, json.stuckTransactions.length], ['21000000000000', 1]);
});

const cli = (args: string[], env: Record<string, string> = {}) => ops(['assets', ...args], env);

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
  const taker = await market.trader();
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
