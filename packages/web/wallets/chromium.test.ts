// Wallets of all four families in a real Chromium, each as its extension puts it there, and a
// funding by each on its chain. Answers of hostile ones are in lies.test.ts.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { verifyBitcoinProof } from '@parley/chains/bitcoin/proof.ts';
import { verifyEvmProof } from '@parley/chains/evm/proof.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { verifySolanaProof } from '@parley/chains/solana/proof.ts';
import { verifyTronProof } from '@parley/chains/tron/proof.ts';
import {
  type Coin,
  type FourChains,
  fourChains,
  reserved,
} from '@parley/sdk/testing/four-chains.ts';
import { sourceIn } from '@parley/sdk/trade.ts';
import { type BundledPage, serveBundled } from '@parley/verify/test/support/bundled-page.ts';
import { launch } from '@parley/verify/test/support/chromium.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { Browser, Page } from 'playwright-core';
import { walletScript } from './testing/script.ts';
import type { Told, WalletSettings } from './testing/settings.ts';
import type { Trader } from './testing/trader.ts';

declare const trader: Trader;
declare const walletDoubles: Record<string, Told>;

const limits = { timeout: 60_000 };
let chains: FourChains;
let page: Page;
const undo: (() => unknown)[] = [];
const release = reserved();
after(async () => {
  for (const each of undo.toReversed()) await each();
  await release();
}, limits);

before(async () => {
  const starting = fourChains();
  const [site, browser]: [BundledPage, Browser] = await Promise.all([
    serveBundled(join(import.meta.dirname, 'testing/trader.ts')),
    launch(),
  ]);
  undo.push(
    () => browser.close(),
    () => site.stop(),
  );
  chains = await starting;
  undo.push(() => chains.stop());
  page = await browser.newPage();
  page.on('pageerror', (error) => assert.fail(error));
  await page.addInitScript({ content: await walletScript(await walletsHere()) });
  await page.goto(site.url);
  await page.waitForFunction(() => 'trader' in globalThis && trader.found().length === 5);
  await page.evaluate((places) => trader.set({ places } as never), placesHere());
}, limits);

/** Two of EVM, the second one on another chain and with another key. */
async function walletsHere(): Promise<WalletSettings> {
  const { place, keysOf, dev } = chains;
  const { evm, tron, solana, bitcoin } = keysOf.maker;
  const { chains: served } = await dev.status();
  const coreUrl = served.find(({ family }) => family === 'bitcoin')?.pageUrl ?? '';
  return [
    { family: 'evm', name: 'Fox', privateKey: evm, chains: { 31337: place.evm.rpcUrl } },
    {
      family: 'evm',
      name: 'Rabbit',
      privateKey: keysOf.taker.evm,
      chains: { 1: place.evm.rpcUrl },
    },
    { family: 'tron', name: 'TronLink', privateKey: tron, url: place.tron.rpcUrl },
    { family: 'solana', name: 'Ghost', privateKey: solana },
    { family: 'bitcoin', name: 'Verse', privateKey: bitcoin, network: 'regtest', coreUrl },
  ];
}

function placesHere() {
  const { evm, tron, solana } = chains.place;
  const { chainId, escrows: contract, creation } = tron;
  return [
    { family: 'evm', ...evm, rpcUrls: [evm.rpcUrl], name: 'Dev chain', coin: 'ETH' },
    {
      family: 'tron',
      chain: tron.chain,
      chainId,
      sources: [{ url: tron.rpcUrl }],
      deployment: { chainId, contract, creation },
    },
    { family: 'solana', chain: solana.chain, genesisHash: 'dev', rpcUrls: [solana.rpcUrl] },
  ];
}

const does = (name: string, what: Told['does']) =>
  page.evaluate(
    ([at, how]) => {
      const told = walletDoubles[at as string];
      if (told) told.does = how as never;
    },
    [name, what],
  );
const prompts = (name: string) =>
  page.evaluate((at) => walletDoubles[at]?.prompts.splice(0) ?? [], name);
const emit = (name: string, event: string, value: unknown) =>
  page.evaluate(
    ([at, what, said]) => walletDoubles[at as string]?.emit(what as string, said),
    [name, event, value],
  );

test(
  'every wallet is found, with a name, an icon and an id that outlives a reload',
  limits,
  async () => {
    const found = await page.evaluate(() => trader.found());
    const ids = found.map(({ id }) => id);
    assert.deepEqual(ids, [
      'evm:test.fox',
      'evm:test.rabbit',
      'tron:org.tronlink.test',
      'solana:Ghost',
      'bitcoin:XverseProviders.BitcoinProvider',
    ]);
    assert.ok(found.every(({ icon }) => icon?.startsWith('data:image/svg+xml')));
    await page.reload();
    await page.waitForFunction(() => 'trader' in globalThis && trader.found().length === 5);
    assert.deepEqual(await page.evaluate(() => trader.found().map(({ id }) => id)), ids);
    await page.evaluate((places) => trader.set({ places } as never), placesHere());
  },
);

test('each signs a text as the market takes it', limits, async () => {
  const message = 'Sign to show that this address is yours.\n\nNonce: ü';
  const { maker } = chains.walletsOf;
  for (const [name, { family, address }] of [
    ['Fox', maker.evm],
    ['TronLink', maker.tron],
    ['Ghost', maker.solana],
    ['Verse', maker.bitcoin],
  ] as const) {
    const signature = await page.evaluate(
      ([at = '', text = '']) => trader.sign(at, text),
      [name, message],
    );
    assert.equal(typeof signature, 'string', JSON.stringify(signature));
    const proof = { address, message, signature: String(signature) };
    if (family === 'evm') await verifyEvmProof(proof, AbortSignal.timeout(1_000));
    if (family === 'tron') verifyTronProof(proof);
    if (family === 'solana') verifySolanaProof(proof);
    if (family === 'bitcoin') verifyBitcoinProof({ ...proof, network: bitcoinNetworks.regtest });
  }
});

for (const [coin, name, asked] of [
  ['ETH', 'Fox', ['eth_sendTransaction']],
  ['EVM dollar', 'Fox', ['eth_sendTransaction', 'eth_sendTransaction']],
  ['TRX', 'TronLink', ['sign']],
  ['TRON dollar', 'TronLink', ['sign', 'sign']],
  ['SOL', 'Ghost', ['solana:signTransaction']],
  ['SPL dollar', 'Ghost', ['solana:signTransaction']],
] as const) {
  test(`${name} funds a leg of ${coin}, in as few prompts as that takes`, limits, async () => {
    await page.evaluate((at) => trader.link(at), name);
    await prompts(name);
    const { escrow, chain, funded } = leg(coin);
    const txid = await page.evaluate(
      ([at, of]) => trader.fund(at as string, of as never),
      [chain, escrow],
    );
    assert.equal(typeof txid, 'string', JSON.stringify(txid));
    assert.deepEqual(await prompts(name), asked);
    assert.equal(await funded(), txid);
  });
}

function leg(coin: Coin) {
  const scene = chains.swap({ a: coin, b: 'BTC' });
  const escrow: WatchedEscrow = scene.market.watched('a');
  const { chain } = chains.place.coins[coin];
  const { adapter } = sourceIn(scene.input('maker').chains, chain);
  const funded = async () => {
    const read = () => adapter.readEscrow(escrow, AbortSignal.timeout(20_000));
    return (await waitUntil(async () => (await read()).funded)).txid;
  };
  return { escrow, chain, funded };
}

test('Verse pays a Bitcoin escrow in one payment', limits, async () => {
  const scene = chains.swap();
  const { address, terms } = scene.market.watched('b');
  const pay = ([to, sats]: readonly unknown[]) => trader.pay('Verse', to as string, sats as bigint);
  const txid = await page.evaluate(pay, [address, terms.amount]);
  const { adapter } = sourceIn(scene.input('taker').chains, chains.place.bitcoin.chain);
  const read = () => adapter.readEscrow(scene.market.watched('b'), AbortSignal.timeout(20_000));
  assert.equal((await waitUntil(async () => (await read()).funded)).txid, txid);
});

test('no is no, and an account that was left signs nothing', limits, async () => {
  for (const [name, coin, other] of [
    ['Fox', 'ETH', ['0x00000000000000000000000000000000000000Aa']],
    ['TronLink', 'TRX', ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8']],
    ['Ghost', 'SOL', []],
  ] as const) {
    await page.evaluate((at) => trader.link(at), name);
    const { escrow, chain } = leg(coin);
    const fund = () =>
      page.evaluate(([at, of]) => trader.fund(at as string, of as never), [chain, escrow] as const);
    await does(name, 'declines');
    assert.deepEqual(await fund(), { code: 'declined', message: `you declined it in ${name}` });
    await does(name, 'signs');
    await prompts(name);
    await emit(name, 'accountsChanged', other);
    await page.waitForFunction((at) => trader.gone().includes(at), name);
    assert.equal(((await fund()) as { code: string }).code, 'wrong_account');
    assert.deepEqual(await prompts(name), []);
  }
});

test(
  'a wallet on another chain is told of this one, and put on it, before it asks',
  limits,
  async () => {
    const { evm } = chains.place;
    await page.evaluate(() => trader.link('Rabbit'));
    await prompts('Rabbit');
    const scene = chains.swap({ a: 'BTC', b: 'ETH' } as never);
    const escrow = scene.market.watched('b');
    const txid = await page.evaluate(
      ([at, of]) => trader.fund(at as string, of as never),
      [evm.chain, escrow],
    );
    assert.equal(typeof txid, 'string', JSON.stringify(txid));
    assert.deepEqual(await prompts('Rabbit'), [
      'wallet_addEthereumChain',
      'wallet_switchEthereumChain',
      'eth_sendTransaction',
    ]);
  },
);
