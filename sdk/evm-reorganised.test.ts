// EVM blocks that are taken back, on a real anvil whose pool is emptied with them: what was signed
// is sent again, in the order of its nonces.

import assert from 'node:assert/strict';
import test from 'node:test';
import { parseTransaction } from 'viem';
import type { Hashlock } from '../core/hashlock.ts';
import { type SettleInput, settle } from './settle.ts';
import { type Kept, keptNow } from './stores/store.ts';
import { limits, onChains } from './testing/evm-account.ts';
import type { Scene } from './testing/four-chains.ts';
import { evmKey, gwei, hastySide, isFunded, later, running, until } from './testing/sides.ts';
import { sleep } from './waiting.ts';

const on = onChains();

const height = async () => Number(await on.anvil.call<string>('eth_blockNumber'));
const nonceOf = async (address: string) =>
  Number(await on.anvil.call<string>('eth_getTransactionCount', [address, 'latest']));
const known = (txid: string) => on.anvil.call<object | null>('eth_getTransactionReceipt', [txid]);

async function recordOf({ store, swapId }: SettleInput) {
  const record = await store.getSwap(swapId);
  assert.ok(record);
  return record;
}

/** Takes back all blocks since `from`, transactions and all; no pool has them afterwards. */
async function takeBack(from: number): Promise<void> {
  const depth = (await height()) - from;
  await on.anvil.call('anvil_rollback', [depth]);
  await on.anvil.call('anvil_dropAllTransactions', []);
  await on.anvil.call('anvil_mine', [`0x${(depth + 1).toString(16)}`, '0x0']);
}

for (const restarted of [true, false]) {
  const who = restarted ? 'a side that comes back' : 'a side that goes on';
  test(
    `${who} sends an approval and its funding again when blocks and pools have lost them`,
    limits,
    async () => {
      const scene = on.chains.swap();
      const taker = await hastySide(scene, 'taker');
      await until(taker, isFunded);
      const { evm } = on.chains.purses.maker;
      const from = await height();
      const had = await nonceOf(evm.address);
      const maker = await hastySide(scene, 'maker', { replaceAfterMs: 60_000 });
      const stop = new AbortController();
      const first = running({ ...maker, signal: stop.signal });
      await first.next('funded');
      const { funding, approved } = await recordOf(maker);
      assert.ok(funding && approved);
      // Below the depth that the leg wants, so that nobody acts on it.
      while ((await known(funding.txid)) === null) await sleep(20);
      await on.chains.dev.mining(evmKey, false);
      if (restarted) {
        const stopped = new Error('stopped here');
        stop.abort(stopped);
        await assert.rejects(first.end, stopped);
      }
      await takeBack(from);
      assert.equal(await nonceOf(evm.address), had);
      assert.deepEqual([await known(approved.txid), await known(funding.txid)], [null, null]);
      if (restarted) evm.forget();
      await on.chains.dev.mining(evmKey, true);
      const again = restarted ? settle(maker) : first.end;
      const [end, theirs] = await Promise.all([again, settle(taker)]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      assert.equal(end.txids.a.fund, funding.txid, 'the same bytes');
      assert.ok(await known(approved.txid), 'and of the approval');
      assert.equal(await nonceOf(evm.address), had + 2);
    },
  );
}

type Lost = {
  readonly taker: SettleInput;
  readonly maker: SettleInput;
  readonly approved: Kept;
  readonly funding: Kept;
  readonly had: number;
};

/** The maker's approval and funding were mined and taken back; nothing runs, no block comes. */
async function bothTakenBack(scene: Scene): Promise<Lost> {
  const taker = await hastySide(scene, 'taker');
  await until(taker, isFunded);
  const { evm } = on.chains.purses.maker;
  const [from, had] = [await height(), await nonceOf(evm.address)];
  const maker = await hastySide(scene, 'maker');
  await until(maker, isFunded);
  const { funding, approved } = await recordOf(maker);
  assert.ok(funding && approved);
  while ((await known(funding.txid)) === null) await sleep(20);
  await on.anvil.hold();
  await takeBack(from);
  assert.equal(await nonceOf(evm.address), had);
  evm.forget();
  return { taker, maker, approved, funding, had };
}

const nonceIn = ({ raw }: Kept) => parseTransaction(raw as `0x${string}`).nonce;
/** Another swap of the same account, whose claim on this chain waits in the pool. */
async function claimKept(input: SettleInput, claim: Kept): Promise<void> {
  const { trade, swap } = await recordOf(input);
  await input.store.putSwap({
    trade: { ...trade, party: 'taker', threadId: 'another' },
    swap: { ...swap, id: 'another', hashlock: '0'.repeat(64) as Hashlock },
    ...{ funding: null, claim: keptNow(claim), refund: null, publicSecret: null },
  });
}

test(
  'an approval that was taken back never displaces the claim of another swap from its nonce',
  limits,
  async () => {
    const { taker, maker, approved, funding } = await bothTakenBack(on.chains.swap());
    try {
      const { evm } = on.chains.purses.maker;
      const idle = { to: evm.address, data: '0x', value: '0x0' };
      const other = await evm.sign(31_337, idle, AbortSignal.timeout(30_000));
      assert.equal(nonceIn(other), nonceIn(approved));
      await on.anvil.call('eth_sendRawTransaction', [other.raw]);
      await claimKept(maker, other);
      const side = running(maker);
      const waits = () => side.told.some(({ text }) => /has the nonce of the approval/.test(text));
      while (!waits()) {
        assert.ok(!side.told.some(({ step }) => step === 'replaced'), 'displaced');
        await sleep(20);
      }
      await on.anvil.block(gwei);
      while ((await known(other.txid)) === null) {
        assert.equal(await known(approved.txid), null);
        await sleep(20);
      }
      await on.anvil.go();
      const [end, theirs] = await Promise.all([side.end, settle(taker)]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      assert.notEqual(end.txids.a.fund, funding.txid);
    } finally {
      await on.anvil.go();
    }
  },
);

const isRecalled = ({ text }: { text: string }) => /took back the approval/.test(text);

// The last: its approval stays, for whatever is funded next.
test(
  'an approval that was taken back and is late with its funding is raised, and holds nobody up',
  limits,
  async () => {
    const { maker, approved, had } = await bothTakenBack(on.chains.swap());
    try {
      await until({ ...maker, replaceAfterMs: 60_000 }, isRecalled);
      const { counterpartyFundBy } = (await recordOf(maker)).swap.deadlines;
      const side = running(later(maker, counterpartyFundBy - on.chains.now() + 4_000));
      await side.next('cancelled');
      await on.anvil.block(50n * gwei);
      await side.next('replaced');
      const raised = async () => (await recordOf(maker)).approval;
      while ((await raised())?.former === undefined) await sleep(20);
      assert.deepEqual((await raised())?.former, [approved.txid]);
      await on.anvil.block(50n * gwei);
      await on.anvil.go();
      assert.equal((await side.end).end, 'nothing');
      // The approval, and what took the place of the funding.
      assert.equal(await nonceOf(on.chains.purses.maker.evm.address), had + 2);
    } finally {
      await on.anvil.go();
    }
  },
);
