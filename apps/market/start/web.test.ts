// When the app is built at start, and that a build which fails stops nothing. The builder is a
// small one, in a repository made here.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { finishBuilds, openWeb, openWebAtOnce, webOf } from './web.ts';

const soon = 10;

/** Everything is as old as the build; the builder counts how often it ran. */
async function repository(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'parley-web-start-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const put = async (path: string, text: string, ageSeconds = 100) => {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    const at = Date.now() / 1_000 - ageSeconds;
    await utimes(file, at, at);
  };
  const hash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const built = JSON.stringify({ hash, files: [], screens: [] });
  await put('node_modules/vite/package.json', '{}');
  for (const name of ['web', 'trader', 'sdk', 'chains', 'core']) {
    await put(`packages/${name}/a.ts`, '');
  }
  await put('contracts/a.ts', '');
  await put('package-lock.json', '{}');
  await put('packages/web/dist/build.json', built);
  const builder = (code: string) => put('scripts/web.ts', code);
  await builder(`
    import { appendFileSync, writeFileSync } from 'node:fs';
    appendFileSync('${root}/runs', 'x');
    writeFileSync('${root}/packages/web/dist/build.json', '${built}');
    console.log('{"seconds":1.25}');`);
  const runs = async () => (await readFile(join(root, 'runs'), 'utf8').catch(() => '')).length;
  return { root, put, builder, runs };
}

test('a build is made where a source is newer, and once for it', async (t) => {
  const { root, put, runs } = await repository(t);
  assert.deepEqual([(await openWeb(root)).said, await runs()], [null, 0]);
  await put('packages/sdk/a.test.ts', '', soon);
  await put('packages/sdk/generated.ts', '', soon);
  await put('packages/web/dist/assets/x.js', '', soon);
  assert.deepEqual([(await openWeb(root)).said, await runs()], [null, 0]);
  for (const [at, path] of [
    'packages/web/deep/b.tsx',
    'packages/core/b.ts',
    'package-lock.json',
  ].entries()) {
    await put(
      'packages/web/dist/build.json',
      await readFile(join(root, 'packages/web/dist/build.json'), 'utf8'),
    );
    await put(path, '', soon);
    const { said, build } = await openWeb(root);
    assert.equal(said, 'built in 1.3 s', path);
    assert.ok(build !== null);
    assert.equal(await runs(), at + 1);
    assert.equal((await openWeb(root)).said, null);
  }
});

test('a start does not wait for a build: the former one is served, then the newer', async (t) => {
  const { root, put, builder } = await repository(t);
  assert.equal((await openWebAtOnce(root)).later, undefined);
  const newer = '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9';
  const files = [{ path: 'index.html', sha256: newer }];
  const hash = createHash('sha256').update(`${newer}  ./index.html\n`).digest('hex');
  const going = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    void going.promise.then(() => response.end());
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await builder(`
    import { writeFileSync } from 'node:fs';
    await fetch('http://127.0.0.1:${port}');
    const built = ${JSON.stringify({ hash, files, screens: [] })};
    writeFileSync('${root}/packages/web/dist/index.html', '0');
    writeFileSync('${root}/packages/web/dist/build.json', JSON.stringify(built));
    console.log('{"seconds":1}');`);
  await put('packages/web/a.ts', '', soon);
  const opened = await openWebAtOnce(root);
  assert.equal(opened.said, 'being built: its sources are newer');
  const web = webOf(opened, () => ({}));
  assert.deepEqual([web.build?.files, web.isBuilding], [[], true]);
  going.resolve();
  assert.equal((await opened.later)?.said, 'built in 1.0 s');
  assert.deepEqual([web.build?.hash, web.isBuilding], [hash, false]);
});

test('a build that fails beside the start leaves the former one', async (t) => {
  const { root, put, builder } = await repository(t);
  await builder('process.exit(1)');
  await put('packages/web/a.ts', '', soon);
  const opened = await openWebAtOnce(root);
  const web = webOf(opened, () => ({}));
  assert.match((await opened.later)?.said ?? '', /^not built, /);
  assert.deepEqual([web.build?.files, web.isBuilding], [[], false]);
});

test('a build that fails leaves the market without the app, and says where to look', async (t) => {
  const { root, put, builder } = await repository(t);
  await builder('process.exit(1)');
  await put('packages/web/a.ts', '', soon);
  const { said, build } = await openWeb(root);
  assert.equal(build, null);
  assert.match(said ?? '', /^not built, `npm run web` says more: Command failed/);
});

test('a build is packed behind, and served packed from then on', async (t) => {
  const { root, put, builder } = await repository(t);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const files = [{ path: 'index.html', sha256: sha256('page') }];
  const hash = sha256(`${files[0]?.sha256}  ./index.html\n`);
  await put('packages/web/dist/build.json', JSON.stringify({ hash, files, screens: [] }), soon);
  await put('packages/web/dist/index.html', 'page', soon);
  await builder(`
    import { writeFileSync } from 'node:fs';
    if (process.argv.slice(2).join(' ') !== '--only pack --json') process.exit(1);
    writeFileSync('${root}/packages/web/dist/index.html.br', 'small');`);
  const { build } = await openWeb(root);
  const page = build?.files[0];
  assert.equal(page?.br, null);
  assert.equal(await finishBuilds(build, root), true);
  assert.equal(String(page?.br), 'small');
  assert.equal(await finishBuilds(build, root), false, 'once');
});
