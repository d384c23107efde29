// The rules that all commands of operators keep: one name with help, and a row for whatever they
// change, in the same transaction. A market runs beside them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Commands, startCommands } from '@parley/verify/test/support/commands.ts';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { storeOutcome } from './db/deliveries.ts';
import type { OperatorAction } from './db/operator-actions.ts';
import { agreeOn, type FeedMarket, feedMarket } from './edge/testing/feed-market.ts';
import { type Act, acts } from './ops/acts.ts';
import { grammar } from './ops/grammar.ts';
import { reading } from './ops/operator.ts';

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
  assert.match(again.out, /^\d+ API keys are revoked\nnothing to do: /);
  assert.equal(await alive(), 0);
});

test('how an account kept its agreements is told with the day before which it was counted', async () => {
  const { accountId } = await market.trader();
  const shown = async () => (await ops(['accounts', 'show', accountId])).out.split('\n')[0];
  assert.match((await shown()) ?? '', / {2}not counted yet$/);
  const counts = { settled: 4, abandoned: 1, refunded: 2, until: Date.UTC(2026, 10, 28) / 1_000 };
  await run(`insert into standings (account_id, counted_until, counts)
    values ('${accountId}', ${counts.until}, '${JSON.stringify(counts)}')`);
  assert.match((await shown()) ?? '', /settled 4, abandoned 1, refunded 2 before 2026-11-28$/);
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

test('where the answer to a commit is lost, no row says that it was refused', async () => {
  const { act } = await import('./ops/operator.ts');
  const losing: typeof market.db = {
    ...market.db,
    transaction: async (work) => {
      await market.db.transaction(work);
      throw new Error('the connection was lost');
    },
  };
  const asked = { command: 'resume', arguments: { of: 'lost' } } as const;
  const done = async () => ({ result: null, changed: true, facts: {} });
  await assert.rejects(act(losing, asked, done), /lost/);
  const rows = (await rowsOf('resume')).filter((each) => each.arguments.of);
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['done'],
  );
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

test('a command that only reads cannot write: its connection may not', async () => {
  const before = { ...process.env };
  process.env.DATABASE_URL = market.url;
  try {
    await assert.rejects(
      reading((db) => db.rows({ name: '', text: 'delete from halts', values: [] })),
      { code: '25006' },
    );
  } finally {
    process.env = before;
  }
});

test('every command that opens a connection that may write, beside `acting`, is named here', () => {
  const folder = join(import.meta.dirname, 'ops');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => name.endsWith('.ts'));
  const opens = sources.filter((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    return /\b(?:connect|withDatabase)\((?![^;]*readOnly: true)/.test(text);
  });
  // A block sweeps in small transactions after its row.
  const known = ['accounts.ts', 'operator.ts'];
  assert.deepEqual(opens.sort(), known, 'does it write a row of operator_actions?');
});

test('commands of a version that the database is too new for are refused, and change nothing', async (t) => {
  t.after(() => run('update migrations set compatible_from = null'));
  await run(`update migrations set compatible_from = '999' where name = '001.sql'`);
  for (const args of [['halt', '--chain', 'evm-dev', '--reason', 'why'], ['audit']]) {
    const { code, out, err } = await ops(args);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /know migrations up to \d{3}, and the database .* versions that know 999/);
  }
  assert.deepEqual(await run('select * from halts'), []);
});

test('help names every command, and says of each how it is used', async () => {
  const { code, out, err } = await ops(['help']);
  assert.deepEqual([code, err], [0, '']);
  const { commands: all } = grammar('ops', { status: 0 });
  for (const name of all.map((each) => each.name()).filter((each) => each !== 'complete')) {
    assert.match(out, new RegExp(`^  ${name} `, 'm'));
    const own = await ops([name, '--help']);
    assert.deepEqual([own.code, own.err], [0, ''], name);
    assert.match(own.out, new RegExp(`^usage: npm run ops -- ${name} `));
  }
  const nothing = await ops([]);
  assert.deepEqual([nothing.code, nothing.out], [2, '']);
  assert.match(nothing.err, /^usage: npm run ops /);
  const released = await ops(['halt'], { PARLEY_CALLED_AS: 'parley-ops' });
  assert.match(released.err, /usage: parley-ops halt /);
  assert.doesNotMatch(released.err, /npm run/);
  const kept = await ops(['complete', '--', 'accounts', 'list', '--by', 's']);
  assert.match(kept.out, /^settled\t/);
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
  const { id } = await market.rfq(taker, { baseAmount: '777' });
  await agreeOn(market, id, taker, maker);
  const [row] = await run('select created_at from rfqs order by id desc limit 1');
  const day = new Date(String(row?.created_at)).toISOString().slice(0, 10);
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
      ('evm-dev', '0xkey', 'claim', '0x02', 1, 1, 5, '2026-01-01', 'pending', 'relay')`);
  const { code, out } = await ops(['keeper']);
  assert.equal(code, 1);
  assert.match(out, /^spent \S+ {2}evm-dev {2}21000000000000 {2}\(1 transactions for relay\)$/m);
  assert.match(out, /^STUCK {2}evm-dev {2}transaction 0x02 is pending since /m);
  const json = JSON.parse((await ops(['keeper', '--json'])).out);
  assert.deepEqual([json.spent[0].charged, json.stuckTransactions.length], ['21000000000000', 1]);
});
