// Packages that the runner brings from Debian, on a machine that answers as it is told.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesOf } from '@parley/scripts/sources.ts';
import { root } from './files.ts';
import { type Installed, needs, needsOf, type Unpacked } from './needs.ts';
import { type Machine, provide } from './provide.ts';

const absent = { by: [], isHere: () => false };
const curl: Installed = { ...absent, what: 'curl', why: 'asks', packages: ['curl'] };
const rust: Installed = {
  ...absent,
  what: 'Rust',
  why: 'builds',
  packages: ['rustc-web'],
  isSpare: true,
};
const unpackedOf = (program: string): Unpacked => {
  const suites = ['trixie'];
  return {
    ...absent,
    what: program,
    why: 'runs',
    program: { program, packages: [program], suites },
  };
};

/** Each package that is named here cannot be had. */
function machineOf(isRoot: boolean, ...missing: string[]) {
  const asked: string[] = [];
  const updates: string[] = [];
  const unpacked: string[][] = [];
  const said: string[] = [];
  const machine: Machine = {
    isRoot,
    run: async (command) => {
      asked.push(command.replace(/^.*Timeout=\d+ /, ''));
      updates.push(...(command.match(/apt-get update/g) ?? []));
      const code = missing.some((each) => command.includes(each)) ? 100 : 0;
      return { code, output: 'E: no such package' };
    },
    unpack: async (programs) => {
      unpacked.push(programs.map(({ program }) => program));
      if (missing.includes('bitcoind')) throw new Error('no such release');
    },
    say: (line) => said.push(line),
  };
  return { machine, asked, updates, unpacked, said };
}

test('root installs what lacks, a user is told the command, and nothing is asked where all is here', async () => {
  const whole = machineOf(true);
  assert.equal(await provide([{ ...curl, isHere: () => true }], whole.machine), true);
  assert.deepEqual([whole.asked, whole.said], [[], []]);
  const root = machineOf(true);
  assert.equal(await provide([curl, rust], root.machine), true);
  assert.deepEqual(root.asked, ['curl rustc-web']);
  assert.equal(root.updates.length, 1, 'one list of packages for all');
  assert.match(root.said.join(), /curl \(asks\), Rust \(builds\)$/);
  const user = machineOf(false);
  assert.equal(await provide([curl], user.machine), false);
  assert.deepEqual(user.asked, []);
  assert.match(user.said[1] ?? '', /^As root, once: apt-get update .*&& apt-get install .* curl$/);
});

test('what cannot be had ends the run where it must be there', async () => {
  const spare = machineOf(true, 'rustc-web');
  assert.equal(await provide([curl, rust], spare.machine), true);
  assert.deepEqual(spare.asked, ['curl rustc-web', 'curl', 'rustc-web']);
  assert.equal(spare.updates.length, 1, 'one list of packages for all');
  assert.match(spare.said.at(-1) ?? '', /^rustc-web cannot be had: .*100\nE: no such package$/);
  assert.equal(await provide([curl, rust], machineOf(true, 'curl').machine), false);
});

test('programs are unpacked together, and a test says that it lacks what could not be', async () => {
  const both = [curl, unpackedOf('bitcoind'), unpackedOf('valkey-server')];
  const whole = machineOf(true);
  assert.equal(await provide(both, whole.machine), true);
  assert.deepEqual(whole.unpacked, [['bitcoind', 'valkey-server']]);
  const without = machineOf(true, 'bitcoind');
  assert.equal(await provide(both, without.machine), true);
  assert.equal(without.said.at(-1), 'bitcoind, valkey-server cannot be had: no such release');
});

test('files need what they import, and a pure one nothing', () => {
  const names = (...files: string[]) => needsOf(root, files).map(({ what }) => what);
  assert.deepEqual(names('packages/core/amounts.test.ts'), []);
  assert.deepEqual(names('apps/market/webhooks/send.test.ts'), ['openssl']);
  assert.deepEqual(names('packages/chains/nodes/transport-chromium.test.ts'), ['Chromium']);
  assert.ok(names('verify/test/web.test.ts').includes('Chromium'), 'through others');
});

test('the tests need, together, everything but the Rust of the soak', () => {
  const tests = filesOf('**/*.test.ts');
  const rust = needsOf(root, ['contracts/solana/build.ts', 'verify/test/planted/run.ts']);
  assert.ok(rust.some(({ what }) => what.startsWith('Rust')));
  const others = needs.filter(({ what }) => !what.startsWith('Rust'));
  assert.deepEqual(needsOf(root, tests), others);
});

test('each program that a test names is Debian’s base, or a need of its file', () => {
  const base = ['bash', 'sh', '/bin/sh', 'sleep', 'mkfifo', 'tar', 'unshare', 'npm', 'anvil'];
  const programs = ['curl', 'ps', 'openssl', 'systemd-analyze', 'python3'];
  const at = (name: string) => needs[programs.indexOf(name)];
  const wrong: string[] = [];
  for (const file of filesOf('**/*.test.ts', 'verify/test/support/*.ts', '*/**/testing/*.ts')) {
    const text = readFileSync(join(root, file), 'utf8');
    const named = text.matchAll(/\b(?:spawn|spawnSync|execFile|execFileSync)\(\s*'([^']+)'/g);
    for (const [, name = ''] of named) {
      if (!base.includes(name) && !at(name)?.by.includes(file)) wrong.push(`${file}: ${name}`);
    }
  }
  assert.deepEqual(wrong, []);
  const nowhere = needs.flatMap(({ by }) => by).filter((file) => !existsSync(join(root, file)));
  assert.deepEqual(nowhere, []);
});
