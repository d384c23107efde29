// Where Debian's packages are fetched from, by the real apt with sources of its own.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { debianMirrors } from './debian-package.ts';

test('the mirror is known where apt has fetched no list yet, as in an image', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-apt-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  await mkdir(join(dir, 'lists/partial'), { recursive: true });
  await mkdir(join(dir, 'cache'));
  const sources = [
    'deb http://mirror.example/debian bookworm main',
    'deb http://others.example/tool stable-tool main',
  ];
  await writeFile(join(dir, 'sources.list'), `${sources.join('\n')}\n`);
  const settings = [
    `Dir::State::lists "${dir}/lists";`,
    `Dir::Cache "${dir}/cache";`,
    `Dir::Etc::sourcelist "${dir}/sources.list";`,
    'Dir::Etc::sourceparts "-";',
  ];
  const file = join(dir, 'apt.conf');
  await writeFile(file, `${settings.join('\n')}\n`);
  const mirrors = await debianMirrors({ ...process.env, APT_CONFIG: file });
  assert.deepEqual(mirrors, ['http://mirror.example/debian/']);
});
