// What all commands of operators keep to: one name with help, and a row for whatever they change,
// in the same transaction. A market runs beside them.

import assert from 'node:assert/strict';
import { hostname, userInfo } from 'node:os';
import { after, before, test } from 'node:test';
import type { OperatorAction } from '../server/db/operator-actions.ts';
import { type FeedMarket, feedMarket } from '../server/edge/testing/feed-market.ts';
import { type Commands, startCommands } from '../test/support/commands.ts';
import { type Act, commands as table } from './ops/table.ts';

let market: FeedMarket;
let commands: Commands;

before(async () => {
  commands = startCommands();
  market = await feedMarket();
});
after(() => Promise.all([market.close(), commands.stop()]));

const ops = (args: readonly string[], env: Record<string, string> = {}) =>
  commands.run('scripts/ops.ts', args, { DATABASE_URL: market.url, ...env });
const run = (text: string) => market.db.rows<Row>({ name: '', text, values: [] });
type Row = Record<string, unknown>;

async function rowsOf(args: readonly string[] = []): Promise<OperatorAction[]> {
  const { out } = await ops(['audit', '--json', ...args]);
  return out.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
}

/** Of each command that changes something: how it is asked, and what comes of it here. */
type Sample = readonly [line: string, outcome: OperatorAction['outcome'], code?: number];
const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
const samples: Partial<Record<Act, Sample>> = {
  'assets close': ['assets close USD --reason why', 'done'],
  'assets reopen': ['assets reopen USD', 'done'],
  'assets curate': ['assets curate USD', 'unchanged'],
  'assets delist': ['assets delist USD --reason why --for-ever', 'done'],
  'assets forget': ['assets forget evm-dev/0x00', 'refused', 1],
  halt: ['halt --chain evm-dev --reason why', 'done'],
  resume: ['resume --chain evm-dev', 'done'],
  'gaps skip': ['gaps skip evm-dev --i-know', 'refused', 1],
  'gaps read-days': ['gaps read-days 3', 'unchanged'],
  'gaps open': [`gaps open ${hourAgo}`, 'done'],
  'gaps revoke-keys': ['gaps revoke-keys', 'unchanged'],
};
/** They need a home with a database of its own: test/restore.test.ts. */
const elsewhere: readonly Act[] = ['backup', 'restore'];

test('every command that changes something writes one row, with who, what and what came of it', async () => {
  const all = Object.values(table).flatMap(({ acts }): readonly Act[] => acts);
  assert.deepEqual(
    Object.keys(samples).sort(),
    all.filter((each) => !elsewhere.includes(each)).sort(),
  );
  const { username } = userInfo();
  for (const [command, [line, outcome, code = 0]] of Object.entries(samples)) {
    const said = await ops(line.split(' '), { PARLEY_OPERATOR: 'ada' });
    assert.equal(said.code, code, said.err);
    const [row, ...more] = await rowsOf(['--command', command]);
    assert.ok(row !== undefined && more.length === 0, `${command}: ${1 + more.length} rows`);
    assert.deepEqual(
      [row.operator, row.osUser, row.host, row.outcome],
      ['ada', username, hostname(), outcome],
      command,
    );
  }
  assert.equal((await rowsOf()).length, Object.keys(samples).length);
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

test('rows are only added: PostgreSQL refuses to change, delete or empty them', async () => {
  for (const text of [
    `update operator_actions set operator = 'eve'`,
    'delete from operator_actions where id = 1',
    'truncate operator_actions',
  ]) {
    await assert.rejects(run(text), /operator_actions is only added to: (update|delete|truncate)/);
  }
});

test('what only reads cannot write: its connection may not', async () => {
  const { reading } = await import('./ops/operator.ts');
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

test('help names every command, and says of each how it is used', async () => {
  const { code, out, err } = await ops(['help']);
  assert.deepEqual([code, err], [0, '']);
  for (const name of Object.keys(table)) {
    assert.match(out, new RegExp(`^  ${name} `, 'm'));
    const own = await ops(['help', name]);
    assert.deepEqual([own.code, own.err], [0, ''], name);
    assert.match(
      own.out,
      new RegExp(`^usage: npm run ops -- ${name === 'resume' ? 'halt' : name} `),
    );
    assert.match(own.out, /Exit status: 0/, name);
    assert.equal((await ops([name, '--help'])).out, own.out);
  }
  const nothing = await ops([]);
  assert.deepEqual([nothing.code, nothing.out], [2, '']);
  assert.match(nothing.err, /^usage: npm run ops /);
});
