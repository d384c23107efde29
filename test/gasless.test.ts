// A person whose EVM account never holds a coin of its chain swaps dollars for bitcoin and back: on
// anvil and bitcoind, by the real market and its keeper.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { bitcoinNetworks } from '../chains/bitcoin/networks.ts';
import { devnetClient } from '../devnet/client.ts';
import { accept } from '../sdk/agree.ts';
import { parleyClient } from '../sdk/client.ts';
import { linkWallet, mintKey } from '../sdk/keys.ts';
import { type Progress, settle } from '../sdk/settle.ts';
import { bitcoinSource, evmSource } from '../sdk/sources.ts';
import { memoryStore } from '../sdk/stores/memory.ts';
import type { PinnedAsset } from '../sdk/trade.ts';
import { bitcoinWallet } from '../sdk/wallets/bitcoin.ts';
import { coreCoins } from '../sdk/wallets/coins.ts';
import { evmWallet } from '../sdk/wallets/evm.ts';
import type { Wallet } from '../sdk/wallets/wallet.ts';
import { newHome, type RunningMarket, startMarketProcess } from './support/market.ts';

const limits = { timeout: 300_000 };

async function stageOf({ ready }: RunningMarket) {
  const dev = devnetClient(ready.dev ?? '');
  const { chains } = await dev.status();
  const bitcoin = chains.find(({ family }) => family === 'bitcoin');
  const evm = chains.find(({ chain }) => chain === 'evm-dev');
  assert.ok(bitcoin && evm?.chainId);
  const ask = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(evm.rpcUrl, { method: 'POST', headers, body });
    return ((await response.json()) as { result: T }).result;
  };
  // As USDC: it takes permits and authorizations.
  const dollar = evm.tokens?.find(({ symbol }) => symbol === 'USDV');
  assert.ok(dollar);
  const chain = { ...evm, chainId: evm.chainId };
  return { url: ready.url, dev, bitcoin, evm: chain, ask, dollar };
}

type Stage = Awaited<ReturnType<typeof stageOf>>;

/** With dollars, and with coins for gas and bitcoin where `rich`. */
async function party({ url, dev, bitcoin, evm, dollar }: Stage, rich: boolean) {
  const { rpcUrl, chainId } = evm;
  const { clockOffsetSeconds } = await dev.status();
  const now = () => Math.floor(Date.now() / 1_000) + clockOffsetSeconds;
  const ether = evmWallet({ rpcUrl, chainId, privateKey: `0x${randomBytes(32).toString('hex')}` });
  const coins = bitcoinWallet({
    privateKey: randomBytes(32).toString('hex'),
    network: bitcoinNetworks.regtest,
    source: coreCoins(bitcoin.rpcUrl),
  });
  const { key } = await mintKey({ baseUrl: url }, ether);
  const client = parleyClient({ baseUrl: url, key });
  await linkWallet(client, coins, ether);
  const { address } = ether;
  await dev.faucet({ chain: evm.chain, address, asset: dollar.symbol, amount: 1_000_000_000n });
  if (rich) {
    await dev.faucet({ chain: evm.chain, address });
    await dev.faucet({ chain: bitcoin.chain, address: coins.address, amount: 5_000_000n });
  }
  const coreUrl = bitcoin.rpcUrl;
  const ofBitcoin = { chain: bitcoin.chain, network: 'regtest', source: { coreUrl }, now } as const;
  return {
    client,
    address,
    userId: (await client.me()).userId,
    sources: new Map([
      [evm.chain, evmSource({ chain: evm.chain, chainId, rpcUrls: [rpcUrl] })] as const,
      [bitcoin.chain, bitcoinSource(ofBitcoin)] as const,
    ]),
    wallets: new Map<string, Wallet>([
      [evm.chain, ether],
      [bitcoin.chain, coins],
    ]),
    store: memoryStore(),
    now,
    destinationOn: (chain: string) =>
      chain === evm.chain
        ? { address, pubkey: null }
        : { address: coins.address, pubkey: coins.pubkey },
  };
}

type Party = Awaited<ReturnType<typeof party>>;
type Side = readonly [PinnedAsset, bigint];

/** The person gives one for the other; both settle to their ends. */
async function swapFor(person: Party, other: Party, gives: Side, gets: Side) {
  const [[base, baseAmount], [quote, quoteAmount]] = [gives, gets];
  const rfq = await person.client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    baseAmount: baseAmount.toString(),
    quoteAssetId: quote.id,
    ttlSeconds: 600,
  });
  const { id: threadId } = await other.client.quote(rfq.id, quoteAmount.toString());
  const agree = (who: Party) => {
    const views = new Map([...who.sources].map(([chain, { view }]) => [chain, view]));
    return accept({ ...who, rfq, threadId, quoteAmount, base, quote, views });
  };
  const first = await agree(person);
  const second = await agree(other);
  const swapId = second.swapId ?? '';
  const told: Progress[] = [];
  const onProgress = (news: Progress) => void told.push(news);
  const outcomes = await Promise.all([
    settle({ ...person, ...first, swapId, pollMs: 300, relay: true, onProgress }),
    settle({ ...other, ...second, swapId, pollMs: 300 }),
  ]);
  const said = told.map(({ step, text }) => `${step}: ${text}`).join('\n');
  assert.deepEqual(
    outcomes.map(({ end }) => end),
    ['received', 'received'],
    said,
  );
  return { legs: (await person.client.swap(swapId)).legs, said };
}

test('a person without gas swaps dollars for bitcoin and back', limits, async (t) => {
  const stage = await stageOf(await startMarketProcess(t, await newHome(t)));
  const [person, other] = [await party(stage, false), await party(stage, true)];
  t.after(async () => {
    for (const { sources } of [person, other]) {
      for (const { adapter } of sources.values()) await adapter.close();
    }
  });
  const pin = async (chain: string, token: string | null, places: number) => {
    const { assets: listed } = await person.client.assets({ chain, limit: 100 });
    const found = listed.find(({ address }) => address === token);
    assert.ok(found, `no asset ${token} on ${chain}`);
    return { id: found.id, chain, token, decimals: places, highValueFrom: null };
  };
  const { evm, bitcoin, ask, dollar } = stage;
  const dollars = await pin(evm.chain, dollar.address, dollar.decimals);
  const coins = await pin(bitcoin.chain, null, 8);
  const mustHaveNone = async () => {
    assert.equal(await ask('eth_getBalance', [person.address, 'latest']), '0x0');
    assert.equal(await ask('eth_getTransactionCount', [person.address, 'latest']), '0x0');
  };
  const there = await swapFor(person, other, [dollars, 650_000_000n], [coins, 1_000_000n]);
  assert.match(there.said, /the market sends the funding of leg b/);
  await mustHaveNone();
  const back = await swapFor(person, other, [coins, 900_000n], [dollars, 580_000_000n]);
  assert.match(back.said, /the market sends the claim of leg a/);
  assert.equal(back.legs.a.claimedBy, 'keeper');
  await mustHaveNone();
});
