// A market under another name: the demo's people and the tour's wallet sign in to it all the same.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { devnetClient } from '../../devnet/client.ts';
import { ParleyApiError } from '../../sdk/errors.ts';

import { brandOf, ownMarket } from './market.ts';
import { leave, newPerson } from './people.ts';
import { placeOf } from './place.ts';

const run = promisify(execFile);
const limits = { timeout: 180_000 };
const acme = { productName: 'Acme', shortName: 'acme' };

test('people and wallets sign in to a market that goes by another name', limits, async () => {
  process.env.PARLEY_PRODUCT_NAME = acme.productName;
  process.env.PARLEY_SHORT_NAME = acme.shortName;
  const dir = await mkdtemp(join(tmpdir(), 'parley-brand-'));
  const market = await ownMarket();
  try {
    assert.deepEqual(await brandOf(market.url, {}), acme);
    assert.deepEqual(await brandOf('http://127.0.0.1:1'), acme);
    const dev = devnetClient(market.dev);
    const place = placeOf(await dev.status());
    const now = () => Math.floor(Date.now() / 1000);
    const person = await newPerson('Alice', 'evm', place, {
      url: market.url,
      brand: acme,
      dev,
      now,
    });
    await leave(person);
    await assert.rejects(
      person.client.swap(crypto.randomUUID()),
      (error) => error instanceof ParleyApiError && !error.code.startsWith('http_'),
    );
    const file = join(dir, 'keys.json');
    const wallet = join(import.meta.dirname, '..', 'wallet.ts');
    const env: NodeJS.ProcessEnv = { ...process.env };
    delete env.PARLEY_PRODUCT_NAME;
    delete env.PARLEY_SHORT_NAME;
    await run(process.execPath, [wallet, 'join', file, market.url], { env, timeout: 60_000 });
    assert.match(await readFile(file, 'utf8'), /"apiKey": "acme_test_/);
  } finally {
    await market.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
