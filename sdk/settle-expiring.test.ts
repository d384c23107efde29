// Swaps with legs on TRON and Solana, whose transactions die by themselves: honest ones, ones that
// crash at every step, with the market gone, refunded, and with fundings that no block ever took.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { ChainAdapter } from '../chains/adapter.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { LegName, Party } from '../core/trade.ts';
import type { ParleyClient } from './client.ts';
import { VerificationError } from './errors.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { type Crashing, throughCrashes } from './testing/crashing.ts';
import { amountOf, type Coin, type FourChains, fourChains } from './testing/four-chains.ts';
import type { Scene } from './testing/two-chains.ts';

const limits = { timeout: 180_000 };
let chains: FourChains;

before(async () => {
  chains = await fourChains();
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

async function sideOf(scene: Scene, party: Party, more: Partial<SettleInput> = {}) {
  const input = { ...scene.input(party), ...more };
  if (party === 'taker') await input.store.putSecret(hashlockOf(scene.secret), scene.secret);
  return input;
}

async function until(input: SettleInput, when: (progress: Progress) => boolean): Promise<void> {
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  const onProgress = (progress: Progress) => {
    if (when(progress)) stop.abort(stopped);
  };
  await assert.rejects(settle({ ...input, signal: stop.signal, onProgress }), stopped);
}

const isFunded = ({ step }: Progress) => step === 'funded';
const parties = ['taker', 'maker'] as const;
const bothReceived = ['received', 'received'];

/** The taker's coin first. */
const pairs: readonly [Coin, Coin][] = [
  ['SOL', 'TRON dollar'],
  ['TRX', 'SPL dollar'],
  ['BTC', 'SOL'],
  ['TRON dollar', 'ETH'],
];

for (const [b, a] of pairs) {
  test(
    `${b} for ${a}: both sides settle, and the market is never told the secret`,
    limits,
    async () => {
      const scene = chains.swap({ a, b });
      const sides = await Promise.all(parties.map((party) => sideOf(scene, party)));
      const ends = await Promise.all(sides.map((side) => settle(side)));
      assert.deepEqual(
        ends.map(({ end }) => end),
        bothReceived,
      );
      assert.ok(ends[0]?.txids.a.claim && ends[0]?.txids.b.claim);
      assert.deepEqual(
        scene.market.calls.filter((call) => call.includes(' claim ')),
        [],
      );
    },
  );
}

test('with the market killed after funding, both sides claim alone', limits, async () => {
  const scene = chains.swap({ a: 'SPL dollar', b: 'TRON dollar' });
  const had = await chains.balance('taker', 'SPL dollar');
  const [taker, maker] = [await sideOf(scene, 'taker'), await sideOf(scene, 'maker')];
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  scene.market.die();
  const ends = await Promise.all([settle({ ...taker, client: null }), settle(maker)]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    bothReceived,
  );
  const gained = (await chains.balance('taker', 'SPL dollar')) - had;
  assert.equal(gained, amountOf('SPL dollar'));
});

for (const [coins, steps] of [
  [{ a: 'SPL dollar', b: 'TRX' }, ['funding']],
  [{ a: 'TRON dollar', b: 'SOL' }, ['funding']],
  [{ a: 'SOL', b: 'TRON dollar' }, ['approval', 'funding']],
] as const) {
  const { a, b } = coins;
  test(
    `${b} for ${a}: a crash at each step is resumed, and nothing is paid twice`,
    limits,
    async () => {
      const scene = chains.swap(coins);
      const had = {
        maker: await chains.balance('maker', a),
        taker: await chains.balance('taker', b),
      };
      const crashes = parties.map((): Crashing => ({ at: [], stop: new AbortController() }));
      const ends = await Promise.all(
        parties.map(async (party, index) =>
          throughCrashes(await sideOf(scene, party), crashes[index] as Crashing),
        ),
      );
      assert.deepEqual(
        ends.map(({ end }) => end),
        bothReceived,
      );
      for (const [index, { at }] of crashes.entries()) {
        const own = index === 0 ? steps : ['funding'];
        for (const kind of own.flatMap((step) => [`before ${step}`, `after ${step}`])) {
          assert.ok(at.includes(kind), `never crashed ${kind}: ${at.join(', ')}`);
        }
        assert.ok(at.includes('after sending'));
        for (const when of ['before', 'after']) {
          assert.ok(
            at.some((kind) => kind.startsWith(when) && kind.includes('claim')),
            at.join(),
          );
        }
      }
      const paid = {
        maker: had.maker - (await chains.balance('maker', a)) - amountOf(a),
        taker: had.taker - (await chains.balance('taker', b)) - amountOf(b),
      };
      for (const each of Object.values(paid)) {
        assert.ok(each >= 0n && each < 30_000_000n, `${each} was paid beside the amount`);
      }
    },
  );
}

/** Changes what the honest market builds for the funding of a leg. */
function lyingFund(client: ParleyClient, alter: (built: object) => object): ParleyClient {
  const fund = async (...args: Parameters<ParleyClient['fund']>) =>
    alter(await client.fund(...args)) as Awaited<ReturnType<ParleyClient['fund']>>;
  return { ...client, fund };
}

test(
  'a market that builds the funding of another escrow is refused, and nothing is signed',
  limits,
  async () => {
    for (const b of ['TRX', 'TRON dollar', 'SOL', 'SPL dollar'] as const) {
      const a = b === 'SOL' || b === 'SPL dollar' ? 'TRX' : 'SOL';
      const [scene, other] = [chains.swap({ a, b }), chains.swap({ a, b })];
      const theirs = await other.market.client('taker').fund('', 'b');
      const client = lyingFund(scene.market.client('taker'), () => theirs);
      await assert.rejects(
        settle(await sideOf(scene, 'taker', { client })),
        (error) => error instanceof VerificationError && error.field === 'escrow',
        b,
      );
      const { escrow } = (await scene.market.client('taker').fund('', 'b')) as { escrow: string };
      const hidden = lyingFund(scene.market.client('taker'), () => ({ ...theirs, escrow }));
      const field = b.startsWith('T') ? 'transactions' : 'transaction';
      await assert.rejects(
        settle(await sideOf(scene, 'taker', { client: hidden })),
        (error) => error instanceof VerificationError && error.field.startsWith(field),
        b,
      );
      assert.ok(!scene.market.calls.some((call) => call.includes('broadcast')));
    }
  },
);

test(
  'a market that alters contract, program, payout or timelock of a leg is refused',
  limits,
  async () => {
    const scene = chains.swap({ a: 'TRON dollar', b: 'SPL dollar' });
    const other = chains.swap({ a: 'TRON dollar', b: 'SPL dollar' });
    const lies: [LegName, string, (leg: object) => object][] = (['a', 'b'] as const).flatMap(
      (leg): [LegName, string, (leg: object) => object][] => [
        [leg, 'escrow', (said) => ({ ...said, escrow: other.market.watched(leg).address })],
        [
          leg,
          'timelock',
          (said) => ({ ...said, timelock: scene.market.watched(leg).terms.timelock + 1 }),
        ],
        [leg, 'amount', (said) => ({ ...said, amount: '1' })],
        [leg, 'redeemScript', (said) => ({ ...said, redeemScript: '00' })],
      ],
    );
    for (const [leg, field, alter] of lies) {
      scene.market.lie((swap) => ({
        ...swap,
        legs: { ...swap.legs, [leg]: alter(swap.legs[leg]) },
      }));
      await assert.rejects(
        settle(await sideOf(scene, 'taker')),
        (error) => error instanceof VerificationError && error.field === `legs.${leg}.${field}`,
        `${leg}.${field}`,
      );
    }
    assert.ok(!scene.market.calls.some((call) => call.includes('fund')));
  },
);

/** A network that loses what is sent until it is let through. */
function losing(input: SettleInput, lost: { until: () => boolean; count: number }): SettleInput {
  const sources = new Map(
    [...input.sources].map(([chain, source]) => {
      const broadcast: ChainAdapter['broadcast'] = async (transaction, signal) => {
        if (lost.until()) return source.adapter.broadcast(transaction, signal);
        lost.count += 1;
        return transaction.txid;
      };
      return [chain, { ...source, adapter: { ...source.adapter, broadcast } }] as const;
    }),
  );
  const { client } = input;
  if (client === null) return { ...input, sources };
  const broadcast: ParleyClient['broadcast'] = async (...args) => {
    if (lost.until()) return client.broadcast(...args);
    lost.count += 1;
    return { txid: 'lost' };
  };
  return { ...input, sources, client: { ...client, broadcast } };
}

for (const [b, passes] of [
  ['SOL', () => chains.dev.mine('solana-dev', 320)],
  ['TRX', () => chains.move(700)],
] as const) {
  test(`a ${b} funding that no block ever took is made anew once it has died`, limits, async () => {
    const a = b === 'SOL' ? 'TRX' : 'SOL';
    const scene = chains.swap({ a, b });
    const had = await chains.balance('taker', b);
    const lost = { open: false, until: () => lost.open, count: 0 };
    const sent: string[] = [];
    const stop = new AbortController();
    const onProgress = ({ step, txid }: Progress) => {
      if (step !== 'funded' || txid === null) return;
      sent.push(txid);
      if (sent.length > 1) return;
      // Its network is back only when it is dead.
      void passes().then(() => {
        lost.open = true;
      });
    };
    const taker = losing(await sideOf(scene, 'taker', { onProgress, signal: stop.signal }), lost);
    const [mine, theirs] = await Promise.all([settle(taker), settle(await sideOf(scene, 'maker'))]);
    assert.deepEqual([mine.end, theirs.end], bothReceived);
    assert.equal(sent.length, 2);
    assert.ok(lost.count > 0);
    const record = await taker.store.getSwap(taker.swapId);
    assert.deepEqual(record?.funding?.former, [sent[0]]);
    const paid = had - (await chains.balance('taker', b)) - amountOf(b);
    assert.ok(paid >= 0n && paid < 30_000_000n, `${paid} beside the amount`);
  });
}

test(
  'a funding that died after the time to fund is forgotten: nothing has moved',
  limits,
  async () => {
    const scene = chains.swap({ a: 'SOL', b: 'TRX' });
    const had = await chains.balance('taker', 'TRX');
    const told: Progress[] = [];
    const lost = { until: () => false, count: 0 };
    const { deadlines } = await scene.market.client('taker').swap('');
    const moved = Promise.withResolvers<void>();
    const onProgress = (progress: Progress) => {
      told.push(progress);
      if (progress.step !== 'funded') return;
      chains.move(deadlines.initiatorFundBy - chains.now() + 700).then(moved.resolve, moved.reject);
    };
    const taker = losing(await sideOf(scene, 'taker', { onProgress }), lost);
    const { end } = await settle(taker);
    await moved.promise;
    assert.equal(end, 'nothing');
    assert.ok(told.some(({ step }) => step === 'cancelled'));
    assert.equal(await chains.balance('taker', 'TRX'), had);
  },
);

// Last: it moves the clocks of the chains.
test(
  'with the market killed and nobody claiming, both sides refund alone, through crashes',
  limits,
  async () => {
    const coins = { a: 'TRON dollar', b: 'SPL dollar' } as const;
    const scene = chains.swap(coins);
    const had = [await chains.balance('taker', coins.b)];
    const [taker, maker] = [await sideOf(scene, 'taker'), await sideOf(scene, 'maker')];
    await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
    scene.market.die();
    await chains.move(27 * 3_600);
    const gone = { client: null };
    const crashes = parties.map((): Crashing => ({ at: [], stop: new AbortController() }));
    const ends = await Promise.all(
      [taker, maker].map((side, index) =>
        throughCrashes({ ...side, ...gone }, crashes[index] as Crashing),
      ),
    );
    assert.deepEqual(
      ends.map(({ end, status }) => [end, status]),
      [
        ['refunded', 'refunded'],
        ['refunded', 'refunded'],
      ],
    );
    for (const { at } of crashes) {
      for (const kind of ['before funding+refund', 'after funding+refund']) {
        assert.ok(at.includes(kind), `never crashed ${kind}: ${at.join(', ')}`);
      }
    }
    assert.deepEqual([await chains.balance('taker', coins.b)], had);
  },
);
