// Another device with the words and the rescue file, and no market: the engine asks where Bitcoin
// is to be paid, and the coins come back there.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { AppChain } from '@parley/core/app-chain.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { writeRescue } from '@parley/sdk/rescue/file.ts';
import { newPhrase } from '@parley/sdk/rescue/phrase.ts';
import { storeWith } from '@parley/sdk/rescue/store.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { newHashlock } from '@parley/sdk/stores/store.ts';
import { type FourChains, fourChains } from '@parley/sdk/testing/four-chains.ts';
import { coreOf, isFunded, stopAll, until } from '@parley/sdk/testing/sides.ts';
import { timed } from '@parley/sdk/testing/timed.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { coreCoins } from '@parley/sdk/wallets/coins.ts';
import { type EngineParts, type OpenEngine, openEngine } from './engine.ts';
import { memoryKept } from './kept.ts';
import type { SwapView } from './types.ts';

let chains: FourChains;
const engines: OpenEngine[] = [];
before(async () => {
  chains = await fourChains();
});
after(async () => {
  for (const each of engines) await each.close();
  stopAll();
  await chains?.stop();
});

/** The taker has funded with Bitcoin of its phrase's key, and lost its device. */
async function lost() {
  const words = newPhrase();
  const keys = await phraseKeys(words, 'dev');
  const { now, place, dev } = chains;
  const store = storeWith(keys, memoryStore(), now);
  const secret = (await store.getSecret(await newHashlock(store))) ?? '';
  const { privateKey } = keys.bitcoinKey(0);
  const source = coreCoins(place.bitcoin.rpcUrl);
  const bitcoin = bitcoinWallet({ privateKey, network: 'regtest', source });
  const { chain } = place.bitcoin;
  await dev.faucet({ chain, address: bitcoin.address, amount: 5_000_000n });
  const scene = chains.swap({ a: 'EVM dollar', b: 'BTC' }, { secret, bitcoin });
  const taker = { ...scene.input('taker'), store };
  await until(taker, isFunded);
  const file = await writeRescue(store, taker.chains);
  scene.market.die();
  return { words, file, swapId: taker.swapId, keyAddress: bitcoin.address };
}

const gone = new Proxy({} as ParleyClient, {
  get: () => async () => {
    throw new Error('the market is gone');
  },
});

function partsOf(): EngineParts {
  const { bitcoin, evm } = chains.place;
  const known: readonly AppChain[] = [
    { family: 'bitcoin', chain: bitcoin.chain, nodes: [bitcoin.rpcUrl], bitcoin: 'regtest' },
    { family: 'evm', chain: evm.chain, nodes: [evm.rpcUrl], chainId: evm.chainId },
  ];
  const offsetSeconds = () => chains.now() - Math.floor(Date.now() / 1_000);
  return {
    name: crypto.randomUUID(),
    network: 'dev',
    chains: known,
    client: gone,
    store: memoryStore(),
    kept: memoryKept(),
    isServed: false,
    marketClock: async () => ({ offsetSeconds: offsetSeconds(), atMs: null }),
    clockEveryMs: 100,
    pollMs: 250,
  };
}

async function untilView(
  { swaps }: OpenEngine,
  swapId: string,
  is: (view: SwapView) => boolean,
): Promise<SwapView> {
  const limit = performance.now() + 60_000;
  for (;;) {
    const view = swaps.one(swapId);
    if (view !== null && is(view)) return view;
    assert.ok(performance.now() < limit, JSON.stringify({ ...view, trade: null }, bigints, 1));
    await new Promise((done) => setTimeout(done, 50));
  }
}
const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

timed('by words and file the coins come back to the address that is named then', async () => {
  const { words, file, swapId, keyAddress } = await lost();
  const core = coreOf(chains);
  const parts = partsOf();
  const engine = await openEngine(parts);
  engines.push(engine);
  const asked = await (async () => {
    await assert.rejects(engine.rescue.fromFile(file), { code: 'no_phrase' });
    assert.equal((await engine.vault.restore(words)).ok, true);
    const { swaps } = await engine.rescue.open(file);
    assert.deepEqual(
      swaps.map(({ swap }) => swap.id),
      [swapId],
    );
    const [restored] = await engine.rescue.fromFile(file);
    assert.equal(restored?.outcome, 'restored', restored?.why);
    return untilView(engine, swapId, ({ phase }) => phase === 'stopped');
  })();
  assert.deepEqual([asked.isRestored, asked.gives, asked.problems], [true, 'b', []]);
  const { chain } = chains.place.bitcoin;
  assert.deepEqual(asked.asks, [{ kind: 'name_payout', leg: 'b', chain }]);
  await assert.rejects(engine.swaps.raw(swapId, 'refund'), { code: 'no_payout' });
  for (const [address, code] of [
    ['', 'bad_address'],
    ['bcrt1qnonsense', 'bad_address'],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'wrong_network'],
    [keyAddress, 'no_payout'],
    [keyAddress.toUpperCase(), 'no_payout'],
  ] as const) {
    await assert.rejects(engine.swaps.payTo(swapId, address), { code }, address);
  }
  assert.equal(engine.swaps.one(swapId)?.phase, 'stopped');
  const own = await core<string>('getnewaddress', ['', 'bech32m']);
  await engine.swaps.payTo(swapId, ` ${own} `);
  const going = await untilView(engine, swapId, (view) => view.legs.b.facts?.funded?.deep === true);
  assert.deepEqual([going.phase, going.legs.b.ownAddress], ['running', own]);
  assert.ok(going.asks.every(({ kind }) => kind !== 'pay_by_hand'));
  const raw = await engine.swaps.raw(swapId, 'refund');
  assert.ok(raw.is === 'signed' && raw.notBefore === going.legs.b.timelock);
  type Output = { readonly scriptPubKey: { readonly address: string } };
  const { vout } = await core<{ vout: Output[] }>('decoderawtransaction', [raw.raw]);
  assert.deepEqual(
    vout.map(({ scriptPubKey }) => scriptPubKey.address),
    [own],
  );
  // A reload: the history is there before a node has answered.
  const before = engine.swaps.one(swapId)?.history ?? [];
  assert.ok(before.length > 0);
  await engine.close();
  const again = await openEngine({ ...parts, name: crypto.randomUUID() });
  engines.push(again);
  assert.deepEqual(again.swaps.one(swapId)?.history.slice(0, before.length), before);
  await chains.move(going.legs.b.timelock - chains.now() + 7_200);
  const ended = await untilView(again, swapId, ({ phase }) => phase === 'ended');
  assert.equal(ended.end?.end, 'refunded');
  const paid = BigInt(Math.round((await core<number>('getreceivedbyaddress', [own])) * 1e8));
  assert.ok(paid > 990_000n && paid < 1_000_000n, `${paid}`);
  assert.ok(ended.history.some(({ step }) => step === 'refunded'));
});
