// EVM blocks that are taken back, on a real anvil whose pool is emptied with them: what was signed
// is sent again, in the order of its nonces.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { sleep } from './http.ts';
import { type SettleInput, settle } from './settle.ts';
import { type Anvil, anvilOf, evmKey, isFunded, running, sideOf, until } from './testing/stuck.ts';
import { type TwoChains, twoChains } from './testing/two-chains.ts';

const limits = { timeout: 120_000 };
let chains: TwoChains;
let anvil: Anvil;

before(async () => {
  chains = await twoChains();
  anvil = await anvilOf(chains);
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

const height = async () => Number(await anvil.call<string>('eth_blockNumber'));
const nonceOf = async (address: string) =>
  Number(await anvil.call<string>('eth_getTransactionCount', [address, 'latest']));
const known = (txid: string) => anvil.call<object | null>('eth_getTransactionReceipt', [txid]);

async function recordOf({ store, swapId }: SettleInput) {
  const record = await store.getSwap(swapId);
  assert.ok(record);
  return record;
}

/** Takes back all blocks since `from`, transactions and all; no pool has them afterwards. */
async function takeBack(from: number): Promise<void> {
  const depth = (await height()) - from;
  await anvil.call('anvil_rollback', [depth]);
  await anvil.call('anvil_dropAllTransactions', []);
  await anvil.call('anvil_mine', [`0x${(depth + 1).toString(16)}`, '0x0']);
}

for (const restarted of [true, false]) {
  const who = restarted ? 'a side that comes back' : 'a side that goes on';
  test(
    `${who} sends an approval and its funding again when blocks and pools have lost them`,
    limits,
    async () => {
      const scene = chains.swap();
      const taker = await sideOf(scene, 'taker');
      await until(taker, isFunded);
      const { evm } = chains.purses.maker;
      const from = await height();
      const had = await nonceOf(evm.address);
      const maker = await sideOf(scene, 'maker', { replaceAfterMs: 60_000 });
      const stop = new AbortController();
      const first = running({ ...maker, signal: stop.signal });
      await first.next('funded');
      const { funding, approved } = await recordOf(maker);
      assert.ok(funding && approved);
      // Below the depth that the leg wants, so that nobody acts on it.
      while ((await known(funding.txid)) === null) await sleep(20);
      await chains.dev.mining(evmKey, false);
      if (restarted) {
        const stopped = new Error('stopped here');
        stop.abort(stopped);
        await assert.rejects(first.end, stopped);
      }
      await takeBack(from);
      assert.equal(await nonceOf(evm.address), had);
      assert.deepEqual([await known(approved.txid), await known(funding.txid)], [null, null]);
      if (restarted) evm.forget();
      await chains.dev.mining(evmKey, true);
      const again = restarted ? settle(maker) : first.end;
      const [end, theirs] = await Promise.all([again, settle(taker)]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      assert.equal(end.txids.a.fund, funding.txid, 'the same bytes');
      assert.ok(await known(approved.txid), 'and of the approval');
      assert.equal(await nonceOf(evm.address), had + 2);
    },
  );
}
