// The engine of the app in a real Chromium, against a maker that is the SDK in Node: Bitcoin for
// dollars. The tab is closed after the funding, and two tabs act once.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, type TestContext, test } from 'node:test';
import { accept } from '@parley/sdk/agree.ts';
import { authorizeMessage, type linkMessage, linkWallet } from '@parley/sdk/keys.ts';
import { type Outcome, settle } from '@parley/sdk/settle.ts';
import { bitcoinSource, evmSource } from '@parley/sdk/sources.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import type { Deal, Engine, SwapView } from '@parley/web/engine/types.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { bundle } from './support/bundle.ts';
import { type Person, sharedWeb, type Web } from './support/web.ts';

const folder = '/app/assets/tested/';
const ownAddress = 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6';
const sats = 1_000_000n;
const dollars = 640_000_000n;

const started = sharedWeb();
let web: Web;
let modules: ReadonlyMap<string, string>;
before(async () => {
  const files = { engine: 'packages/web/engine/testing/page.ts' };
  const [market, { chunks }] = await Promise.all([started(), bundle(files)]);
  web = market;
  modules = new Map(chunks.map(({ fileName, code }) => [fileName, code]));
});

/** Beside the app's own files: from the market's origin, as its policy wants. */
async function withEngine(context: BrowserContext): Promise<void> {
  await context.route(`**${folder}**`, (route) => {
    const code = modules.get(new URL(route.request().url()).pathname.slice(folder.length));
    return code === undefined
      ? route.abort()
      : route.fulfill({ contentType: 'text/javascript', body: code });
  });
}

type Tested = { engine: Engine; linkMessage: typeof linkMessage };

/** The engine of that page, with the person's wallet. */
async function opened(page: Page, { evmKey, accountId }: Person): Promise<void> {
  const entry = [...modules.keys()].find((name) => /engine-[^/]*\.js$/.test(name));
  await page.evaluate(
    async ({ url, key, as }) => {
      const { pageEngine, keyLink, linkMessage, show } = await import(url);
      show(as);
      const engine = await pageEngine();
      engine.use(keyLink(key));
      Object.assign(globalThis, { engine, linkMessage });
    },
    { url: `${folder}${entry}`, key: evmKey, as: accountId },
  );
}

const typedBack = (page: Page) =>
  page.evaluate(async () => {
    const { vault } = (globalThis as unknown as Tested).engine;
    const words = await vault.words();
    const typed = Object.fromEntries(vault.asked().map((at) => [at, words[at - 1] ?? '']));
    return (await vault.check(typed)).wrong;
  });

/** The market pays the escrow key of the page: the login wallet vouches for it. */
async function linked(page: Page, login: Person): Promise<void> {
  const nonce = async (purpose: 'link' | 'authorize') =>
    (await login.client.walletNonce(purpose)).nonce;
  const key = { nonce: await nonce('link'), productName: login.client.productName };
  const proof = await page.evaluate(async (it) => {
    const { engine, linkMessage } = globalThis as unknown as Tested;
    const signer = await engine.bitcoinSigner();
    const message = linkMessage({ ...it, address: signer.address });
    return { address: signer.address, message, signature: await signer.signMessage(message) };
  }, key);
  const { address, evmKey: privateKey, client } = login;
  const vouching = { ...key, address: proof.address, nonce: await nonce('authorize') };
  const message = authorizeMessage({ ...vouching, loginAddress: address });
  const wallet = evmWallet({ privateKey, chainId: 1, rpcUrl: web.url });
  const authorization = { address, message, signature: await wallet.signMessage(message) };
  await client.proveWallet('bitcoin', { ...proof, authorization });
}

const driverOf = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as Tested).engine.swaps.driver.now().kind);

const views = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as Tested).engine.swaps.all.now());

async function until<T>(what: string, look: () => Promise<T | null | undefined>): Promise<T> {
  const limit = performance.now() + 40_000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    assert.ok(performance.now() < limit, `never ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const untilView = (page: Page, what: string, is: (view: SwapView) => boolean) =>
  until(what, async () => (await views(page)).find(is)).catch(async (error: Error) => {
    const [view] = await views(page);
    const { phase, state, asks, problems, history } = view ?? {};
    const seen = { phase, state, asks: asks?.map(({ kind }) => kind), problems, history };
    throw new Error(`${error.message}: ${JSON.stringify(seen, null, 1)}`);
  });

const ask = (view: SwapView, kind: string) => view.asks.find((each) => each.kind === kind);

/** An order for dollars, and a maker that quotes it and settles by the SDK, until `signal`. */
async function agreedBy(alice: Person, signal: AbortSignal) {
  const bob = await web.person();
  const { chains } = await web.dev.status();
  const btc = chains.find(({ family }) => family === 'bitcoin');
  const evm = chains.find(({ family }) => family === 'evm');
  const [dollar] = evm?.tokens ?? [];
  assert.ok(btc && evm?.chainId && dollar);
  for (const { address } of [alice, bob]) await web.dev.faucet({ chain: evm.chain, address });
  await web.dev.faucet({ chain: evm.chain, address: bob.address, asset: dollar.symbol });
  const { assets } = await bob.client.assets({ limit: 100 });
  const pin = (chain: string, token: string | null, decimals: number) => {
    const id = assets.find((each) => each.chain === chain && each.address === token)?.id ?? '';
    return { id, chain, token, decimals, highValueFrom: null };
  };
  const base = pin(btc.chain, null, 8);
  const quote = pin(evm.chain, dollar.address, dollar.decimals);
  const rfq = await alice.client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    baseAmount: sats.toString(),
    quoteAssetId: quote.id,
    ttlSeconds: 600,
  });
  const { id: threadId } = await bob.client.quote(rfq.id, dollars.toString());
  const addresses = { [btc.chain]: ownAddress, [evm.chain]: alice.address };
  const deal: Deal = {
    party: 'taker',
    rfq,
    threadId,
    quoteAmount: dollars,
    base,
    quote,
    addresses,
  };
  const { chainId, rpcUrl } = evm;
  const ether = evmWallet({ privateKey: bob.evmKey, chainId, rpcUrl });
  const privateKey = randomBytes(32).toString('hex');
  const coins = bitcoinWallet({ privateKey, network: 'regtest' });
  await linkWallet(bob.client, coins, ether);
  const source = { coreUrl: btc.rpcUrl };
  const onBitcoin = bitcoinSource({ chain: btc.chain, network: 'regtest', source });
  const onEvm = evmSource({ chain: evm.chain, chainId, rpcUrls: [rpcUrl] });
  const own = {
    [btc.chain]: { source: onBitcoin, wallet: coins },
    [evm.chain]: { source: onEvm, wallet: ether },
  };
  const side = { client: bob.client, chains: own, store: memoryStore() };
  const accepts = () =>
    accept({
      ...side,
      userId: bob.accountId,
      party: 'maker',
      rfqId: rfq.id,
      threadId,
      direction: 'sell_base',
      base,
      baseAmount: sats,
      quote,
      quoteAmount: dollars,
      now: () => Math.floor(Date.now() / 1_000),
    });
  const settles = async (): Promise<Outcome> => {
    const { trade, swapId } = await accepts();
    return settle({ ...side, swapId: swapId ?? '', trade, pollMs: 300, signal });
  };
  const pays = (address: string) => web.dev.faucet({ chain: btc.chain, address, amount: sats });
  return { deal, settles, pays };
}

test('one of two tabs settles a swap of Bitcoin, whatever its screen, and the other goes on when that one is closed', async (t: TestContext) => {
  const alice = await web.person();
  const context = await web.browser.newContext({ serviceWorkers: 'block' });
  t.after(() => context.close());
  await withEngine(context);
  // The app's own engine would take the turn from the one that is tested.
  const tested = (page: Page) => page.route('**/driving-*.js', (route) => route.abort());
  const first = await web.open(t, '/help', { as: alice, context });
  await tested(first);
  await opened(first, alice);
  await first.evaluate(() => (globalThis as unknown as Tested).engine.vault.make());
  await linked(first, alice);
  const over = new AbortController();
  t.after(() => over.abort());
  const { deal, settles, pays } = await agreedBy(alice, over.signal);
  const examine = (page: Page) =>
    page.evaluate((it) => (globalThis as unknown as Tested).engine.examine(it), deal);
  const before = await examine(first);
  assert.deepEqual(
    before.checks.filter(({ ok }) => !ok).map(({ name }) => name),
    ['phrase'],
  );
  assert.deepEqual(await typedBack(first), []);
  const examined = await examine(first);
  assert.deepEqual(
    examined.checks.filter(({ ok }) => !ok),
    [],
  );
  assert.deepEqual([examined.role, examined.gives], ['initiator', 'b']);
  await first.evaluate((it) => (globalThis as unknown as Tested).engine.accept(it), deal);
  const maker = settles();
  maker.catch(() => {});
  const told = await untilView(first, 'to pay', (view) => ask(view, 'pay_by_hand') !== undefined);
  const payment = ask(told, 'pay_by_hand');
  assert.ok(payment?.kind === 'pay_by_hand' && payment.amount === sats);
  const { address } = payment;
  assert.equal(payment.uri, `bitcoin:${address}?amount=0.01`);
  assert.deepEqual(
    told.checks.map(({ name, ok }) => `${name} ${ok}`),
    ['agreed true', 'escrows true'],
  );
  // By itself: no screen of it asks for an engine.
  const second = await web.open(t, '/help', { context });
  await second.getByText('A swap waits for your payment').waitFor();
  // The one that came last is in front: it has the turn, and asks for the same payment.
  await until('the turn', async () => ((await driverOf(first)) === 'other' ? 'other' : null));
  const again = await untilView(first, 'to pay', (view) => ask(view, 'pay_by_hand') !== undefined);
  assert.deepEqual(ask(again, 'pay_by_hand'), payment);
  await pays(address);
  await untilView(first, 'told of the payment', (view) => view.legs.b.facts?.funded != null);
  await second.close();
  assert.equal(
    await until('the turn', async () => ((await driverOf(first)) === 'this' ? 'this' : null)),
    'this',
  );
  const ended = await untilView(first, 'ended', ({ phase }) => phase === 'ended');
  assert.equal(ended.end?.end, 'received');
  assert.equal((await maker).end, 'received');
  const { now } = await first.evaluate(() => ({
    now: (globalThis as unknown as Tested).engine.rescue.file.now(),
  }));
  assert.equal(now.writtenAt !== null, true);
});
