// Bitcoin paid by hand in the app, on real chains: too little, too much, twice, late. Then browser
// and market are lost, and a saved copy brings every satoshi back by phrase, rescue file and nodes.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { bitcoinNetworks } from '../chains/bitcoin/networks.ts';
import { rpcTo } from '../devnet/rpc.ts';
import { accept } from '../sdk/agree.ts';
import { linkWallet } from '../sdk/keys.ts';
import { phraseKeys } from '../sdk/rescue/derive.ts';
import { settle } from '../sdk/settle.ts';
import { bitcoinSource, evmSource } from '../sdk/sources.ts';
import { memoryStore } from '../sdk/stores/memory.ts';
import { bitcoinWallet } from '../sdk/wallets/bitcoin.ts';
import { evmWallet } from '../sdk/wallets/evm.ts';
import type { Wallet } from '../sdk/wallets/wallet.ts';
import type { Deal, Engine } from '../web/engine/types.ts';
import { bundle } from './support/bundle.ts';
import { type Person, startWeb, type Web, watch } from './support/web.ts';

const folder = '/app/assets/tested/';
const payout = 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6';
const sats = 1_000_000n;
const dollars = 640_000_000n;

let web: Web;
let modules: ReadonlyMap<string, string>;
const over = new AbortController();
before(async () => {
  const files = { engine: 'web/engine/testing/page.ts' };
  const [started, { chunks }] = await Promise.all([startWeb(), bundle(files)]);
  web = started;
  modules = new Map(chunks.map(({ fileName, code }) => [fileName, code]));
});
after(async () => {
  over.abort();
  await web?.close();
});

type Tested = { engine: Engine };

/** The engine of the app, in a page of the market's origin: for what other screens do. */
async function withEngine(page: Page, { accountId }: Person): Promise<void> {
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

/** A phrase by its screen, as a person makes it. */
async function newPhrase(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Make a phrase' }).click();
  await page.getByRole('button', { name: 'Show the words' }).click();
  const words = await page.locator('.phrase-words strong').allTextContents();
  assert.equal(words.length, 12);
  await page.getByRole('button', { name: 'I have written them down' }).click();
  const asked = page.getByLabel(/^Word \d+$/);
  for (const field of await asked.all()) {
    const label =
      (await field.evaluate((each) => (each as HTMLInputElement).labels?.[0]?.textContent)) ?? '';
    await field.fill(words[Number(label.slice(5)) - 1] ?? '');
  }
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('Your phrase is checked').first().waitFor();
  return words;
}

type Chain = Awaited<ReturnType<Web['dev']['status']>>['chains'][number];
type On = { readonly btc: Chain; readonly evm: Chain };

async function chainsOf(): Promise<On> {
  const { chains } = await web.dev.status();
  const btc = chains.find(({ family }) => family === 'bitcoin');
  const evm = chains.find(({ family }) => family === 'evm');
  assert.ok(btc && evm);
  return { btc, evm };
}

/** The market pays only keys that an account has shown: as the app's wallets screen does. */
async function linkPhrase({ client, evmKey }: Person, words: readonly string[], { evm }: On) {
  const { privateKey } = (await phraseKeys(words.join(' '), 'dev')).bitcoinKey(0);
  const { chainId = 0, rpcUrl } = evm;
  const key = bitcoinWallet({ privateKey, network: bitcoinNetworks.regtest });
  await linkWallet(client, key, evmWallet({ privateKey: evmKey, chainId, rpcUrl }));
}

/** A maker that pays dollars for Bitcoin, by the SDK. */
async function makerOn({ btc, evm }: On) {
  const bob = await web.person();
  const [dollar] = evm.tokens ?? [];
  const { chainId = 0, rpcUrl } = evm;
  assert.ok(dollar);
  await web.dev.faucet({ chain: evm.chain, address: bob.address });
  await web.dev.faucet({ chain: evm.chain, address: bob.address, asset: dollar.symbol });
  const ether = evmWallet({ privateKey: bob.evmKey, chainId, rpcUrl });
  const privateKey = randomBytes(32).toString('hex');
  const coins = bitcoinWallet({ privateKey, network: bitcoinNetworks.regtest });
  await linkWallet(bob.client, coins, ether);
  let offset = 0;
  const now = () => Math.floor(Date.now() / 1_000) + offset;
  const sources = new Map([
    [
      btc.chain,
      bitcoinSource({ chain: btc.chain, network: 'regtest', source: { coreUrl: btc.rpcUrl }, now }),
    ],
    [evm.chain, evmSource({ chain: evm.chain, chainId, rpcUrls: [rpcUrl] })],
  ]);
  const wallets = new Map<string, Wallet>([
    [btc.chain, coins],
    [evm.chain, ether],
  ]);
  const views = new Map([...sources].map(([chain, { view }]) => [chain, view]));
  const side = { client: bob.client, sources, wallets, store: memoryStore(), now };
  const { assets } = await bob.client.assets({ limit: 100 });
  const pin = (chain: string, token: string | null, decimals: number) => {
    const id = assets.find((each) => each.chain === chain && each.address === token)?.id ?? '';
    return { id, chain, token, decimals, highValueFrom: null };
  };
  const [base, quote] = [pin(btc.chain, null, 8), pin(evm.chain, dollar.address, dollar.decimals)];
  const quoted = async (alice: Person): Promise<Deal> => {
    const ids = { baseAssetId: base.id, quoteAssetId: quote.id };
    const rfq = await alice.client.createRfq({
      ...{ direction: 'sell_base', ...ids, baseAmount: sats.toString(), ttlSeconds: 600 },
    });
    const { id: threadId } = await bob.client.quote(rfq.id, dollars.toString());
    const addresses = { [btc.chain]: payout, [evm.chain]: alice.address };
    return { rfq, threadId, quoteAmount: dollars, base, quote, addresses };
  };
  const agrees = async ({ rfq, threadId }: Deal): Promise<string> => {
    const full = { ...side, userId: bob.accountId, quoteAmount: dollars, base, quote, views };
    const { trade, swapId } = await accept({
      ...{ ...full, rfq: await bob.client.rfq(rfq.id), threadId },
      destinationOn: (chain) =>
        chain === btc.chain
          ? { address: coins.address, pubkey: coins.pubkey }
          : { address: ether.address, pubkey: null },
    });
    assert.ok(swapId);
    const { signal } = over;
    settle({ ...side, swapId, trade, pollMs: 300, signal }).catch(() => undefined);
    return swapId;
  };
  const moves = (seconds: number) => {
    offset += seconds;
  };
  return { quoted, agrees, moves };
}

const names = ['little', 'much', 'twice', 'late'] as const;
type Name = (typeof names)[number];

/** Of the app's own screen, once it shows the payment. */
async function escrowOf(page: Page, swapId: string): Promise<string> {
  await page.goto(`${web.url}/swaps/${swapId}`);
  await title(page, 'Pay 0.01 BTC in one payment');
  return (await page.locator('.swap-pay .swap-address').textContent()) ?? '';
}

async function title(page: Page, text: string): Promise<void> {
  try {
    await page.locator('.swap-now h2', { hasText: text }).waitFor();
  } catch (error) {
    const shown = await page.locator('body').innerText();
    throw new Error(`never "${text}":\n${shown}`, { cause: error });
  }
}

test('paid by hand wrongly, then without browser and market: every satoshi comes back', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'parley-copy-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const on = await chainsOf();
  const alice = await web.person();
  const maker = await makerOn(on);
  const context = await web.browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
  t.after(() => context.close());

  const page = await web.open(t, '/phrase', { as: alice, context });
  const words = await newPhrase(page);
  await linkPhrase(alice, words, on);
  await web.dev.faucet({ chain: on.evm.chain, address: alice.address });
  await page.goto(`${web.url}/help`);
  await withEngine(page, alice);
  const ids = {} as Record<Name, string>;
  for (const name of names) {
    const deal = await maker.quoted(alice);
    await page.evaluate((it) => (globalThis as unknown as Tested).engine.accept(it), deal);
    ids[name] = await maker.agrees(deal);
  }

  const escrows = {} as Record<Name, string>;
  for (const name of names) escrows[name] = await escrowOf(page, ids[name]);
  const pay = (name: Name, amount: bigint) =>
    web.dev.faucet({ chain: on.btc.chain, address: escrows[name], amount });
  const show = (name: Name) => page.goto(`${web.url}/swaps/${ids[name]}`);

  await pay('little', 990_000n);
  await pay('much', 1_500_000n);
  await pay('twice', sats);
  await show('little');
  await title(page, 'Too little has arrived');
  await page.getByText('Not part of the swap. It comes back').waitFor();
  await show('twice');
  // Either of the two: blocks of a dev chain come at once.
  await page.locator('.swap-now h2', { hasText: /was seen|are locked|Collecting/ }).waitFor();
  assert.equal(await page.locator('svg.qr').count(), 0);
  await pay('twice', sats);
  await title(page, 'You paid more than agreed: decide');
  await show('much');
  await title(page, 'You paid more than agreed: decide');
  await page.getByText('0.005 BTC of it are more than agreed').waitFor();

  const { deadlines } = await alice.client.swap(ids.late);
  const past = async (at: number) => {
    const { clockOffsetSeconds } = await web.dev.status();
    const seconds = at - (Math.floor(Date.now() / 1_000) + clockOffsetSeconds) + 60;
    maker.moves(seconds);
    await web.dev.time(seconds);
  };
  await show('late');
  await past(deadlines.initiatorFundBy);
  await title(page, 'Ended. No payment arrived in time');
  await pay('late', sats);
  await page.reload();
  await title(page, 'Your payment came late');

  await page.goto(`${web.url}/rescue`);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the rescue file' }).click();
  const file = join(home, 'rescue.json');
  await (await downloading).saveAs(file);
  const copy = join(home, 'rescue.html');
  const saved = await fetch(`${web.url}/app/rescue.html`);
  await writeFile(copy, await saved.text());
  await context.close();

  await past(deadlines.refundAt.b);
  const profile = await web.browser.newContext();
  t.after(() => profile.close());
  await rescue(profile, { copy, file, words, on, ids });
  const back = await until(async () => {
    const core = rpcTo(on.btc.rpcUrl);
    const { unspents } = await core<{ unspents: { amount: number }[] }>('scantxoutset', [
      'start',
      [`addr(${payout})`],
    ]);
    return unspents.length >= names.length ? unspents.map(({ amount }) => amount).sort() : null;
  });
  const paid = [0.0099, 0.01, 0.015, 0.02];
  for (const [at, amount] of back.entries()) {
    const fee = (paid[at] ?? 0) - amount;
    assert.ok(fee > 0 && fee < 0.0005, `${amount} of ${paid[at]}`);
  }
  assert.match(await readFile(file, 'utf8'), /parley-rescue/);
});

type Rescued = {
  readonly copy: string;
  readonly file: string;
  readonly words: readonly string[];
  readonly on: On;
  readonly ids: Record<Name, string>;
};

/** From a disk, by nodes alone: the market's origin is asked nothing. */
async function rescue(profile: BrowserContext, { copy, file, words, on, ids }: Rescued) {
  const page = await profile.newPage();
  page.setDefaultTimeout(15_000);
  const config = await (await fetch(`${web.url}/app/config.js`)).text();
  const nodes = nodesOf(config);
  const allowed = new Set(Object.values(nodes).map((url) => new URL(url).origin));
  const wrong = await watch(page, new Set([...allowed, 'null', 'file://']));
  await page.goto(`file://${copy}`);
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByLabel('The twelve words').fill(words.join(' '));
  await page.getByRole('button', { name: 'Take this phrase' }).click();
  await page.getByText('This browser has a phrase').first().waitFor();
  for (const { chain } of [on.btc, on.evm]) {
    const form = page.locator('form.rescue-node').filter({ hasText: titles[chain] ?? chain });
    await form.locator('input').fill(nodes[chain] ?? '');
    await form.getByRole('button').click();
    await form.getByText('It answers.').waitFor();
  }
  await page.getByRole('button', { name: 'Bring back 4 open swaps' }).click();
  await page
    .getByText('Brought back. It goes on by itself.')
    .nth(names.length - 1)
    .waitFor();
  await page.locator('li.panel', { hasText: ids.late }).getByText('Look at it').click();
  await page
    .locator('.swap-now h2', { hasText: /Taking|refund is on its way|have .* back/ })
    .waitFor();
  assert.deepEqual(wrong, []);
}

const titles: Readonly<Record<string, string>> = {
  'bitcoin-regtest': 'Bitcoin regtest',
  'evm-dev': 'EVM chain',
};

function nodesOf(config: string): Record<string, string> {
  const found = JSON.parse(config.slice(config.indexOf('{'), config.lastIndexOf('}') + 1)) as {
    chains: { chain: string; nodes: string[] }[];
  };
  return Object.fromEntries(found.chains.map(({ chain, nodes }) => [chain, nodes[0] ?? '']));
}

async function until<T>(look: () => Promise<T | null>): Promise<T> {
  const limit = performance.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    assert.ok(performance.now() < limit, 'not all of it came back');
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
