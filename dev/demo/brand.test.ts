// A market under another name: the tour's wallet, which joins as people of the demo do, asks the
// market for its name and signs in to it all the same.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { testEdge } from '@parley/market/edge/testing/edge.ts';
import { parleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { brandOf } from './market.ts';

const run = promisify(execFile);
const acme = { productName: 'Acme', shortName: 'acme' };
const edge = await testEdge({ settings: acme });

test('wallets sign in to a market that goes by another name', async (t) => {
  const url = `http://127.0.0.1:${await edge.port()}`;
  assert.deepEqual(await brandOf(url, {}), acme);
  const PARLEY_PRODUCT_NAME = acme.productName;
  const PARLEY_SHORT_NAME = acme.shortName;
  const given = { PARLEY_PRODUCT_NAME, PARLEY_SHORT_NAME };
  assert.deepEqual(await brandOf('http://127.0.0.1:1', given), acme);
  const dir = await mkdtemp(join(tmpdir(), 'parley-brand-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'keys.json');
  const wallet = join(import.meta.dirname, '../../scripts', 'wallet.ts');
  await run(process.execPath, [wallet, 'join', file, url], { timeout: 60_000 });
  const { apiKey: key } = JSON.parse(await readFile(file, 'utf8')) as { apiKey: string };
  assert.match(key, /^acme_test_/);
  const client = parleyClient({ baseUrl: url, ...acme, key });
  const { wallets } = await client.me();
  assert.ok(
    Object.values(wallets).every(({ login, proven }) => (login ?? proven[0]) !== undefined),
  );
  await assert.rejects(
    client.swap(crypto.randomUUID()),
    (error) => error instanceof ParleyApiError && !error.code.startsWith('http_'),
  );
});
