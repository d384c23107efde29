// Packages that the runner brings from Debian, on a machine that answers as it is told.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesOf } from '@parley/scripts/sources.ts';
import { root } from './files.ts';
import { type Installed, needs, needsOf } from './needs.ts';
import { type Machine, provide } from './provide.ts';

const absent = { by: [], isHere: () => false };
const curl: Installed = { ...absent, what: 'curl', why: 'asks', packages: ['curl'] };
const rust: Installed = {
  ...absent,
  what: 'Rust',
  why: 'builds',
  packages: ['rustc-web', 'rust-web-src'],
  fits: (version) => version.startsWith('1.96.'),
};
const policy = (version: string) =>
  `rustc-web:\n  Installed: (none)\n  Candidate: ${version}\n  Version table:\n` +
  '     1.96.0 500\n        500 http://mirror.example bookworm/main\n';

type Answer = readonly [command: RegExp, code: number, output: string];

/** All else ends with 0. Each answer is given once. */
function machineOf(isRoot: boolean, ...answers: Answer[]) {
  const asked: string[] = [];
  const said: string[] = [];
  const machine: Machine = {
    isRoot,
    run: (command) => {
      asked.push(command.join(' '));
      const at = answers.findIndex(([form]) => form.test(command.join(' ')));
      const [, code, output] = at === -1 ? [null, 0, ''] : (answers.splice(at, 1)[0] ?? []);
      return Promise.resolve({ code: code ?? null, output: output ?? '' });
    },
    say: (line) => said.push(line),
    wait: async () => {
      asked.push('(waits)');
    },
  };
  return { machine, asked, said };
}

const install = 'apt-get install -y --no-install-recommends --no-remove';

test('the runner asks and says nothing where all is here', async () => {
  const { machine, asked, said } = machineOf(true);
  assert.equal(await provide([{ ...curl, isHere: () => true }], machine), true);
  assert.deepEqual([asked, said], [[], []]);
});

test('root installs what lacks in one go, after new lists, and one line says what and why', async () => {
  const { machine, asked, said } = machineOf(true, [/^apt-cache/, 0, policy('1.96.0+dfsg1')]);
  assert.equal(await provide([curl, rust], machine), true);
  assert.deepEqual(asked, [
    'apt-get update',
    'apt-cache policy apt curl rustc-web rust-web-src',
    `${install} curl rustc-web rust-web-src`,
  ]);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /curl \(asks\), Rust \(builds\)$/);
});

test('a user is told the command, and nothing is tried', async () => {
  const { machine, asked, said } = machineOf(false, [/^apt-cache/, 0, policy('1.96.0')]);
  assert.equal(await provide([curl, rust], machine), false);
  assert.deepEqual(asked, ['apt-cache policy apt curl rustc-web rust-web-src']);
  assert.match(said[0] ?? '', /curl \(asks\), Rust \(builds\)/);
  assert.equal(said[1], `  apt-get update && ${install} curl rustc-web rust-web-src`);
});

test('a package that this Debian has in no fitting version stops nobody, and is not installed', async () => {
  const isUser = machineOf(false, [/^apt-cache/, 0, policy('1.97.0')]);
  assert.equal(await provide([rust], isUser.machine), true);
  const { machine, asked, said } = machineOf(true, [/^apt-cache/, 0, policy('1.97.0')]);
  assert.equal(await provide([rust], machine), true);
  assert.ok(!asked.some((command) => command.includes('install')), asked.join());
  assert.equal(said[1], 'Rust cannot be had of this Debian');
});

test('another package manager is waited for, with a limit', async () => {
  const busy = [/^apt-get install/, 100, 'E: Could not get lock /var/lib/dpkg/lock'] as const;
  const short = machineOf(true, busy);
  assert.equal(await provide([curl], short.machine), true);
  assert.deepEqual(short.asked.slice(-3), [`${install} curl`, '(waits)', `${install} curl`]);
  assert.match(short.said[1] ?? '', /^another package manager is at work.* 300 s/);
  const long = machineOf(true, ...Array<Answer>(1_000).fill(busy));
  assert.equal(await provide([curl], long.machine), false);
  assert.equal(long.asked.filter((each) => each === '(waits)').length, 300);
});

test('where all together fail, each is tried, and one that must be there ends the run', async () => {
  const all = [/install .* curl rustc-web/, 100, 'E: held'] as const;
  const fits = [/^apt-cache/, 0, policy('1.96.0')] as const;
  const one = machineOf(true, fits, all, [/install .* rustc-web/, 100, 'E: no Rust']);
  assert.equal(await provide([curl, rust], one.machine), true);
  assert.match(one.said.at(-1) ?? '', /^Rust cannot be had: .*100\nE: no Rust$/);
  const other = machineOf(true, fits, all, [/install .* curl$/, 100, 'E: no curl']);
  assert.equal(await provide([curl, rust], other.machine), false);
  assert.match(other.said.at(-1) ?? '', /^curl cannot be had: .*100\nE: no curl$/);
});

test('files need what they import, and a pure one nothing', () => {
  const names = (...files: string[]) => needsOf(root, files).map(({ what }) => what);
  assert.deepEqual(names('packages/core/amounts.test.ts'), []);
  assert.deepEqual(names('apps/market/webhooks/send.test.ts'), ['openssl']);
  assert.deepEqual(names('packages/chains/nodes/transport-chromium.test.ts'), ['Chromium']);
  assert.ok(names('verify/test/web.test.ts').includes('Chromium'), 'through others');
});

test('the tests need, together, everything, and each need has files that want it', () => {
  assert.deepEqual(needsOf(root, filesOf('**/*.test.ts')), needs);
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
