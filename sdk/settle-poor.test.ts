// A wallet that could not send its own claim: nobody funds with it, nobody shows a secret with it,
// and the settlement goes on when it can. And what the other side may not do: stop a reveal.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTransaction } from '../chains/solana/message.ts';
import { solanaDeployment, solanaTransaction } from '../chains/solana/plan.ts';
import { ParleyError } from '../core/errors.ts';
import type { LegName, Party } from '../core/trade.ts';
import type { ChainSource } from './settle/context.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { type Coin, type FourChains, fourChains } from './testing/four-chains.ts';
import { altered, isFunded, sideOf, until, withNewWallet } from './testing/poor.ts';
import type { Scene } from './testing/two-chains.ts';

const limits = { timeout: 90_000 };
let chains: FourChains;

before(async () => {
  chains = await fourChains();
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

const poor: readonly [string, 'evm' | 'tron' | 'solana', Party, Record<LegName, Coin>, RegExp][] = [
  ['TRON counterparty never used', 'tron', 'maker', { a: 'SOL', b: 'TRX' }, /was never used/],
  ['TRON initiator never used', 'tron', 'taker', { a: 'TRX', b: 'SOL' }, /was never used/],
  ['EVM counterparty without ETH', 'evm', 'maker', { a: 'SOL', b: 'ETH' }, /has 0 wei/],
  ['EVM initiator without ETH', 'evm', 'taker', { a: 'ETH', b: 'SOL' }, /has 0 wei/],
  [
    'Solana counterparty without SOL',
    'solana',
    'maker',
    { a: 'TRX', b: 'SPL dollar' },
    /has 0 lam/,
  ],
];

for (const [who, family, party, coins, words] of poor) {
  test(
    `${who}: does not fund until its claim can be paid for, and then settles`,
    limits,
    async () => {
      await withNewWallet(chains, family, party, async ({ chain, wallet }) => {
        const scene = chains.swap(coins);
        const own = await sideOf(scene, party);
        const other = await sideOf(scene, party === 'maker' ? 'taker' : 'maker');
        const stop = new AbortController();
        const others = settle({ ...other, signal: stop.signal });
        try {
          const told = await until(own, ({ step, text }) => step === 'waiting' && words.test(text));
          assert.ok(told.every(({ step }) => step !== 'funded'));
          await chains.dev.faucet({ chain, address: wallet.address });
          const ends = await Promise.all([settle(own), others]);
          assert.deepEqual(
            ends.map(({ end }) => end),
            ['received', 'received'],
          );
        } finally {
          stop.abort();
          await others.catch(() => undefined);
        }
      });
    },
  );
}

test(
  'a wallet that ran dry after the funding shows no secret until it is filled again',
  limits,
  async () => {
    const scene = chains.swap({ a: 'TRX', b: 'SOL' });
    const [taker, maker] = [await sideOf(scene, 'taker'), await sideOf(scene, 'maker')];
    await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
    const poor = { code: 'energy_poor', verb: 'claim', need: 1n, has: 0n } as const;
    const shortage = async (_: unknown, address: string) =>
      ({ ...poor, address, sentence: 'it ran dry' }) as const;
    const dry = altered(taker, scene, 'a', () => ({ claimShortage: shortage }));
    const told = await until(dry, ({ text }) => text === 'it ran dry');
    assert.ok(told.every(({ step }) => step !== 'claimed'));
    assert.equal((await taker.store.getSwap(taker.swapId))?.publicSecret, null);
    const ends = await Promise.all([settle(taker), settle(maker)]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
  },
);

test(
  'the funder of the short leg cannot stop the reveal by what it does to its own account',
  limits,
  async () => {
    const scene = chains.swap({ a: 'SPL dollar', b: 'TRX' });
    const [taker, maker] = [await sideOf(scene, 'taker'), await sideOf(scene, 'maker')];
    await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
    // As an account that was given away shows itself.
    const vetoed = altered(taker, scene, 'a', ({ preflight }) => ({
      preflight: (terms, about, signal) => {
        if (about === 'claim') return preflight(terms, about, signal);
        throw new ParleyError('payout_would_fail', 'the refund account belongs to another now', {});
      },
    }));
    const ends = await Promise.all([settle(vetoed), settle(maker)]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
  },
);

test(
  'rent that a claim without the funder’s account left comes back to the funder',
  limits,
  async () => {
    const scene = chains.swap({ a: 'SOL', b: 'TRX' });
    const publicWhenBuilt: boolean[] = [];
    const taker = altered(await sideOf(scene, 'taker'), scene, 'a', ({ buildClaim }) => ({
      buildClaim: async (input, secret, signal) => {
        publicWhenBuilt.push(input.isPublic);
        const built = await buildClaim(input, secret, signal);
        assert.equal(built.sign, 'solana-tx');
        const { blockhash } = readTransaction(built.sign === 'solana-tx' ? built.transaction : '');
        const circumstances = { tokenProgram: null, blockhash, unitPrice: 0n };
        const wanted = { verb: 'claim', secret, withoutRefund: true } as const;
        const { terms } = input.escrow;
        const transaction = solanaTransaction(terms, solanaDeployment, wanted, circumstances);
        return { ...built, transaction };
      },
    }));
    const told: Progress[] = [];
    const maker = altered(await sideOf(scene, 'maker'), scene, 'b', ({ buildClaim }) => ({
      buildClaim: (input, ...more) => {
        publicWhenBuilt.push(input.isPublic);
        return buildClaim(input, ...more);
      },
    }));
    const onProgress = (progress: Progress) => void told.push(progress);
    const ends = await Promise.all([settle(taker), settle({ ...maker, onProgress })]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
    assert.deepEqual(
      publicWhenBuilt.slice(0, 2),
      [false, true],
      'the second is held up by nothing',
    );
    assert.ok(told.some(({ step, leg }) => step === 'refunded' && leg === 'a'));
    const escrow = scene.market.watched('a');
    const source = maker.sources.get(escrow.terms.chain) as ChainSource;
    const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
    const left = () =>
      source.adapter.buildRefund(input, AbortSignal.timeout(15_000)).then(
        () => 'rent',
        ({ code }: ParleyError) => code,
      );
    for (let looks = 0; looks < 100 && (await left()) === 'rent'; looks += 1) await sleep(100);
    assert.equal(await left(), 'nothing_there');
  },
);

test(
  'two swaps and two wallet objects of one key that can pay for one claim: one shows no secret',
  limits,
  async () => {
    await withNewWallet(chains, 'tron', 'taker', async ({ chain, wallet, again }) => {
      const { dev } = chains;
      const { address } = wallet;
      const tokens = (await dev.status()).chains.find((each) => each.chain === chain)?.tokens;
      await dev.faucet({ chain, address, amount: 1_000_000n });
      await dev.faucet({ chain, address, asset: tokens?.[0]?.address ?? '' });
      const scenes = [1, 2].map(() => chains.swap({ a: 'TRON dollar', b: 'SOL' }));
      const takers = await Promise.all(
        scenes.map(async (scene) => {
          // It could pay for both while they were funded.
          const rich = altered(await sideOf(scene, 'taker'), scene, 'a', () => ({
            purseShortage: async () => null,
          }));
          return { ...rich, wallets: new Map([...rich.wallets, [chain, again()]]) };
        }),
      );
      const makers = await Promise.all(scenes.map((scene) => sideOf(scene, 'maker')));
      const { terms } = (scenes[0] as Scene).market.watched('a');
      const { adapter } = (takers[0] as SettleInput).sources.get(chain) as ChainSource;
      const short = await adapter.claimShortage?.(terms, address, AbortSignal.timeout(15_000));
      assert.ok(short && 'need' in short && 'has' in short);
      const more = (BigInt(String(short.need)) * 11n) / 10n - BigInt(String(short.has));
      await dev.faucet({ chain, address, amount: more });
      const fundings = takers.map(async (taker, at) => {
        await Promise.all([until(taker, isFunded), until(makers[at] as SettleInput, isFunded)]);
      });
      await Promise.all(fundings);
      // Both can be revealed at once from here on.
      for (const scene of scenes) {
        const watched = scene.market.watched('a');
        const look = () => adapter.readEscrow(watched, AbortSignal.timeout(15_000));
        while (!(await look()).funded?.deep) await sleep(100);
      }
      const stop = new AbortController();
      const dry = Promise.withResolvers<void>();
      const told: string[] = [];
      const onProgress = ({ step, text }: Progress) => {
        told.push(step);
        if (/to send its own claim may take/.test(text)) dry.resolve();
      };
      const both = takers.map((taker) => settle({ ...taker, signal: stop.signal, onProgress }));
      try {
        await dry.promise;
        const kept = await Promise.all(
          takers.map(async ({ store, swapId }) => (await store.getSwap(swapId))?.publicSecret),
        );
        assert.equal(kept.filter((secret) => secret === null).length, 1);
        assert.equal(told.filter((step) => step === 'claimed').length, 1);
        await dev.faucet({ chain, address });
        const ends = await Promise.all([...both, ...makers.map((maker) => settle(maker))]);
        assert.ok(ends.every(({ end }) => end === 'received'));
      } finally {
        stop.abort();
        await Promise.allSettled(both);
      }
    });
  },
);
