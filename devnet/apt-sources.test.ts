import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseDeb822, parseOneLine, readAptSources } from './apt-sources.ts';

test('a one-line source gives its address, suite and key', () => {
  const text = `
    # deb http://commented.example/debian bookworm main
    deb [arch=amd64 signed-by=/keys/debian.gpg] http://mirror.example/debian bookworm main # why
    deb-src http://mirror.example/debian bookworm main
    deb http://contrib.example/debian bookworm contrib`;
  assert.deepEqual(parseOneLine(text), [
    { uri: 'http://mirror.example/debian', suites: ['bookworm'], signedBy: '/keys/debian.gpg' },
  ]);
});

test('a deb822 source gives every address, and its key even when it is written out', () => {
  const key =
    '\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----';
  const text = `Types: deb deb-src
# a remark
URIs: http://one.example/debian
 http://two.example/debian
Suites: trixie trixie-updates
Components: main contrib
Signed-By:${key}

Types: deb
URIs: http://off.example/debian
Suites: trixie
Components: main
Enabled: no
`;
  const suites = ['trixie', 'trixie-updates'];
  assert.deepEqual(parseDeb822(text), [
    { uri: 'http://one.example/debian', suites, signedBy: key },
    { uri: 'http://two.example/debian', suites, signedBy: key },
  ]);
});

test("only Debian's own archive is taken, once, and never a disc", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-apt-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'sources.list.d'));
  await writeFile(
    join(folder, 'sources.list'),
    `deb cdrom:[Debian] bookworm main
deb http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm-updates main
deb http://mirror.example/debian-security bookworm-security main`,
  );
  await writeFile(
    join(folder, 'sources.list.d', 'vendor.list'),
    'deb http://vendor.example/apt vendor-bookworm main',
  );
  assert.deepEqual(await readAptSources(folder), [
    { uri: 'http://mirror.example/debian', signedBy: null },
  ]);
  assert.deepEqual(await readAptSources(join(folder, 'absent')), []);
});
