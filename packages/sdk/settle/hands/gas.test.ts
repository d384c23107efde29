// How much gas a claim gets where the node tells nothing, or a claim has failed.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { untriedGas } from '@parley/chains/evm/gas-policy.ts';
import type { Owed, Warning } from '@parley/chains/interface/gas.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { type Hex, parseTransaction } from 'viem';
import { withChain } from '../../testing/honest.ts';
import { type PaperScene, paperScene, run } from '../../testing/paper-scene.ts';
import { timed } from '../../testing/timed.ts';

const chainId = 31_337;
const silent = (asked: string) => new ParleyError('chain_unavailable', `no estimate: ${asked}`, {});
const poor: Warning = { code: 'fee_poor', verb: 'claim', address: '', sentence: 'too little' };
const wouldFail = () => new ParleyError('payout_would_fail', 'BalanceTooLow', {});

/** A swap whose own claim takes so much, with the claims of the leg that pays as they are mined. */
async function scened(party: Party, { isToken = true, claimGas = 400_000n } = {}) {
  const scene = await paperScene(party, { isToken });
  const chain = scene.chains[scene.gets];
  chain.claimGas = claimGas;
  chain.refusesEstimates = silent;
  const claims = () =>
    chain.mined
      .filter(({ call }) => call.verb === 'claim')
      .map(({ raw, ok }) => ({ gas: parseTransaction(raw as Hex).gas, ok }));
  return { scene, chain, claims };
}

const isOver = (scene: PaperScene) => () =>
  scene.endOf(scene.gets) !== null || scene.wall > scene.timelock(scene.gets);

function alter({ chains }: PaperScene, leg: LegName, by: Partial<ChainAdapter>): void {
  Object.assign(chains[leg].source.adapter, by);
}

timed('a token’s reveal that nobody could try gets all the gas of the chain', async () => {
  assert.equal(untriedGas(chainId, 'reveal'), 500_000n);
  // Arbitrum.
  assert.equal(untriedGas(42_161, 'reveal'), 5_000_000n);
  const { scene, claims } = await scened('taker');
  await run(scene, {}, isOver(scene));
  assert.deepEqual(claims(), [{ gas: untriedGas(chainId, 'reveal'), ok: true }]);
});

timed(
  'a reveal in the native coin gets all gas that the wallet can offer, else its own',
  async () => {
    const native = untriedGas(chainId, 'native');
    for (const most of [untriedGas(chainId, 'reveal'), native]) {
      const { scene, claims } = await scened('taker', { isToken: false, claimGas: 40_000n });
      const fundsShortage = async ({ offered }: Owed) =>
        offered !== undefined && offered.gas > most ? poor : null;
      alter(scene, 'a', { fundsShortage });
      await run(scene, {}, isOver(scene));
      assert.deepEqual(claims(), [{ gas: most, ok: true }]);
    }
  },
);

timed('a wallet that cannot offer all that gas shows no secret until it can', async () => {
  const { scene, chain, claims } = await scened('taker');
  const asked: NonNullable<Owed['offered']>[] = [];
  let balance = 499_999n * 7n;
  const fundsShortage = async ({ offered }: Owed, address: string): Promise<Warning | null> => {
    if (offered === undefined) return null;
    asked.push(offered);
    const need = offered.gas * (offered.feePerGas ?? 1n);
    const sentence = `${address} has ${balance}, and needs ${need}`;
    return need <= balance ? null : { code: 'fee_poor', verb: 'claim', address, sentence };
  };
  alter(scene, 'a', { fundsShortage });
  chain.leastFee = 7n;
  let looks = 0;
  scene.onStep = () => {
    looks += asked.length > 0 ? 1 : 0;
    if (looks === 20) balance += 7n;
  };
  await run(scene, {}, () => looks === 19);
  assert.deepEqual(claims(), []);
  const need = 500_000n * 7n;
  const { text } = scene.emitted.findLast(({ step }) => step === 'waiting') ?? {};
  assert.match(text ?? '', new RegExp(`has ${balance}, and needs ${need}`));
  // First by the price, and by the signed bytes once there are any.
  assert.deepEqual(asked.slice(0, 2), [
    { gas: 500_000n, feePerGas: null },
    { gas: 500_000n, feePerGas: 7n },
  ]);
  await run(scene, {}, isOver(scene));
  assert.deepEqual(claims(), [{ gas: 500_000n, ok: true }]);
});

timed('after a claim that failed the next one gets all the gas of the chain', async () => {
  const { scene, claims } = await scened('maker');
  await run(scene, {}, isOver(scene));
  assert.deepEqual(claims(), [
    { gas: untriedGas(chainId, 'token'), ok: false },
    { gas: untriedGas(chainId, 'reveal'), ok: true },
  ]);
});

timed('or as much as before, where the wallet cannot offer all', async () => {
  const { scene, claims } = await scened('maker');
  alter(scene, 'b', {
    fundsShortage: async ({ offered }) => ((offered?.gas ?? 0n) > 160_000n ? poor : null),
  });
  await run(scene, {}, () => claims().length > 1);
  const gas = untriedGas(chainId, 'token');
  assert.deepEqual(claims().slice(0, 2), [
    { gas, ok: false },
    { gas, ok: false },
  ]);
});

timed('a node that says a claim would fail stops only one that reveals', async () => {
  const ends = [];
  for (const party of ['taker', 'maker'] as const) {
    const { scene, chain } = await scened(party, { claimGas: 100_000n });
    chain.refusesEstimates = wouldFail;
    await run(scene, {}, isOver(scene));
    ends.push(scene.endOf(scene.gets));
    const hasTold = chain.mined.some(({ call }) => call.secret !== null);
    assert.equal(hasTold, party === 'maker');
  }
  assert.deepEqual(ends, ['refunded', 'claimed']);
});

timed(
  'a wallet that lacks what the floor offers sends a public claim with the gas that was tried',
  async () => {
    const { scene, chain, claims } = await scened('maker', { isToken: false, claimGas: 40_000n });
    alter(scene, scene.gets, {
      spendGas: async () => 40_000n,
      fundsShortage: async ({ offered }) => ((offered?.gas ?? 0n) > 50_000n ? poor : null),
    });
    chain.refusesEstimates = null;
    await run(scene, {}, isOver(scene));
    assert.deepEqual(claims(), [{ gas: 50_000n, ok: true }]);
  },
);

/** The words of the first of two nodes, which is asked first, and of the other one. */
const lies: Record<string, readonly [Partial<ChainAdapter>, Partial<ChainAdapter>]> = {
  'too little gas, and that the wallet has no more': [
    {
      spendGas: async () => 30_000n,
      fundsShortage: async ({ offered }) => (offered === undefined ? null : poor),
    },
    { fundsShortage: async () => null },
  ],
  'more gas than the wallet can offer': [
    { spendGas: async () => 10_000_000n, fundsShortage: async () => null },
    { fundsShortage: async ({ offered }) => ((offered?.gas ?? 0n) > 500_000n ? poor : null) },
  ],
};
for (const [what, [liar, honest]] of Object.entries(lies)) {
  timed(`a public claim is mined at once though one node says: ${what}`, async () => {
    const { scene, chain, claims } = await scened('maker', { claimGas: 100_000n });
    chain.refusesEstimates = null;
    const { key, source } = chain;
    const nodes = [liar, honest].map((by) => ({ ...source.adapter, ...by }));
    alter(scene, scene.gets, liar);
    const chains = withChain(scene.input.chains, key, { source: { ...source, nodes } });
    await run(scene, { chains }, () => claims().length > 0);
    const [first] = claims();
    assert.ok(first?.ok, `${first?.gas}`);
    assert.ok((first.gas ?? 0n) <= untriedGas(chainId, 'reveal'));
  });
}
