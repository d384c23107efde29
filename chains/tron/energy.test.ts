// What a funding costs on chain with the very transactions that the adapter builds, against the
// snapshot of the contract.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import snapshot from '../../contracts/tron/energy.snapshot.json' with { type: 'json' };
import type { TronMaterial } from '../material.ts';
import { tronAdapter } from './adapter.ts';
import { tronDevPolicy } from './policy.ts';
import { funder, newLeg, signAll, startTron, type TestChain } from './testing/chain.ts';

const signal = () => AbortSignal.timeout(60_000);

/** Builds, signs and sends the funding of a leg; the energy of each of its transactions. */
async function fundAsBuilt(chain: TestChain, token: string | null): Promise<number[]> {
  const { deployment, url } = chain;
  const sources = [{ url }];
  const adapter = tronAdapter({ chain: 'tron-dev', deployment, sources, policy: tronDevPolicy });
  const { escrow } = newLeg(chain, { token });
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

test('a funding as it is built takes the energy of the snapshot, however little is there', async () => {
  const chain = await startTron();
  try {
    const { figures } = snapshot;
    const token = chain.token('ReturnsFalse');
    const approve = figures['token approve, before each funding'];
    const cold = figures['token fund, contract held none'];
    const warm = figures['token fund'];
    assert.deepEqual(await fundAsBuilt(chain, token), [approve.energy, cold.energy]);
    assert.deepEqual(await fundAsBuilt(chain, token), [approve.energy, warm.energy]);
    assert.deepEqual(await fundAsBuilt(chain, null), [figures['TRX fund'].energy]);
    assert.ok(cold.energy <= 62_000 && figures['TRX fund'].energy <= 27_000);
  } finally {
    await chain.stop();
  }
});
