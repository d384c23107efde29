// The same as secrets.test.ts for TRON and Solana, and for webhooks: a run that proves, links and
// vouches for wallets, trades both ways and makes nodes and receivers fail leaves none of its
// secrets in logs, metrics, ready line or database. And of the SDK, on all four families: no byte
// of a secret leaves a side before it has decided to show it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { parseTransaction } from 'viem';
import { untriedGas } from '../chains/evm/gas-policy.ts';
import type { SolanaMaterial, TronMaterial } from '../chains/interface/material.ts';
import type { ParleyClient } from '../sdk/client.ts';
import { ParleyApiError } from '../sdk/errors.ts';
import { mintKey } from '../sdk/keys.ts';
import { type Progress, type SettleInput, settle } from '../sdk/settle.ts';
import type { Store } from '../sdk/stores/store.ts';
import {
  type FourChains,
  fourChains,
  type Scene,
  type Served,
} from '../sdk/testing/four-chains.ts';
import { isFunded, sideOf, until } from '../sdk/testing/sides.ts';
import { type Receiver, startReceiver } from '../server/webhooks/testing/receiver.ts';
import { agree, asMaterial, type Coin, type Deal, reaches, sendAll } from './families/deals.ts';
import { newTrader, type Place, placeOf, type Trader } from './families/people.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { type GuardedNode, guardedNode } from './support/guarded-node.ts';
import { newHome, type RunningMarket, startMarketProcess } from './support/market.ts';
import { found, rowsOfAll, secretsOfRun } from './support/secrets.ts';

const limits = { timeout: 240_000 };
const { secrets, note } = secretsOfRun();
const trx: Coin = ['tron', 'native'];
const sol: Coin = ['solana', 'native'];

let database: TestDatabase;
let chains: FourChains;
/** The parties' own nodes, by family, and what of an undecided secret left a side. */
const own = new Map<string, GuardedNode>();
const undecided = new Map<string, string>();
const leaks: string[] = [];
let nodes: Readonly<Record<'tron' | 'solana', GuardedNode>>;
/** What the market has asked its nodes. */
const asked: string[] = [];
let receiver: Receiver;
let market: RunningMarket;
let place: Place;
const undo: (() => unknown)[] = [];
const direct = globalThis.fetch;

function hears(where: string, text: string): void {
  leaks.push(...found(text, undecided).map((what) => `${what} in ${where}: ${text.slice(0, 300)}`));
}

async function ownNode({ family, rpcUrl }: Served): Promise<string> {
  const guard = family === 'bitcoin' ? 'login' : 'path';
  const noted = (_: string, value = randomBytes(8).toString('hex')) => value;
  const node = await guardedNode(rpcUrl, guard, noted, (asked) => hears(`a ${family} node`, asked));
  own.set(family, node);
  return node.url;
}

/** What an answer or a request of the market holds that nobody else may read. */
function noteAll(value: unknown, name = ''): void {
  if (typeof value === 'string') {
    if (name === 'nonce' || name === 'signature') note(name, value);
    if (name === 'key') note('API key', value);
    if (name === 'secret' && value.startsWith('whsec_')) note('secret of a webhook', value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      noteAll(each, Array.isArray(value) ? name : key);
    }
  }
}

before(async () => {
  const context = { after: (step: () => unknown) => undo.unshift(step) } as unknown as TestContext;
  database = await testDatabase();
  undo.unshift(() => database.drop());
  chains = await fourChains(ownNode);
  undo.unshift(() => chains.stop());
  undo.unshift(() => [...own.values()].map((node) => node.close()));
  const served = (await chains.dev.status()).chains;
  const infoOf = (family: string) => served.find((each) => each.family === family) as Served;
  const [tron, solana] = [infoOf('tron'), infoOf('solana')];
  nodes = {
    tron: await guardedNode(tron.rpcUrl, 'path', note, (words) => asked.push(words)),
    solana: await guardedNode(solana.rpcUrl, 'path', note, (words) => asked.push(words)),
  };
  undo.unshift(() => [nodes.tron, nodes.solana].map((node) => node.close()));
  receiver = await startReceiver();
  undo.unshift(() => receiver.close());
  const home = await newHome(context);
  const trusted = join(home, 'ca.pem');
  await writeFile(trusted, receiver.ca);
  market = await startMarketProcess(context, home, {
    DATABASE_URL: database.url,
    NODE_EXTRA_CA_CERTS: trusted,
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.1',
    PARLEY_ENCRYPTION_KEY: note('encryption key', randomBytes(32).toString('hex')),
    PARLEY_LOG_LEVEL: 'trace',
    PARLEY_METRICS_PORT: '0',
    PARLEY_FOLLOW_INTERVAL_MS: '500',
    PARLEY_CHAINS: JSON.stringify([
      {
        family: 'tron',
        chain: tron.chain,
        chainId: tron.chainId,
        contract: tron.escrows,
        creation: tron.escrowsCreation,
        sources: [{ url: nodes.tron.url }],
        world: 'dev',
      },
      {
        family: 'solana',
        chain: solana.chain,
        genesisHash: solana.genesisHash,
        program: solana.program,
        rpcUrls: [nodes.solana.url],
        world: 'dev',
      },
    ]),
    PARLEY_ASSETS: JSON.stringify([
      { chain: tron.chain, symbol: 'TRX', address: null, decimals: 6 },
      { chain: solana.chain, symbol: 'SOL', address: null, decimals: 9 },
    ]),
  });
  globalThis.fetch = async (input, init) => {
    const reply = await direct(input, init);
    if (!String(input).startsWith(market.ready.url)) return reply;
    if (typeof init?.body === 'string') noteAll(JSON.parse(init.body));
    noteAll(await reply.clone().json());
    return reply;
  };
  place = await placeOf({ ready: { ...market.ready, dev: chains.control } } as RunningMarket);
}, limits);
after(async () => {
  globalThis.fetch = direct;
  for (const step of undo) await step();
}, limits);

async function shown(): Promise<string> {
  const metrics = await (await fetch(market.ready.metrics ?? '')).text();
  assert.match(metrics, /parley_chain_height/);
  const ready = await readFile(join(market.home, 'ready.json'), 'utf8');
  return [market.log(), metrics, ready, JSON.stringify(market.ready)].join('\n');
}

async function post(trader: Trader, path: string, body: object = {}) {
  const reply = await fetch(market.ready.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': trader.key },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, string> };
}

async function statusOf(work: Promise<unknown>): Promise<number> {
  return work.then(
    () => 200,
    (error: unknown) => {
      assert.ok(error instanceof ParleyApiError, String(error));
      return error.status;
    },
  );
}

async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 240; tries += 1) {
    if (await holds()) return;
    await sleep(250);
  }
  assert.fail(`${what}\n${market.log().slice(-4_000)}`);
}

/** Proofs by the wrong wallet, of each family, for each purpose. */
async function proveInVain(trader: Trader): Promise<void> {
  const liar = await newTrader(place, 'tron');
  const baseUrl = market.ready.url;
  for (const family of ['tron', 'solana'] as const) {
    const { address } = trader[family];
    const forged = { ...liar[family], address };
    assert.equal(await statusOf(mintKey({ baseUrl }, forged)), 400);
    for (const purpose of ['link', 'authorize'] as const) {
      const { nonce } = await trader.client.walletNonce(purpose);
      const message = `Parley asks you to sign to link this wallet.\nAddress: ${address}\nNonce: ${nonce}`;
      const signature = await liar[family].signMessage(message);
      const proof = { address, message, signature };
      assert.equal(await statusOf(trader.client.proveWallet(family, proof)), 400);
    }
  }
}

/** A receiver that takes deliveries, and one that does not. */
async function hearOfIt(trader: Trader): Promise<void> {
  const { status, body } = await post(trader, '/v1/webhooks', { url: receiver.url });
  assert.equal(status, 201, JSON.stringify(body));
  const { id } = (body as unknown as { webhook: { id: string } }).webhook;
  for (const answer of [200, 500]) {
    receiver.answer(answer);
    assert.equal((await post(trader, `/v1/webhooks/${id}/ping`)).status, 200);
  }
  receiver.answer(200);
  const posted = note('secret in a body');
  assert.equal((await post(trader, '/v1/webhooks', { url: posted })).status, 400);
}

type Traded = Deal & { readonly taker: Trader; readonly maker: Trader };

async function fundedDeal(b: Coin, a: Coin): Promise<Traded> {
  const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
  const deal = await agree(place, taker, maker, b, a);
  note('secret of a swap', deal.secret);
  await sendAll(place, taker, asMaterial(await taker.client.fund(deal.swapId, 'b')));
  await reaches(maker, deal, 'initiator_funded');
  await sendAll(place, maker, asMaterial(await maker.client.fund(deal.swapId, 'a')));
  await reaches(taker, deal, 'counterparty_funded');
  return { ...deal, taker, maker };
}

function sign(trader: Trader, material: TronMaterial | SolanaMaterial) {
  return material.sign === 'solana-tx' ? trader.signSolana(material) : trader.signTron(material);
}

/** Claims that are refused: by the market, and by a node that quotes what it was sent. */
async function refuseClaims({ taker, swapId, secret }: Traded, family: 'tron' | 'solana') {
  const path = `/v1/swaps/${swapId}/legs/a/claim`;
  const wrong = note('secret of no swap', randomBytes(32).toString('hex'));
  for (const body of [{ secret: wrong }, { secret: `${secret}00` }, { secrets: secret }]) {
    assert.equal((await post(taker, path, body)).status, 400);
  }
  const material = asMaterial(await taker.client.claim(swapId, 'a', secret));
  const signed = await sign(taker, material);
  assert.ok(asked.length > 100);
  const told = new Map(Object.entries({ secret, wrong }));
  assert.deepEqual(found(asked.join('\n'), told), [], 'a node heard a secret that was not sent');
  note('signed claim', typeof signed === 'string' ? signed : (signed.raw_data_hex ?? ''));
  nodes[family].manner = 'echo';
  const { status, body } = await post(taker, '/v1/tx/broadcast', { chain: family, signed });
  nodes[family].manner = 'serve';
  assert.equal(status, 400, JSON.stringify(body));
  assert.match(body.error ?? '', /refused: /, 'the node quotes what it was sent');
}

async function breakNodes({ taker, swapId, secret }: Traded): Promise<void> {
  for (const family of ['tron', 'solana'] as const) {
    const before = market.log().length;
    nodes[family].manner = 'fail';
    const path = `/v1/swaps/${swapId}/legs/a/claim`;
    assert.ok((await post(taker, path, { secret })).status >= 503);
    const tells = () => market.log().slice(before).includes(place[family].chain);
    await eventually('the log tells of a failing node', tells);
    nodes[family].manner = 'serve';
  }
}

async function settleByHand(deal: Traded): Promise<void> {
  const { taker, maker, swapId, secret } = deal;
  const claim = (trader: Trader, leg: 'a' | 'b') => trader.client.claim(swapId, leg, secret);
  await sendAll(place, taker, asMaterial(await claim(taker, 'a')));
  await reaches(maker, deal, 'initiator_claimed');
  await sendAll(place, maker, asMaterial(await claim(maker, 'b')));
  await reaches(maker, deal, 'counterparty_claimed');
}

/** A nonce that was shown is used up; a public secret and what is on chain are no secrets. */
const isPublicLater = (what: string) => /^nonce|^secret of a swap|^signature/.test(what);

test('a run on TRON and Solana with webhooks shows no secret', limits, async () => {
  const hears = await newTrader(place, 'solana');
  await proveInVain(hears);
  await hearOfIt(hears);
  const onSolana = await fundedDeal(trx, sol);
  const onTron = await fundedDeal(sol, trx);
  await hearOfIt(onTron.taker);
  await refuseClaims(onSolana, 'solana');
  await refuseClaims(onTron, 'tron');
  const kept = (drop: (what: string) => boolean) =>
    new Map([...secrets].filter(([what]) => !drop(what)));
  for (const each of [
    'nonce',
    'signature',
    'API key',
    'secret of a webhook',
    'path of a node',
    'signed claim',
  ]) {
    assert.ok([...secrets.keys()].join().includes(each), each);
  }
  const isNonce = (what: string) => what.startsWith('nonce');
  const rows = () => rowsOfAll(database.db);
  assert.deepEqual(found(await rows(), kept(isNonce)), [], 'before a secret is public');
  await breakNodes(onTron);
  for (const deal of [onSolana, onTron]) await settleByHand(deal);
  await eventually('a delivery about it came', () =>
    receiver.received.some(({ body }) => body.includes(onTron.swapId)),
  );
  assert.deepEqual(found(await shown(), secrets), []);
  assert.deepEqual(found(await rows(), kept(isPublicLater)), [], 'after the run');
  assert.equal(await market.stop(), 0, market.log().slice(-2_000));
  assert.deepEqual(found(market.log(), secrets), []);
});

const whole = (value: unknown) => inspect(value, { depth: null, maxStringLength: null });

/** A side whose every word to the market, to its listener and to its store is heard. */
function heard(input: SettleInput): SettleInput {
  const client = new Proxy(input.client as ParleyClient, {
    get: (market, name) => {
      const value = Reflect.get(market, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...words: unknown[]) => {
        hears('the market', whole(words));
        return value.apply(market, words);
      };
    },
  });
  const { putSwap } = input.store;
  const store: Store = {
    ...input.store,
    putSwap: async (record) => {
      if (record.publicSecret === null) hears('the store', whole(record));
      await putSwap(record);
      if (record.publicSecret !== null) undecided.delete(record.swap.id);
    },
  };
  const onProgress = (news: Progress) => hears('progress', JSON.stringify(news));
  return { ...input, client, store, onProgress };
}

type Sides = { readonly scene: Scene; readonly taker: SettleInput; readonly maker: SettleInput };

/** Both legs funded, and both sides stopped. The taker has the secret and is paid on leg a. */
async function fundedSides(a: 'ETH' | 'TRX' | 'SOL'): Promise<Sides> {
  const scene = chains.swap({ a, b: 'BTC' });
  const taker = heard(await sideOf(scene, 'taker'));
  const maker = heard(await sideOf(scene, 'maker'));
  undecided.set(taker.swapId, scene.secret);
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  return { scene, taker, maker };
}

async function paid({ taker, maker }: Sides): Promise<void> {
  // A side that waits for ever must not keep the process.
  const signal = AbortSignal.timeout(180_000);
  const ends = await Promise.all([taker, maker].map((side) => settle({ ...side, signal })));
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['received', 'received'],
  );
}

async function claimGas({ taker }: Sides): Promise<number> {
  const claim = (await taker.store.getSwap(taker.swapId))?.claim;
  return Number(parseTransaction((claim?.raw ?? '0x') as `0x${string}`).gas);
}

/** How a careless side would tell each family's node: as it stands in a transaction. */
const plants: Readonly<Record<string, (secret: Buffer) => unknown>> = {
  bitcoin: (secret) => ({ method: 'testmempoolaccept', params: [[secret.toString('hex')]] }),
  evm: (secret) => ({ method: 'eth_call', params: [{ data: `0xAB${secret.toString('hex')}` }] }),
  tron: (secret) => ({ parameter: secret.toString('hex').toUpperCase() }),
  solana: (secret) => ({
    method: 'simulateTransaction',
    params: [Buffer.concat([Buffer.from('x'), secret]).toString('base64')],
  }),
};

test('no undecided secret leaves a side, on any family', limits, async () => {
  const { address } = chains.walletsOf.taker.bitcoin;
  for (let coins = 1; coins < 4; coins += 1) {
    await chains.dev.faucet({ chain: 'bitcoin-regtest', address });
  }
  const all = await Promise.all((['ETH', 'ETH', 'TRX', 'SOL'] as const).map(fundedSides));
  const [last, ...others] = all as [Sides, ...Sides[]];
  await Promise.all(others.map(paid));
  assert.deepEqual(leaks, []);
  for (const node of own.values()) node.manner = 'no estimates';
  assert.equal(undecided.size, 1);
  await paid(last);
  for (const node of own.values()) node.manner = 'serve';
  assert.deepEqual([[...undecided.keys()], leaks], [[], []]);
  assert.ok((await claimGas(others[0] as Sides)) >= 80_000, 'what was tried');
  const untried = Number(untriedGas(31_337, 'native', 'prague'));
  assert.equal(await claimGas(last), untried, 'what does where nothing can be tried');
  for (const [family, planted] of Object.entries(plants)) {
    undecided.set(family, randomBytes(32).toString('hex'));
    const url = new URL(own.get(family)?.url ?? '');
    [url.username, url.password] = ['', ''];
    const body = JSON.stringify(planted(Buffer.from(undecided.get(family) ?? '', 'hex')));
    await direct(url, { method: 'POST', body });
    assert.match(leaks.join(), new RegExp(`${family} in a ${family} node`));
  }
});
