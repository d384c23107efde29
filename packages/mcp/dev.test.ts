// `--dev` at a market under another name: the profile it makes is signed in there.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testEdge } from '@parley/market/edge/testing/edge.ts';
import { placesOf } from '@parley/trader/places.ts';
import { quietIo } from '@parley/verify/test/support/agents.ts';
import { prepareDev } from './dev.ts';

const acme = { productName: 'Acme', shortName: 'acme' };
const app = { type: 'text/html', etag: 'W/"x"', plain: Buffer.from('app'), br: null, gzip: null };
const build = { hash: '', files: [{ path: 'index.html', ...app }], screens: [] };
const web = { build, config: () => acme };
const edge = await testEdge({ settings: acme }, undefined, web);

/** The dev network's control address: one chain, and coins for whoever asks. */
const control = createServer((_request, response) => {
  const chain = { chain: 'evm-dev', family: 'evm', rpcUrl: 'http://127.0.0.1:1', chainId: 31_337 };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ chains: [chain], clockOffsetSeconds: 0, txid: '0x00' }));
});

test('a market of another name is asked for it, and its agent signs in by it', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'parley-mcp-dev-'));
  await new Promise<void>((resolve) => void control.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    control.close();
    await rm(home, { recursive: true, force: true });
  });
  const globals = { profile: 'dev', json: false, yes: true, passphraseFd: null };
  const cli = { ...quietIo(home, new AbortController().signal), ...globals };
  const { port } = control.address() as AddressInfo;
  const market = `http://127.0.0.1:${await edge.port()}`;
  await prepareDev(cli, { control: `http://127.0.0.1:${port}`, market });
  const { account, profileFile } = placesOf(cli.env, 'dev');
  const { productName, shortName } = JSON.parse(await readFile(profileFile, 'utf8'));
  assert.deepEqual({ productName, shortName }, acme);
  assert.match(JSON.parse(await readFile(account, 'utf8')).key, /^acme_test_/);
});
