// The parts of a drill: swaps of a person who gives Bitcoin for dollars, agreed by the engine of
// the app in Chromium; the rescue that it saves of them; and the saved rescue page, opened from a
// disk with nodes alone.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import { accept } from '@parley/sdk/agree.ts';
import { linkWallet } from '@parley/sdk/keys.ts';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { settle } from '@parley/sdk/settle.ts';
import { bitcoinSource, evmSource } from '@parley/sdk/sources.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import type { Deal, Engine } from '@parley/web/engine/types.ts';
import { walletScript } from '@parley/web/wallets/testing/script.ts';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { bundle } from './bundle.ts';
import { pageLimitMs } from './chromium.ts';
import { type Person, type Web, watch } from './web.ts';

const folder = '/app/assets/tested/';
const payout = 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6';
/** Another one, named in the copy alone. */
const rescuePayout = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
export const sats = 1_000_000n;
const dollars = 640_000_000n;

type Tested = { engine: Engine };
type Modules = ReadonlyMap<string, string>;

/** The engine of the app, for `agreeing`. */
async function engineModules(): Promise<Modules> {
  const { chunks } = await bundle({ engine: 'packages/web/engine/testing/page.ts' });
  return new Map(chunks.map(({ fileName, code }) => [fileName, code]));
}

/** The engine of the app, in a page of the market's origin: for what other screens do. */
async function withEngine(page: Page, modules: Modules, { accountId }: Person): Promise<void> {
  await page.context().route(`**${folder}**`, (route) => {
    const code = modules.get(new URL(route.request().url()).pathname.slice(folder.length));
    return code === undefined
      ? route.abort()
      : route.fulfill({ contentType: 'text/javascript', body: code });
  });
  const entry = [...modules.keys()].find((name) => /engine-[^/]*\.js$/.test(name));
  await page.evaluate(
    async ({ url, as }) => {
      const { pageEngine, show } = await import(url);
      show(as);
      Object.assign(globalThis, { engine: await pageEngine() });
    },
    { url: `${folder}${entry}`, as: accountId },
  );
}

const newPhrase = (page: Page) =>
  page.evaluate(async () => {
    const { vault } = (globalThis as unknown as Tested).engine;
    await vault.make();
    const words = await vault.words();
    const typed = Object.fromEntries(vault.asked().map((at) => [at, words[at - 1] ?? '']));
    await vault.check(typed);
    return words.join(' ');
  });

/**
 * A person with a phrase in a browser profile of its own, who agrees to what a maker on both chains
 * quotes it. All of it ends with the test.
 */
export async function drill(t: TestContext, web: Web) {
  const home = await mkdtemp(join(tmpdir(), 'parley-copy-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const over = new AbortController();
  t.after(() => over.abort());
  const on = await chainsOf(web);
  const making = [engineModules(), web.person(), makerOn(web, on, over.signal)] as const;
  const [modules, alice, maker] = await Promise.all(making);
  await web.dev.faucet({ chain: on.evm.chain, address: alice.address });
  const context = await web.browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
  t.after(() => context.close());
  const page = await web.open(t, '/help', { as: alice, context });
  const { phrase, agree } = await agreeing(page, modules, alice, on);
  return { home, on, alice, maker, context, page, phrase, agree };
}

/** A browser whose person has a phrase agrees to these swaps with the maker. */
async function agreeing(page: Page, modules: Modules, alice: Person, on: On) {
  await withEngine(page, modules, alice);
  const phrase = await newPhrase(page);
  await linkPhrase(alice, phrase, on);
  const agree = async (maker: Awaited<ReturnType<typeof makerOn>>): Promise<Of> => {
    const deal = await maker.quoted(alice);
    await page.evaluate((it) => (globalThis as unknown as Tested).engine.accept(it), deal);
    const id = await maker.agrees(deal);
    return { id, escrow: await escrowOf(alice, id) };
  };
  return { phrase, agree };
}

type Chain = Awaited<ReturnType<Web['dev']['status']>>['chains'][number];
export type On = { readonly btc: Chain; readonly evm: Chain };

/** Bitcoin and EVM. */
async function chainsOf(web: Web): Promise<On> {
  const { chains } = await web.dev.status();
  const btc = chains.find(({ family }) => family === 'bitcoin');
  const evm = chains.find(({ family }) => family === 'evm');
  assert.ok(btc && evm);
  return { btc, evm };
}

export type Of = { readonly id: string; readonly escrow: string };

/** The market pays only keys that an account has shown: as the app's wallets screen does. */
async function linkPhrase({ client, evmKey }: Person, phrase: string, { evm }: On) {
  const { privateKey } = (await phraseKeys(phrase, 'dev')).bitcoinKey(0);
  const { chainId = 0, rpcUrl } = evm;
  const key = bitcoinWallet({ privateKey, network: 'regtest' });
  await linkWallet(client, key, evmWallet({ privateKey: evmKey, chainId, rpcUrl }));
}

/** A maker that pays dollars for Bitcoin, by the SDK, and settles until `over`. */
async function makerOn(web: Web, { btc, evm }: On, over: AbortSignal) {
  const bob = await web.person();
  const [dollar] = evm.tokens ?? [];
  const { chainId = 0, rpcUrl } = evm;
  assert.ok(dollar);
  await web.dev.faucet({ chain: evm.chain, address: bob.address });
  await web.dev.faucet({ chain: evm.chain, address: bob.address, asset: dollar.symbol });
  const ether = evmWallet({ privateKey: bob.evmKey, chainId, rpcUrl });
  const privateKey = randomBytes(32).toString('hex');
  const coins = bitcoinWallet({ privateKey, network: 'regtest' });
  await linkWallet(bob.client, coins, ether);
  const now = () => Math.floor(Date.now() / 1_000);
  const source = { coreUrl: btc.rpcUrl };
  const onBitcoin = bitcoinSource({ chain: btc.chain, network: 'regtest', source, now });
  const onEvm = evmSource({ chain: evm.chain, chainId, rpcUrls: [rpcUrl] });
  const chains = {
    [btc.chain]: { source: onBitcoin, wallet: coins },
    [evm.chain]: { source: onEvm, wallet: ether },
  };
  const side = { client: bob.client, chains, store: memoryStore(), now };
  const { assets } = await bob.client.assets({ limit: 100 });
  const pin = (chain: string, token: string | null, decimals: number) => {
    const id = assets.find((each) => each.chain === chain && each.address === token)?.id ?? '';
    return { id, chain, token, decimals, highValueFrom: null };
  };
  const base = pin(btc.chain, null, 8);
  const quote = pin(evm.chain, dollar.address, dollar.decimals);
  const quoted = async (alice: Person): Promise<Deal> => {
    const ids = { baseAssetId: base.id, quoteAssetId: quote.id };
    const rfq = await alice.client.createRfq({
      direction: 'sell_base',
      ...ids,
      baseAmount: sats.toString(),
      ttlSeconds: 600,
    });
    const { id: threadId } = await bob.client.quote(rfq.id, dollars.toString());
    const addresses = { [btc.chain]: payout, [evm.chain]: alice.address };
    return { party: 'taker', rfq, threadId, quoteAmount: dollars, base, quote, addresses };
  };
  const agrees = async ({ rfq, threadId }: Deal): Promise<string> => {
    const full = { ...side, userId: bob.accountId, quoteAmount: dollars, base, quote };
    const { trade, swapId } = await accept({
      ...full,
      party: 'maker',
      rfqId: rfq.id,
      threadId,
      direction: 'sell_base',
      baseAmount: sats,
    });
    assert.ok(swapId);
    settle({ ...side, swapId, trade, pollMs: 300, signal: over }).catch(() => undefined);
    return swapId;
  };
  return { quoted, agrees };
}

async function title(page: Page, text: string | RegExp): Promise<void> {
  await shown(page, page.locator('.swap-now h2', { hasText: text }));
}

/** With all that the page shows, where it never comes. */
async function shown(page: Page, what: Locator): Promise<void> {
  try {
    await what.waitFor({ state: 'attached' });
  } catch (error) {
    const text = await page.locator('body').textContent();
    throw new Error(`${page.url()} never shows ${what}:\n${text}`, { cause: error });
  }
}

/** Both sides have to have named their addresses. */
const escrowOf = ({ client }: Person, id: string) =>
  until('an escrow', async () => (await client.swap(id)).legs.b.escrow ?? null);

export type Saved = { readonly copy: string; readonly file: string };

/** The rescue file and the rescue page, as the app gives them. */
export async function savedBy(page: Page, home: string): Promise<Saved> {
  await page.evaluate(() => history.pushState(null, '', '/rescue'));
  await page.getByRole('heading', { name: 'Bring swaps back' }).waitFor();
  const copy = join(home, 'rescue.html');
  const file = join(home, 'rescue.json');
  for (const [control, path] of [
    [page.getByRole('button', { name: 'Save the rescue file' }).first(), file],
    [page.getByRole('link', { name: 'Save the rescue page' }), copy],
  ] as const) {
    const downloading = page.waitForEvent('download');
    await control.click();
    await (await downloading).saveAs(path);
  }
  return { copy, file };
}

export type Lost = Saved & {
  readonly on: On;
  readonly phrase: string;
  readonly alice: Person;
};

/** From a disk, by nodes alone: the market's origin is asked nothing. */
export async function rescued(profile: BrowserContext, lost: Lost) {
  const { copy, file, phrase, on, alice } = lost;
  const page = await profile.newPage();
  page.setDefaultTimeout(pageLimitMs);
  const { chainId = 0, rpcUrl } = on.evm;
  const wallet = { family: 'evm', name: 'Drill', privateKey: alice.evmKey } as const;
  const content = await walletScript([{ ...wallet, chains: { [chainId]: rpcUrl } }]);
  await page.addInitScript({ content });
  const nodes = { 'Bitcoin regtest': on.btc.pageUrl ?? '', 'EVM chain': rpcUrl };
  const origins = Object.values(nodes).map((url) => new URL(url).origin);
  // A page from a disk has none.
  const wrong = await watch(page, new Set([...origins, 'null']));
  await page.goto(`file://${copy}`);
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByLabel('The twelve words').fill(phrase);
  await page.getByRole('button', { name: 'Take this phrase' }).click();
  for (const [name, url] of Object.entries(nodes)) {
    const form = page.locator('form.node-chain', { hasText: name });
    await form.locator('textarea').fill(url);
    await form.getByRole('button', { name: 'Check and keep' }).click();
    await form.getByText('is of this chain').waitFor();
  }
  await page.getByRole('button', { name: 'Bring back 1 open swap' }).click();
  await page.getByText('It waits for a Bitcoin address of yours').waitFor();
  await page.getByRole('textbox', { name: 'Bitcoin address' }).fill(rescuePayout);
  await page.getByRole('button', { name: 'Pay this address' }).click();
  await page.getByText('Brought back. It goes on by itself').waitFor();
  return { page, wrong };
}

/** On the page of a swap, by the person's own wallet: as far as the dollars. */
export async function collects(page: Page, { address }: Person, { evm }: On): Promise<void> {
  await page.getByRole('button', { name: 'Drill' }).first().click();
  await page.getByRole('button', { name: 'Ask the wallet' }).click();
  await title(page, /You received 640/);
  const [dollar] = evm.tokens ?? [];
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
  const call = rpcTo(evm.rpcUrl);
  const balance = await call<string>('eth_call', [{ to: dollar?.address, data }, 'latest']);
  assert.equal(BigInt(balance), dollars);
}

export async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const limit = performance.now() + 100_000;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    assert.ok(performance.now() < limit, `never ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
