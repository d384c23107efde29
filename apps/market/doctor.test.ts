// The doctor on real chains: a healthy market is well, and every kind of difference that is made by
// hand is found and named.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Lie, nodeOf, lyingNode as nodeThat, within } from '@parley/chains/testing/nodes.ts';
import { lyingNode as lyingTron } from '@parley/chains/tron/testing/nodes.ts';
import type { Family } from '@parley/core/families.ts';
import { lyingNode } from '@parley/verify/test/support/lying-node.ts';
import { startPgbouncer } from '@parley/verify/test/support/pgbouncer.ts';
import { connect, type Database, databaseLimits } from './db/database.ts';
import { type Examined, examine } from './doctor/examine.ts';
import { exitStatus, type Finding } from './doctor/findings.ts';
import { examineMarket } from './ops/doctor.ts';
import type { ChainSettings, Of } from './settings/chains.ts';
import { readSettings } from './settings/config.ts';
import {
  agree,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  evm,
  fundBoth,
  fundLong,
  give,
  look,
  signedPayment,
  startWorld,
  swapOf,
  type World,
} from './settle/testing/world.ts';
import { devChains } from './start/dev-network.ts';

const run = promisify(execFile);
let world: World;
let chains: ChainSettings[];
/** As the doctor has it: only to read. */
let db: Database;
/** Agreed; its long leg funded; both funded; its secret public; settled and done. */
let deals: { agreed: Deal; half: Deal; funded: Deal; revealed: Deal; ended: Deal };

before(async () => {
  // A slow machine is to be told apart from a chain that is away.
  world = await startWorld({ simulators: true, settings: { chainTimeoutMs: 60_000 } });
  chains = devChains(await world.dev.status());
  const limits = { ...databaseLimits, connections: 4, readOnly: true } as const;
  db = connect(world.urls.database, limits);
  const agreed = await agree(world);
  const half = await agree(world);
  const funded = await agree(world);
  const revealed = await agree(world);
  const ended = await agree(world);
  deals = { agreed, half, funded, revealed, ended };
  for (const deal of [funded, revealed, ended]) await fundBoth(world, deal);
  await give(world, half);
  await fundLong(world, half);
  for (const deal of [revealed, ended]) await claimShort(world, deal);
  await look(world);
  await claimLong(ended);
  // Followed six blocks beyond the depth, and on EVM until finality.
  await deepen(world, 10);
});
after(async () => {
  await db?.close();
  await world?.close();
});

const sql = (text: string) => world.deps.db.rows<never>({ name: '', text, values: [] });

type Given = {
  swap?: string;
  nodes?: boolean;
  all?: boolean;
  chains?: readonly ChainSettings[];
  wait?: () => Promise<void>;
};
type Told = Examined & { readonly found: readonly Finding[]; readonly kinds: readonly string[] };

async function doctor(wanting: Given = {}): Promise<Told> {
  const { swap, nodes = false, all = false, ...given } = wanting;
  const found: Finding[] = [];
  const { home, databaseConnections, keeper } = world.deps.settings;
  const deps = {
    settings: { home, databaseConnections, keeper, chainTimeoutMs: 60_000, followIntervalMs: 50 },
    db,
    chains,
    now: world.deps.now,
    wall: Date.now,
    signal: AbortSignal.timeout(300_000),
    // The chains are not followed here unless a test does it.
    wait: async () => {},
    ...given,
  };
  const wanted = { swap: swap ?? null, nodes, all };
  const examined = await examine(deps, wanted, (each) => void found.push(each));
  const kinds = [...new Set(found.filter(({ severity }) => severity !== 'notice').map(toKind))];
  return { ...examined, found, kinds: kinds.sort() };
}

const toKind = ({ what }: Finding) => what;
const saysOf = ({ found }: Told, kind: string) =>
  found.find(({ what }) => what === kind)?.says ?? '';

/** Events of these tests are handed out by nobody. */
const emptyOutbox = () => sql('delete from outbox');

test('a market whose chains show what it stored is well, and nothing is written', async () => {
  await emptyOutbox();
  await look(world);
  const { found, counts, open, ended, nodes } = await doctor({ all: true });
  assert.deepEqual(
    found.filter(({ severity }) => severity !== 'notice'),
    [],
  );
  assert.deepEqual([exitStatus(counts), open, ended, nodes], [0, 4, 1, 4]);
  const write = db.rows({ name: '', text: 'delete from outbox', values: [] });
  await assert.rejects(write, { code: '25006' });
});

/** While a column of one row is another. */
async function changed<T>(
  [table, where, column, value]: readonly [string, string, string, string],
  work: () => Promise<T>,
): Promise<T> {
  const text = `select ${column}::text as was from ${table} where ${where}`;
  const [row] = await world.deps.db.rows<{ was: string }>({ name: '', text, values: [] });
  await sql(`update ${table} set ${column} = ${value} where ${where}`);
  try {
    return await work();
  } finally {
    const back = `update ${table} set ${column} = $1 where ${where}`;
    await world.deps.db.rows({ name: '', text: back, values: [row?.was] });
  }
}

test('each difference between what is stored and what is so is found, in the swap that has it', async () => {
  const { agreed, funded, revealed, half } = deals;
  const of = `swap_id = '${funded.id}' and leg = '${funded.short}'`;
  const other = `split_part(address, ':', 1) || ':${'12'.repeat(32)}'`;
  const nothing = `facts || '{"funded": null, "balance": "0", "empty": true}'`;
  const swap = (deal: Deal, column: string, value: string, ...expected: string[]) =>
    [deal, ['swaps', `id = '${deal.id}'`, column, value], expected] as const;
  const row = (table: string, column: string, value: string, ...expected: string[]) =>
    [funded, [table, of, column, value], expected] as const;
  const cases = [
    swap(funded, 'status', `'agreed'`, 'status_behind'),
    swap(half, 'status', `'agreed'`, 'status_behind'),
    swap(revealed, 'secret', 'null', 'secret_not_stored'),
    swap(revealed, 'secret', `'${'ab'.repeat(32)}'`, 'secret_wrong'),
    swap(agreed, 'reveal_by', 'reveal_by + 600', 'deadlines_differ'),
    swap(agreed, 'due_at', 'null', 'overdue'),
    row('legs', 'escrow', other.replace('address', 'escrow'), 'escrow_not_followed'),
    row('legs', 'required_confirmations', 'required_confirmations - 1', 'depth_differs'),
    row('escrows', 'address', other, 'escrow_not_followed', 'escrow_not_of_terms'),
    row('escrows', 'facts', nothing, 'facts_behind', 'steps_differ'),
    row('escrows', 'done', 'true', 'escrow_not_followed'),
    ...['timelock', 'hashlock', 'amount'].map((field) => {
      const value = field === 'hashlock' ? `"${'cd'.repeat(32)}"` : '2000000000';
      const terms = `jsonb_set(terms, '{${field}}', '${value}')`;
      return row('escrows', 'terms', terms, 'escrow_not_of_terms', 'terms_differ');
    }),
  ];
  for (const [deal, change, expected] of cases) {
    const { kinds, found, counts } = await changed(change, () => doctor({ swap: deal.id }));
    const name = `${change[0]} ${change[2]} ${change[3]}: ${JSON.stringify(found)}`;
    for (const each of expected) assert.ok(kinds.includes(each), name);
    // A node may have nothing of an escrow that is none.
    const isIts = ({ where }: Finding) => where === `chain ${evm}` || where.includes(deal.id);
    assert.ok(found.every(isIts), name);
    assert.equal(exitStatus(counts), 1, name);
  }
  const behind = ['swaps', `id = '${funded.id}'`, 'status', `'initiator_funded'`] as const;
  const both = await changed(['escrows', of, 'facts', nothing], () =>
    changed(behind, () => doctor({ swap: funded.id })),
  );
  const says = /counterparty_funded, stored initiator_funded, and swap.funded not emitted/;
  assert.match(saysOf(both, 'status_behind'), says);
  assert.deepEqual((await doctor()).kinds, []);
});

test('a payment in an escrow of an ended swap is found: in the newest, and with --all in every one', async () => {
  const { ended } = deals;
  const { escrow } = (await swapOf(ended)).legs[ended.long];
  const { hex } = await signedPayment(world, escrow, 50_000n);
  await world.bitcoinRpc('sendrawtransaction', [hex]);
  await world.dev.mine(world.infos.bitcoin.chain, 1);
  for (const options of [{}, { all: true }, { swap: ended.id }]) {
    const { found, counts } = await doctor(options);
    const [payment] = found.filter(({ what }) => what === 'payment_after_end');
    assert.match(payment?.where ?? '', new RegExp(`${ended.id} leg ${ended.long} .*${escrow}`));
    assert.match(payment?.says ?? '', /^50000 are in it/);
    assert.equal(exitStatus(counts), 1);
  }
  await look(world);
  await sql(`update swaps set done = false where id = '${ended.id}'`);
  await sql(`update escrows set done = false where swap_id = '${ended.id}'`);
});

test('work overdue in the house, files that others may read, and rows of another version are found', async () => {
  await emptyOutbox();
  const { home } = world.deps.settings;
  const event = (account: string, topic = 'swap.funded') => `insert into outbox (topic, account_id,
    payload, created_at) values ('${topic}', ${account}, '{}', now() - '1h'::interval)`;
  await sql(event('gen_random_uuid()'));
  await sql(event('null'));
  await sql(event('gen_random_uuid()', 'key.created'));
  await sql(`insert into jobs (id, kind, about, due_at, made_at, failure, gave_up_at) values
    ('a', 'code', '{}', now() - '1h'::interval, now(), null, null),
    ('b', 'refund x', '{}', now() - '1h'::interval, now(), null, null),
    ('c', 'email', '{}', now(), now(), 'too late', now())`);
  await sql(`insert into candidates (id, chain, address, source, status, created_at, next_check_at,
      gives_up_at) values (gen_random_uuid(), 'evm-dev', '0x1', 'api', 'pending', now(),
      now() - interval '2 hours', now())`);
  const { funded } = deals;
  const of = `from escrows where swap_id = '${funded.id}' and leg = '${funded.long}'`;
  await sql(`insert into keeper_jobs (chain, escrow, verb, swap_id, leg, purpose, state,
      due_at, created_at)
    select chain, address, 'claim', swap_id, leg, 'secret', 'open',
      now() - interval '1 hour', now() ${of}`);
  await sql(`update migrations set name = '999_later.sql' where name = '001.sql'`);
  await writeFile(join(home, 'server.key'), 'x', { mode: 0o600 });
  await chmod(join(home, 'server.key'), 0o640);
  try {
    const { kinds, found } = await doctor();
    const waits = ['events_waiting', 'feed_waiting', 'keeper_stuck', 'messages_waiting'];
    const expected = [...waits, 'migrations', 'mode', 'refunds_overdue', 'work_overdue'];
    const told = kinds.filter((each) => expected.includes(each));
    assert.deepEqual(told, expected);
    const says = found.map(({ what, says: words }) => `${what}: ${words}`).join('\n');
    assert.match(says, /events_waiting: 1 events .*, the oldest for 36\d\d s/);
    assert.match(says, /g: 1 events for people .*36\d\d s/);
    assert.match(says, /g: 1 messages to people .*36\d\d s/);
    assert.match(says, /jobs_given_up: 1 jobs "email" .* for: too late/);
    assert.match(says, /missing migrations: 001\.sql; 1 unknown/);
    assert.match(says, /mode: other users may reach it \(mode 640\)/);
  } finally {
    await sql(`update migrations set name = '001.sql' where name = '999_later.sql'`);
    for (const each of ['jobs', 'candidates', 'keeper_jobs']) {
      await sql(`delete from ${each}`);
    }
    await Promise.all([emptyOutbox(), rm(join(home, 'server.key'))]);
  }
});

/** The chains with another node of the EVM chain, or with one more. */
function withEvm(change: (urls: readonly string[]) => object): ChainSettings[] {
  return chains.map((each) =>
    each.chain === evm && each.family === 'evm' ? { ...each, ...change(each.rpcUrls) } : each,
  );
}

test('nodes: one that is away, of another chain, or not what the other says', async () => {
  const away = await doctor({ chains: withEvm(() => ({ rpcUrls: ['http://127.0.0.1:1'] })) });
  // The doctor does not report a status that one chain alone would give.
  assert.deepEqual(
    ['chain_unread', 'node_silent', 'status_behind', 'steps_differ'].map((each) =>
      away.kinds.includes(each),
    ),
    [true, true, false, false],
  );
  assert.equal(exitStatus(away.counts), 2);
  assert.match(saysOf(away, 'chain_unread'), /^\d+ reads were/);
  const wrong = await doctor({ chains: withEvm(() => ({ chainId: 31_399, world: 'dev' })) });
  assert.match(saysOf(wrong, 'wrong_node'), /is of chain id 31337, not 31399 as configured/);
  const liar = await lyingNode(world.infos.evm.rpcUrl);
  try {
    const two = await doctor({ chains: withEvm(([url = '']) => ({ rpcUrls: [url, liar.url] })) });
    assert.ok(two.kinds.includes('nodes_disagree'), `${two.kinds}`);
    assert.ok(two.kinds.includes('sources_disagree'), `${two.kinds}`);
  } finally {
    liar.server.closeAllConnections();
    liar.server.close();
  }
});

test('a swap that is not there does not read as well', async () => {
  const none = await doctor({ swap: crypto.randomUUID() });
  assert.deepEqual([none.kinds, exitStatus(none.counts)], [['no_such_swap'], 2]);
});

const settingsOf = (env: Readonly<Record<string, string>> = {}) => ({
  DATABASE_URL: world.urls.database,
  PARLEY_HOME: world.deps.settings.home,
  PARLEY_CHAINS: JSON.stringify(chains),
  PARLEY_CHAIN_TIMEOUT_MS: '60000',
  // A differing answer is read again after some passes of a market.
  PARLEY_FOLLOW_INTERVAL_MS: '50',
  ...env,
});

/** The command as a process. */
async function cli(args: string[]): Promise<{ code: number; out: string; err: string }> {
  const script = join(import.meta.dirname, 'ops.ts');
  const options = { env: { ...process.env, ...settingsOf() }, timeout: 300_000 };
  return run(process.execPath, [script, 'doctor', ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, out: stdout, err: stderr }),
  );
}

/** Its exit status and lines, without a process of its own. */
async function said(env: Readonly<Record<string, string>>, swap?: string): Promise<string> {
  const lines: string[] = [];
  const settings = readSettings(settingsOf(env));
  const code = await examineMarket(settings, false, { swap }, (line) => void lines.push(line));
  return [code, ...lines].join('\n');
}

test('the command: its lines, its counts last, and its exit status', async () => {
  const { agreed } = deals;
  await emptyOutbox();
  assert.equal(
    await said({}, agreed.id),
    '0\nall well: 1 open and 0 ended swaps, 0 nodes; 0 dangers, 0 differences, 0 unseen, 0 notices',
  );
  await sql(`update swaps set status = 'expired' where id = '${agreed.id}'`);
  const differs = await cli(['--swap', agreed.id, '--json']);
  await sql(`update swaps set status = 'agreed' where id = '${agreed.id}'`);
  assert.deepEqual([differs.code, differs.err], [1, '']);
  const lines = differs.out
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each));
  assert.deepEqual([lines[0].what, lines[0].facts.computed], ['status_behind', 'agreed']);
  assert.deepEqual(lines.at(-1).counts, { danger: 0, differs: 1, unseen: 0, notice: 0 });
});

test('chains of the note of a dev network; no chains, no database and a pooler are named', async () => {
  const ready = join(world.deps.settings.home, 'ready.json');
  await writeFile(ready, JSON.stringify({ dev: world.urls.control }), { mode: 0o600 });
  const dev = await said({ PARLEY_CHAINS: '' });
  await rm(ready);
  assert.match(dev, / swaps, 4 nodes; 0 dangers/);
  const none = await said({ PARLEY_CHAINS: '' });
  assert.match(none, /^2\nunseen +no_chains {2}the chains: no dev network runs/);
  const away = await said({ DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/parley' });
  assert.match(away, /^2\n.*ECONNREFUSED 127\.0\.0\.1:1/);
  assert.match(away, /^not well: 0 open .* 4 nodes; .* 1 unseen/m);
  assert.ok(!away.includes('secret'));
  const pooled = await startPgbouncer(world.urls.database, 'transaction');
  const behind = await said({ DATABASE_URL: pooled.url }).finally(pooled.stop);
  assert.match(behind, /^differs +pooler {2}the database: .+\(transaction mode\); name/m);
});

const ofFamily = <Name extends Family>(family: Name) =>
  chains.find((each) => each.family === family) as Of<Name>;

/** A node that lacks something, and the words for it. */
const lacking: readonly (readonly [
  lacks: RegExp,
  of: (t: TestContext) => Promise<ChainSettings>,
])[] = [
  [
    /does not serve eth_getTransactionReceipt$/,
    async (t) => {
      const lie: Lie = ({ method }, forward) =>
        method === 'eth_getTransactionReceipt'
          ? { error: { code: -32_000, message: 'the method is not available' } }
          : forward();
      const of = ofFamily('evm');
      return { ...of, rpcUrls: [await within(t, nodeThat(of.rpcUrls[0] ?? '', lie))] };
    },
  ],
  [
    /does not give block 0, of 31 days ago/,
    async (t) => {
      const first = await world.bitcoinRpc<string>('getblockhash', [0]);
      type Call = { readonly id: number; readonly method: string; readonly params: unknown[] };
      const answer = async ({ id, method, params }: Call) =>
        method === 'getblock' && params[0] === first
          ? { id, error: { code: -1, message: 'Block not available (pruned data)' } }
          : world.bitcoinRpc(method, params).then(
              (result) => ({ id, result, error: null }),
              ({ code, message }) => ({ id, error: { code, message } }),
            );
      const pruned = nodeOf(async (text) => {
        const asked = JSON.parse(text);
        const said = Array.isArray(asked) ? Promise.all(asked.map(answer)) : answer(asked);
        return { text: JSON.stringify(await said) };
      });
      return { ...ofFamily('bitcoin'), rpcUrl: await within(t, pruned) };
    },
  ],
  [
    /keeps no receipts of block \d+/,
    async (t) => {
      const of = ofFamily('tron');
      const url = await within(
        t,
        lyingTron(of.sources[0]?.url ?? '', ({ path }, forward) =>
          path === 'wallet/gettransactioninfobyblocknum' ? { body: [] } : forward(),
        ),
      );
      return { ...of, sources: [{ url }] };
    },
  ],
  [
    /refuses to give what is 31 days old: Transaction history is not available/,
    async (t) => {
      const message = 'Transaction history is not available from this node';
      const lie: Lie = ({ method }, forward) =>
        method === 'getSignaturesForAddress' ? { error: { code: -32_011, message } } : forward();
      const of = ofFamily('solana');
      return { ...of, rpcUrls: [await within(t, nodeThat(of.rpcUrls[0] ?? '', lie))] };
    },
  ],
];

test('the nodes of the dev chains have all that a market needs, and a lack is named', async (t) => {
  const well = await doctor({ nodes: true });
  assert.deepEqual([well.found, well.nodes, well.open], [[], 4, 0]);
  for (const [lacks, of] of lacking) {
    const { found, counts } = await doctor({ nodes: true, chains: [await of(t)] });
    assert.deepEqual(
      [found.map(toKind), exitStatus(counts)],
      [['node_lacks'], 1],
      JSON.stringify(found),
    );
    assert.match(found[0]?.says ?? '', lacks);
  }
});
