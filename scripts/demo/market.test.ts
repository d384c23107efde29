// Which running market `--url` means.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSamePlace, runningMarket } from './market.ts';

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
  const elsewhere = runningMarket('http://localhost:8081', undefined);
  await assert.rejects(elsewhere, /is of http:\/\/127\.0\.0\.1:8080, not of/);
});

test('another port, another address or a name that nobody knows is another place', async () => {
  for (const url of ['http://127.0.0.1:8081', 'http://127.0.0.2:8080', 'https://127.0.0.1:8080']) {
    assert.equal(await isSamePlace(announcedUrl, url), false, url);
  }
  assert.equal(await isSamePlace(announcedUrl, 'http://no-such-host.invalid:8080'), false);
});
