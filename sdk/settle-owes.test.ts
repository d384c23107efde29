// One wallet and several swaps: what it owes for those that run is counted before it funds another.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owed } from '../chains/interface/gas.ts';
import { ParleyError } from '../core/errors.ts';
import { nothingSeen } from '../core/facts.ts';
import type { LegName } from '../core/trade.ts';
import { rpcTo } from '../devnet/rpc.ts';
import { type ChainSource, contextOf, type Seen } from './settle/context.ts';
import { owing, tendOwed } from './settle/owed.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import type { SwapRecord } from './stores/store.ts';
import { type Coin, type FourChains, fourChains } from './testing/four-chains.ts';
import { altered, isFunded, sideOf, until, withNewWallet } from './testing/poor.ts';
import type { Scene } from './testing/two-chains.ts';

const limits = { timeout: 120_000 };
let chains: FourChains;

before(async () => {
  chains = await fourChains();
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

const soon = () => AbortSignal.timeout(15_000);

/** An account that was used before pays less for what it is paid first. */
const begin = (chain: string, address: string) => chains.dev.faucet({ chain, address, amount: 1n });

/** What this wallet lacks for all of this, asked of the side's own node. */
async function needs(
  input: SettleInput,
  chain: string,
  owed: Owed,
  payer: string,
): Promise<bigint> {
  const { adapter } = input.sources.get(chain) as ChainSource;
  const short = await adapter.purseShortage?.(owed, payer, soon());
  const need = /(?:may take|at least) (\d+)/.exec(short?.sentence ?? '')?.[1];
  assert.ok(need, short?.sentence);
  return BigInt(need);
}

/** A price that no block changes: it is the tip alone. */
async function calmGas(): Promise<void> {
  const { rpcUrl = '' } = (await chains.dev.status()).chains.find(isEvm) ?? {};
  const call = rpcTo(rpcUrl);
  await call('anvil_setNextBlockBaseFeePerGas', ['0x0']);
  await call('evm_mine');
}

const isEvm = ({ family }: { readonly family: string }) => family === 'evm';

const claimsOf = (...scenes: Scene[]): Owed => ({
  claims: scenes.map(({ market }) => market.watched('b').terms),
  fundings: [],
});

const one: readonly ['evm' | 'tron' | 'solana', Record<LegName, Coin>, RegExp][] = [
  ['evm', { a: 'SOL', b: 'ETH' }, /has \d+ wei .* send 2 claims for gas may take \d+/],
  ['tron', { a: 'SOL', b: 'TRX' }, /has \d+ sun .* send 2 claims may take \d+ sun/],
  ['solana', { a: 'TRX', b: 'SOL' }, /has \d+ lamports .* send 2 claims may take \d+/],
];

for (const [family, coins, words] of one) {
  test(
    `${family}: with what one claim costs one of two swaps is funded, and the other when there is more`,
    limits,
    async ({ signal }) => {
      await withNewWallet(chains, family, 'maker', async ({ chain, wallet, again }) => {
        const scenes = [chains.swap(coins), chains.swap(coins)] as const;
        const { address } = wallet;
        const makers = await Promise.all(
          scenes.map(async (scene) => {
            const side = await sideOf(scene, 'maker');
            return { ...side, wallets: new Map([...side.wallets, [chain, again()]]) };
          }),
        );
        const asked = makers[0] as SettleInput;
        if (family === 'tron') await begin(chain, address);
        if (family === 'evm') await calmGas();
        // Twice the price of now is asked for each.
        const single = await needs(asked, chain, claimsOf(scenes[0]), address);
        const double = await needs(asked, chain, claimsOf(...scenes), address);
        // On Solana the account that is paid is made once, and keeps its rent.
        assert.ok(family === 'solana' ? double > single : double >= 2n * single);
        await chains.dev.faucet({ chain, address, amount: double - (double - single) / 10n });
        const stop = new AbortController();
        signal.addEventListener('abort', () => stop.abort());
        const refused = Promise.withResolvers<Progress>();
        const funded = Promise.withResolvers<Progress>();
        const told: Progress[] = [];
        const onProgress = (progress: Progress) => {
          told.push(progress);
          if (words.test(progress.text)) refused.resolve(progress);
          if (isFunded(progress)) funded.resolve(progress);
        };
        const takers = await Promise.all(scenes.map((scene) => sideOf(scene, 'taker')));
        // The secrets stay where they are until both are funded.
        const fundings = takers.map((taker) => until(taker, isFunded));
        const own = makers.map((maker) => settle({ ...maker, signal: stop.signal, onProgress }));
        try {
          await Promise.all(fundings);
          const [first, second] = await Promise.all([funded.promise, refused.promise]);
          assert.notEqual(first.swapId, second.swapId);
          assert.match(second.text, new RegExp(`it owes the claims of swap ${first.swapId}$`));
          assert.equal(told.filter(isFunded).length, 1);
          await chains.dev.faucet({ chain, address, amount: single });
          const ends = await Promise.all([...own, ...takers.map((taker) => settle(taker))]);
          assert.ok(ends.every(({ end }) => end === 'received'));
          assert.equal(told.filter(isFunded).length, 2);
        } finally {
          stop.abort();
          await Promise.allSettled([...own, ...fundings]);
        }
      });
    },
  );
}

const counted = 'counted, and not funded';

/** Goes no further than the count. */
function counting(input: SettleInput, scene: Scene): SettleInput {
  const preflight = async () => {
    throw new ParleyError('payout_would_fail', counted, {});
  };
  return altered(input, scene, 'a', () => ({ preflight }));
}

/** A funded swap as another process with this store would have kept it. */
function keptElsewhere(record: SwapRecord, scene: Scene, over: Partial<SwapRecord>): SwapRecord {
  const { terms, address } = scene.market.watched('a');
  const id = crypto.randomUUID();
  const funding = { txid: 'a funding', raw: '' };
  const leg = { ...record.swap.legs.a, escrow: { address, redeemScript: null, terms } };
  const legs = { ...record.swap.legs, a: { ...leg, chain: terms.chain } };
  const swap = { ...record.swap, id, hashlock: terms.hashlock, legs };
  return { ...record, trade: { ...record.trade, threadId: id }, swap, funding, ...over };
}

/** The record of a side that has named its addresses, and gone no further. */
async function recordOf(input: SettleInput): Promise<SwapRecord> {
  await until(input, ({ step }) => step === 'verified');
  return (await input.store.getSwap(input.swapId)) as SwapRecord;
}

test(
  'a swap in the store counts until its claim is deep or nobody takes one any more',
  limits,
  async () => {
    await withNewWallet(chains, 'tron', 'taker', async ({ chain, wallet }) => {
      const coins = { a: 'TRX', b: 'SOL' } as const;
      const [scene, former] = [chains.swap(coins), chains.swap(coins)];
      const taker = await sideOf(scene, 'taker');
      const { address } = wallet;
      await begin(chain, address);
      const { terms } = scene.market.watched('a');
      const twice = { claims: [terms, former.market.watched('a').terms], fundings: [] };
      const amount = (await needs(taker, chain, twice, address)) - 2n;
      await chains.dev.faucet({ chain, address, amount });
      const record = await recordOf(taker);
      const kept = keptElsewhere(record, former, { owedBy: address });
      const { id } = kept.swap;
      const refused = async () => {
        const says = new RegExp(`send 2 claims .* it owes the claims of swap ${id}$`);
        const told = await until(taker, ({ text }) => says.test(text));
        assert.ok(told.every((each) => !isFunded(each)));
      };
      await taker.store.putSwap(kept);
      await refused();
      // Of a record that an older version kept nobody knows who pays: whoever is paid.
      const { owedBy: _, ...older } = kept;
      await taker.store.putSwap(older);
      await refused();
      for (const settled of [
        { ...kept, owedBy: null },
        { ...kept, owedBy: chains.purses.maker.get(chain)?.address ?? '' },
        { ...older, funding: null },
        keptElsewhere(record, former, { owedBy: address, swap: pastTimelock(kept) }),
      ]) {
        await taker.store.putSwap(settled);
        const told = await until(counting(taker, scene), ({ text }) =>
          /may take|counted/.test(text),
        );
        assert.equal(told.at(-1)?.text, counted);
      }
      await until(taker, isFunded);
      assert.equal((await taker.store.getSwap(taker.swapId))?.owedBy, address);
    });
  },
);

test('a claim is owed until it is deep, or too late, or its swap has ended', limits, async () => {
  const taker = await sideOf(chains.swap({ a: 'TRX', b: 'SOL' }), 'taker');
  const verified = await recordOf(taker);
  const funding = { txid: 'a funding', raw: '' };
  const record = { ...verified, funding, owedBy: null };
  const { timelock } = record.swap.legs.a;
  const context = contextOf(taker);
  const owedAt = async (clock: number, deep: boolean, isOver: boolean) => {
    const claimed = { txid: 'a claim', confirmations: deep ? 99 : 1, deep };
    const legs = {
      a: { ...record.swap.legs.a, facts: { ...nothingSeen, claimed } },
      b: { ...record.swap.legs.b, facts: nothingSeen },
    };
    const seen = { state: { legs }, clocks: { wall: clock, a: clock, b: clock } };
    return (await tendOwed(context, record, seen as unknown as Seen, isOver)).owedBy;
  };
  assert.equal(await owedAt(timelock - 1, false, false), record.trade.payTo.address);
  assert.equal(await owedAt(timelock - 1, true, false), null);
  assert.equal(await owedAt(timelock, false, false), null);
  assert.equal(await owedAt(timelock - 1, false, true), null);
});

test('what a settlement left owing is not counted past the timelock', limits, async () => {
  const asked: Owed[] = [];
  const sideAt = async (clock: number) => {
    const scene = chains.swap({ a: 'TRX', b: 'SOL' });
    const taker = altered(await sideOf(scene, 'taker'), scene, 'a', ({ heads }) => ({
      heads: async (signal) => ({ ...(await heads(signal)), clock }),
      purseShortage: async (owed) => {
        asked.push(owed);
        return null;
      },
    }));
    return { context: contextOf(taker), record: await recordOf(taker) };
  };
  const count = async ({ context, record }: Awaited<ReturnType<typeof sideAt>>) => {
    asked.length = 0;
    await owing(context, record, { isSent: true }, async () => record);
    return asked.map(({ claims }) => claims.length);
  };
  await withNewWallet(chains, 'tron', 'taker', async () => {
    const first = await sideAt(chains.now());
    assert.deepEqual(await count(first), [1]);
    assert.deepEqual(await count(await sideAt(chains.now())), [2]);
    assert.deepEqual(await count(await sideAt(first.record.swap.legs.a.timelock + 60)), [1]);
  });
});

function pastTimelock({ swap }: SwapRecord): SwapRecord['swap'] {
  const { a } = swap.legs;
  if (a.escrow === null) return swap;
  const escrow = { ...a.escrow, terms: { ...a.escrow.terms, timelock: chains.now() - 1 } };
  return { ...swap, legs: { ...swap.legs, a: { ...a, escrow } } };
}

test('a funding that came to nothing owes nothing', limits, async () => {
  await withNewWallet(chains, 'tron', 'taker', async ({ chain, wallet }) => {
    const scenes = [1, 2].map(() => chains.swap({ a: 'TRX', b: 'SOL' }));
    const takers = await Promise.all(scenes.map((scene) => sideOf(scene, 'taker')));
    const claims = scenes.map(({ market }) => market.watched('a').terms);
    const { address } = wallet;
    await begin(chain, address);
    const need = await needs(takers[0] as SettleInput, chain, { claims, fundings: [] }, address);
    await chains.dev.faucet({ chain, address, amount: need - 2n });
    for (const [at, taker] of takers.entries()) {
      const side = counting(taker, scenes[at] as Scene);
      const told = await until(side, ({ text }) => /may take|counted/.test(text));
      assert.equal(told.at(-1)?.text, counted);
    }
  });
});

test('coins that a funding takes are not there for a claim that is owed', limits, async () => {
  await withNewWallet(chains, 'tron', 'taker', async ({ chain, wallet }) => {
    const scene = chains.swap({ a: 'SOL', b: 'TRX' });
    const former = chains.swap({ a: 'TRX', b: 'SOL' });
    const taker = await sideOf(scene, 'taker');
    const { address } = wallet;
    await begin(chain, address);
    const owed = {
      claims: [former.market.watched('a').terms],
      fundings: [scene.market.watched('b').terms],
    };
    const amount = (await needs(taker, chain, owed, address)) - 2n;
    await chains.dev.faucet({ chain, address, amount });
    const kept = keptElsewhere(await recordOf(taker), former, { owedBy: address });
    await taker.store.putSwap(kept);
    const says = /sun .* send 1 claim after 1 funding may take/;
    const told = await until(taker, ({ text }) => says.test(text));
    assert.ok(told.every((each) => !isFunded(each)));
    await chains.dev.faucet({ chain, address, amount: 1n });
    await until(taker, isFunded);
  });
});

test('a funding on its way counts until a block has it', limits, async () => {
  await withNewWallet(chains, 'tron', 'maker', async ({ chain, wallet }) => {
    const [gives, gets] = [
      chains.swap({ a: 'TRX', b: 'SOL' }),
      chains.swap({ a: 'SOL', b: 'TRX' }),
    ];
    const [giving, getting] = [await sideOf(gives, 'maker'), await sideOf(gets, 'maker')];
    for (const scene of [gives, gets]) await until(await sideOf(scene, 'taker'), isFunded);
    const { address } = wallet;
    await begin(chain, address);
    const owed = {
      claims: [gets.market.watched('b').terms],
      fundings: [gives.market.watched('a').terms],
    };
    const amount = (await needs(giving, chain, owed, address)) - 2n;
    await chains.dev.faucet({ chain, address, amount });
    const isDeep = async () => {
      const { adapter } = getting.sources.get(chain) as ChainSource;
      return (await adapter.readEscrow(gets.market.watched('b'), soon())).funded?.deep;
    };
    while (!(await isDeep())) await sleep(100);
    const says = /sun .* send 1 claim after 1 funding may take/;
    await chains.dev.mining(chain, false);
    try {
      await until(giving, isFunded);
      const told = await until(getting, ({ text }) => says.test(text));
      assert.ok(told.every((each) => !isFunded(each)));
    } finally {
      await chains.dev.mining(chain, true);
    }
    const isMined = ({ step, leg }: Progress) => step === 'seen' && leg === 'a';
    await until(giving, isMined);
    await until(getting, isFunded);
  });
});

test(
  'two swaps that give on different chains are counted one after the other',
  limits,
  async () => {
    await withNewWallet(chains, 'tron', 'taker', async ({ chain, wallet }) => {
      const scenes = [
        chains.swap({ a: 'TRX', b: 'SOL' }),
        chains.swap({ a: 'TRX', b: 'ETH' }),
      ] as const;
      const takers = await Promise.all(scenes.map((scene) => sideOf(scene, 'taker')));
      const { address } = wallet;
      await begin(chain, address);
      const claims = scenes.map(({ market }) => market.watched('a').terms);
      const owed = { claims, fundings: [] };
      const need = await needs(takers[0] as SettleInput, chain, owed, address);
      await chains.dev.faucet({ chain, address, amount: need - 2n });
      const stop = new AbortController();
      const decided = Promise.withResolvers<void>();
      const counts = { passed: 0, refused: 0 };
      const decide = (what: keyof typeof counts) => {
        counts[what] += 1;
        if (counts.refused > 0 || counts.passed > 1) decided.resolve();
      };
      const both = takers.map((taker, at) => {
        const side = altered(taker, scenes[at] as Scene, 'a', ({ purseShortage }) => ({
          purseShortage: async (...asked) => {
            // Long enough for the other to come in between, if anything let it.
            await sleep(500);
            return (await purseShortage?.(...asked)) ?? null;
          },
          preflight: async () => {
            decide('passed');
            await sleep(60_000, null, { signal: stop.signal });
          },
        }));
        const onProgress = ({ text }: Progress) => {
          if (/may take/.test(text)) decide('refused');
        };
        return settle({ ...side, signal: stop.signal, onProgress });
      });
      const ended = Promise.allSettled(both);
      await decided.promise;
      stop.abort();
      await ended;
      assert.deepEqual([counts.passed, counts.refused > 0], [1, true]);
    });
  },
);
