// The release as a container runs it: a root of its own, read-only, without a shell, and a user
// without rights. It serves, two customers trade on it, and it drains.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { firstTradeOn } from '../package-soak/first-trade.ts';
import { started } from './program.ts';

const run = promisify(execFile);
const cli = join(import.meta.dirname, '../../../packages/cli/main.ts');
const user = 65_532;

/** The mounts of an engine; `$1` is the root, `$2` the folder of secrets, and the rest is run. */
const mounts = `
set -e
root=$1 secrets=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for each in null zero random urandom; do
  : > "$root/dev/$each"; mount --bind "/dev/$each" "$root/dev/$each"
done
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir "$root/run/secrets"; mount --bind "$secrets" "$root/run/secrets"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=700,uid=${user},gid=${user} tmpfs "$root/var/lib/parley"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec=${user}:${user} --groups= "$root" "$@"
`;

type Given = {
  readonly place: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly dev: string;
  readonly work: string;
};

/** The result, as a line. */
export async function runInRoot({ place, secrets, dev, work }: Given): Promise<string> {
  const folder = join(work, 'secrets');
  await mkdir(folder, { mode: 0o755 });
  const { assets = '', ...hidden } = secrets;
  for (const [name, text] of Object.entries(hidden)) {
    const file = join(folder, name);
    await writeFile(file, `${text}\n`, { mode: 0o640 });
    await chown(file, 0, user);
  }
  const files = Object.keys(hidden).map((name) => [`${name}_FILE`, `/run/secrets/${name}`]);
  const env = {
    PATH: process.env.PATH ?? '',
    PARLEY_HOME: '/var/lib/parley',
    PORT: '0',
    PARLEY_NETWORK: 'dev',
    PARLEY_ASSETS: assets,
    PARLEY_DRAIN_SECONDS: '3',
    ...Object.fromEntries(files),
  };
  const outer = ['unshare', '--mount', 'sh', '-c', mounts, 'sh', place, folder];
  const node = '/opt/parley/bin/node';
  const flags = [
    '--max-old-space-size=1024',
    '--max-semi-space-size=24',
    '--no-minor-gc-task',
    '--no-flush-bytecode',
  ];
  const program = await started(
    [...outer, node, ...flags, '/opt/parley/apps/market/main.ts', '--json'],
    env,
  );
  // Each of them becomes the next: the market has the first one's number.
  const pid = program.child.pid ?? 0;
  try {
    await mustBePowerless(pid, hidden);
    const shell = run('nsenter', ['-t', `${pid}`, '-m', 'chroot', `/proc/${pid}/root`, '/bin/sh']);
    await assert.rejects(shell, /No such file/);
    assert.equal((await fetch(`${program.url}/readyz`)).status, 200);
    const page = await fetch(program.url, { headers: { accept: 'text/html' } });
    assert.match(await page.text(), /<!doctype html>/i, 'the app is served');
    const guide = await fetch(`${program.url}/docs/lifecycle`);
    assert.equal(guide.status, 200, 'the documents are there');
    const seconds = await firstTradeOn({ url: program.url, dev }, join(work, 'people'), cli);
    const probe = [node, '/opt/parley/apps/market/deploy/container/probe.mjs'];
    const inside = ['-t', `${pid}`, '-m', 'chroot', `/proc/${pid}/root`, ...probe];
    const { port } = new URL(program.url);
    const asked = { env: { PATH: process.env.PATH, PORT: port } };
    assert.match((await run('nsenter', [...inside, '/readyz'], asked)).stdout, /^200 /);
    const stopped = program.stop(pid);
    while ((await fetch(`${program.url}/readyz`)).status !== 503) await sleep(50);
    await assert.rejects(run('nsenter', [...inside, '/readyz'], asked), ({ code }) => code === 1);
    assert.equal(await stopped, 0, program.log());
    return `in a root of its own: read-only, user ${user}, a trade in ${seconds} s, drained`;
  } catch (error) {
    program.child.kill('SIGKILL');
    throw new Error(`in its root: ${program.log().slice(-2_000)}`, { cause: error });
  }
}

async function mustBePowerless(pid: number, hidden: Readonly<Record<string, string>>) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  assert.match(status, new RegExp(`\nUid:\t${user}\t${user}\t`));
  assert.match(status, /\nCapEff:\t0+\n/);
  assert.match(status, /\nNoNewPrivs:\t1\n/);
  const listing = await readFile(`/proc/${pid}/environ`, 'utf8');
  for (const [name, text] of Object.entries(hidden)) {
    assert.ok(!listing.includes(text), `${name} is in the environment's listing`);
  }
  const mounted = await readFile(`/proc/${pid}/mountinfo`, 'utf8');
  const own = mounted.split('\n').filter((line) => / \/ ro[, ]/.test(line.split(' - ')[0] ?? ''));
  assert.equal(own.length, 1, `its root is read-only: ${mounted}`);
}
