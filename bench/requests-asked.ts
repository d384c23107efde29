// Every route, asked for the dearest that is known of it: a swap from its order to its refund, what
// strangers may make up, and bodies that mean nothing.

import assert from 'node:assert/strict';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { escrowsOfSwap, termsOf } from '@parley/market/db/escrows.ts';
import { caller } from '@parley/market/edge/testing/edge.ts';
import { openFeed } from '@parley/market/edge/testing/feed-client.ts';
import {
  bitcoinWallet,
  evmWallet,
  type TestWallet,
  walletOf,
} from '@parley/market/edge/testing/signers.ts';
import { longestMessage } from '@parley/market/market/messages.ts';
import { ladderOf, raws } from '@parley/market/settle/testing/ladders.ts';
import {
  type Answer,
  agree,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  evm,
  fundBoth,
  fundLong,
  look,
  moveTo,
  must,
  newParty,
  type Party,
  refund,
  swapOf,
  type World,
} from '@parley/market/settle/testing/world.ts';
import { defaultPowerRules } from '@parley/tokens/inspection.ts';
import {
  anyBody,
  longTron,
  madeUpPsbt,
  manyAddresses,
  manyItems,
  manyPayments,
  manySigners,
} from './requests-bytes.ts';
import { askFull, type Full, withdrawAll } from './requests-full.ts';
import type { Meter } from './requests-meter.ts';
import { filledIn, questions, removals } from './requests-questions.ts';

type Measure = Meter['measure'];

/** Payments to an escrow beside the one that funds it: with it as many as a schedule may spend. */
const furtherPayments = 9;
const bumps = 12;

export async function askEverything(world: World, full: Full, measure: Measure): Promise<void> {
  await askIdentity(world, measure);
  await askQuestions(world, full, measure);
  const initiator = measured(world, measure, await newParty(world));
  const counterparty = measured(world, measure, await newParty(world));
  const deal = await agree(world, { initiator, counterparty });
  // As a market that follows its chains: no request reads blocks that were read.
  await look(world);
  await askAddress(deal);
  await askBroadcasts(world, deal);
  await fundBoth(world, deal);
  await askSwap(deal);
  claiming.on = true;
  await claimShort(world, deal);
  claiming.on = false;
  await deepen(world);
  await claimLong(deal);
  const other = await agree(world, { initiator, counterparty });
  await look(world);
  await askLadder(world, other);
  await moveTo(world, (await swapOf(other)).legs[other.long].timelock + 3_600);
  await deepen(world, 12);
  await refund(world, other, other.long);
  await askRest(world, measure, initiator);
}

/** The operation that a path is routed to. */
function operationAt({ app }: World, method: string, path: string): string {
  const [bare = ''] = path.split('?');
  const found = app.edge.operations.find(
    (each) =>
      each.method === method &&
      new RegExp(`^${each.url.replaceAll(/:[a-z]+/g, '[^/]+')}$`).test(bare),
  );
  assert.ok(found, `${method} ${path} is a route`);
  return found.operationId;
}

/** A party whose every request is measured. */
function measured(world: World, measure: Measure, party: Party): Party {
  const of = (method: 'GET' | 'POST', path: string, what: string, work: () => Promise<Answer>) =>
    measure(`${operationAt(world, method, path)}: ${what}`, work);
  return {
    ...party,
    get: (path) =>
      of('GET', path, path.includes('limit=') ? 'a page of 100' : 'one', () => party.get(path)),
    post: (path, body, headers) =>
      of('POST', path, whatOf(body, path), () => party.post(path, body, headers)),
  };
}

/** Named by who makes them up; else what a swap needs. */
const names = new WeakMap<object, string>();

function named<B extends object>(what: string, body: B): B {
  names.set(body, what);
  return body;
}

/** The chains in words, by leg and by family. */
const chains: Readonly<Record<string, string>> = {
  a: 'on an EVM chain',
  b: 'on Bitcoin',
  evm: 'on an EVM chain',
  bitcoin: 'on Bitcoin',
};
/** Whether what an EVM chain is sent is a claim. */
const claiming = { on: false };

function whatOf(body: unknown, path: string): string {
  const name = typeof body === 'object' && body !== null ? names.get(body) : undefined;
  if (name !== undefined) return name;
  const { signed, chain = '' } = (body ?? {}) as { signed?: unknown; chain?: string };
  const hasSecret = typeof signed === 'object' && signed !== null && 'preimageHex' in signed;
  if (signed !== undefined && (hasSecret || claiming.on))
    return `a claim ${chains[chain] ?? chains.bitcoin}`;
  const [, leg = ''] = /\/legs\/(.)\//.exec(path) ?? [];
  return `as a swap needs it ${chains[leg] ?? ''}`.trim();
}

/** The questions of all routes, on a market that is full. */
async function askQuestions(world: World, full: Full, measure: Measure): Promise<void> {
  const asks = measured(world, measure, full.trader);
  const of = (party: Party) => measured(world, measure, party);
  const known = await askFull(world, full, of, named);
  for (const operationId of Object.keys(questions)) {
    if (removals.includes(operationId)) continue;
    const path = filledIn(operationId, known);
    const { status, body } = await asks.get(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  }
  await asks.post(`/v1/threads/${known.thread}/propose`, { quoteAmount: '1' });
  await withdrawAll(asks, named);
}

async function askAddress({ initiator, id }: Deal): Promise<void> {
  await initiator.post(`/v1/swaps/${id}/address`, {
    chain: evm,
    address: initiator.evmAccount.address,
  });
}

async function askBroadcasts(world: World, deal: Deal): Promise<void> {
  const { initiator: by } = deal;
  const rows = await escrowsOfSwap(world.deps.db, deal.id);
  const terms = termsOf(rows.find(({ leg }) => leg === deal.long)!.terms);
  const tronFrom = tronAddressOfKey(by.btcKey);
  const sent: Readonly<Record<string, [chain: string, signed: unknown]>> = {
    'a PSBT of 50 signed inputs': [bitcoin, madeUpPsbt(terms, by.btcKey, 50)],
    'a PSBT of 150 signed inputs': [bitcoin, madeUpPsbt(terms, by.btcKey, 150)],
    'a PSBT with 850 paths of keys': [bitcoin, madeUpPsbt(terms, by.btcKey, 1, 850)],
    '740 payments to scripts': [bitcoin, manyPayments()],
    'a witness of 30 000 items': [bitcoin, manyItems()],
    'an access list of 200 addresses': [evm, await manyAddresses(by.evmAccount, 31_337, 200)],
    'an access list of 1 350 addresses': [evm, await manyAddresses(by.evmAccount, 31_337, 1_350)],
    '31 000 bytes of TRON calldata, signed 5 times': ['tron', longTron(by.btcKey, tronFrom)],
    'a Solana transaction of 12 signers': ['solana', manySigners()],
  };
  for (const [what, [chain, signed]] of Object.entries(sent)) {
    await by.post('/v1/tx/broadcast', named(what, { chain, signed }));
  }
}

async function askSwap({ initiator, id, long }: Deal): Promise<void> {
  await initiator.get(`/v1/swaps/${id}`);
  await initiator.post(`/v1/swaps/${id}/legs/${long}/refund`);
}

/** As many refunds of as many payments as are taken, and as many claims. */
async function askLadder(world: World, deal: Deal): Promise<void> {
  const { initiator, counterparty, id, long } = deal;
  const fundings = [await fundLong(world, deal)];
  // The first payment in a block is the one that counts.
  await deepen(world);
  const { escrow } = (await swapOf(deal)).legs[long];
  for (let count = 0; count < furtherPayments; count += 1) {
    fundings.push(await world.faucetRpc<string>('sendtoaddress', [escrow, '0.01']));
  }
  await deepen(world, 6);
  const rates = Array.from({ length: bumps }, (_, at) => 2 + 2 * at);
  const transactions = raws(await ladderOf(world, deal, fundings, rates));
  const path = `/v1/swaps/${id}/legs/${long}/refund/scheduled`;
  const body = named(`${bumps} refunds of ${fundings.length} payments`, { transactions });
  const answer = await initiator.post(path, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const [funding = ''] = fundings;
  const claims = raws(await ladderOf(world, deal, [funding], rates, 'claim'));
  const claimed = await counterparty.post(
    `/v1/swaps/${id}/legs/${long}/claim/scheduled`,
    named(`${bumps} claims of 1 payment`, { transactions: claims }),
  );
  assert.equal(claimed.status, 200, JSON.stringify(claimed.body));
}

const padding = longestMessage - 300;
/** Texts that cost the most to compare with look-alikes, by what they are made of. */
const dearTexts = {
  'letters that stand for a sentence': '\ufdfa'.repeat(padding),
  'signs that stand for seven letters': '\u321d\n'.repeat(padding / 2),
  'different syllables': Array.from({ length: padding }, (_, at) =>
    String.fromCodePoint(0xac00 + at),
  ).join(''),
};

/** Nonces, keys and proofs of each family, with the longest texts. */
async function askIdentity(world: World, measure: Measure): Promise<void> {
  const call = caller(world.app);
  const signedBy = async (
    wallet: TestWallet,
    words: string,
    nonce: string,
    filler = 'x'.repeat(padding),
  ) => {
    const lines = [`Parley - ${words}`, '', `Address: ${wallet.address}`, filler];
    const message = [...lines, `Nonce: ${nonce}`].join('\n');
    return { address: wallet.address, message, signature: await wallet.sign(message) };
  };
  for (const [name, filler] of Object.entries(dearTexts)) {
    const wallet = evmWallet();
    const { nonce } = (await call('GET', '/v1/keys/nonce')).body;
    const proof = await signedBy(wallet, 'create an API key', nonce, filler);
    const mint = () => call('POST', '/v1/keys', { body: { rail: 'evm', ...proof } });
    await measure(`mintKey: with ${name}`, mint);
  }
  const wallets = [...Object.values(walletOf).map((make) => make()), bitcoinWallet('p2tr')];
  for (const wallet of wallets) {
    const { family: rail } = wallet;
    const asked = () => call('GET', '/v1/keys/nonce');
    const { nonce } = (await measure('getKeyNonce: one', asked)).body;
    const body = { rail, ...(await signedBy(wallet, 'create an API key', nonce)) };
    const mint = () => call('POST', '/v1/keys', { body });
    const { key } = (await measure(`mintKey: by a wallet of ${rail}`, mint)).body;
    const other = walletOf[rail]();
    const link = (await call('GET', '/v1/wallets/nonce?purpose=link', { key })).body;
    const proof = await signedBy(other, 'link this wallet', link.nonce);
    const operation = operationAt(world, 'POST', `/v1/wallets/${rail}`);
    const prove = () => call('POST', `/v1/wallets/${rail}`, { key, body: proof });
    await measure(`${operation}: a long text`, prove);
    const path = filledIn('removeWallet', { wallet: other.address });
    const remove = () => call('DELETE', path, { key });
    await measure('removeWallet: one', remove);
  }
}

/** Requests that a swap does without, and bodies that mean nothing. */
async function askRest(world: World, measure: Measure, party: Party): Promise<void> {
  const call = caller(world.app);
  const { key } = party;
  const { address } = evmWallet();
  await party.post('/v1/assets', named('an address without a contract', { chain: evm, address }));
  const { usd } = world.assets;
  await party.post('/v1/assets', named('a curated token', { chain: evm, address: usd.address }));
  const url = `https://127.0.0.1:9/${'x'.repeat(1_900)}`;
  const { webhook } = must(await party.post('/v1/webhooks', { url }));
  const at = filledIn('deleteWebhook', { webhook: webhook.id });
  await measure('pingWebhook: one', () => call('POST', `${at}/ping`, { key }));
  await measure('deleteWebhook: one', () => call('DELETE', at, { key }));
  const order = {
    direction: 'sell_base',
    baseAssetId: world.assets.btc.id,
    baseAmount: '1000000',
    quoteAssetId: usd.id,
    ttlSeconds: 600,
  };
  const { rfq } = (await party.post('/v1/rfqs', order)).body;
  await party.post(`/v1/rfqs/${rfq.id}/cancel`);
  let count = 0;
  for (const { method, url: path, operationId } of world.app.edge.operations) {
    if (method !== 'POST') continue;
    for (const [what, body] of Object.entries(anyBody)) {
      count += 1;
      const headers = { 'idempotency-key': `${party.accountId} ${Date.now()} ${count}` };
      const send = () => call('POST', path.replaceAll(/:[a-z]+/g, address), { key, body, headers });
      const { status } = await measure(`${operationId}: ${what}`, send);
      assert.ok(status < 500, `${path} answers ${what} with ${status}`);
    }
  }
}

/** By the names that they are measured under; the limit of processor time, where it is its own. */
export const besides: Readonly<Record<string, { readonly is: string; readonly mostMs?: number }>> =
  {
    frame: { is: 'a frame on /v1/ws' },
    follow: { is: 'a pass over what chains show' },
    look: { is: 'a look at a token', mostMs: 100 },
  };

export async function askBesides(world: World, measure: Meter['measure']): Promise<void> {
  await measure('follow: with a swap that has ended', () => look(world));
  await askFrames(world, measure);
  await askLook(world, measure);
}

const frames = {
  '5 000 lists': { lists: Array.from({ length: 5_000 }, () => []) },
  '1 500 names': Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`k${at}`, 0])),
} as const;

async function askFrames(world: World, measure: Meter['measure']): Promise<void> {
  const { key } = await newParty(world);
  const url = await listening(world);
  for (const [what, frame] of Object.entries(frames)) {
    const client = await openFeed(url);
    client.send({ apiKey: key });
    await client.of('ready');
    const answered = client.frame(({ type }) => type === 'error');
    await measure(`frame: ${what}`, async () => {
      client.send(frame);
      await Promise.race([answered.catch(() => {}), client.closed]);
    });
    client.close();
    await client.closed;
  }
}

async function listening({ app }: World): Promise<string> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const at = app.server.address();
  assert.ok(typeof at === 'object' && at !== null);
  return `http://127.0.0.1:${at.port}`;
}

async function askLook({ deps, assets }: World, measure: Meter['measure']): Promise<void> {
  await measure('look: an EVM token', async () => {
    const signal = AbortSignal.timeout(60_000);
    const asked = [assets.usd.address as string, defaultPowerRules, signal] as const;
    const { findings = [] } = (await deps.adapters.get(evm)?.inspect?.(...asked)) ?? {};
    assert.deepEqual(
      findings.filter(({ check }) => check === 'transfer').map(({ outcome }) => outcome),
      ['pass'],
    );
  });
}
