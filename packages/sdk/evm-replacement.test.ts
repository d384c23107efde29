// EVM transactions that no block takes, or that blocks and pools have lost: raised or sent again
// with the same nonce, and never made twice. On a real anvil whose base fee the test sets.

import assert from 'node:assert/strict';
import { sleep } from '@parley/chains/nodes/turn.ts';
import type { Hashlock } from '@parley/core/hashlock.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { parseTransaction } from 'viem';
import { type SettleInput, settle } from './settle.ts';
import { type Kept, keptNow } from './stores/store.ts';
import type { Scene } from './testing/four-chains.ts';
import {
  cheapest,
  evmKey,
  gwei,
  hastySide,
  isFunded,
  later,
  onChains,
  recordOf,
  running,
  until,
  withAdapter,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';

const on = onChains();
const chainId = 31_337;
const makers = () => on.chains.walletsOf.maker.evm;
const takers = () => on.chains.walletsOf.taker.evm;
const nonceIn = ({ raw }: Kept) => parsed({ raw } as Kept).nonce;
const parsed = ({ raw }: Kept) => parseTransaction(raw as `0x${string}`);
const received = ['received', 'received'];
const ends = async (...runs: readonly ReturnType<typeof settle>[]) =>
  (await Promise.all(runs)).map(({ end }) => end);

/** A test in which anvil mines only when it says so; as usual again after it. */
const held = (name: string, work: () => Promise<void>) =>
  timed(name, async () => {
    try {
      await work();
    } finally {
      await on.anvil.go();
    }
  });

/** The taker has funded, and is stopped. */
async function takerFunded(scene: Scene): Promise<SettleInput> {
  const taker = await hastySide(scene, 'taker');
  await until(taker, isFunded);
  return taker;
}

/** Both sides have funded, at depth, and are stopped; the EVM chain mines only when told. */
async function bothFunded(scene: Scene): Promise<{ taker: SettleInput; maker: SettleInput }> {
  const maker = await hastySide(scene, 'maker');
  const [taker] = await Promise.all([takerFunded(scene), until(maker, isFunded)]);
  await on.chains.dev.mine(evmKey, 3);
  await on.anvil.hold();
  await on.anvil.block(gwei);
  return { taker, maker };
}

/** Runs it until its claim is in the node's pool, and stops it there. Returns the claim. */
async function claimSent(input: SettleInput): Promise<Kept> {
  const stop = new AbortController();
  const side = running({ ...input, signal: stop.signal });
  const { txid } = await side.next('claimed');
  await waitUntil(() => on.anvil.isKnown(txid ?? ''));
  stop.abort();
  await assert.rejects(side.end);
  const { claim } = await recordOf(input);
  assert.ok(claim);
  return claim;
}

held('a claim that a risen base fee keeps out is raised with its nonce, however late', async () => {
  const scene = on.chains.swap();
  const { taker, maker } = await bothFunded(scene);
  const first = await claimSent(taker);
  await on.anvil.block(50n * gwei);
  // From revealBy on no secret may be shown, but this one was sent.
  const { deadlines } = (await recordOf(taker)).swap;
  const seconds = deadlines.revealBy - on.chains.now() + 60;
  // A new process, whose nodes have seen nothing yet.
  const { chains } = scene.input('taker');
  const side = running(later({ ...taker, chains }, seconds));
  const { txid } = await side.next('replaced');
  const { claim } = await recordOf(taker);
  assert.ok(claim);
  assert.deepEqual([claim.txid, claim.former], [txid, [first.txid]]);
  const one = parsed(first);
  const other = parsed(claim);
  assert.deepEqual([other.nonce, other.to, other.data], [one.nonce, one.to, one.data]);
  assert.ok((other.maxFeePerGas ?? 0n) >= 50n * gwei);
  assert.ok((other.maxPriorityFeePerGas ?? 0n) * 8n >= (one.maxPriorityFeePerGas ?? 0n) * 9n);
  await on.anvil.block(50n * gwei);
  await on.anvil.go();
  assert.deepEqual(await ends(side.end, settle(maker)), received);
  assert.equal((await side.end).txids.a.claim, txid);
});

held('the former version counts when it is the one that gets mined', async () => {
  const { taker, maker } = await bothFunded(on.chains.swap());
  const { txid: first } = await claimSent(taker);
  // The higher one is signed and kept, and reaches nobody.
  const deaf = withAdapter({ ...taker, client: null }, evmKey, ({ broadcast }) => ({
    broadcast: async (read, signal) => (read.txid === first ? broadcast(read, signal) : read.txid),
  }));
  const side = running(deaf);
  const { txid } = await side.next('replaced');
  assert.notEqual(txid, first);
  await on.anvil.go();
  assert.deepEqual(await ends(side.end, settle(maker)), received);
  assert.equal((await side.end).txids.a.claim, first);
  const { claim } = await recordOf(taker);
  assert.ok(claim && claim.txid !== first);
  assert.deepEqual(await takers().outcome(claim, AbortSignal.timeout(10_000)), {
    state: 'succeeded',
  });
});

held('the nonce of a claim that missed its timelock is used otherwise', async () => {
  const { taker } = await bothFunded(on.chains.swap());
  const { address } = takers();
  const stop = new AbortController();
  const first = await claimSent(taker);
  const used = await on.anvil.countOf(address);
  const { timelock } = (await recordOf(taker)).swap.legs.a;
  const late = later({ ...taker, signal: stop.signal }, timelock - on.chains.now() + 60);
  const side = running(late);
  const { txid } = await side.next('replaced');
  const { claim } = await recordOf(taker);
  assert.ok(claim);
  assert.deepEqual([claim.txid, claim.former], [txid, [first.txid]]);
  const { to, value = 0n, data = '0x', nonce } = parsed(claim);
  assert.deepEqual([to, value, data], [address.toLowerCase(), 0n, '0x']);
  assert.equal(nonce, nonceIn(first));
  await on.anvil.block(gwei);
  assert.equal(await on.anvil.countOf(address), used + 1);
  assert.ok(await on.anvil.receipt(claim.txid));
  stop.abort();
  await assert.rejects(side.end);
});

held('an approval and a funding that no block takes are raised, and fund once', async () => {
  const scene = on.chains.swap();
  const taker = await takerFunded(scene);
  await on.anvil.hold();
  const had = await on.anvil.countOf(makers().address);
  const maker = await hastySide(scene, 'maker');
  const side = running(maker);
  const approval = async () => (await maker.store.getSwap(maker.swapId))?.approval?.txid ?? '0x';
  await waitUntil(async () => on.anvil.isKnown((await approval()).padEnd(66, '0')));
  await on.anvil.block(50n * gwei);
  assert.match((await side.next('replaced')).text, /approval/);
  await on.anvil.block(50n * gwei);
  await side.next('funded');
  await on.anvil.block(300n * gwei);
  const again = await side.next('replaced', 2);
  assert.match(again.text, /funding/);
  const { funding } = await recordOf(maker);
  assert.deepEqual([funding?.txid, funding?.former?.length], [again.txid, 1]);
  await on.anvil.block(300n * gwei);
  await on.anvil.go();
  assert.deepEqual(await ends(side.end, settle(taker)), received);
  assert.equal((await side.end).txids.a.fund, funding?.txid);
  // One approval and one funding, whatever was signed.
  assert.equal(await on.anvil.countOf(makers().address), had + 2);
});

/** The maker's funding is signed with this nonce, kept, and sent to nobody. */
async function keptOnly(scene: Scene): Promise<{ maker: SettleInput; funding: Kept }> {
  const maker = await hastySide(scene, 'maker');
  const { client, store, swapId } = maker;
  assert.ok(client);
  const isFunding = async (raw: unknown) => (await store.getSwap(swapId))?.funding?.raw === raw;
  const deaf = withAdapter(maker, evmKey, ({ broadcast }) => ({
    broadcast: async (read, signal) =>
      (await isFunding(read.raw)) ? read.txid : broadcast(read, signal),
  }));
  const broadcast: typeof client.broadcast = async (...args) =>
    (await isFunding(args[1])) ? ({ txid: '' } as never) : client.broadcast(...args);
  await until({ ...deaf, client: { ...client, broadcast } }, isFunded);
  const { funding } = await recordOf(maker);
  assert.ok(funding);
  return { maker, funding };
}

/** Signed by the maker's account for nobody's swap, with its next nonce, and sent. */
async function otherSent(): Promise<Kept> {
  const { address } = makers();
  makers().forget();
  const idle = { to: address, data: '0x', value: '0x0' };
  const other = await makers().sign(chainId, idle, AbortSignal.timeout(30_000));
  await on.anvil.call('eth_sendRawTransaction', [other.raw]);
  return other;
}

timed('a kept funding whose nonce another transaction used is made anew, once', async () => {
  const scene = on.chains.swap();
  const taker = await takerFunded(scene);
  const { maker, funding } = await keptOnly(scene);
  const other = await otherSent();
  assert.equal(nonceIn(other), nonceIn(funding));
  await on.anvil.mined(other.txid);
  const used = await on.anvil.countOf(makers().address);
  const end = settle(maker);
  assert.deepEqual(await ends(end, settle(taker)), received);
  assert.notEqual((await end).txids.a.fund, funding.txid);
  assert.deepEqual((await recordOf(maker)).funding?.former, [funding.txid]);
  assert.equal(await on.anvil.countOf(makers().address), used + 1);
});

const height = async () => Number(await on.anvil.call<string>('eth_blockNumber'));

/** Takes back all blocks since `from`, transactions and all; no pool has them afterwards. */
async function takeBack(from: number): Promise<void> {
  const depth = (await height()) - from;
  await on.anvil.call('anvil_rollback', [depth]);
  await on.anvil.call('anvil_dropAllTransactions', []);
  await on.anvil.call('anvil_mine', [`0x${(depth + 1).toString(16)}`, '0x0']);
}

/**
 * The maker's approval and funding were mined and taken back, and no block comes. It was stopped
 * before, unless it goes on.
 */
async function takenBack({ goesOn = false } = {}) {
  const scene = on.chains.swap();
  const taker = await takerFunded(scene);
  const from = await height();
  const had = await on.anvil.countOf(makers().address);
  const patience = goesOn ? { replaceAfterMs: 60_000 } : {};
  const maker = await hastySide(scene, 'maker', patience);
  const side = goesOn ? running(maker) : null;
  await (side?.next('funded') ?? until(maker, isFunded));
  const { funding, approved } = await recordOf(maker);
  assert.ok(funding && approved);
  // Below the depth that the leg wants, so that nobody acts on it.
  await on.anvil.mined(funding.txid);
  await on.anvil.hold();
  await takeBack(from);
  assert.equal(await on.anvil.countOf(makers().address), had);
  if (!goesOn) makers().forget();
  return { taker, maker, approved, funding, had, end: side?.end };
}

for (const goesOn of [false, true]) {
  const who = goesOn ? 'a side that goes on' : 'a side that comes back';
  held(`${who} sends an approval and its funding again when all have lost them`, async () => {
    const { taker, maker, approved, funding, had, end } = await takenBack({ goesOn });
    await on.anvil.go();
    const again = end ?? settle({ ...maker, replaceAfterMs: 60_000 });
    assert.deepEqual(await ends(again, settle(taker)), received);
    assert.equal((await again).txids.a.fund, funding.txid, 'the same bytes');
    assert.ok(await on.anvil.receipt(approved.txid), 'and of the approval');
    assert.equal(await on.anvil.countOf(makers().address), had + 2);
  });
}

held('an approval that was taken back never displaces the claim of another swap', async () => {
  const { taker, maker, approved, funding } = await takenBack();
  const other = await otherSent();
  assert.equal(nonceIn(other), nonceIn(approved));
  const { trade, swap } = await recordOf(maker);
  await maker.store.putSwap({
    trade: { ...trade, party: 'taker', threadId: 'another', rfqId: 'another' },
    swap: { ...swap, id: 'another', hashlock: '0'.repeat(64) as Hashlock },
    funding: null,
    claim: keptNow(other),
    refund: null,
    publicSecret: null,
  });
  const side = running(maker);
  const waits = () => side.emitted.some(({ text }) => /has the nonce of the approval/.test(text));
  while (!waits()) {
    assert.ok(!side.emitted.some(({ step }) => step === 'replaced'), 'displaced');
    await sleep(20);
  }
  await on.anvil.block(cheapest);
  await on.anvil.mined(other.txid);
  assert.equal(await on.anvil.receipt(approved.txid), null);
  await on.anvil.go();
  assert.deepEqual(await ends(side.end, settle(taker)), received);
  assert.notEqual((await side.end).txids.a.fund, funding.txid);
});

// The last: its approval stays, for whatever is funded next.
held(
  'an approval taken back and late with its funding is raised, and holds nobody up',
  async () => {
    const { maker, approved, had } = await takenBack();
    const isRecalled = ({ text }: { text: string }) => /took back the approval/.test(text);
    await until({ ...maker, replaceAfterMs: 60_000 }, isRecalled);
    const { counterpartyFundBy } = (await recordOf(maker)).swap.deadlines;
    const side = running(later(maker, counterpartyFundBy - on.chains.now() + 4_000));
    await side.next('cancelled');
    await on.anvil.block(50n * gwei);
    await side.next('replaced');
    const raised = async () => (await recordOf(maker)).approval;
    await waitUntil(async () => (await raised())?.former);
    assert.deepEqual((await raised())?.former, [approved.txid]);
    await on.anvil.block(50n * gwei);
    await on.anvil.go();
    assert.equal((await side.end).end, 'nothing');
    // The approval, and what took the place of the funding.
    assert.equal(await on.anvil.countOf(makers().address), had + 2);
  },
);
