// EVM transactions that no block takes, or that blocks and pools have lost: raised or sent again with
// the same nonce, and never made twice. On a real anvil whose base fee the test sets.

import assert from 'node:assert/strict';
import { parseTransaction } from 'viem';
import type { Hashlock } from '../core/hashlock.ts';
import { type SettleInput, settle } from './settle.ts';
import { type Kept, keptNow, type SwapRecord } from './stores/store.ts';
import { onChains } from './testing/evm-account.ts';
import type { Scene } from './testing/four-chains.ts';
import {
  evmKey,
  gwei,
  hastySide,
  isFunded,
  later,
  running,
  until,
  withAdapter,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { sleep } from './waiting.ts';

const on = onChains();

/** Both sides have funded, at depth, and are stopped; the EVM chain mines only when told. */
async function bothFunded(scene: Scene): Promise<{ taker: SettleInput; maker: SettleInput }> {
  const taker = await hastySide(scene, 'taker');
  const maker = await hastySide(scene, 'maker');
  await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
  await on.chains.dev.mine(evmKey, 3);
  await on.anvil.hold();
  await on.anvil.block(gwei);
  return { taker, maker };
}

function parsed({ raw }: Kept) {
  return parseTransaction(raw as `0x${string}`);
}

async function recordOf({ store, swapId }: SettleInput): Promise<SwapRecord> {
  const record = await store.getSwap(swapId);
  assert.ok(record);
  return record;
}

/** Runs it until its claim is in the node's pool, and stops it there. Returns the claim. */
async function claimSent(input: SettleInput): Promise<Kept> {
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  const side = running({ ...input, signal: stop.signal });
  const { txid } = await side.next('claimed');
  for (let left = 400; left > 0; left -= 1) {
    if ((await on.anvil.call('eth_getTransactionByHash', [txid])) !== null) break;
    await sleep(50);
  }
  stop.abort(stopped);
  await assert.rejects(side.end, stopped);
  const { claim } = await recordOf(input);
  assert.ok(claim);
  return claim;
}

/** How many transactions the account has on chain. */
async function nonceOf(address: string): Promise<number> {
  return Number(await on.anvil.call<string>('eth_getTransactionCount', [address, 'latest']));
}

timed(
  'a claim that a risen base fee keeps out is raised with its own nonce, also after revealBy',
  async () => {
    const scene = on.chains.swap();
    const { taker, maker } = await bothFunded(scene);
    try {
      const first = await claimSent(taker);
      await on.anvil.block(50n * gwei);
      // From revealBy on no secret may be shown, but this one was sent.
      const { deadlines } = (await recordOf(taker)).swap;
      const seconds = deadlines.revealBy - on.chains.now() + 60;
      // A new process, whose nodes have seen nothing yet.
      const { sources } = scene.input('taker');
      const side = running(later({ ...taker, sources }, seconds));
      const { txid } = await side.next('replaced');
      const { claim } = await recordOf(taker);
      assert.ok(claim);
      assert.equal(claim.txid, txid);
      assert.deepEqual(claim.former, [first.txid]);
      const [one, other] = [parsed(first), parsed(claim)];
      assert.equal(other.nonce, one.nonce);
      assert.deepEqual([other.to, other.data], [one.to, one.data]);
      assert.ok((other.maxFeePerGas ?? 0n) >= 50n * gwei);
      assert.ok((other.maxPriorityFeePerGas ?? 0n) * 8n >= (one.maxPriorityFeePerGas ?? 0n) * 9n);
      await on.anvil.block(50n * gwei);
      await on.anvil.go();
      const [end, theirs] = await Promise.all([side.end, settle(maker)]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      assert.equal(end.txids.a.claim, txid);
    } finally {
      await on.anvil.go();
    }
  },
);

timed('the former version counts when it is the one that gets mined', async () => {
  const scene = on.chains.swap();
  const { taker, maker } = await bothFunded(scene);
  try {
    const { txid: first } = await claimSent(taker);
    // The higher one is signed and kept, and reaches nobody.
    const deaf = withAdapter({ ...taker, client: null }, evmKey, ({ broadcast }) => ({
      broadcast: async (read, signal) =>
        read.txid === first ? broadcast(read, signal) : read.txid,
    }));
    const side = running(deaf);
    const { txid } = await side.next('replaced');
    assert.notEqual(txid, first);
    await on.anvil.go();
    const [end] = await Promise.all([side.end, settle(maker)]);
    assert.equal(end.end, 'received');
    assert.equal(end.txids.a.claim, first);
    const { claim } = await recordOf(taker);
    assert.notEqual(claim?.txid, first);
    assert.ok(claim);
    const fate = await on.chains.purses.taker.evm.fate(claim, AbortSignal.timeout(10_000));
    assert.deepEqual(fate, { state: 'succeeded' });
  } finally {
    await on.anvil.go();
  }
});

timed('the nonce of a claim that missed its timelock is used otherwise', async () => {
  const scene = on.chains.swap();
  const { taker } = await bothFunded(scene);
  const { address } = on.chains.purses.taker.evm;
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  try {
    const first = await claimSent(taker);
    const used = await nonceOf(address);
    const { timelock } = (await recordOf(taker)).swap.legs.a;
    const late = later({ ...taker, signal: stop.signal }, timelock - on.chains.now() + 60);
    const side = running(late);
    const { txid } = await side.next('replaced');
    const { claim } = await recordOf(taker);
    assert.ok(claim);
    assert.deepEqual([claim.txid, claim.former], [txid, [first.txid]]);
    const { to, value = 0n, data = '0x', nonce } = parsed(claim);
    assert.deepEqual([to, value, data], [address.toLowerCase(), 0n, '0x']);
    assert.equal(nonce, parsed(first).nonce);
    await on.anvil.block(gwei);
    assert.equal(await nonceOf(address), used + 1);
    assert.ok(await on.anvil.call('eth_getTransactionReceipt', [txid]));
    stop.abort(stopped);
    await assert.rejects(side.end, stopped);
  } finally {
    stop.abort(stopped);
    await on.anvil.go();
  }
});

timed(
  'an approval and a funding that no block takes are raised, and fund exactly once',
  async () => {
    const scene = on.chains.swap();
    const taker = await hastySide(scene, 'taker');
    await until(taker, isFunded);
    await on.anvil.hold();
    const address = on.chains.purses.maker.evm.address;
    const had = await nonceOf(address);
    const maker = await hastySide(scene, 'maker');
    const started = running(maker);
    try {
      for (let left = 600; left > 0; left -= 1) {
        const approval = (await maker.store.getSwap(maker.swapId))?.approval;
        const txid = approval?.txid ?? '0x'.padEnd(66, '0');
        if ((await on.anvil.call('eth_getTransactionByHash', [txid])) !== null) break;
        await sleep(50);
      }
      await on.anvil.block(50n * gwei);
      const raised = await started.next('replaced');
      assert.match(raised.text, /approval/);
      await on.anvil.block(50n * gwei);
      await started.next('funded');
      await on.anvil.block(300n * gwei);
      const again = await started.next('replaced', 2);
      assert.match(again.text, /funding/);
      const { funding } = await recordOf(maker);
      assert.equal(funding?.txid, again.txid);
      assert.equal(funding?.former?.length, 1);
      await on.anvil.block(300n * gwei);
      await on.anvil.go();
      const [end, theirs] = await Promise.all([started.end, settle(taker)]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      assert.equal(end.txids.a.fund, funding?.txid);
      // One approval and one funding, whatever was signed.
      assert.equal(await nonceOf(address), had + 2);
    } finally {
      await on.anvil.go();
    }
  },
);

/** The maker's funding is signed with this nonce, kept, and sent to nobody. */
async function keptOnly(scene: Scene): Promise<{ maker: SettleInput; funding: Kept }> {
  const maker = await hastySide(scene, 'maker');
  const deaf = withAdapter(maker, evmKey, ({ broadcast }) => ({
    broadcast: async (read, signal) => {
      const record = await maker.store.getSwap(maker.swapId);
      return record?.funding?.txid === read.txid ? read.txid : broadcast(read, signal);
    },
  }));
  await until({ ...deaf, client: deafMarket(maker) }, isFunded);
  const { funding } = await recordOf(maker);
  assert.ok(funding);
  return { maker, funding };
}

/** Relays all but fundings kept already: approvals are sent before. */
function deafMarket({ client, store, swapId }: SettleInput): SettleInput['client'] {
  assert.ok(client);
  return {
    ...client,
    broadcast: async (...args) => {
      const record = await store.getSwap(swapId);
      if (record?.funding?.raw !== args[1]) return client.broadcast(...args);
      return { txid: record.funding.txid } as Awaited<ReturnType<typeof client.broadcast>>;
    },
  };
}

timed('a kept funding whose nonce another transaction used is made anew, once', async () => {
  const scene = on.chains.swap();
  const taker = await hastySide(scene, 'taker');
  await until(taker, isFunded);
  const { evm } = on.chains.purses.maker;
  const { maker, funding } = await keptOnly(scene);
  evm.forget();
  const signal = AbortSignal.timeout(30_000);
  const other = await evm.sign(31_337, { to: evm.address, data: '0x', value: '0x0' }, signal);
  assert.equal(parsed(other).nonce, parsed(funding).nonce);
  await on.anvil.call('eth_sendRawTransaction', [other.raw]);
  // Anvil answers before its block is made.
  const used = (parsed(other).nonce ?? 0) + 1;
  while ((await nonceOf(evm.address)) < used) await sleep(20);
  const [end] = await Promise.all([settle(maker), settle(taker)]);
  assert.equal(end.end, 'received');
  assert.notEqual(end.txids.a.fund, funding.txid);
  assert.deepEqual((await recordOf(maker)).funding?.former, [funding.txid]);
  assert.equal(await nonceOf(evm.address), used + 1);
});

const height = async () => Number(await on.anvil.call<string>('eth_blockNumber'));
const known = (txid: string) => on.anvil.call<object | null>('eth_getTransactionReceipt', [txid]);

/** Takes back all blocks since `from`, transactions and all; no pool has them afterwards. */
async function takeBack(from: number): Promise<void> {
  const depth = (await height()) - from;
  await on.anvil.call('anvil_rollback', [depth]);
  await on.anvil.call('anvil_dropAllTransactions', []);
  await on.anvil.call('anvil_mine', [`0x${(depth + 1).toString(16)}`, '0x0']);
}

for (const restarted of [true, false]) {
  const who = restarted ? 'a side that comes back' : 'a side that goes on';
  timed(
    `${who} sends an approval and its funding again when blocks and pools have lost them`,
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

/** Another swap of the same account, whose claim on this chain waits in the pool. */
async function claimKept(input: SettleInput, claim: Kept): Promise<void> {
  const { trade, swap } = await recordOf(input);
  await input.store.putSwap({
    trade: { ...trade, party: 'taker', threadId: 'another' },
    swap: { ...swap, id: 'another', hashlock: '0'.repeat(64) as Hashlock },
    ...{ funding: null, claim: keptNow(claim), refund: null, publicSecret: null },
  });
}

timed(
  'an approval that was taken back never displaces the claim of another swap from its nonce',
  async () => {
    const { taker, maker, approved, funding } = await bothTakenBack(on.chains.swap());
    try {
      const { evm } = on.chains.purses.maker;
      const idle = { to: evm.address, data: '0x', value: '0x0' };
      const other = await evm.sign(31_337, idle, AbortSignal.timeout(30_000));
      assert.equal(parsed(other).nonce, parsed(approved).nonce);
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
timed(
  'an approval that was taken back and is late with its funding is raised, and holds nobody up',
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
