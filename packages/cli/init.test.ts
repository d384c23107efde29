// `parley init --dev` writes down the market that the dev network is of.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { placesOf, writePrivate } from '@parley/trader/places.ts';
import { runParley } from './run.ts';
import { testIo } from './testing/io.ts';

const dir = await mkdtemp(join(tmpdir(), 'parley-init-'));
let status: object = {};
const control = createServer((_, response) => response.end(JSON.stringify(status)));
await new Promise<void>((next) => control.listen(0, '127.0.0.1', next));
const { port } = control.address() as AddressInfo;
after(async () => {
  control.close();
  await rm(dir, { recursive: true, force: true });
});

async function init(home: string, ...more: string[]) {
  const cwd = join(dir, home);
  const env = { HOME: cwd };
  const { io, said } = testIo(cwd);
  const other = { url: 'http://127.0.0.1:1', dev: 'http://127.0.0.1:2' };
  await writePrivate(join(cwd, '.parley/ready.json'), JSON.stringify(other));
  const args = ['init', '--dev', '--control', `http://127.0.0.1:${port}`, ...more];
  const code = await runParley(args, io);
  const { profileFile } = placesOf(env, 'dev');
  const profile = code === 0 ? JSON.parse(await readFile(profileFile, 'utf8')) : null;
  return { profile, err: said.err };
}

test('the market of a dev network is what its control server says, name and all', async () => {
  const market = { url: 'http://127.0.0.1:19000', productName: 'Swaps', shortName: 'swaps' };
  status = { chains: [], market };
  const { url, ...names } = market;
  const written = (await init('asked')).profile;
  const { productName, shortName } = written;
  assert.deepEqual({ productName, shortName }, names);
  assert.equal(written.market, url);
  const named = (await init('named', '--market', 'http://127.0.0.1:19001')).profile;
  assert.equal(named.market, 'http://127.0.0.1:19001');
});

test('a dev network whose market does not listen yet names none, and none is guessed', async () => {
  status = { chains: [], market: null };
  const { profile, err } = await init('early');
  assert.equal(profile, null);
  assert.match(err, /does not say which market it is of: wait .* or give --market URL/);
});
