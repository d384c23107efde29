// The documents' site as the market serves it: names, packing, caches, policy, and what is no page.
// The site is a small one, made here.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { registerDocuments } from './documents.ts';

const script = 'console.log(1);'.repeat(100);
const contents: Readonly<Record<string, string | Buffer>> = {
  'index.html': '<title>Documents</title>',
  'api.html': '<title>API</title>',
  '404.html': '<title>None</title>',
  'llms.txt': '# Parley',
  'assets/a.js': script,
  'assets/a.js.br': brotliCompressSync(script),
};

async function served(files: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-documents-'));
  after(() => rm(folder, { recursive: true, force: true }));
  const put = async (names: readonly string[], at: number) => {
    for (const name of names) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), contents[name] ?? '');
    }
    const named = names.filter((name) => !name.endsWith('.br'));
    await writeFile(join(folder, 'build.json'), JSON.stringify({ files: named }));
    await utimes(join(folder, 'build.json'), at, at);
  };
  if (files.length > 0) await put(files, 1);
  const app = Fastify();
  registerDocuments(app, folder);
  return { app, put };
}

test('a page goes by its name, with a policy that lets in no other origin and no script inside', async () => {
  const { app } = await served(Object.keys(contents));
  for (const [url, title] of [
    ['/docs', 'Documents'],
    ['/docs/', 'Documents'],
    ['/docs/api', 'API'],
    ['/docs/api.html', 'API'],
  ]) {
    const { statusCode, headers, body } = await app.inject(url!);
    assert.deepEqual([statusCode, body], [200, `<title>${title}</title>`], url);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(headers['cache-control'], 'no-cache');
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /https?:/);
    const again = await app.inject({ url: url!, headers: { 'if-none-match': `${headers.etag}` } });
    assert.equal(again.statusCode, 304);
  }
});

test('a path that the build does not name is 404, whatever lies in the folder', async () => {
  const { app } = await served(Object.keys(contents));
  for (const path of [
    'none',
    '../package.json',
    '..%2fpackage.json',
    'build.json',
    'assets/a.js.br',
  ]) {
    const { statusCode, body } = await app.inject(`/docs/${path}`);
    assert.equal(statusCode, 404, path);
    assert.doesNotMatch(body, /files|console/, path);
  }
});

test('the index for language models stands where they look for it', async () => {
  const { app } = await served(Object.keys(contents));
  const { headers, body } = await app.inject('/llms.txt');
  assert.deepEqual([headers['content-type'], body], ['text/plain; charset=utf-8', '# Parley']);
});

test('where nothing was built it says how, and a newer build is served at once', async () => {
  const { app, put } = await served([]);
  const { statusCode, body } = await app.inject('/docs/api');
  assert.equal(statusCode, 503);
  assert.match(body, /npm run web/);
  await put(['index.html', '404.html'], 2);
  assert.equal((await app.inject('/docs')).statusCode, 200);
  assert.equal((await app.inject('/docs/api')).statusCode, 404);
  await put(['index.html', '404.html', 'api.html'], 3);
  assert.equal((await app.inject('/docs/api')).statusCode, 200);
});
