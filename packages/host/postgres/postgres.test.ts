// Real PostgreSQL throughout: these tests are about the files that a crash leaves behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isAlive } from './cluster.ts';
import { EmbeddedPostgresError } from './failure.ts';
import { type EmbeddedPostgres, type PostgresOptions, startPostgres } from './postgres.ts';

const module = new URL('./postgres.ts', import.meta.url).href;
const isRoot = process.getuid?.() === 0;
const limitMs = 30_000;

type Line = { level: string; message: string };

function recorder() {
  const lines: Line[] = [];
  const at = (level: string) => (_facts: object, message: string) => {
    lines.push({ level, message });
  };
  return { lines, log: { info: at('info'), warn: at('warn'), error: at('error') } };
}

/** The databases that were started in a folder; it ends before the folder is removed. */
const startedIn = new Map<string, EmbeddedPostgres[]>();

async function emptyFolder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-postgres-'));
  startedIn.set(dir, []);
  t.after(async () => {
    for (const database of startedIn.get(dir) ?? []) await database.stop();
    await rm(dir, { recursive: true, force: true });
  });
  return dir;
}

async function start(
  dir: string,
  options: Partial<PostgresOptions> = {},
): Promise<EmbeddedPostgres> {
  const database = await startPostgres({ dir, log: recorder().log, ...options });
  startedIn.get(dir)?.push(database);
  return database;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: limitMs });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function eventually<T>(what: string, probe: () => Promise<T>): Promise<T> {
  let problem: unknown;
  for (const until = Date.now() + limitMs; Date.now() < until; await sleep(50)) {
    try {
      return await probe();
    } catch (error) {
      problem = error;
    }
  }
  throw new Error(`not within ${limitMs} ms: ${what}`, { cause: problem });
}

function refusal(code: string) {
  return (error: unknown) => error instanceof EmbeddedPostgresError && error.code === code;
}

/** A process of its own that starts the database and then waits to be killed. */
function startInChild(dir: string) {
  const program = `
    import { startPostgres } from '${module}';
    const quiet = { info() {}, warn() {}, error() {} };
    const database = await startPostgres({ dir: ${JSON.stringify(dir)}, log: quiet });
    console.log(JSON.stringify({ pid: database.pid }));
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: new URL('.', import.meta.url),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ready = new Promise<{ pid: number }>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(JSON.parse(chunk.toString())));
    child.once('exit', (code) => reject(new Error(`the child ended with ${code}`)));
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ready, ended };
}

test('a fresh folder gives a private, durable database that loopback alone reaches, by its password', async (t) => {
  const dir = await emptyFolder(t);
  const { url, pid } = await start(dir);
  const [found] = await query(
    url,
    `select current_database() as name, getdatabaseencoding() as encoding,
       current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
       current_setting('synchronous_commit') as commits, datcollate as order
     from pg_database where datname = current_database()`,
  );
  const safe = { fsync: 'on', pages: 'on', commits: 'on' };
  assert.deepEqual(found, { name: 'parley', encoding: 'UTF8', ...safe, order: 'C' });
  const { mode } = await stat(join(dir, 'postgres', 'password'));
  assert.equal(mode & 0o777, 0o600);
  const wrong = new URL(url);
  wrong.password = 'guess';
  await assert.rejects(query(wrong.href, 'select 1'), /password authentication failed/);
  const { hostname, port } = new URL(url);
  assert.equal(hostname, '127.0.0.1');
  const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = others.find(({ internal, family }) => !internal && family === 'IPv4');
  // A machine with loopback only has no other address to try.
  if (outside !== undefined) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), outside.address);
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => socket.destroy());
    });
    assert.equal(reached, false);
  }
  if (process.platform !== 'linux') return;
  // Ctrl-C in the terminal reaches us and not the database.
  const group = async (id: number | 'self') =>
    (await readFile(`/proc/${id}/stat`, 'utf8')).split(') ')[1]!.split(' ')[2];
  assert.notEqual(await group(pid), await group('self'));
});

test('one of two starts in one folder at once is refused and the other works', async (t) => {
  const dir = await emptyFolder(t);
  const both = await Promise.allSettled([start(dir), start(dir)]);
  const won = both.filter((result) => result.status === 'fulfilled');
  const lost = both.filter((result) => result.status === 'rejected');
  assert.deepEqual([won.length, lost.length], [1, 1]);
  assert.ok(refusal('in_use')(lost[0]?.reason), String(lost[0]?.reason));
  const late = startInChild(dir);
  await assert.rejects(late.ready);
  assert.equal((await query(won[0]!.value.url, 'select 1 as one')).length, 1);
});

test('a database killed with -9 comes back on the same port with what was committed', async (t) => {
  const { lines, log } = recorder();
  const database = await start(await emptyFolder(t), { log });
  await query(database.url, 'create table kept as select 42 as answer');
  const killed = database.pid;
  process.kill(killed, 'SIGKILL');
  // A killed database may still answer for a moment.
  await eventually('another process', async () => assert.notEqual(database.pid, killed));
  const rows = await eventually('rows again', () => query(database.url, 'select * from kept'));
  assert.deepEqual(rows, [{ answer: 42 }]);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['error', 'warn'],
  );
});

test('a database comes back where a process of the killed one hangs, and another database keeps its own', async (t) => {
  if (process.platform !== 'linux') return t.skip('reads /proc');
  const database = await start(await emptyFolder(t));
  const other = await start(await emptyFolder(t));
  const clients = [database, other].map(({ url }) => new pg.Client({ connectionString: url }));
  for (const client of clients) {
    client.on('error', () => {});
    await client.connect();
    t.after(() => client.end().catch(() => {}));
  }
  const own = 'select pg_backend_pid() as pid';
  const pids = await Promise.all(clients.map(async (each) => (await each.query(own)).rows[0].pid));
  // As one that waits for a lock whose holder was killed: it ends by no word of others.
  process.kill(pids[0], 'SIGSTOP');
  const killed = database.pid;
  process.kill(killed, 'SIGKILL');
  await eventually('another process', async () => assert.notEqual(database.pid, killed));
  await eventually('an answer', () => query(database.url, 'select 1'));
  // The system takes a killed process away a moment later.
  await eventually('it ended', async () => assert.deepEqual(pids.map(isAlive), [false, true]));
});

test('a database ends with us where the system can tie them', async (t) => {
  if (process.platform !== 'linux') return t.skip('setpriv is a Linux tool');
  const { child, ready, ended } = startInChild(await emptyFolder(t));
  const { pid } = await ready;
  child.kill('SIGKILL');
  await ended;
  await eventually('the database ended', async () => assert.equal(isAlive(pid), false));
});

/** Runs the postmaster that a start used, without us: as a crash would leave it. */
async function leaveOrphan(t: TestContext, dir: string): Promise<number> {
  const database = await startPostgres({ dir, log: recorder().log });
  await query(database.url, 'create table kept as select 42 as answer');
  const command = (await readFile(`/proc/${database.pid}/cmdline`, 'utf8')).split('\0');
  const { uid, gid } = await stat(join(dir, 'postgres', 'data'));
  await database.stop();
  const caps = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  const lend = [...caps, '--clear-groups', '--securebits=+no_setuid_fixup'];
  const asOwner = isRoot
    ? ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid}`, ...lend, '--']
    : [];
  const [file, ...args] = [...asOwner, ...command.filter((part) => part !== '')];
  const orphan = spawn(file!, args, { detached: true, stdio: 'ignore' });
  t.after(() => {
    if (orphan.exitCode === null && orphan.signalCode === null) orphan.kill('SIGKILL');
  });
  const note = join(dir, 'postgres', 'data', 'postmaster.pid');
  await eventually('the orphan is ready', async () =>
    assert.match(await readFile(note, 'utf8'), /ready/),
  );
  return orphan.pid!;
}

test('a database left running by a crash is stopped and its rows are kept', async (t) => {
  if (process.platform !== 'linux') return t.skip('reads /proc');
  const dir = await emptyFolder(t);
  const orphan = await leaveOrphan(t, dir);
  const { lines, log } = recorder();
  const database = await start(dir, { log });
  assert.notEqual(database.pid, orphan);
  assert.match(lines[0]!.message, /left running/);
  assert.deepEqual(await query(database.url, 'select answer from kept'), [{ answer: 42 }]);
});

test('a note that names an unrelated process by now stops nobody', async (t) => {
  const dir = await emptyFolder(t);
  const first = await start(dir);
  const note = join(dir, 'postgres', 'data', 'postmaster.pid');
  const text = await readFile(note, 'utf8');
  await first.stop();
  const { uid, gid } = await stat(join(dir, 'postgres', 'data'));
  // PostgreSQL itself would believe a process of its own user and refuse to start.
  const bystander = spawn('sleep', ['60'], { ...(isRoot ? { uid, gid } : {}), stdio: 'ignore' });
  t.after(() => bystander.kill('SIGKILL'));
  await writeFile(note, text.replace(/^\d+/, String(bystander.pid)));
  await chown(note, uid, gid);
  await start(dir);
  assert.equal(isAlive(bystander.pid!), true);
  assert.equal(bystander.signalCode, null);
});
