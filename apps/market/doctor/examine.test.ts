// A part that hangs or cannot be read costs the others nothing: real rows, a real lock, a node that
// accepts and never answers. Findings of the first read are not lost. Missing time and open key
// files are found.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { connect, type Database, databaseLimits } from '../db/database.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { nodelessAdapters } from '../settle/testing/rows.ts';
import { type DoctorDeps, examine } from './examine.ts';
import { exitStatus, type Finding, linesOf, notice } from './findings.ts';
import { createReads } from './reads.ts';
import { swapBounds } from './swaps.ts';
import { agreedSwaps } from './testing/agreed.ts';

const swaps = 3;
let database: TestDatabase;
/** As the doctor has it: only to read, and not for long. */
let db: Database;
let home: string;
let ids: string[];
let hanging: Server;
const sockets = new Set<Socket>();
const sql = (text: string) => database.db.rows<never>({ name: '', text, values: [] });

before(async () => {
  database = await testDatabase();
  const limits = { connections: 4, statementMs: 8_000, lockMs: 200, readOnly: true } as const;
  db = connect(database.url, { ...databaseLimits, ...limits });
  home = await mkdtemp(join(tmpdir(), 'parley-doctor-'));
  hanging = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  await once(hanging.listen(0, '127.0.0.1'), 'listening');
  ids = await agreedSwaps(database.db, swaps);
  await sql(`update swaps set secret = '${'ab'.repeat(32)}' where id = '${ids[1]}'`);
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  hanging?.close();
  await db?.close();
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

/** The nodes of one hang, those of the other refuse. */
function twoChains(): ChainSettings[] {
  const { port } = hanging.address() as AddressInfo;
  const dev = { family: 'evm', world: 'dev' } as const;
  const hangs = `http://127.0.0.1:${port}`;
  const refuses = 'http://127.0.0.1:1';
  return [
    { ...dev, chain: 'evm-dev', chainId: 31_337, rpcUrls: [hangs] },
    { ...dev, chain: 'evm-dev-2', chainId: 31_338, rpcUrls: [refuses] },
  ] as ChainSettings[];
}

async function doctor({
  ms = 60_000,
  chainTimeoutMs = 60_000,
  keeper = 'dev',
  ...given
}: Partial<DoctorDeps> & { ms?: number; chainTimeoutMs?: number; keeper?: unknown } = {}) {
  const found: Finding[] = [];
  const timing = { databaseConnections: 1, followIntervalMs: 50, chainTimeoutMs };
  const deps = {
    settings: { home, ...timing, keeper: keeper as never },
    db,
    chains: [],
    now: Date.now,
    wall: Date.now,
    signal: AbortSignal.timeout(ms),
    wait: async () => {},
    ...given,
  };
  const wanted = { swap: null, nodes: false, all: false };
  const examined = await examine(deps, wanted, (each) => void found.push(each));
  const of = (what: string) => found.filter((each) => each.what === what);
  const kinds = new Set(found.map(({ what }) => what));
  // A swap of this world is in danger, which alone would end with 1.
  const code = exitStatus({ ...examined.counts, danger: 0 });
  return { ...examined, found, of, kinds, code };
}

const wheres = (findings: readonly Finding[]) => findings.map(({ where }) => where).sort();

test('a node that accepts and never answers is named with its limit, and all else is read', async () => {
  const given = { chains: twoChains(), partMs: 2_000, chainTimeoutMs: 500 };
  const { of, kinds, open, nodes, code } = await doctor(given);
  const nodesOf = ['chain evm-dev, its node', 'chain evm-dev-2, its node'];
  assert.deepEqual(wheres(of('node_silent')), nodesOf);
  const hung = of('node_silent').find(({ where }) => where === nodesOf[0]);
  assert.match(hung?.says ?? '', /in time \(a call may take 666 ms\)$/);
  assert.ok(kinds.has('secret_wrong') && kinds.has('chain_unread'), `${[...kinds]}`);
  assert.deepEqual([open, nodes, code], [swaps, 2, 2]);
});

test('a chain that is silent three times in a row is left alone, until then it is asked', async () => {
  const adapter = { chain: 'evm-dev' } as ChainAdapter;
  const signal = new AbortController().signal;
  const adapters = new Map([['evm-dev', adapter]]);
  const reads = createReads({ adapters, callMs: 60_000, signal });
  let asked = 0;
  const ask = (answers: boolean) =>
    reads.ask('evm-dev', 'reads', async () => {
      asked += 1;
      if (!answers) throw new ParleyError('chain_unavailable', 'away; nothing changed');
    });
  for (const answers of [false, false, true, false, false, false, true]) await ask(answers);
  assert.equal(asked, 6);
  const told: Finding[] = [];
  reads.tell((each) => void told.push(each));
  assert.match(told[0]?.says ?? '', /^6 reads were not answered, .*: away$/);
});

test('the end of its time names what was not read', async () => {
  const { of, code } = await doctor({ chains: twoChains(), ms: 300 });
  assert.match(of('time_over')[0]?.says ?? '', /chain evm-dev, its node.*the swaps/);
  assert.equal(code, 2);
});

test('a lock that somebody holds costs the part that wants it, and no other', async () => {
  const locked = (table: string) =>
    database.db.transaction(async (tx) => {
      const text = `lock table ${table} in access exclusive mode`;
      await tx.rows({ name: '', text, values: [] });
      return doctor();
    });
  const house = await locked('outbox');
  assert.deepEqual(wheres(house.of('part_time')), ['what waits']);
  assert.match(house.of('part_time')[0]?.says ?? '', /held a lock .*left after \d+ ms/);
  assert.deepEqual([house.open, house.code], [swaps, 2]);
  // Swaps cannot be compared without their escrows: that is said once.
  const escrows = await locked('escrows');
  assert.deepEqual(wheres(escrows.of('part_time')), [`the swaps from ${ids[0]} on`]);
  assert.deepEqual([escrows.open, escrows.code], [0, 2]);
});

test('a swap that cannot be read is one finding, and the swaps of its page are compared', async () => {
  const leg = `from legs where swap_id = '${ids[0]}' and leg = 'b'`;
  await sql(`create table kept as select * ${leg}`);
  await sql(`delete ${leg}`);
  try {
    const { of, kinds, open, code } = await doctor();
    assert.deepEqual(wheres(of('ended')), [`swap ${ids[0]}`]);
    assert.ok(kinds.has('secret_wrong'));
    assert.deepEqual([open, code], [swaps - 1, 2]);
  } finally {
    await sql('insert into legs select * from kept');
    await sql('drop table kept');
  }
});

const final = (txid: string) => ({ txid, confirmations: 99, deep: true });
/** Facts that no row has. */
const shown: EscrowFacts = { ...nothingSeen, funded: final('bb'), claimed: final('aa') };

type Later = (end: () => void) => Promise<EscrowFacts>;

/** Chains that show it; from the second read on `later` answers. */
async function twice(later: Later, reading: (isSecond: () => boolean) => Database = () => db) {
  const end = new AbortController();
  let isSecond = false;
  const made = nodelessAdapters().map((each): [string, ChainAdapter] => {
    const look: ChainAdapter['look'] = async (escrows) => {
      const facts = isSecond ? await later(() => end.abort()) : shown;
      const heads = { height: 1, hash: 'h', clock: Math.floor(Date.now() / 1_000) };
      return { heads: heads as never, facts: escrows.map(() => facts) };
    };
    return [each.chain, { ...each, look }];
  });
  const wait = async () => {
    isSecond = true;
  };
  const given = { adapters: new Map(made), signal: end.signal, wait, db: reading(() => isSecond) };
  const all = await doctor(given);
  const ours = all.found.filter(({ where, severity }) => {
    return where.startsWith('swap ') && /danger|differs/.test(severity);
  });
  const once = ours.filter(({ facts }) => facts.seenOnce === true);
  const named = ours.map(({ what, where }) => `${what} ${where}`).sort();
  return { ...all, once, named, exit: exitStatus(all.counts) };
}

/** A database on which somebody holds a lock of the escrows of some swaps. */
function failing(fails: (swapIds: readonly string[]) => boolean): Database {
  return {
    ...db,
    rows: async (statement) => {
      const isOurs = statement.name === 'escrows_of_swaps';
      if (isOurs && fails(statement.values[0] as string[])) {
        throw Object.assign(new Error('late'), { code: '55P03' });
      }
      return db.rows(statement);
    },
  };
}

test('a difference in the first read is reported although no second can be made, as seen once', async () => {
  const whole = await twice(async () => shown);
  assert.deepEqual([whole.once, whole.exit], [[], 1]);
  assert.ok(whole.named.length > swaps, `${whole.named}`);
  // A difference of a moment is gone; a row that is wrong by itself is not.
  const { named: left } = await twice(async () => nothingSeen);
  assert.ok(left.length > 0 && left.every((each) => each.includes(ids[1] ?? '')), `${left}`);
  const silent: Later = async () => {
    throw new ParleyError('chain_unavailable', 'away');
  };
  const over: Later = async (end) => {
    end();
    return new Promise(() => {});
  };
  const broken = {
    ...shown,
    get funded(): never {
      throw new Error('of a test');
    },
  };
  const ways = {
    'the nodes fall silent': await twice(silent),
    'its time is over': await twice(over),
    'it ends half-way': await twice(async () => broken),
    'the database does not give them': await twice(async () => shown, failing),
  };
  for (const [way, { named, once, exit, of }] of Object.entries(ways)) {
    assert.deepEqual(named, whole.named, way);
    assert.ok(once.length > 0 && once.every(({ says }) => / \(seen once: /.test(says)), way);
    assert.equal(exit, 1, `a danger was seen, ${way}`);
    if (way !== 'its time is over') continue;
    assert.match(of('chain_unread')[0]?.says ?? '', /the time was over before it answered/);
  }
});

test('a page that the database does not give is left, and the pages after it are read', async () => {
  /** Pages of which only one id each is a swap's. */
  const paged = (lost: readonly number[]): Database => {
    const fill = Array.from({ length: swapBounds.page }, () => crypto.randomUUID());
    const pages = [[ids[0], ...fill], [ids[1], ...fill], [ids[2]]];
    const inner = failing((swapIds) => lost.some((at) => swapIds.includes(ids[at] ?? '')));
    let next = 0;
    return {
      ...db,
      rows: async (statement) => {
        if (statement.name !== 'doctor_open') return inner.rows(statement);
        next += 1;
        return (pages[next - 1] ?? []).map((id) => ({ id })) as never[];
      },
    };
  };
  const one = await doctor({ db: paged([0]) });
  assert.ok(one.kinds.has('secret_wrong'));
  assert.deepEqual([one.open, one.of('part_time').length], [2, 1]);
});

test('missing time that holds agreements differs, with which time it is and what to do', async () => {
  await sql(`insert into gaps (why, began_at, ended_at, holds)
    values ('silence', '2026-11-21T13:00:00Z', '2026-11-21T14:00:00Z', true)`);
  await sql('insert into heartbeat (beat, at, beaten_at) values (1, now(), now())');
  try {
    const [{ severity, says, todo, facts } = assert.fail()] = (await doctor()).of('time_missing');
    assert.deepEqual([severity, facts.why], ['differs', 'silence']);
    assert.match(says, /nothing is agreed: 2026-11-21T13:00:00.000Z to 2026-11-21T14:00:00.000Z$/);
    assert.match(todo ?? '', /npm run ops -- resume --agreements/);
    await sql('update gaps set holds = false');
    assert.deepEqual((await doctor()).of('time_missing'), []);
    await sql(`update heartbeat set lineage = 'another/history'`);
    assert.match((await doctor()).of('time_missing')[0]?.says ?? '', /another history/);
    await sql('update heartbeat set lineage = database_lineage()');
    assert.deepEqual((await doctor()).of('time_missing'), []);
  } finally {
    await sql('truncate heartbeat, gaps cascade');
  }
});

test('key files that others may read are found, in the home and elsewhere', async (t) => {
  const elsewhere = await mkdtemp(join(tmpdir(), 'parley-keys-'));
  t.after(() => rm(elsewhere, { recursive: true, force: true }));
  const own = join(home, 'keeper-evm-dev.key');
  const other = join(elsewhere, 'gas');
  for (const file of [own, other]) await writeFile(file, 'x');
  t.after(() => rm(own));
  const open = async (...keys: string[]) => {
    const { of } = await doctor({ keeper: keys.map((keyFile) => ({ chain: 'evm', keyFile })) });
    return wheres(of('mode'));
  };
  await chmod(own, 0o604);
  await chmod(other, 0o640);
  assert.deepEqual(await open(other, own), [other, own].sort());
  assert.deepEqual(await open(), [own]);
  await chmod(own, 0o600);
  await chmod(other, 0o600);
  assert.deepEqual(await open(other, own), []);
});

test('a danger that was seen is the exit status whatever could not be read', () => {
  const none = { danger: 0, differs: 0, unseen: 0, notice: 3 };
  assert.equal(exitStatus(none), 0);
  assert.equal(exitStatus({ ...none, differs: 1 }), 1);
  assert.equal(exitStatus({ ...none, differs: 1, unseen: 1 }), 2);
  assert.equal(exitStatus({ ...none, danger: 1, unseen: 1 }), 1);
});

test("others' texts move no cursor and begin no line of their own", () => {
  const says = 'since x: r\n\u001b[2J\r\u0085\u202eall well: 0 open';
  const lines = linesOf(notice('disk', 'a', says, 'go\n'));
  assert.equal(lines, 'notice   disk  a: since x: r [2J all well: 0 open\n         → go ');
});
