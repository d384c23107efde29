// Swaps between dev chains of all four families, through crashes at every step, refunded with the
// market gone, and with transactions that no block takes. Cases that paper chains can show are
// tested there (settle/*.test.ts).

import assert from 'node:assert/strict';
import type { Material } from '@parley/chains/interface/material.ts';
import { readTransaction } from '@parley/chains/solana/message.ts';
import { solanaDeployment, solanaTransaction } from '@parley/chains/solana/plan.ts';
import type { LegName } from '@parley/core/trade.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { ParleyClient } from './client.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { type Crashing, throughCrashes } from './testing/crashing.ts';
import { amountOf, type Coin, type Scene } from './testing/four-chains.ts';
import { isFunded, onChains, recordOf, sideOf, until, withAdapter } from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { sourceIn } from './trade.ts';

const signal = () => AbortSignal.timeout(60_000);
const parties = ['taker', 'maker'] as const;
const received = ['received', 'received'];
const on = onChains();

const sidesOf = (scene: Scene) => Promise.all(parties.map((party) => sideOf(scene, party)));
const ends = async (...sides: readonly SettleInput[]) =>
  (await Promise.all(sides.map((side) => settle(side)))).map(({ end }) => end);

/** Both sides have funded, and are stopped. */
async function bothFunded(coins?: Record<LegName, Coin>) {
  const scene = on.chains.swap(coins);
  const [taker, maker] = (await sidesOf(scene)) as [SettleInput, SettleInput];
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  return { scene, taker, maker };
}

/** The taker's loss of this coin, beside the amount: fees, and rent. */
async function paidBeside(coin: Coin) {
  const had = await on.chains.balance('taker', coin);
  return async () => had - (await on.chains.balance('taker', coin)) - amountOf(coin);
}

// The taker's coin first, and what its own record goes through.
const pairs: readonly [Coin, Coin, readonly string[]][] = [
  ['BTC', 'EVM dollar', ['terms', 'funding']],
  ['TRON dollar', 'SPL dollar', ['terms', 'approval', 'funding']],
];
for (const [b, a, steps] of pairs) {
  timed(`${b} for ${a}: a crash at each step is resumed, and nothing is paid twice`, async () => {
    const scene = on.chains.swap({ a, b });
    const paid = await paidBeside(b);
    const gained = await paidBeside(a);
    const crashes = parties.map((): Crashing => ({ at: [], stop: new AbortController() }));
    const runs = parties.map(async (party, index) =>
      throughCrashes(await sideOf(scene, party), crashes[index] as Crashing),
    );
    const outcomes = await Promise.all(runs);
    assert.deepEqual(
      outcomes.map(({ end }) => end),
      received,
    );
    assert.ok(outcomes[0]?.txids.a.claim && outcomes[0]?.txids.b.claim);
    const around = steps.flatMap((step) => [`before ${step}`, `after ${step}`]);
    for (const kind of [...around, 'after sending']) {
      assert.ok(crashes[0]?.at.includes(kind), `never ${kind}: ${crashes[0]?.at.join(', ')}`);
    }
    for (const { at } of crashes) {
      const claims = at.filter((kind) => kind.includes('claim')).join();
      assert.match(claims, /before.*after/, at.join());
    }
    const beside = await paid();
    assert.ok(beside >= 0n && beside < 30_000_000n, `${beside} was paid beside the amount`);
    if (a.endsWith('dollar')) assert.equal(await gained(), -2n * amountOf(a));
  });
}

/** A network that loses what is sent until it is let through. */
function losing(input: SettleInput, lost: { isOpen: boolean; count: number }): SettleInput {
  const { client, chains } = input;
  const lose = <T>(answer: T) => {
    lost.count += 1;
    return answer;
  };
  const altered = Object.keys(chains).reduce(
    (side, chain) =>
      withAdapter(side, chain, ({ broadcast }) => ({
        broadcast: async (read, limit) => (lost.isOpen ? broadcast(read, limit) : lose(read.txid)),
      })),
    input,
  );
  const broadcast = async (...args: Parameters<ParleyClient['broadcast']>) =>
    lost.isOpen ? client?.broadcast(...args) : lose({ txid: 'lost' });
  return { ...altered, client: { ...client, broadcast } as ParleyClient };
}

timed('a funding that no block ever took is made anew once it has died', async () => {
  const scene = on.chains.swap({ a: 'ETH', b: 'SOL' });
  const paid = await paidBeside('SOL');
  const lost = { isOpen: false, count: 0 };
  const sent: string[] = [];
  const onProgress = ({ step, txid }: Progress) => {
    if (step !== 'funded' || txid === null || sent.push(txid) > 1) return;
    // Its network is back only when it is dead.
    void on.chains.dev.mine('solana-dev', 320).then(() => {
      lost.isOpen = true;
    });
  };
  const taker = losing(await sideOf(scene, 'taker', { onProgress }), lost);
  assert.deepEqual(await ends(taker, await sideOf(scene, 'maker')), received);
  assert.equal(sent.length, 2);
  assert.ok(lost.count > 0);
  assert.deepEqual((await recordOf(taker)).funding?.former, [sent[0]]);
  const beside = await paid();
  assert.ok(beside >= 0n && beside < 30_000_000n, `${beside} beside the amount`);
});

timed('rent that a claim without the funder’s account left comes back to the funder', async () => {
  const scene = on.chains.swap({ a: 'SOL', b: 'TRX' });
  const { chain } = scene.market.watched('a').terms;
  const taker = withAdapter(await sideOf(scene, 'taker'), chain, ({ buildClaim }) => ({
    buildClaim: async (input, secret, limit) => {
      const built = await buildClaim(input, secret, limit);
      const { blockhash } = readTransaction(built.sign === 'solana-tx' ? built.transaction : '');
      const circumstances = { tokenProgram: null, blockhash, unitPrice: 0n };
      const wanted = { verb: 'claim', secret, withoutRefund: true } as const;
      const { terms } = input.escrow;
      const transaction = solanaTransaction(terms, solanaDeployment, wanted, circumstances);
      return { ...built, transaction } as Material;
    },
  }));
  const emitted: Progress[] = [];
  const onProgress = (progress: Progress) => void emitted.push(progress);
  const maker = await sideOf(scene, 'maker', { onProgress });
  assert.deepEqual(await ends(taker, maker), received);
  assert.ok(emitted.some(({ step, leg }) => step === 'refunded' && leg === 'a'));
  const escrow = scene.market.watched('a');
  const { adapter } = sourceIn(maker.chains, chain);
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
  const isLeft = () =>
    adapter.buildRefund(input, signal()).then(
      () => true,
      () => false,
    );
  await waitUntil(async () => !(await isLeft()));
});

// Last: it moves the clocks of the chains.
timed('with the market killed and nobody claiming, all refund alone, through crashes', async () => {
  const had = await on.chains.balance('taker', 'SPL dollar');
  const sats = await on.chains.balance('taker', 'BTC');
  const swaps = [
    await bothFunded({ a: 'TRON dollar', b: 'SPL dollar' }),
    await bothFunded({ a: 'EVM dollar', b: 'BTC' }),
  ];
  for (const { scene } of swaps) scene.market.die();
  await on.chains.move(27 * 3_600);
  const runs = swaps.flatMap(({ taker, maker }) =>
    [taker, maker].map(async (side) => {
      const crashing: Crashing = { at: [], stop: new AbortController() };
      const { end, status } = await throughCrashes({ ...side, client: null }, crashing);
      for (const kind of ['before funding+refund', 'after funding+refund']) {
        assert.ok(crashing.at.includes(kind), `never crashed ${kind}: ${crashing.at.join()}`);
      }
      return `${end} ${status}`;
    }),
  );
  assert.deepEqual(new Set(await Promise.all(runs)), new Set(['refunded refunded']));
  assert.equal(await on.chains.balance('taker', 'SPL dollar'), had);
  const paid = sats - (await on.chains.balance('taker', 'BTC'));
  assert.ok(paid >= 0n && paid < 10_000n, `the refund cost ${paid} sats`);
});
