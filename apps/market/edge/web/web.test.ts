// The app for browsers, as the market serves a build: names, caches, packing, headers, and what is
// no screen. The build is a small one, made here.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { testEdge } from '../testing/edge.ts';
import { readBuild } from './build.ts';
import { registerWeb, type Web } from './routes.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const page = '<!doctype html><title>Parley</title>';
const script = 'console.log(1);'.repeat(100);
const contents = { 'assets/index-abc.js': script, 'index.html': page, 'worker.js': 'self.x=1' };

/** A folder as the build leaves it. */
async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-web-'));
  after(() => rm(folder, { recursive: true, force: true }));
  const named = Object.entries(files).map(([path, text]) => ({ path, sha256: sha256(text) }));
  const hash = sha256(named.map((each) => `${each.sha256}  ./${each.path}\n`).join(''));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await writeFile(join(folder, 'assets/index-abc.js.gz'), gzipSync(script));
  const screens = ['/', '/swaps/$id', '/status'];
  await writeFile(join(folder, 'build.json'), JSON.stringify({ hash, files: named, screens }));
  return folder;
}

const build = await readBuild(await folderOf(contents));
assert.ok(build !== null);
const name = 'Parley';
const edge = await testEdge({}, undefined, { build, config: () => ({ productName: name }) });
const get = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  edge.app.inject({ url, headers });
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('every screen is the app, asked for anew each time and answered 304 where it is known', async () => {
  for (const url of ['/', '/swaps/8f14e45f?from=book']) {
    const { statusCode, headers, body } = await get(url, browser);
    assert.deepEqual([statusCode, body], [200, page], url);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(headers['cache-control'], 'no-cache');
    const known = await get(url, { 'if-none-match': `"x", ${headers.etag}` });
    assert.deepEqual([known.statusCode, known.body], [304, '']);
  }
});

test('a file with a name of its content may be kept for a year, all others are asked for anew', async () => {
  const { headers } = await get('/app/assets/index-abc.js');
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
  for (const url of ['/app/worker.js', '/app/index.html', '/app/build.json', '/app/config.js']) {
    assert.equal((await get(url)).headers['cache-control'], 'no-cache', url);
  }
  assert.equal((await get('/app/worker.js')).headers['service-worker-allowed'], '/');
});

test('a file is packed as the client takes it, and its name says so to every cache', async () => {
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['identity', undefined],
    ['', undefined],
  ] as const) {
    const { headers, rawPayload } = await get('/app/assets/index-abc.js', {
      'accept-encoding': accepted,
    });
    assert.equal(headers['content-encoding'], encoding, accepted);
    const plain = encoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload;
    assert.equal(plain.toString(), script);
    assert.equal(headers.vary, 'accept-encoding');
  }
});

test('the status is the app for a browser and JSON for programs, and says so to every cache', async () => {
  const shown = await get('/status', browser);
  assert.deepEqual([shown.statusCode, shown.body], [200, page]);
  assert.equal(shown.headers.vary, 'accept, accept-encoding');
  for (const headers of [{}, { accept: 'application/json' }, { accept: '*/*' }]) {
    const told = await get('/status', headers);
    assert.equal(told.headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual([told.json().network, told.headers.vary], ['dev', 'accept']);
  }
});

test('an address without a screen is 404: the app’s own page for people, a sentence for programs', async () => {
  const missing = await get('/nowhere', browser);
  assert.deepEqual([missing.statusCode, missing.body], [404, page]);
  for (const [url, headers] of [
    ['/nowhere', {}],
    ['/v1/nowhere', browser],
    ['/account/nowhere', browser],
    ['/app/assets/gone-def.js', browser],
    ['/app/nowhere', browser],
  ] as const) {
    const { statusCode, body } = await get(url, headers);
    assert.deepEqual(
      [statusCode, JSON.parse(body)],
      [404, { error: 'there is nothing at this path' }],
    );
  }
  for (const url of ['/', '/app/index.html']) {
    assert.equal((await edge.app.inject({ method: 'POST', url })).statusCode, 405);
  }
});

test('the policy names all that may run or be asked', async () => {
  for (const url of ['/', '/app/assets/index-abc.js', '/app/worker.js', '/app/config.js']) {
    const { headers } = await get(url);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
        "font-src 'self'; connect-src 'self' https: wss: http://127.0.0.1:* ws://127.0.0.1:*; " +
        "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; " +
        "frame-ancestors 'none'",
    );
    const allowed = String(headers['permissions-policy'])
      .split(', ')
      .filter((each) => !each.endsWith('=()'));
    assert.deepEqual(allowed, [
      'clipboard-write=(self)',
      'publickey-credentials-create=(self)',
      'publickey-credentials-get=(self)',
    ]);
    assert.match(String(headers['permissions-policy']), /camera=\(\).*usb=\(\)/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
  }
});

test('a folder whose files are not its build’s is refused, and an empty one is no build', async () => {
  const folder = await folderOf(contents);
  await writeFile(join(folder, 'worker.js'), 'self.x=2');
  await assert.rejects(readBuild(folder), /worker\.js is not what build\.json names/);
  assert.equal(await readBuild(join(folder, 'assets')), null);
});

test('a market without a build says how to make one, and goes on', async () => {
  const app = Fastify();
  registerWeb(app, { build: null, config: () => ({}) });
  const { statusCode, body, headers } = await app.inject('/');
  assert.deepEqual([statusCode, headers.refresh], [503, undefined]);
  assert.match(body, /npm ci && npm run web/);
});

test('every screen says that the app is being built, and is the app when it is', async () => {
  const web: Web = { build: null, isBuilding: true, config: () => ({}) };
  const { app } = await testEdge({}, undefined, web);
  const status = async (url: string) => (await app.inject({ url, headers: browser })).statusCode;
  const all = async (...urls: string[]) => Promise.all(urls.map(status));
  const { body, headers } = await app.inject({ url: '/', headers: browser });
  assert.match(body, /^The app is being built/);
  assert.equal(headers.refresh, '2', 'a browser asks again');
  assert.deepEqual(await all('/', '/swaps/1', '/v1/nowhere'), [503, 503, 404]);
  assert.deepEqual(await all('/app/index.html', '/app/config.js'), [404, 404]);
  web.build = build;
  const urls = ['/', '/swaps/1?a=b', '/status', '/app/index.html', '/app/config.js', '/nowhere'];
  assert.deepEqual(await all(...urls), [200, 200, 200, 200, 200, 404]);
  assert.equal((await app.inject({ url: '/swaps/1', headers: browser })).body, page);
});
