// What hangs holds up nothing else: a real node that accepts and never answers, a real lock, a
// database that falls silent. Each is named with its milliseconds, and the rest is looked at.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { findChains } from '../../scripts/doctor-chains.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { faultProxy } from '../../test/support/fault-proxy.ts';
import { connect, type Database, databaseLimits } from '../db/database.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { examine } from './examine.ts';
import { exitStatus, type Finding, gather, notice } from './findings.ts';
import { callLimitMs } from './silence.ts';
import { agreedSwaps } from './testing/agreed.ts';

const run = promisify(execFile);
const swaps = 3;
/** The milliseconds of a part, and of a chain's swaps: beyond what a slow machine takes for one. */
const usual = { partMs: 2_000, chainMs: 1_200 };
/** Where nothing has to be over: no machine is as slow as that. */
const ample = { partMs: 60_000, chainMs: 60_000 };
const quick = { ...databaseLimits, connections: 4, statementMs: 1_600, lockMs: 200 };
let database: TestDatabase;
let db: Database;
let home: string;
let ids: string[];
let hanging: Server;
const sockets = new Set<Socket>();

before(async () => {
  database = await testDatabase();
  db = connect(database.url, { ...quick, readOnly: true });
  home = await mkdtemp(join(tmpdir(), 'parley-limits-'));
  hanging = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  ids = await agreedSwaps(database.db, swaps);
  await sql(`insert into halts (chain, reason, at) values ('evm-dev', 'r', now())`);
  await sql(`update swaps set secret = '${'ab'.repeat(32)}' where id = '${ids[1]}'`);
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  hanging?.close();
  await db?.close();
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

const sql = (text: string) => database.db.rows<never>({ name: '', text, values: [] });

function twoChains(): ChainSettings[] {
  const { port } = hanging.address() as AddressInfo;
  const dev = { family: 'evm', world: 'dev' } as const;
  const [hangs, refuses] = [`http://127.0.0.1:${port}`, 'http://127.0.0.1:1'];
  return [
    { ...dev, chain: 'evm-dev', chainId: 31_337, rpcUrls: [hangs] },
    { ...dev, chain: 'evm-dev-2', chainId: 31_338, rpcUrls: [refuses] },
  ] as ChainSettings[];
}

async function doctor({
  reading = db,
  chains = [] as readonly ChainSettings[],
  ms = 60_000,
  limits = usual,
} = {}) {
  const found: Finding[] = [];
  const deps = {
    settings: {
      home,
      databaseConnections: 1,
      chainTimeoutMs: 60_000,
      followIntervalMs: 50,
      keeper: 'dev' as const,
    },
    db: reading,
    chains,
    now: Date.now,
    wall: Date.now,
    signal: AbortSignal.timeout(ms),
    limits,
    wait: async () => {},
  };
  const wanted = { swap: null, all: false, limit: 10 };
  const examined = await examine(deps, wanted, (each) => found.push(each));
  const late = found.filter(({ what }) => what === 'part_time');
  const kinds = new Set(found.map(({ what }) => what));
  // Some swaps of this world are in danger, which alone would end with 1.
  const code = exitStatus({ ...examined.counts, danger: 0 });
  return { ...examined, found, late, kinds, code };
}

const wheres = (findings: readonly Finding[]) => findings.map(({ where }) => where).sort();

test('a node that accepts and never answers is named with its milliseconds; all else is looked at', async () => {
  const { late, kinds, found, open, nodes, code } = await doctor({ chains: twoChains() });
  assert.deepEqual(wheres(late), ['chain evm-dev, its node', 'the swaps of chain evm-dev']);
  const [node, reads] = late;
  assert.match(node?.says ?? '', /over its limit of 2000 ms/);
  // Of 1 200 ms a fifth is for second looks: nothing that needs one was seen.
  assert.match(reads?.says ?? '', /over its limit of 960 ms \(\d+ ms\): \d+ reads were not/);
  // The other node, the house, and what the database alone shows of the swaps.
  for (const each of ['node_silent', 'halted', 'chain_unread', 'secret_wrong']) {
    assert.ok(kinds.has(each), `${each}: ${[...kinds]}`);
  }
  const silent = found.filter(({ what }) => what === 'node_silent');
  assert.deepEqual(wheres(silent), ['chain evm-dev-2, its node']);
  assert.deepEqual([open, nodes, code], [swaps, 2, 2]);
});

/** While somebody holds a lock that lets nobody read it. */
async function locked<T>(table: string, work: () => Promise<T>): Promise<T> {
  const patient = { ...databaseLimits, connections: 1, statementMs: 300_000 };
  const holder = connect(database.url, patient);
  try {
    return await holder.transaction(async (tx) => {
      const text = `lock table ${table} in access exclusive mode`;
      await tx.rows({ name: '', text, values: [] });
      return work();
    });
  } finally {
    await holder.close();
  }
}

test('a call may take longer than one of a request, and still ends before its part does', () => {
  assert.deepEqual([callLimitMs(5_000, 60_000), callLimitMs(5_000, 30_000)], [20_000, 10_000]);
  assert.deepEqual([callLimitMs(45_000, 60_000), callLimitMs(5_000, 2_000)], [45_000, 5_000]);
});

/** The control server of a dev network of these chains; one that hangs keeps /status silent. */
async function devControl(chains: readonly object[]): Promise<{ url: string; close(): void }> {
  const server = createHttpServer((request, response) => {
    if (request.url !== '/chains') return;
    response.end(JSON.stringify({ clockOffsetSeconds: 0, chains }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

test('of a dev network the node that hangs is named, and the others are looked at', async () => {
  const node = { name: 'anvil', version: '1' };
  const infos = twoChains().map((each) => ({
    ...each,
    rpcUrl: each.family === 'evm' ? each.rpcUrls[0] : '',
    node,
  }));
  const control = await devControl(infos);
  await writeFile(join(home, 'ready.json'), JSON.stringify({ dev: control.url }), { mode: 0o600 });
  try {
    const { value, missing } = await findChains({ chains: null, home });
    assert.deepEqual(missing, []);
    const { late, found, open, nodes, code } = await doctor({ chains: value.chains });
    assert.deepEqual(wheres(late), ['chain evm-dev, its node', 'the swaps of chain evm-dev']);
    const silent = found.filter(({ what }) => what === 'node_silent');
    assert.deepEqual(wheres(silent), ['chain evm-dev-2, its node']);
    assert.deepEqual([open, nodes, code], [swaps, 2, 2]);
  } finally {
    control.close();
  }
  const away = await findChains({ chains: null, home });
  assert.match(away.missing[0]?.says ?? '', /not say its chains at http.* \(ECONNREFUSED\)/);
  const { port } = hanging.address() as AddressInfo;
  await writeFile(join(home, 'ready.json'), JSON.stringify({ dev: `http://127.0.0.1:${port}` }));
  const mute = await findChains({ chains: null, home }, 200);
  assert.match(mute.missing[0]?.says ?? '', /\(no answer within 200 ms\)/);
  await rm(join(home, 'ready.json'));
  const none = await findChains({ chains: null, home });
  assert.match(none.missing[0]?.says ?? '', /^no dev network runs in PARLEY_HOME/);
});

test('a lock that somebody holds costs the part that wants it, and no other', async () => {
  const house = await locked('outbox', () => doctor({ limits: ample }));
  assert.deepEqual(wheres(house.late), ['the outbox']);
  assert.match(house.late[0]?.says ?? '', /held a lock .*left after \d+ ms/);
  assert.ok(house.kinds.has('halted') && house.kinds.has('secret_wrong'));
  assert.deepEqual([house.open, house.code], [swaps, 2]);
  // Swaps cannot be compared without their escrows: that is said once, with how many they are.
  const escrows = await locked('escrows', () => doctor({ limits: ample }));
  assert.deepEqual(wheres(escrows.late), [`the swaps from ${ids[0]} on`]);
  const left = escrows.found.filter(({ what }) => what === 'swaps_left');
  assert.deepEqual([left.length, left[0]?.facts.left], [1, swaps]);
  assert.ok(escrows.kinds.has('halted'));
  assert.deepEqual([escrows.open, escrows.code], [0, 2]);
});

test('a statement that never returns is given up, and so is a database that is silent', async () => {
  const never: Database = {
    ...db,
    rows: (statement) =>
      statement.text.includes('from deliveries') ? new Promise(() => {}) : db.rows(statement),
  };
  const one = await doctor({ reading: never });
  assert.deepEqual(wheres(one.late), ['the webhooks']);
  assert.equal(one.late[0]?.facts.limitMs, usual.partMs);
  assert.deepEqual([one.open, one.code], [swaps, 2]);
  const url = new URL(database.url);
  const proxy = await faultProxy(Number(url.port));
  url.port = String(proxy.port);
  url.hostname = '127.0.0.1';
  const behind = connect(url.href, { ...quick, readOnly: true });
  try {
    await behind.rows({ name: '', text: 'select 1', values: [] });
    proxy.fail({ kind: 'deaf' });
    const { late, code, open } = await doctor({
      reading: behind,
      limits: { partMs: 500, chainMs: 500 },
    });
    const [first, second, ...rest] = late.map(({ says }) => says);
    assert.match(`${first} ${second}`, /limit of 500 ms.*limit of 500 ms/);
    assert.ok(rest.length > 5 && rest.every((says) => says.startsWith('it was not asked')));
    assert.deepEqual([open, code], [0, 2]);
  } finally {
    await proxy.close();
    await behind.close();
  }
});

test('a danger that was seen is told whatever could not be looked at', () => {
  const none = { danger: 0, differs: 0, unseen: 0, notice: 3 };
  assert.equal(exitStatus(none), 0);
  assert.equal(exitStatus({ ...none, differs: 1 }), 1);
  assert.equal(exitStatus({ ...none, differs: 1, unseen: 1 }), 2);
  assert.equal(exitStatus({ ...none, danger: 1, unseen: 1 }), 1);
});

test('what the end of the whole look took is named', async () => {
  const { found, code } = await doctor({ chains: twoChains(), ms: 300 });
  const over = found.filter(({ what }) => what === 'time_over');
  assert.equal(over.length, 1);
  // The swaps are the last of all; where it came to nothing they are beyond what is named.
  assert.match(over[0]?.says ?? '', /chain evm-dev, its node.*(?:the swaps|and \d+ more)/);
  assert.doesNotMatch(over[0]?.says ?? '', /closing/);
  assert.equal(code, 2);
});

test('a swap that cannot be read is one finding, and the swaps of its page are compared', async () => {
  const [first = ''] = ids;
  const leg = `from legs where swap_id = '${first}' and leg = 'b'`;
  await sql(`create table kept as select * ${leg}`);
  await sql(`delete ${leg}`);
  try {
    const { found, kinds, open, code } = await doctor({ limits: ample });
    const ended = found.filter(({ what }) => what === 'ended');
    assert.deepEqual(wheres(ended), [`swap ${first}`]);
    assert.ok(kinds.has('secret_wrong'));
    assert.deepEqual([open, code], [swaps, 2]);
  } finally {
    await sql('insert into legs select * from kept');
    await sql('drop table kept');
  }
});

test('of one kind a hundred are told, and how many more there are', () => {
  const told: Finding[] = [];
  const findings = gather((each) => told.push(each));
  for (let at = 0; at < 150; at += 1) findings.add(notice('halted', `${at}`, 's', 't', {}));
  findings.add(notice('disk', 'd', 's', 't', {}));
  assert.equal(told.length, 102);
  assert.deepEqual(findings.untold(), { halted: 50 });
  assert.equal(findings.counts().notice, 151);
});

test('the command ends beside a node that hangs and a lock, with all it saw and status 2', async () => {
  const script = join(import.meta.dirname, '../../scripts/doctor.ts');
  const env = {
    ...process.env,
    DATABASE_URL: database.url,
    PARLEY_HOME: home,
    PARLEY_FOLLOW_INTERVAL_MS: '50',
    PARLEY_CHAINS: JSON.stringify(twoChains()),
  };
  const args = [script, '--part', '2', '--time', '60'];
  const { code, stdout } = await locked('swaps', () =>
    run(process.execPath, args, { env, timeout: 60_000 }).then(
      () => ({ code: 0, stdout: '' }),
      (error: { code: number; stdout: string }) => error,
    ),
  );
  assert.equal(code, 2);
  assert.match(stdout, /^unseen {3}part_time {2}chain evm-dev, its node: .* 2000 ms/m);
  assert.match(stdout, /^unseen {3}part_time {2}the open swaps .*: somebody held a lock/m);
  assert.match(stdout, /^notice {3}halted/m);
  assert.match(stdout, /^not well: 0 open and 0 ended swaps, 2 nodes; .* unseen/m);
});
