// Bitcoin paid by hand in the app, on real chains: too little, too much, twice, late. Then the
// browser profile is deleted, and the market is asked no more: a saved copy claims and refunds all
// of it by phrase, rescue file and nodes. `npm run node -- test/web-soak/drill.ts`.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { rpcTo } from '../../devnet/rpc.ts';
import { accept } from '../../sdk/agree.ts';
import { linkWallet } from '../../sdk/keys.ts';
import { phraseKeys } from '../../sdk/rescue/derive.ts';
import { settle } from '../../sdk/settle.ts';
import { bitcoinSource, evmSource } from '../../sdk/sources.ts';
import { memoryStore } from '../../sdk/stores/memory.ts';
import { bitcoinWallet } from '../../sdk/wallets/bitcoin.ts';
import { evmWallet } from '../../sdk/wallets/evm.ts';
import type { Wallet } from '../../sdk/wallets/wallet.ts';
import type { Deal, Engine } from '../../web/engine/types.ts';
import { walletScript } from '../../web/wallets/testing/script.ts';
import { bundle } from '../support/bundle.ts';
import { type Person, startWeb, type Web, watch } from '../support/web.ts';

const folder = '/app/assets/tested/';
const payout = 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6';
/** Another one, named in the copy alone. */
const rescuePayout = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
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

const newPhrase = (page: Page) =>
  page.evaluate(async () => {
    const { vault } = (globalThis as unknown as Tested).engine;
    await vault.make();
    const words = await vault.words();
    const typed = Object.fromEntries(vault.asked().map((at) => [at, words[at - 1] ?? '']));
    await vault.check(typed);
    return words.join(' ');
  });

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
async function linkPhrase({ client, evmKey }: Person, phrase: string, { evm }: On) {
  const { privateKey } = (await phraseKeys(phrase, 'dev')).bitcoinKey(0);
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

const now = () => Math.floor(Date.now() / 1_000);

type Of = { readonly id: string; readonly escrow: string };
type Swaps = { readonly on: On; readonly swaps: Readonly<Record<Name, Of>> };

/** Within the app, as a link does. */
async function show(page: Page, { id, escrow }: Of): Promise<void> {
  await page.evaluate((path) => history.pushState(null, '', path), `/swaps/${id}`);
  await page.getByText(escrow).first().waitFor({ state: 'attached' });
}

async function title(page: Page, text: string | RegExp): Promise<void> {
  try {
    await page.locator('.swap-now h2', { hasText: text }).waitFor();
  } catch (error) {
    const shown = await page.locator('body').textContent();
    throw new Error(`never "${text}":\n${shown}`, { cause: error });
  }
}

test('paid by hand wrongly, then without browser and market: all of it comes back', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'parley-copy-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const on = await chainsOf();
  const [alice, maker] = await Promise.all([web.person(), makerOn(on)]);
  await web.dev.faucet({ chain: on.evm.chain, address: alice.address });
  const context = await web.browser.newContext({ serviceWorkers: 'block', acceptDownloads: true });
  t.after(() => context.close());
  // The market gets no refunds that it could send: what comes back is the copy's work.
  await context.route('**/refund/scheduled', (route) => route.abort());

  const page = await web.open(t, '/help', { as: alice, context });
  await withEngine(page, alice);
  const phrase = await newPhrase(page);
  await linkPhrase(alice, phrase, on);
  const agreed = await Promise.all(
    names.map(async (name) => {
      const deal = await maker.quoted(alice);
      await page.evaluate((it) => (globalThis as unknown as Tested).engine.accept(it), deal);
      const id = await maker.agrees(deal);
      return [name, { id, escrow: await escrowOf(alice, id) }] as const;
    }),
  );
  const swaps = Object.fromEntries(agreed) as Record<Name, Of>;
  const all = { on, swaps };
  await page.goto(`${web.url}/swaps`);
  await paidWrongly(page, all);

  const past = async (at: number) => {
    const { clockOffsetSeconds } = await web.dev.status();
    const seconds = at - now() - clockOffsetSeconds + 60;
    maker.moves(seconds);
    await web.dev.time(seconds);
    return clockOffsetSeconds + seconds;
  };
  const { deadlines } = await alice.client.swap(swaps.late.id);
  const offset = await past(deadlines.initiatorFundBy);
  await paidLate(page, all);
  const saved = await savedBy(page, home);
  await context.close();

  const profile = await web.browser.newContext();
  t.after(() => profile.close());
  await profile.clock.install({ time: (now() + offset) * 1_000 });
  const copy = await rescued(profile, { ...saved, ...all, phrase, alice });
  await collected(copy.page, alice, all);
  await past(deadlines.refundAt.b);
  await profile.clock.fastForward((deadlines.refundAt.b + 60 - now() - offset) * 1_000);
  await refunded(on);
  // As deep as what no reorganisation is looked for behind.
  await web.dev.mine(on.btc.chain, 10);
  await ended(copy.page, all);
  assert.deepEqual(copy.wrong, []);
});

/** Both sides have to have named their addresses. */
const escrowOf = ({ client }: Person, id: string) =>
  until('an escrow', async () => (await client.swap(id)).legs.b.escrow ?? null);

async function paidWrongly(page: Page, { on, swaps }: Swaps): Promise<void> {
  for (const name of names) {
    await show(page, swaps[name]);
    await page.locator('.swap-pay .swap-address', { hasText: swaps[name].escrow }).waitFor();
  }
  const pay = (name: Name, amount: bigint) =>
    web.dev.faucet({ chain: on.btc.chain, address: swaps[name].escrow, amount });
  await pay('little', 990_000n);
  await pay('twice', sats);
  await show(page, swaps.twice);
  // Any of these: blocks of a dev chain come at once.
  await title(page, /was seen|are locked|Collecting/);
  assert.equal(await page.locator('svg.qr').count(), 0, 'a second payment is invited');
  await pay('much', 1_500_000n);
  await pay('twice', sats);
  await title(page, 'You paid more than agreed: decide');
  await show(page, swaps.much);
  await title(page, 'You paid more than agreed: decide');
  await page.getByText('0.005 BTC of it are more than agreed').waitFor();
  await show(page, swaps.little);
  await title(page, 'Too little has arrived');
  await page.getByText('Not part of the swap. It comes back').waitFor();
}

async function paidLate(page: Page, { on, swaps: { late } }: Swaps): Promise<void> {
  await show(page, late);
  await title(page, 'Ended. No payment arrived in time');
  // Not mined yet: a dev chain makes it final at once.
  await web.dev.mining(on.btc.chain, false);
  await rpcTo(`${on.btc.rpcUrl}/wallet/faucet`)('sendtoaddress', [late.escrow, 0.01]);
  await page.reload();
  await title(page, 'Your payment came late');
  await web.dev.mining(on.btc.chain, true);
}

type Saved = { readonly copy: string; readonly file: string };

async function savedBy(page: Page, home: string): Promise<Saved> {
  await page.evaluate(() => history.pushState(null, '', '/rescue'));
  await page.getByRole('heading', { name: 'Bring swaps back' }).waitFor();
  const [copy, file] = [join(home, 'rescue.html'), join(home, 'rescue.json')];
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

type Lost = Swaps & Saved & { readonly phrase: string; readonly alice: Person };

/** From a disk, by nodes alone: the market's origin is asked nothing. */
async function rescued(profile: BrowserContext, lost: Lost) {
  const { copy, file, phrase, on, alice } = lost;
  const page = await profile.newPage();
  page.setDefaultTimeout(15_000);
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
    const form = page.locator('form.rescue-node', { hasText: name });
    await form.locator('input').fill(url);
    await form.getByRole('button').click();
    await form.getByText('It answers.').waitFor();
  }
  await page.getByRole('button', { name: 'Bring back 4 open swaps' }).click();
  await page.getByText('It waits for a Bitcoin address of yours').nth(3).waitFor();
  await page.getByRole('textbox', { name: 'Bitcoin address' }).fill(rescuePayout);
  await page.getByRole('button', { name: 'Pay this address' }).click();
  await page.getByText('Brought back. It goes on by itself').nth(3).waitFor();
  return { page, wrong };
}

/** What a second word and the person's own wallet are needed for. */
async function collected(page: Page, alice: Person, { on, swaps }: Swaps): Promise<void> {
  await page.locator('li.panel', { hasText: swaps.much.id }).getByRole('link').click();
  await title(page, 'You paid more than agreed: decide');
  await page.getByText('Go on, and risk 0.005').click();
  await page.getByRole('dialog').getByText('Go on, and risk').click();
  await page.getByRole('button', { name: 'Drill' }).first().click();
  await page.getByRole('button', { name: 'Ask the wallet' }).click();
  await title(page, /You received 640/);
  const [dollar] = on.evm.tokens ?? [];
  const data = `0x70a08231${alice.address.slice(2).padStart(64, '0')}`;
  const call = rpcTo(on.evm.rpcUrl);
  const balance = await call<string>('eth_call', [{ to: dollar?.address, data }, 'latest']);
  assert.equal(BigInt(balance), dollars);
}

async function refunded({ btc }: On): Promise<void> {
  const paid = [0.0099, 0.01, 0.02];
  const back = await until('a refund of each', async () => {
    const { unspents } = await rpcTo(btc.rpcUrl)<{ unspents: { amount: number }[] }>(
      'scantxoutset',
      ['start', [`addr(${rescuePayout})`]],
    );
    return unspents.length >= paid.length ? unspents.map(({ amount }) => amount).sort() : null;
  });
  for (const [at, amount] of back.entries()) {
    const fee = (paid[at] ?? 0) - amount;
    assert.ok(fee > 0 && fee < 0.0005, `${amount} of ${paid[at]}`);
  }
}

/** What the copy says of each in the end: too little was never part of its swap. */
async function ended(page: Page, { swaps }: Swaps): Promise<void> {
  for (const [name, text] of [
    ['little', 'Ended. No payment arrived in time'],
    ['late', 'Ended. You have'],
    ['twice', 'Ended. You have'],
  ] as const) {
    await page.getByRole('link', { name: 'My swaps' }).click();
    await page.locator(`a[href*="${swaps[name].id}"]`).click();
    await title(page, text);
    await page.getByText('Sent back to you').first().waitFor();
    await page.screenshot({ path: `/tmp/drill-${name}.png`, fullPage: true });
  }
}

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const limit = performance.now() + 100_000;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    assert.ok(performance.now() < limit, `never ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
