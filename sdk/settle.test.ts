// One side of a swap against real chains, and a market that lies, refuses and dies.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { showing } from '../chains/testing/showing.ts';
import { ParleyError } from '../core/errors.ts';
import { nothingSeen } from '../core/facts.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { Party } from '../core/trade.ts';
import type { ParleyClient } from './client.ts';
import { ParleyApiError, VerificationError } from './errors.ts';
import { sleep } from './http.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { type Crashing, throughCrashes } from './testing/crashing.ts';
import { evmKey, withAdapter } from './testing/stuck.ts';
import { type Scene, type TwoChains, twoChains } from './testing/two-chains.ts';
import { coreCoins } from './wallets/coins.ts';
import type { BitcoinWallet, Wallet } from './wallets/wallet.ts';

const limits = { timeout: 120_000 };
let chains: TwoChains;

before(async () => {
  chains = await twoChains();
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

/** One side with its secret in its store, stopped when the test ends. */
async function sideOf(scene: Scene, party: Party, more: Partial<SettleInput> = {}) {
  const input = { ...scene.input(party), ...more };
  if (party === 'taker') await input.store.putSecret(hashlockOf(scene.secret), scene.secret);
  return input;
}

/** Runs a side until something is told, then stops it as a crash would. */
async function until(input: SettleInput, when: (progress: Progress) => boolean): Promise<void> {
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  const onProgress = (progress: Progress) => {
    if (when(progress)) stop.abort(stopped);
  };
  await assert.rejects(settle({ ...input, signal: stop.signal, onProgress }), stopped);
}

const isFunded = ({ step }: Progress) => step === 'funded';

/** Satoshis a party holds in confirmed coins. */
async function satsOf(party: Party): Promise<bigint> {
  const { rpcUrl } = await bitcoinNode();
  const { address } = chains.purses[party].bitcoin;
  const coins = await coreCoins(rpcUrl).coins(address, AbortSignal.timeout(30_000));
  return coins.reduce((sum, { amountSats }) => sum + amountSats, 0n);
}

async function bitcoinNode(): Promise<{ chain: string; rpcUrl: string }> {
  const found = (await chains.dev.status()).chains.find(({ family }) => family === 'bitcoin');
  assert.ok(found);
  return found;
}

test('both sides settle, and each is paid what was promised', limits, async () => {
  const scene = chains.swap();
  const sides = await Promise.all([sideOf(scene, 'taker'), sideOf(scene, 'maker')]);
  const ends = await Promise.all(sides.map((side) => settle(side)));
  assert.deepEqual(
    ends.map(({ end, status }) => [end, status]),
    [
      ['received', 'counterparty_claimed'],
      ['received', 'counterparty_claimed'],
    ],
  );
  assert.ok(ends[0]?.txids.a.claim && ends[0]?.txids.b.claim);
  const asked = scene.market.calls.filter((call) => call.startsWith('taker claim'));
  assert.deepEqual(asked, [], 'the market was told the secret before it was public');
});

test('with the market killed after funding, both sides claim alone', limits, async () => {
  const scene = chains.swap();
  const taker = await sideOf(scene, 'taker');
  const maker = await sideOf(scene, 'maker');
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  scene.market.die();
  const ends = await Promise.all([settle({ ...taker, client: null }), settle(maker)]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['received', 'received'],
  );
});

test(
  'a market that says "funded, deep" of empty escrows gets no money and no secret',
  limits,
  async () => {
    const scene = chains.swap();
    scene.market.lie((swap) => {
      const deep = { status: 'funded', confirmations: 99, fundTx: 'ab'.repeat(32) } as const;
      const a = { ...swap.legs.a, ...deep };
      const b = { ...swap.legs.b, ...deep };
      const next = (['initiator', 'counterparty'] as const).flatMap((by) => [
        { by, action: 'fund', leg: 'a', before: null, why: 'lie' } as const,
        { by, action: 'claim', leg: 'a', before: null, why: 'lie' } as const,
      ]);
      return { ...swap, status: 'counterparty_funded', legs: { a, b }, next };
    });
    const told: Progress[] = [];
    const stop = new AbortController();
    const watch = { signal: stop.signal, onProgress: (each: Progress) => void told.push(each) };
    // The counterparty is told that the initiator funded; nobody did.
    const maker = settle(await sideOf(scene, 'maker', watch));
    await sleep(3_000);
    assert.deepEqual(told.filter(isFunded), []);
    assert.ok(!scene.market.calls.includes('maker fund a'));
    // The initiator funds its leg, and is told that the other one is there: it keeps its secret.
    const makerStopped = assert.rejects(maker);
    const alone = chains.swap();
    alone.market.lie((swap) => ({ ...swap, status: 'counterparty_funded' }));
    const taker = settle(await sideOf(alone, 'taker', watch));
    const takerStopped = assert.rejects(taker);
    while (!told.some(isFunded)) await sleep(100);
    await sleep(3_000);
    assert.deepEqual(
      told.filter(({ step }) => step === 'claimed'),
      [],
    );
    assert.deepEqual(
      alone.market.calls.filter((call) => call.includes('claim')),
      [],
    );
    stop.abort();
    await Promise.all([makerStopped, takerStopped]);
  },
);

test('a market that alters an escrow or a key is refused before money moves', limits, async () => {
  const scene = chains.swap();
  const other = chains.swap();
  scene.market.lie((swap) => {
    const escrow = other.market.watched('b').address;
    return { ...swap, legs: { ...swap.legs, b: { ...swap.legs.b, escrow } } };
  });
  await assert.rejects(
    settle(await sideOf(scene, 'taker')),
    (error) => error instanceof VerificationError && error.field === 'legs.b.escrow',
  );
  assert.ok(!scene.market.calls.some((call) => call.includes('fund')));
});

test('a funding that pays somebody else is refused', limits, async () => {
  const scene = chains.swap();
  const { address } = chains.purses.maker.bitcoin;
  const client = scene.market.client('taker');
  const lying = {
    ...client,
    fund: async (id: string, leg: 'a' | 'b') => ({
      ...(await client.fund(id, leg)),
      payTo: address,
    }),
  } as ParleyClient;
  await assert.rejects(
    settle(await sideOf(scene, 'taker', { client: lying })),
    (error) => error instanceof VerificationError && error.field === 'payTo',
  );
});

test(
  'no market is asked to build a claim: it could name coins or take its time',
  limits,
  async () => {
    const scene = chains.swap();
    const never = () => new Promise(() => undefined);
    const sides = (['taker', 'maker'] as const).map(async (party) => {
      const client = { ...scene.market.client(party), claim: never, refund: never };
      return settle(await sideOf(scene, party, { client: client as unknown as ParleyClient }));
    });
    const ends = await Promise.all(sides);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
  },
);

test(
  'a crash before or after each step is resumed, and nothing is funded twice',
  limits,
  async () => {
    const scene = chains.swap();
    const had = await satsOf('taker');
    const parties = ['taker', 'maker'] as const;
    const crashes = parties.map((): Crashing => ({ at: [], stop: new AbortController() }));
    const ends = await Promise.all(
      parties.map(async (party, index) =>
        throughCrashes(await sideOf(scene, party), crashes[index] as Crashing),
      ),
    );
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
    for (const { at } of crashes) {
      for (const kind of ['before terms', 'after terms', 'before funding', 'after funding']) {
        assert.ok(at.includes(kind), `never crashed ${kind}: ${at.join(', ')}`);
      }
      assert.ok(at.some((kind) => kind.startsWith('before') && kind.includes('claim')));
      assert.ok(at.some((kind) => kind.startsWith('after') && kind.includes('claim')));
      assert.ok(at.includes('after sending'));
    }
    const paid = had - (await satsOf('taker'));
    assert.ok(paid >= 1_000_000n && paid < 1_010_000n, `the taker paid ${paid} sats`);
  },
);

test(
  'a node that lags behind and shows no funding yet does not make it fund again',
  limits,
  async () => {
    const scene = chains.swap();
    const had = await satsOf('taker');
    const taker = await sideOf(scene, 'taker');
    await until(taker, isFunded);
    const blind = { until: performance.now() + 2_500, looks: 0 };
    const sources = new Map(
      [...taker.sources].map(([chain, source]) => {
        const { adapter } = source;
        const readEscrow: typeof adapter.readEscrow = async (escrow, signal) => {
          if (performance.now() > blind.until) return adapter.readEscrow(escrow, signal);
          blind.looks += 1;
          return nothingSeen;
        };
        return [chain, { ...source, adapter: showing(adapter, { readEscrow }) }] as const;
      }),
    );
    const isDeep = ({ step, text }: Progress) => step === 'seen' && text.endsWith('is deep');
    await until({ ...taker, sources }, isDeep);
    assert.ok(blind.looks > 4, `it looked only ${blind.looks} times`);
    const paid = had - (await satsOf('taker'));
    assert.ok(paid >= 1_000_000n && paid < 1_010_000n, `the taker paid ${paid} sats`);
  },
);

test(
  'a wallet that fails, and a market that closes the key, do not end the watch',
  limits,
  async () => {
    const scene = chains.swap();
    const maker = await sideOf(scene, 'maker');
    const taker = await sideOf(scene, 'taker');
    await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
    const { bitcoin } = chains.purses.maker;
    let locked = 3;
    const failing: BitcoinWallet = {
      ...bitcoin,
      signSighashes: async (hashes, signal) => {
        locked -= 1;
        if (locked >= 0) throw new Error('the wallet is locked');
        return bitcoin.signSighashes(hashes, signal);
      },
    };
    const wallets = new Map<string, Wallet>(maker.wallets).set(
      (await bitcoinNode()).chain,
      failing,
    );
    const refused = () => {
      throw new ParleyApiError({
        status: 401,
        code: 'key_invalid',
        message: 'the key was replaced',
      });
    };
    const client = { swap: refused, claim: refused, broadcast: refused } as unknown as ParleyClient;
    const [, end] = await Promise.all([settle(taker), settle({ ...maker, wallets, client })]);
    assert.equal(end.end, 'received');
    assert.equal(locked, -1);
  },
);

test(
  'a Bitcoin claim that no block takes is replaced, also with the other chain silent',
  limits,
  async () => {
    const scene = chains.swap();
    const { chain } = await bitcoinNode();
    const claims: string[] = [];
    const replaced = Promise.withResolvers<void>();
    let isSilent = false;
    const onProgress = ({ step, leg, txid }: Progress) => {
      // The short leg is claimed: the long one's claim is made now, and finds no block.
      if (step !== 'claimed' || leg !== 'b' || txid === null) return;
      isSilent = true;
      if (claims.push(txid) >= 2) replaced.resolve();
    };
    const side = await sideOf(scene, 'maker', { onProgress, replaceAfterMs: 1_000 });
    const maker = withAdapter(side, evmKey, ({ heads }) => ({
      heads: async (signal) => {
        if (isSilent) throw new ParleyError('chain_unavailable', 'no EVM node', {});
        return heads(signal);
      },
    }));
    await Promise.all([until(await sideOf(scene, 'taker'), isFunded), until(maker, isFunded)]);
    await chains.dev.mining(chain, false);
    const running = Promise.all([
      settle(await sideOf(scene, 'taker', { swapId: maker.swapId })),
      settle(maker),
    ]);
    running.catch(replaced.reject);
    try {
      await replaced.promise;
    } finally {
      isSilent = false;
      await chains.dev.mining(chain, true);
    }
    const [, end] = await running;
    assert.equal(end.end, 'received');
    assert.notEqual(end.txids.b.claim, claims[0]);
  },
);

// Last: it moves the clocks of the chains.
test('with the market killed and nobody claiming, both sides refund alone', limits, async () => {
  const scene = chains.swap();
  const had = await satsOf('taker');
  const taker = await sideOf(scene, 'taker');
  const maker = await sideOf(scene, 'maker');
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  scene.market.die();
  await chains.move(27 * 3_600);
  const gone = { client: null };
  const ends = await Promise.all([settle({ ...taker, ...gone }), settle({ ...maker, ...gone })]);
  assert.deepEqual(
    ends.map(({ end, status }) => [end, status]),
    [
      ['refunded', 'refunded'],
      ['refunded', 'refunded'],
    ],
  );
  const paid = had - (await satsOf('taker'));
  assert.ok(paid >= 0n && paid < 10_000n, `the refund cost ${paid} sats`);
});
