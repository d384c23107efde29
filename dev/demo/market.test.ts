// Which running market `--url` means, and what it plays on.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DevnetStatus } from '../devnet/client.ts';
import { isSamePlace, runningMarket } from './market.ts';
import { namesOf } from './place.ts';

const announcedUrl = 'http://127.0.0.1:8080';

test('localhost is the market that announced itself by its address', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'parley-demo-'));
  const was = process.env.PARLEY_HOME;
  t.after(() => {
    if (was === undefined) delete process.env.PARLEY_HOME;
    else process.env.PARLEY_HOME = was;
    return rm(home, { recursive: true, force: true });
  });
  const dev = 'http://127.0.0.1:9999';
  await writeFile(join(home, 'ready.json'), JSON.stringify({ url: announcedUrl, dev }));
  process.env.PARLEY_HOME = home;
  for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080/', 'http://LOCALHOST:8080']) {
    assert.equal((await runningMarket(url, undefined)).dev, dev, url);
  }
  const { url, dev: at } = await runningMarket(undefined, undefined);
  assert.deepEqual([url, at], [announcedUrl, dev], 'without an address it is the one there is');
  const elsewhere = runningMarket('http://localhost:8081', undefined);
  await assert.rejects(elsewhere, /is of http:\/\/127\.0\.0\.1:8080, not of/);
  for (const url of ['http://127.0.0.2:8080', 'https://127.0.0.1:8080', 'http://a.example:8080']) {
    assert.equal(isSamePlace(announcedUrl, url), false, url);
  }
});

test('a simulator is called one, and a node by its name', () => {
  const chains = [
    { chain: 'bitcoin-regtest', node: { name: 'bitcoind', version: '29' } },
    { chain: 'tron-dev', node: { name: 'parley-tron-simulator', version: '1' } },
  ];
  assert.equal(
    namesOf({ chains } as unknown as DevnetStatus),
    'bitcoin-regtest (bitcoind), tron-dev (a SIMULATOR, no node)',
  );
});
