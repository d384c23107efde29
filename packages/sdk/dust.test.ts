// Strangers pay to a Bitcoin escrow, on a real bitcoind: a run of `settle` ends as without it, and
// a payment that is worth a refund's fee is emitted and comes back in a later run.

import assert from 'node:assert/strict';
import { formatUnits } from '@parley/core/amounts.ts';
import { settle } from './settle.ts';
import type { Scene } from './testing/four-chains.ts';
import { onChains, running, sideOf } from './testing/sides.ts';
import { timed } from './testing/timed.ts';

const on = onChains();

const pay = (scene: Scene, amount: bigint) =>
  on.core('sendtoaddress', [scene.market.watched('b').address, formatUnits(amount, 8)]);

const pastTimelock = (scene: Scene) =>
  on.chains.move(scene.market.watched('b').terms.timelock - on.chains.now() + 30);

/** The settlement of the side that gives bitcoin, with this paid beside its funding. */
async function settledBeside(...amounts: bigint[]) {
  const scene = on.chains.swap();
  const input = await sideOf(scene, 'taker');
  const taker = running(input);
  await taker.next('funded');
  for (const amount of amounts) await pay(scene, amount);
  const [outcome, { end }] = await Promise.all([
    taker.end,
    running(await sideOf(scene, 'maker')).end,
  ]);
  assert.deepEqual([outcome.end, end], ['received', 'received']);
  return { scene, input, outcome };
}

timed(
  'a payment worth its fee ends the run too, is told, and comes back in a later one',
  async () => {
    const { scene, input, outcome } = await settledBeside(330n, 5_000n);
    const { timelock, refund } = scene.market.watched('b').terms;
    assert.deepEqual(outcome.remains, { amount: 5_330n, refundableAt: timelock });
    assert.deepEqual((await settle(input)).remains, outcome.remains, 'before the timelock');
    await pastTimelock(scene);
    const later = running(input);
    const { txid } = await later.next('refunded');
    assert.equal((await later.end).remains, null);
    const raw = await on.core<string>('getrawtransaction', [txid]);
    const { vout } = await on.core<{ vout: { scriptPubKey: { address: string } }[] }>(
      'decoderawtransaction',
      [raw],
    );
    assert.equal(vout[0]?.scriptPubKey.address, refund.address);
    // Once more, for what came after it.
    await pay(scene, 1_000n);
    await on.chains.dev.mine('bitcoin-regtest', 1);
    const last = running(input);
    assert.notEqual((await last.next('refunded')).txid, txid);
    assert.equal((await last.end).remains, null);
  },
);
