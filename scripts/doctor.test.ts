// The doctor on real chains: a healthy market is well, and every kind of difference that is made by
// hand is found and named.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { ChainAdapter } from '../chains/adapter.ts';
import { ParleyError } from '../core/errors.ts';
import { connect, type Database, databaseLimits } from '../server/db/database.ts';
import { type Examined, examine } from '../server/doctor/examine.ts';
import { exitStatus, type Finding } from '../server/doctor/findings.ts';
import type { ChainSettings } from '../server/settings/chains.ts';
import {
  agree,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  evm,
  freshAdapters,
  fundBoth,
  fundLong,
  give,
  look,
  signedPayment,
  startWorld,
  swapOf,
  type World,
} from '../server/settle/testing/world.ts';
import { devChains } from '../server/start/dev-network.ts';
import { lyingNode } from '../test/support/lying-node.ts';

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
  const [agreed, half, funded, revealed, ended] = [
    await agree(world),
    await agree(world),
    await agree(world),
    await agree(world),
    await agree(world),
  ];
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

type Told = Examined & { readonly found: readonly Finding[]; readonly kinds: readonly string[] };

async function doctor(
  options: {
    swap?: string;
    all?: boolean;
    limit?: number;
    chains?: readonly ChainSettings[];
    now?: () => number;
    ms?: number;
    wait?: () => Promise<void>;
    adapters?: ReadonlyMap<string, ChainAdapter>;
  } = {},
): Promise<Told> {
  const found: Finding[] = [];
  const { home, databaseConnections, keeper } = world.deps.settings;
  const deps = {
    settings: { home, databaseConnections, keeper, chainTimeoutMs: 60_000, followIntervalMs: 50 },
    db,
    chains: options.chains ?? chains,
    now: options.now ?? world.deps.now,
    wall: Date.now,
    signal: AbortSignal.timeout(options.ms ?? 300_000),
    // Nobody follows the chains here unless a test does.
    wait: options.wait ?? (async () => {}),
    ...(options.adapters === undefined ? {} : { adapters: options.adapters }),
  };
  const { swap = null, all = false, limit = 1_000 } = options;
  const examined = await examine(deps, { swap, all, limit }, (each) => found.push(each));
  const kinds = [...new Set(found.filter(({ severity }) => severity !== 'notice').map(toKind))];
  return { ...examined, found, kinds: kinds.sort() };
}

const toKind = ({ what }: Finding) => what;

/** What is found while `change` holds. */
async function while_(change: string, back: string, options: Parameters<typeof doctor>[0] = {}) {
  await sql(change);
  try {
    return await doctor(options);
  } finally {
    await sql(back);
  }
}

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

test('each difference between what is stored and what is so is found, in the swap that has it', async () => {
  const { agreed, funded, revealed, half } = deals;
  const [row] = await world.deps.db.rows<{ address: string; facts: object; terms: object }>({
    name: '',
    text: `select address, facts, terms from escrows where swap_id = $1 and leg = $2`,
    values: [funded.id, funded.short],
  });
  const { address, facts, terms } = row!;
  const json = (value: object) => `'${JSON.stringify(value)}'::jsonb`;
  const nothing = {
    funded: null,
    claimed: null,
    refunded: null,
    secret: null,
    balance: '0',
    empty: true,
  };
  const other = `${address.split(':')[0]}:${'12'.repeat(32)}`;
  const swap = (id: string, set: string) => `update swaps set ${set} where id = '${id}'`;
  const leg = (set: string) =>
    `update legs set ${set} where swap_id = '${funded.id}' and leg = '${funded.short}'`;
  const escrow = (set: string, at = address) =>
    `update escrows set ${set} where address = '${at}' and swap_id = '${funded.id}'`;
  const [times] = await world.deps.db.rows<{ due_at: number; reveal_by: number }>({
    name: '',
    text: 'select due_at, reveal_by from swaps where id = $1',
    values: [agreed.id],
  });
  const cases: [string, Deal, string, string, string[]][] = [
    [
      'status',
      funded,
      swap(funded.id, `status = 'agreed'`),
      swap(funded.id, `status = 'counterparty_funded'`),
      ['status_behind'],
    ],
    [
      'status without its events',
      half,
      swap(half.id, `status = 'agreed'`),
      swap(half.id, `status = 'initiator_funded'`),
      ['status_behind'],
    ],
    [
      'facts',
      funded,
      escrow(`facts = ${json(nothing)}`),
      escrow(`facts = ${json(facts)}`),
      ['facts_behind', 'steps_differ'],
    ],
    [
      'secret',
      revealed,
      swap(revealed.id, 'secret = null'),
      swap(revealed.id, `secret = '${revealed.secret}'`),
      ['secret_not_stored'],
    ],
    [
      'wrong secret',
      revealed,
      swap(revealed.id, `secret = '${'ab'.repeat(32)}'`),
      swap(revealed.id, `secret = '${revealed.secret}'`),
      ['secret_wrong'],
    ],
    [
      'escrow of the leg',
      funded,
      leg(`escrow = '${other}'`),
      leg(`escrow = '${address}'`),
      ['escrow_not_followed'],
    ],
    [
      'escrow of the list',
      funded,
      escrow(`address = '${other}'`),
      escrow(`address = '${address}'`, other),
      ['escrow_not_followed', 'escrow_not_of_terms'],
    ],
    [
      'terms',
      funded,
      escrow(`terms = ${json({ ...terms, timelock: 2_000_000_000 })}`),
      escrow(`terms = ${json(terms)}`),
      ['escrow_not_of_terms', 'terms_differ'],
    ],
    [
      'hashlock',
      funded,
      escrow(`terms = ${json({ ...terms, hashlock: 'cd'.repeat(32) })}`),
      escrow(`terms = ${json(terms)}`),
      ['escrow_not_of_terms', 'terms_differ'],
    ],
    [
      'depth',
      funded,
      leg('required_confirmations = required_confirmations - 1'),
      leg('required_confirmations = required_confirmations + 1'),
      ['depth_differs'],
    ],
    [
      'deadlines',
      agreed,
      swap(agreed.id, 'reveal_by = reveal_by + 600'),
      swap(agreed.id, `reveal_by = ${times!.reveal_by}`),
      ['deadlines_differ'],
    ],
    ['following', funded, escrow('done = true'), escrow('done = false'), ['escrow_not_followed']],
    [
      'when to look',
      agreed,
      swap(agreed.id, 'due_at = null'),
      swap(agreed.id, `due_at = ${times!.due_at}`),
      ['overdue'],
    ],
  ];
  // Of several swaps at once, of one swap one after the other.
  const groups = Map.groupBy(cases, ([, deal]) => deal.id).values();
  const inTurn = async (group: typeof cases) => {
    for (const [name, deal, change, back, expected] of group) {
      const { kinds, found, counts } = await while_(change, back, { swap: deal.id });
      for (const each of expected) assert.ok(kinds.includes(each), `${name}: ${kinds}`);
      const named = found.every(({ where }) => /evm-dev$/.test(where) || where.includes(deal.id));
      assert.ok(named, `${name}: ${JSON.stringify(found)}`);
      assert.equal(exitStatus(counts), 1, name);
    }
  };
  await Promise.all([...groups].map(inTurn));
  await sql(escrow(`facts = ${json(nothing)}`));
  const behind = `${swap(funded.id, `status = 'initiator_funded'`)}`;
  const back = `${swap(funded.id, `status = 'counterparty_funded'`)}`;
  const { found } = await while_(behind, back, { swap: funded.id });
  await sql(escrow(`facts = ${json(facts)}`));
  const says = found.find(({ what }) => what === 'status_behind')?.says;
  assert.match(
    says ?? '',
    /counterparty_funded, stored initiator_funded, and swap.funded not told/,
  );
  assert.deepEqual((await doctor()).kinds, []);
});

test('what a working market has seen a moment later is no difference', async () => {
  const deal = await agree(world);
  await give(world, deal);
  await fundLong(world, deal);
  await world.dev.mine(world.infos.bitcoin.chain, 3);
  const { kinds } = await doctor({ swap: deal.id });
  assert.deepEqual(kinds, ['facts_behind', 'status_behind', 'steps_differ']);
  let looks = 0;
  const wait = async () => {
    looks += 1;
    await look(world);
  };
  assert.deepEqual((await doctor({ swap: deal.id, wait })).found, []);
  assert.equal(looks, 1);
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

test('a deadline that is near is told, with who is to act, and is no difference', async () => {
  const { initiatorFundBy } = (await swapOf(deals.agreed)).deadlines;
  const now = () => (initiatorFundBy - 600) * 1_000;
  const { found, counts } = await doctor({ swap: deals.agreed.id, now });
  const [near] = found.filter(({ what }) => what === 'deadline_near');
  assert.match(near?.says ?? '', /the initiator is still to fund leg [ab]: 600 s left/);
  assert.deepEqual([near?.severity, exitStatus(counts)], ['notice', 0]);
});

test('what waits too long in the house, what others may read, and what is not of this version', async () => {
  await emptyOutbox();
  const { home } = world.deps.settings;
  const event = (account: string, topic = 'swap.funded') => `insert into outbox (topic, account_id,
    payload, created_at) values ('${topic}', ${account}, '{}', now() - '1h'::interval)`;
  await sql(event('gen_random_uuid()'));
  await sql(event('null'));
  await sql(event('gen_random_uuid()', 'key.created'));
  await sql(`insert into messages (id, channel, event, sealed, key_version, state, next_at, made_at)
    select gen_random_uuid(), 'email', 'code', '', 1, 'waiting', now() - '1h'::interval, now()`);
  await sql(`insert into candidates (id, chain, address, source, status, created_at, next_check_at,
      gives_up_at) values (gen_random_uuid(), 'evm-dev', '0x1', 'api', 'pending', now(),
      now() - interval '2 hours', now())`);
  const { funded } = deals;
  const of = `from escrows where swap_id = '${funded.id}' and leg = '${funded.long}'`;
  await sql(`insert into keeper_jobs (chain, escrow, verb, swap_id, leg, account_id, purpose, state,
      due_at, created_at)
    select chain, address, 'claim', swap_id, leg, gen_random_uuid(), 'secret', 'open',
      now() - interval '1 hour', now() ${of}`);
  await sql(`insert into scheduled_refunds (chain, escrow, swap_id, leg, rungs, count,
      lowest_fee_rate, highest_fee_rate, due_at, posted_at)
    select chain, address, swap_id, leg, '[]', 1, 1, 1, extract(epoch from now()) - 3600, now()
      ${of}`);
  await sql(`update migrations set name = '999_later.sql' where name like '010%'`);
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
    assert.match(says, /g: 1 events for people .*36\d\d s.*g: 1 messages to people .*36\d\d s/s);
    assert.match(says, /migrations: 1 migrations are missing \(010_\w+\.sql\), 1 unknown/);
    assert.match(says, /mode: other users may reach it \(mode 640\)/);
  } finally {
    await sql(
      `update migrations set name = '010_listing_indexes.sql' where name = '999_later.sql'`,
    );
    for (const each of ['messages', 'candidates', 'keeper_jobs', 'scheduled_refunds']) {
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

test('nodes: one that is away, of another chain, on another fork, or not what the other says', async () => {
  const away = await doctor({ chains: withEvm(() => ({ rpcUrls: ['http://127.0.0.1:1'] })) });
  assert.ok(away.kinds.includes('node_silent') && away.kinds.includes('chain_unread'));
  assert.equal(exitStatus(away.counts), 2);
  assert.match(
    away.found.find(({ what }) => what === 'chain_unread')?.says ?? '',
    /^\d+ reads were/,
  );
  const wrong = await doctor({ chains: withEvm(() => ({ chainId: 31_399, world: 'dev' })) });
  assert.match(
    wrong.found.find(({ what }) => what === 'wrong_node')?.says ?? '',
    /is of chain id 31337, not 31399 as configured/,
  );
  const [before] = await world.deps.db.rows<{ hash: string; height: number }>({
    name: '',
    text: `select hash, height from chain_heads where chain = '${evm}'`,
    values: [],
  });
  const forked = await while_(
    `update chain_heads set hash = '0x${'ee'.repeat(32)}' where chain = '${evm}'`,
    `update chain_heads set hash = '${before!.hash}' where chain = '${evm}'`,
  );
  assert.match(
    forked.found.find(({ what }) => what === 'other_fork')?.says ?? '',
    new RegExp(`the market followed block ${before!.height} 0xeeee.*; the node has 0x`),
  );
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

test('a read that is not answered once is told, and what could be read is compared', async () => {
  const adapters = freshAdapters(world.infos, world.deps.now);
  const own = adapters.get(evm)!;
  let silences = 0;
  adapters.set(evm, {
    ...own,
    readEscrow: async (escrow, signal) => {
      silences += 1;
      if (silences === 1) throw new ParleyError('chain_timeout', 'it took long; nothing changed');
      return own.readEscrow(escrow, signal);
    },
  });
  const { kinds, found, counts } = await doctor({ adapters });
  assert.ok(kinds.includes('chain_unread'), `${kinds}`);
  const [unread] = found.filter(({ what }) => what === 'chain_unread');
  assert.match(unread?.says ?? '', /^1 reads were not answered, .*: it took long \(.* 60000 ms;/);
  assert.match(unread?.todo ?? '', /PARLEY_CHAIN_TIMEOUT_MS above 60000 gives it longer/);
  assert.equal(exitStatus(counts), 2);
});

test('a limit or a time that is too short is said, and does not read as well', async () => {
  const limited = await doctor({ limit: 2 });
  assert.deepEqual([limited.open, limited.kinds.includes('swaps_left')], [2, true]);
  assert.equal(exitStatus(limited.counts), 2);
  const cut = await doctor({ ms: 1 });
  assert.ok(cut.kinds.includes('time_over'));
  assert.equal(exitStatus(cut.counts), 2);
  assert.equal(exitStatus((await doctor({ swap: 'none' })).counts), 2);
});

async function cli(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const script = join(import.meta.dirname, 'doctor.ts');
  const settings = {
    DATABASE_URL: world.urls.database,
    PARLEY_HOME: world.deps.settings.home,
    PARLEY_CHAINS: JSON.stringify(chains),
    PARLEY_CHAIN_TIMEOUT_MS: '60000',
    // What differs is looked at again after some passes of a market.
    PARLEY_FOLLOW_INTERVAL_MS: '50',
    ...env,
  };
  const options = { env: { ...process.env, ...settings }, timeout: 300_000 };
  return run(process.execPath, [script, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, out: stdout, err: stderr }),
  );
}

test('the command: its lines, its counts last, and its exit status', async () => {
  const { agreed } = deals;
  await emptyOutbox();
  const well = await cli(['--swap', agreed.id]);
  assert.deepEqual([well.code, well.err], [0, '']);
  assert.equal(
    well.out,
    'all well: 1 open and 0 ended swaps, 0 nodes; 0 dangers, 0 differences, 0 unseen, 0 notices\n',
  );
  await sql(`update swaps set status = 'expired' where id = '${agreed.id}'`);
  const differs = await cli(['--swap', agreed.id, '--json']);
  await sql(`update swaps set status = 'agreed' where id = '${agreed.id}'`);
  assert.equal(differs.code, 1, differs.err);
  const lines = differs.out
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each));
  assert.deepEqual([lines[0].what, lines[0].facts.computed], ['status_behind', 'agreed']);
  assert.deepEqual(lines.at(-1).counts, { danger: 0, differs: 1, unseen: 0, notice: 0 });
  // The chains of a dev network that runs are found by the note in its home.
  const ready = join(world.deps.settings.home, 'ready.json');
  await writeFile(ready, JSON.stringify({ dev: world.urls.control }), { mode: 0o600 });
  const dev = await cli([], { PARLEY_CHAINS: '' });
  await rm(ready);
  assert.match(dev.out, / swaps, 4 nodes; 0 dangers/);
  const none = await cli([], { PARLEY_CHAINS: '' });
  assert.equal(none.code, 2);
  assert.match(none.out, /^unseen +no_chains {2}the chains: no dev network runs/m);
  const away = await cli([], { DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/parley' });
  assert.match(`${away.code} ${away.out}`, /^2 .*no PostgreSQL listens at 127\.0\.0\.1:1/);
  assert.doesNotMatch(away.out, /not_followed_yet/);
  assert.match(away.out, /^not well: 0 open .* 4 nodes; .* 1 unseen/m);
  assert.ok(!`${away.out}${away.err}`.includes('secret'));
  const wrong = [['--limit', '0'], ['--quickly'], ['swap']].map(async (args) => {
    const misused = await cli(args);
    assert.deepEqual([misused.code, misused.out], [2, ''], args.join(' '));
    assert.match(misused.err, /usage: npm run doctor/);
  });
  await Promise.all(wrong);
});
