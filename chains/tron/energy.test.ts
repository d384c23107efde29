import assert from 'node:assert/strict';
import { test } from 'node:test';
import snapshot from '../../contracts/escrows/energy.snapshot.json' with { type: 'json' };
import { freshLane } from '../../core/testing.ts';
import type { TronMaterial } from '../interface/material.ts';
import { tronAdapter } from './adapter.ts';
import { ownEnergy } from './energy.ts';
import { tronDevPolicy } from './policy.ts';
import {
  claim,
  funder,
  type Leg,
  newLeg,
  signAll,
  signal,
  startTron,
  type TestChain,
} from './testing/chain.ts';
import { deployCoin } from './testing/tokens.ts';

const { figures } = snapshot;

async function fundAsBuilt(chain: TestChain, { escrow }: Leg): Promise<number[]> {
  const { deployment, url } = chain;
  const sources = [{ url }];
  const adapter = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
  const material = await adapter.buildFund({ escrow, feeRateSatPerVbyte: null }, signal());
  const energies: number[] = [];
  for (const signed of signAll(funder, material as TronMaterial)) {
    const read = await adapter.readSigned(signed, signal());
    await adapter.broadcast(read, signal());
    await chain.dev.mine(1);
    const place = chain.dev.simulator.chain.find(read.txid);
    const { receipt } = place?.block.transactions[place.index]?.info ?? {};
    assert.equal(receipt?.result, 'SUCCESS');
    energies.push(receipt?.energy_usage_total as number);
  }
  await adapter.close();
  return energies;
}

test('TRX fundings as they are built take the energy of the snapshot', async () => {
  const chain = await startTron();
  try {
    const { number } = freshLane();
    const first = newLeg(chain, { lane: { number, counter: 1 } });
    const own = figures["TRX fund, a lane's first"];
    assert.deepEqual(await fundAsBuilt(chain, first), [own.energy]);
    await claim(chain, first);
    const again = newLeg(chain, { lane: { number, counter: 2 } });
    assert.deepEqual(await fundAsBuilt(chain, again), [figures['TRX fund'].energy]);
  } finally {
    await chain.stop();
  }
});

test('token fundings as they are built take the energy of the snapshot', async () => {
  const chain = await startTron();
  try {
    const { number } = freshLane();
    const plain = { [funder.address]: 10n ** 12n, [chain.deployment.contract]: 1n };
    const token = await deployCoin(chain, 'DevCoin', plain);
    const approve = figures['token approve, before such a funding'].energy;
    const used = figures['token fund, allowance of the amount'].energy;
    const standing = figures['token fund, allowance standing'].energy;
    const extra = figures["token fund, a lane's first"].energy - standing;
    const first = newLeg(chain, { token, lane: { number, counter: 1 } });
    assert.deepEqual(await fundAsBuilt(chain, first), [approve, used + extra]);
    await claim(chain, first);
    const again = newLeg(chain, { token, lane: { number, counter: 2 } });
    assert.deepEqual(await fundAsBuilt(chain, again), [approve, used]);
    await claim(chain, again);
    const dearest = await deployCoin(chain, 'FalseCoin', { [funder.address]: 10n ** 12n });
    const cold = newLeg(chain, { token: dearest, lane: { number, counter: 3 } });
    const [, energy] = await fundAsBuilt(chain, cold);
    assert.equal(energy, figures['token that answers false, fund, held none'].energy);
  } finally {
    await chain.stop();
  }
});

/** TRON's USDT, as `ownEnergy` reckons with it. Source: public figures. */
const usdt = { balance: 935, allowance: 5_400, mostFactor: 4.4 };
/** Of DevCoin, by which the snapshot was measured: whole calls of it on the same TVM. */
const coin = { transfer: 12_961, transferFrom: 18_548, balance: 477 };

test('what is reckoned with covers the snapshot, and by less than a tenth', () => {
  const first = figures["TRX fund, a lane's first"].energy - figures['TRX fund'].energy;
  const looks = 2 * (usdt.mostFactor * usdt.balance - coin.balance);
  const tokenFund =
    figures['token fund, allowance of the amount'].energy -
    coin.transferFrom +
    first +
    looks +
    usdt.mostFactor * usdt.allowance;
  const needed: { readonly [Each in keyof typeof ownEnergy]: number } = {
    trxFund: figures["TRX fund, a lane's first"].energy,
    trxSettle: Math.max(figures['TRX claim'].energy, figures['TRX refund'].energy),
    newAccount: figures['TRX claim, payout not activated'].energy - figures['TRX claim'].energy,
    tokenFund,
    tokenSettle:
      Math.max(figures['token claim'].energy, figures['token refund'].energy) -
      coin.transfer +
      looks,
    approve: figures['token approve, before such a funding'].energy,
  };
  for (const [name, energy] of Object.entries(needed)) {
    const reckoned = Number(ownEnergy[name as keyof typeof ownEnergy]);
    assert.ok(reckoned >= energy && reckoned < 1.1 * energy, `${name}: ${reckoned}, ${energy}`);
  }
});
