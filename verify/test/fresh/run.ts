// `.ci/run` and the README's two commands on a machine that has Debian, Node and npm and nothing
// else: a root that debootstrap made, with the sources in it. `npm ci && npm start` gets ready with
// its four chains and ends by Ctrl-C. `npm ci && npm test` installs all that tests need and runs
// every file, in a root of its own: the market starts while the other waits for packages. Arguments
// are prefixes of test files, and only those run then. PARLEY_FRESH_DEBIAN is a root that
// debootstrap made before. Needs root, for mounts, and shares the machine's network, which packages
// come by.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareRoot, copyOf, environment } from './root.ts';

const readyMs = 300_000;
const stopMs = 60_000;
const chains = ['bitcoin-regtest', 'evm-dev', 'tron-dev', 'solana-dev'];
const testMs = 1_200_000;
const prefixes = process.argv.slice(2);

/** `$1` is the root, `$2` a script; all of it is gone with the process. */
const inside = `
set -e
mount --make-rprivate /
# A test has a mount namespace of its own, which wants a mount at the root.
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
mount -t tmpfs -o mode=755 tmpfs "$1/run"
exec chroot "$1" /bin/bash -c "cd /root/parley; $2; exit \\$?"
`;

/** As the first process there bash takes up the ends of servers. */
function started(root: string, env: Readonly<Record<string, string>>, script: string) {
  const spaces = ['--mount', '--pid', '--fork', '--kill-child'];
  const child = spawn('unshare', [...spaces, 'sh', '-c', inside, 'sh', root, script], {
    env,
    // A group of its own, as a terminal gives it, for Ctrl-C.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const group = child.pid ?? assert.fail('unshare does not start');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      process.stdout.write(text);
    });
  }
  const ended = once(child, 'close') as Promise<[number | null]>;
  const end = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-group, 'SIGKILL');
  };
  process.on('exit', end);
  return {
    output: () => output,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    interrupt: () => process.kill(-group, 'SIGINT'),
    /** Its exit code; ended by force after the limit. */
    code: async (limitMs: number) => {
      const timer = setTimeout(end, limitMs);
      const [code] = await ended;
      clearTimeout(timer);
      process.off('exit', end);
      return code;
    },
    /** By force, where it has not. */
    close: () => {
      end();
      return ended;
    },
  };
}

const secondsSince = (began: number) => Math.round((performance.now() - began) / 1_000);

type Started = ReturnType<typeof started>;

/** Until it serves, and to its end. */
async function serves(market: Started): Promise<void> {
  const began = performance.now();
  const ready = () => /^Ready: (\S+)$/m.exec(market.output())?.[1];
  for (const until = began + readyMs; ready() === undefined; await sleep(250)) {
    if (market.hasEnded() || performance.now() > until) assert.fail('it does not get ready');
  }
  const url = ready() ?? '';
  const served = chains.filter((chain) => market.output().includes(`\n  ${chain} `));
  assert.deepEqual(served, chains);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  assert.match(await page.text(), /<!doctype html>/i, 'the app is served');
  const seconds = secondsSince(began);
  market.interrupt();
  // 130 is the word of a shell or of npm that Ctrl-C met beside the market.
  const code = await market.code(stopMs);
  assert.ok(code === 0 || code === 130, `it ends by Ctrl-C, and not with ${code}`);
  console.log(`fresh: npm ci && npm start: ${chains.length} chains and the app in ${seconds} s`);
}

async function start(root: string, env: Readonly<Record<string, string>>): Promise<void> {
  const market = started(root, { ...env, PORT: '0' }, 'npm ci && npm start');
  try {
    await serves(market);
  } finally {
    await market.close();
  }
}

async function test(root: string, env: Readonly<Record<string, string>>): Promise<void> {
  const began = performance.now();
  const files = prefixes.length === 0 ? '' : ` -- ${prefixes.join(' ')}`;
  const tests = started(root, env, `npm ci && npm test${files}`);
  const code = await tests.code(testMs);
  const output = tests.output();
  assert.equal(code, 0);
  // A package that Debian no longer has cannot be tested.
  const isLacking = output.includes('cannot be had of this Debian');
  assert.ok(isLacking || !output.includes('NOT TESTED'), 'all is tested');
  const [count] = /^\d+ passed, 0 failed, 0 skipped$/m.exec(output) ?? assert.fail('no count');
  console.log(`fresh: npm ci && npm test${files}: ${count}, in ${secondsSince(began)} s`);
}

assert.equal(process.getuid?.(), 0, 'a root of its own is mounted: run this as root');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const work = await mkdtemp(join(tmpdir(), 'parley-fresh-'));
try {
  const began = performance.now();
  const root = join(work, 'root');
  await bareRoot(root, process.env.PARLEY_FRESH_DEBIAN);
  const env = await environment(root);
  const other = await copyOf(root, join(work, 'other'));
  console.log(`fresh: two bare Debian roots in ${secondsSince(began)} s`);
  // Both to their ends, whichever fails: their roots are removed afterwards.
  for (const each of await Promise.allSettled([start(other, env), test(root, env)])) {
    if (each.status === 'rejected') throw each.reason;
  }
} finally {
  await rm(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
}
