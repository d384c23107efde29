// The maker program as an outsider has it: an empty folder, its tarball installed by npm, keys and
// settings in files, `npx`, and a market that it has never seen. How long until its first quote.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { brandOf, ownMarket } from '@parley/dev/demo/market.ts';
import { leave, newPerson } from '@parley/dev/demo/people.ts';
import { placeOf } from '@parley/dev/demo/place.ts';
import { assetsOf } from '@parley/dev/demo/trades.ts';
import { devnetClient } from '@parley/dev/devnet/client.ts';
import { prepareDevMaker } from '@parley/scripts/maker-dev.ts';
import { pack } from '@parley/scripts/tarballs.ts';
import { quoteOf } from '../support/maker.ts';
import { install, npx } from './install.ts';

/** Seconds from the empty folder, without what the faucet takes. */
export async function firstQuote(work: string): Promise<number> {
  const made = await pack('maker', work);
  const folder = join(work, 'maker');
  const market = await ownMarket();
  try {
    const dev = devnetClient(market.dev);
    const place = placeOf(await dev.status());
    const here = { url: market.url, brand: await brandOf(market.url), dev };
    const now = () => Math.floor(Date.now() / 1_000);
    const taker = await newPerson('taker', 'evm', place, { ...here, now });
    const assets = await assetsOf(taker, place);
    let began = performance.now();
    await install(
      folder,
      made.map(({ file }) => file),
    );
    const installMs = performance.now() - began;
    await prepareDevMaker(market, folder);
    began = performance.now();
    assert.match(await npx(folder, 'parley-maker', 'maker.toml', 'check'), /^btc\S* on .*: 10$/m);
    const bin = join(folder, 'node_modules/.bin/parley-maker');
    const maker = spawn(process.execPath, [bin, 'maker.toml'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(maker, 'close') as Promise<[number | null]>;
    try {
      const rfq = await taker.client.createRfq({
        direction: 'sell_base',
        baseAssetId: assets.BTC.id,
        baseAmount: '1000000',
        quoteAssetId: assets['EVM dollar'].id,
        ttlSeconds: 600,
      });
      const thread = await quoteOf(taker, rfq.id);
      assert.equal(thread.quoteAmount, '636800000');
    } finally {
      maker.kill('SIGTERM');
    }
    const seconds = (installMs + performance.now() - began) / 1_000;
    assert.deepEqual((await ended)[0], 0);
    await leave(taker);
    return seconds;
  } finally {
    await market.stop();
  }
}
