import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findBinaries } from './binaries.ts';

async function packageWithoutLinks(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'parley-package-'));
  await mkdir(join(root, 'native', 'lib'), { recursive: true });
  await writeFile(join(root, 'native', 'lib', 'libx.so.1.2'), '');
  const link = { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' };
  await writeFile(join(root, 'native', 'pg-symlinks.json'), JSON.stringify([link]));
  return root;
}

test('missing library links are made again, by starters side by side too', async (t) => {
  const root = await packageWithoutLinks();
  t.after(() => rm(root, { recursive: true }));
  const spare = join(root, 'spare');
  await Promise.all(Array.from({ length: 8 }, () => findBinaries(spare, root)));
  assert.equal(await readlink(join(root, 'native', 'lib', 'libx.so.1')), 'libx.so.1.2');
  assert.deepEqual((await findBinaries(spare, root)).env, {});
});

/** Root may write everywhere: they see nothing there. */
const asUserOnly: (name: string, run: (t: TestContext) => Promise<void>) => void =
  process.getuid?.() === 0 ? () => {} : test;

asUserOnly('a package that cannot be written gets its links in the spare folder', async (t) => {
  const root = await packageWithoutLinks();
  t.after(async () => {
    await chmod(join(root, 'native', 'lib'), 0o700);
    await rm(root, { recursive: true });
  });
  await chmod(join(root, 'native', 'lib'), 0o500);
  const spare = join(root, 'spare');
  const { env } = await findBinaries(spare, root);
  assert.equal(await readlink(join(spare, 'libx.so.1')), join(root, 'native/lib/libx.so.1.2'));
  assert.ok(Object.values(env)[0]?.startsWith(`${spare}:`));
});
