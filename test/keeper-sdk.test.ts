// `settle` with `relay`: a receiver without a coin for gas is paid by the claim that the market
// sends, and where the market has no gas key the customer's own claim is sent.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { accept } from '../sdk/agree.ts';
import { parleyClient } from '../sdk/client.ts';
import { linkWallet, mintKey } from '../sdk/keys.ts';
import { type Progress, settle } from '../sdk/settle.ts';
import { devPolicies, solanaSource, tronSource } from '../sdk/sources.ts';
import { memoryStore } from '../sdk/stores/memory.ts';
import { solanaWallet } from '../sdk/wallets/solana.ts';
import { tronWallet } from '../sdk/wallets/tron.ts';
import type { Wallet } from '../sdk/wallets/wallet.ts';
import { assetOf } from './families/deals.ts';
import { type Place, placeOf } from './families/people.ts';
import { newHome, startMarketProcess } from './support/market.ts';

const limits = { timeout: 200_000 };

/** With coins on Solana, and on TRON where `rich`. */
async function party(place: Place, rich: boolean) {
  const { tron, solana, dev, url } = place;
  const { clockOffsetSeconds } = await dev.status();
  const now = () => Math.floor(Date.now() / 1_000) + clockOffsetSeconds;
  const sources = [{ url: tron.rpcUrl }];
  const privateKey = randomBytes(32).toString('hex');
  const trx = tronWallet({ chain: tron.chain, sources, privateKey });
  const secretKey = new Uint8Array(randomBytes(32));
  const sol = solanaWallet({ chain: solana.chain, rpcUrls: [solana.rpcUrl], secretKey });
  const { key } = await mintKey({ baseUrl: url }, sol);
  const client = parleyClient({ baseUrl: url, key });
  await linkWallet(client, trx, sol);
  await dev.faucet({ chain: solana.chain, address: sol.address });
  if (rich) await dev.faucet({ chain: tron.chain, address: trx.address });
  const onTron = tronSource({
    chain: tron.chain,
    deployment: {
      chainId: tron.chainId ?? 0,
      contract: tron.escrows ?? '',
      creation: tron.escrowsCreation ?? '',
    },
    sources,
    policy: devPolicies.tron,
  });
  const onSolana = solanaSource({
    chain: solana.chain,
    rpcUrls: [solana.rpcUrl],
    genesisHash: solana.genesisHash ?? '',
    program: solana.program ?? '',
    policy: devPolicies.solana,
    now,
  });
  return {
    client,
    userId: (await client.me()).userId,
    sources: new Map([[tron.chain, onTron] as const, [solana.chain, onSolana] as const]),
    wallets: new Map<string, Wallet>([
      [tron.chain, trx],
      [solana.chain, sol],
    ]),
    store: memoryStore(),
    now,
  };
}

/** The taker gives SOL for TRX and asks for relaying; the other side does not. */
async function trade(place: Place, rich: boolean) {
  const [taker, maker] = [await party(place, rich), await party(place, true)];
  const pin = async (family: 'tron' | 'solana', decimals: number) => {
    const id = await assetOf(place, [family, 'native']);
    return { id, chain: place[family].chain, token: null, decimals, highValueFrom: null };
  };
  const [base, quote] = [await pin('solana', 9), await pin('tron', 6)];
  const rfq = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    baseAmount: '1000000000',
    quoteAssetId: quote.id,
    ttlSeconds: 600,
  });
  const price = 50_000_000n;
  const { id: threadId } = await maker.client.quote(rfq.id, price.toString());
  const agree = (who: typeof taker) =>
    accept({
      ...who,
      rfq,
      threadId,
      quoteAmount: price,
      base,
      quote,
      views: new Map([...who.sources].map(([chain, { view }]) => [chain, view])),
      destinationOn: (chain) => ({ address: who.wallets.get(chain)?.address ?? '', pubkey: null }),
    });
  const first = await agree(taker);
  const second = await agree(maker);
  const swapId = second.swapId ?? '';
  const told: Progress[] = [];
  const outcomes = await Promise.all([
    settle({
      ...taker,
      ...first,
      swapId,
      pollMs: 300,
      relay: true,
      onProgress: (news) => told.push(news),
    }),
    settle({ ...maker, ...second, swapId, pollMs: 300 }),
  ]);
  assert.deepEqual(
    outcomes.map(({ end }) => end),
    ['received', 'received'],
  );
  for (const { sources } of [taker, maker]) {
    for (const { adapter } of sources.values()) await adapter.close();
  }
  const { legs } = await taker.client.swap(swapId);
  return { legs, told };
}

async function placeWith(t: TestContext, env: Record<string, string>): Promise<Place> {
  return placeOf(await startMarketProcess(t, await newHome(t), env));
}

test(
  'a receiver without a coin for gas is paid by the claim that the market sends',
  limits,
  async (t) => {
    const { legs, told } = await trade(await placeWith(t, {}), false);
    assert.deepEqual([legs.a.claimedBy, legs.b.claimedBy], ['keeper', 'party']);
    const claimed = told.filter(({ step }) => step === 'claimed');
    assert.deepEqual(
      claimed.map(({ text }) => text),
      ['the market sends the claim of leg a'],
    );
  },
);

test('where the market has no gas key, the own claim is sent', limits, async (t) => {
  const { legs, told } = await trade(await placeWith(t, { PARLEY_KEEPER: 'off' }), true);
  assert.deepEqual([legs.a.claimedBy, legs.b.claimedBy], ['party', 'party']);
  const refused = told.find(({ step }) => step === 'market_refused');
  assert.match(refused?.text ?? '', /no gas key.*sends the claim alone/);
});
