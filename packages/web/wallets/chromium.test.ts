// Wallets of all four families in a real Chromium, each as its extension puts it there. Answers of
// hostile ones are in lies.test.ts; whole swaps with them are in verify/test/web-soak.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { verifyBitcoinProof } from '@parley/chains/bitcoin/proof.ts';
import { verifyEvmProof } from '@parley/chains/evm/proof.ts';
import { verifySolanaProof } from '@parley/chains/solana/proof.ts';
import { verifyTronProof } from '@parley/chains/tron/proof.ts';
import { serveBundled } from '@parley/verify/test/support/bundled-page.ts';
import { sharedBrowser } from '@parley/verify/test/support/chromium.ts';
import { walletScript } from './testing/script.ts';
import type { Trader } from './testing/trader.ts';

declare const trader: Trader;

const browser = sharedBrowser();
const site = await serveBundled(join(import.meta.dirname, 'testing/trader.ts'));
after(() => site.stop());

const privateKey = '42'.repeat(32);
const nowhere = 'http://127.0.0.1:1';
const message = 'Sign to show that this address is yours.\n\nNonce: ü';

test('every wallet is found by an id that outlives a reload, and signs as the market takes it', async () => {
  const page = await (await browser()).newPage();
  page.on('pageerror', (error) => assert.fail(error));
  const content = await walletScript([
    { family: 'evm', name: 'Fox', privateKey, chains: { 31337: nowhere } },
    { family: 'tron', name: 'TronLink', privateKey, url: nowhere },
    { family: 'solana', name: 'Ghost', privateKey },
    { family: 'bitcoin', name: 'Verse', privateKey, network: 'regtest', coreUrl: nowhere },
  ]);
  await page.addInitScript({ content });
  await page.goto(site.url);
  const foundIds = async () => {
    await page.waitForFunction(() => 'trader' in globalThis && trader.found().length === 4);
    return page.evaluate(() => trader.found().map(({ id }) => id));
  };
  const ids = await foundIds();
  assert.deepEqual(ids, [
    'evm:test.fox',
    'tron:org.tronlink.test',
    'solana:Ghost',
    'bitcoin:XverseProviders.BitcoinProvider',
  ]);
  const icons = await page.evaluate(() => trader.found().map(({ icon }) => icon));
  assert.ok(icons.every((icon) => icon?.startsWith('data:image/svg+xml')));
  await page.reload();
  assert.deepEqual(await foundIds(), ids);
  const proofOf = async (name: string) => {
    const sign = ([at, text]: [string, string]) => trader.sign(at, text);
    return { message, ...(await page.evaluate(sign, [name, message] as [string, string])) };
  };
  await verifyEvmProof(await proofOf('Fox'), AbortSignal.timeout(1_000));
  verifyTronProof(await proofOf('TronLink'));
  verifySolanaProof(await proofOf('Ghost'));
  verifyBitcoinProof({ ...(await proofOf('Verse')), network: bitcoinNetworks.regtest });
  await page.close();
});
