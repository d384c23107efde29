// What a side does when signing takes long, a token stops paying, or the market keeps what it was
// given: on real chains, with one thing altered at a time.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { ParleyError } from '../core/errors.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { ParleyClient } from './client.ts';
import { ParleyApiError } from './errors.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import type { Store, SwapRecord } from './stores/store.ts';
import { evmKey, isFunded, later, rpcUrlOf, sideOf, until, withAdapter } from './testing/stuck.ts';
import { type Scene, type TwoChains, twoChains } from './testing/two-chains.ts';
import type { BitcoinWallet, EvmWallet, Wallet } from './wallets/wallet.ts';

const limits = { timeout: 150_000 };
/** A side that would wait for ever must not keep the process. */
const sideLimitMs = 100_000;
let chains: TwoChains;
let bitcoinKey: string;

before(async () => {
  chains = await twoChains();
  const url = await rpcUrlOf(chains, 'bitcoin');
  const all = (await chains.dev.status()).chains;
  bitcoinKey = all.find(({ rpcUrl }) => rpcUrl === url)?.chain ?? '';
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

type Sides = { readonly taker: SettleInput; readonly maker: SettleInput };

/** Both sides have funded, and are stopped. */
async function bothFunded(scene: Scene): Promise<Sides> {
  const signal = AbortSignal.timeout(sideLimitMs);
  const taker = await sideOf(scene, 'taker', { signal });
  const maker = await sideOf(scene, 'maker', { signal });
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  return { taker, maker };
}

async function recordOf({ store, swapId }: SettleInput): Promise<SwapRecord> {
  const record = await store.getSwap(swapId);
  assert.ok(record);
  return record;
}

/** The same side with a wall clock that can be moved. */
function clocked(input: SettleInput): { side: SettleInput; ahead: (seconds: number) => void } {
  let seconds = 0;
  const { now } = input;
  assert.ok(now);
  return {
    side: { ...input, now: async () => (await now()) + seconds },
    ahead: (by) => {
      seconds = by;
    },
  };
}

function withWallet(input: SettleInput, chain: string, wallet: Wallet): SettleInput {
  return { ...input, wallets: new Map(input.wallets).set(chain, wallet) };
}

/** The same side, and what its own node of a chain was sent. */
function counting(input: SettleInput, chain: string) {
  const sent: string[] = [];
  const side = withAdapter(input, chain, ({ broadcast }) => ({
    broadcast: async (read, signal) => {
      sent.push(read.raw);
      return broadcast(read, signal);
    },
  }));
  return { side, sent };
}

const isReveal = ({ step, leg }: Progress) => step === 'claimed' && leg === 'a';

test('a funding whose signature took until after the deadline is not sent', limits, async () => {
  const scene = chains.swap();
  const signal = AbortSignal.timeout(sideLimitMs);
  const { side, ahead } = clocked(await sideOf(scene, 'taker', { signal }));
  const { bitcoin } = chains.purses.taker;
  const slow: BitcoinWallet = {
    ...bitcoin,
    signPayment: async (...args) => {
      const signed = await bitcoin.signPayment(...args);
      const { deadlines } = (await recordOf(side)).swap;
      ahead(deadlines.initiatorFundBy - chains.now() + 5);
      return signed;
    },
  };
  const { side: watched, sent } = counting(withWallet(side, bitcoinKey, slow), bitcoinKey);
  const { end } = await settle(watched);
  assert.equal(end, 'nothing');
  assert.deepEqual(sent, []);
  assert.ok(!scene.market.calls.includes('taker broadcast'));
});

test('a claim whose signature took until after revealBy is not sent', limits, async () => {
  const scene = chains.swap();
  const { taker } = await bothFunded(scene);
  const { side, ahead } = clocked(taker);
  const { evm } = chains.purses.taker;
  const slow: EvmWallet = {
    ...evm,
    sign: async (...args) => {
      const signed = await evm.sign(...args);
      const { deadlines } = (await recordOf(side)).swap;
      ahead(deadlines.revealBy - chains.now() + 5);
      return signed;
    },
  };
  const { side: watched, sent } = counting(withWallet(side, evmKey, slow), evmKey);
  const before = scene.market.calls.filter((call) => call === 'taker broadcast').length;
  const last = await until(
    watched,
    (each) => isReveal(each) || /had to be revealed/.test(each.text),
  );
  assert.equal(last.step, 'waiting');
  const { claim, publicSecret } = await recordOf(taker);
  assert.deepEqual([claim, publicSecret, sent], [null, null, []]);
  const after = scene.market.calls.filter((call) => call === 'taker broadcast').length;
  assert.equal(after, before);
});

const differ = 'the sources differ';
const differing = (input: SettleInput, chain: string, isOn = () => true) =>
  withAdapter(input, chain, ({ mustAgree }) => ({
    mustAgree: async (watched, signal) => {
      if (isOn()) throw new ParleyError('sources_disagree', differ);
      return mustAgree?.(watched, signal);
    },
  }));

test(
  'nothing is funded while either leg would not pay, or its sources differ',
  limits,
  async () => {
    for (const [chain, failing] of [
      [evmKey, 'payout'],
      [bitcoinKey, 'payout'],
      [bitcoinKey, 'funding'],
      [evmKey, differ],
      [bitcoinKey, differ],
    ] as const) {
      const taker = await sideOf(chains.swap(), 'taker');
      const unpaying = withAdapter(taker, chain, ({ preflight }) => ({
        preflight: async (terms, about, signal) => {
          if (about === failing) throw new ParleyError('payout_would_fail', 'it would not pay');
          return preflight(terms, about, signal);
        },
      }));
      const broken = differing(unpaying, chain, () => failing === differ);
      const why = failing === differ ? differ : 'it would not pay';
      const last = await until(broken, (each) => isFunded(each) || each.text === why);
      assert.equal(last.step, 'waiting', `${failing} on ${chain} was not tried`);
      assert.equal((await recordOf(taker)).funding, null);
    }
  },
);

test('no initiator funds under a hashlock that its store cannot open', limits, async () => {
  for (const held of [null, '77'.repeat(32)]) {
    const scene = chains.swap();
    const taker = { ...scene.input('taker'), signal: AbortSignal.timeout(10_000) };
    if (held !== null) await taker.store.putSecret(hashlockOf(scene.secret), held);
    await assert.rejects(settle(taker), { code: 'secret_lost' });
    assert.equal((await recordOf(taker)).funding, null);
    assert.ok(!scene.market.calls.includes('taker fund b'));
  }
});

test('a swap whose hashlock another one has is not funded', limits, async () => {
  const scene = chains.swap();
  const taker = await sideOf(scene, 'taker');
  await until(taker, ({ step }) => step === 'verified');
  const record = await recordOf(taker);
  const id = crypto.randomUUID();
  await taker.store.putSwap({ ...record, swap: { ...record.swap, id } });
  await assert.rejects(settle(taker), { code: 'hashlock_used' });
  assert.ok(!scene.market.calls.includes('taker broadcast'));
});

/** The market is told the claim, and does something else than relaying it. */
type Keeping = (ahead: () => void) => Promise<{ txid: string }>;
const keepings: Record<string, Keeping> = {
  'says that it was sent': async (ahead) => {
    ahead();
    return { txid: '00' };
  },
  'never answers': async (ahead) => {
    ahead();
    return new Promise(() => undefined);
  },
  refuses: async (ahead) => {
    ahead();
    throw new ParleyApiError({ status: 409, code: 'too_late_to_reveal', message: 'too late' });
  },
};

for (const [what, keep] of Object.entries(keepings)) {
  test(
    `a market that gets the claim and ${what} does not have the secret alone`,
    limits,
    async () => {
      const { taker, maker } = await bothFunded(chains.swap());
      const { side, ahead } = clocked(taker);
      const { deadlines } = (await recordOf(taker)).swap;
      const told = { market: [] as string[], own: [] as string[] };
      const noted: boolean[] = [];
      const client = {
        ...taker.client,
        broadcast: async (_: string, raw: string) => {
          told.market.push(raw);
          noted.push((await recordOf(taker)).publicSecret !== null);
          return keep(() => ahead(deadlines.revealBy - chains.now() + 60));
        },
      } as unknown as ParleyClient;
      // Its own node loses the claim twice, without a word.
      const lossy = withAdapter(side, evmKey, ({ broadcast }) => ({
        broadcast: async (read, signal) => {
          told.own.push(read.raw);
          return told.own.length > 2 ? broadcast(read, signal) : read.txid;
        },
      }));
      // Never at a higher fee: the very same bytes are to be sent again.
      const slowly = { ...lossy, client, replaceAfterMs: 600_000 };
      const ends = await Promise.all([settle(slowly), settle(maker)]);
      assert.deepEqual(
        ends.map(({ end }) => end),
        ['received', 'received'],
      );
      assert.ok(!noted.includes(false), 'the secret was handed out and not noted');
      assert.ok(told.own.length >= 3 && told.market.length >= 3, JSON.stringify(told));
      assert.equal(new Set([...told.own, ...told.market]).size, 1, 'not the very same bytes');
    },
  );
}

test('a claim goes to the own node at once, whatever the market takes', limits, async () => {
  const { taker, maker } = await bothFunded(chains.swap());
  const at = { market: 0, own: 0 };
  const client = {
    ...taker.client,
    broadcast: () => {
      at.market ||= performance.now();
      return new Promise(() => undefined);
    },
  } as unknown as ParleyClient;
  const timed = withAdapter(taker, evmKey, ({ broadcast }) => ({
    broadcast: async (read, signal) => {
      at.own ||= performance.now();
      return broadcast(read, signal);
    },
  }));
  const ends = await Promise.all([settle({ ...timed, client }), settle(maker)]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['received', 'received'],
  );
  assert.ok(Math.abs(at.own - at.market) < 2_000, JSON.stringify(at));
});

/** A token that pays nobody while `paused.on`. */
function pausing(input: SettleInput, paused: { on: boolean }): SettleInput {
  return withAdapter(input, evmKey, ({ preflight }) => ({
    preflight: async (terms, about, signal) => {
      if (paused.on) throw new ParleyError('payout_would_fail', 'the token is paused');
      return preflight(terms, about, signal);
    },
  }));
}

const isPaused = (each: Progress) => isReveal(each) || each.text === 'the token is paused';

test('a token paused, or sources that differ, do not cost the secret', limits, async () => {
  const { taker, maker } = await bothFunded(chains.swap());
  for (const chain of [evmKey, bitcoinKey]) {
    const found = (each: Progress) => isReveal(each) || each.text === differ;
    assert.equal((await until(differing(taker, chain), found)).step, 'waiting', chain);
    assert.equal((await recordOf(taker)).publicSecret, null);
  }
  const paused = { on: true };
  const last = await until(pausing(taker, paused), isPaused);
  assert.equal(last.step, 'waiting');
  const { claim, publicSecret } = await recordOf(taker);
  assert.deepEqual([claim, publicSecret], [null, null]);
  // Paused while the claim is being signed.
  const { evm } = chains.purses.taker;
  const signing: EvmWallet = {
    ...evm,
    sign: async (...args) => {
      paused.on = true;
      return evm.sign(...args);
    },
  };
  paused.on = false;
  const again = await until(pausing(withWallet(taker, evmKey, signing), paused), isPaused);
  assert.equal(again.step, 'waiting');
  assert.equal((await recordOf(taker)).publicSecret, null);
  paused.on = false;
  // The other chain falls silent while the claim is signed, until it is kept: it was looked at.
  const silent = { asked: 0, until: Promise.resolve() };
  const side = withAdapter(pausing(taker, paused), bitcoinKey, ({ readEscrow }) => ({
    readEscrow: async (...about) => {
      silent.asked += 1;
      await silent.until;
      return readEscrow(...about);
    },
  }));
  const kept = Promise.withResolvers<void>();
  let asked = -1;
  const hushing: EvmWallet = {
    ...evm,
    sign: async (...args) => {
      silent.until = kept.promise;
      const signed = await evm.sign(...args);
      silent.asked = 0;
      return signed;
    },
  };
  const store: Store = {
    ...side.store,
    putSwap: async (record) => {
      await side.store.putSwap(record);
      if (record.claim === null || asked >= 0) return;
      asked = silent.asked;
      kept.resolve();
    },
  };
  const own = withWallet({ ...side, store }, evmKey, hushing);
  const ends = await Promise.all([settle(own), settle(maker)]);
  assert.equal(asked, 0, 'nothing is asked of the other chain after signing');
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['received', 'received'],
  );
});

// Last: it moves the clocks of the chains.
test(
  'a secret not told in time, or signed and not sent, stays untold, and both refund',
  limits,
  async () => {
    const paused = await bothFunded(chains.swap());
    await until(pausing(paused.taker, { on: true }), isPaused);
    const unsent = await bothFunded(chains.swap());
    const refused = withAdapter({ ...unsent.taker, client: null }, evmKey, () => ({
      broadcast: async () => {
        throw new ParleyError('chain_unavailable', 'no node');
      },
    }));
    await until(refused, isReveal);
    assert.ok((await recordOf(unsent.taker)).claim);
    const { deadlines } = (await recordOf(unsent.taker)).swap;
    const past = later(unsent.taker, deadlines.refundAt.a - chains.now() + 60);
    const { side, sent } = counting(past, evmKey);
    await until(side, ({ text }) => /takes no claim/.test(text));
    assert.deepEqual(sent, []);
    await chains.move(27 * 3_600);
    const { side: late, sent: lateSent } = counting(unsent.taker, evmKey);
    // The other side has refunded nothing yet: a claim that stays open must not hold the refund up.
    await until(late, ({ step, leg }) => step === 'refunded' && leg === 'b');
    const sides = [pausing(paused.taker, { on: true }), paused.maker, late, unsent.maker];
    const ends = await Promise.all(sides.map((each) => settle(each)));
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['refunded', 'refunded', 'refunded', 'refunded'],
    );
    // On a slow machine the claim has waited so long that its nonce is used up, by nothing.
    const { hashlock } = (await recordOf(unsent.taker)).swap;
    const secret = await unsent.taker.store.getSecret(hashlock);
    assert.ok(secret);
    assert.ok(!lateSent.some((raw) => raw.includes(secret)));
  },
);
