// A funding that is not mined when the time to fund has passed: it is cancelled, or wins and is
// refunded. Never both, and never neither. On a real anvil and a real bitcoind.

import assert from 'node:assert/strict';
import { type SettleInput, settle } from './settle.ts';
import type { Kept, SwapRecord } from './stores/store.ts';
import { onChains } from './testing/evm-account.ts';
import type { FourChains, Scene } from './testing/four-chains.ts';
import {
  type Anvil,
  anvilOf,
  coreOf,
  gwei,
  hastySide,
  isFunded,
  later,
  running,
  until,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { sleep } from './waiting.ts';

const bitcoinKey = 'bitcoin-regtest';
let chains: FourChains;
let anvil: Anvil;
let core: Awaited<ReturnType<typeof coreOf>>;

onChains(async (on) => {
  chains = on.chains;
  anvil = await anvilOf(chains);
  core = await coreOf(chains);
});

async function recordOf({ store, swapId }: SettleInput): Promise<SwapRecord> {
  const record = await store.getSwap(swapId);
  assert.ok(record);
  return record;
}

/** The same side after the time to fund, its clocks and its chains' moved for it alone. */
async function tooLate(input: SettleInput): Promise<SettleInput> {
  const { initiatorFundBy, counterpartyFundBy } = (await recordOf(input)).swap.deadlines;
  const fundBy = input.trade?.party === 'taker' ? initiatorFundBy : counterpartyFundBy;
  // Bitcoin's own clock is behind, by an hour at most.
  return later(input, fundBy - chains.now() + 4_000);
}

async function isKnown(txid: string): Promise<boolean> {
  return (await anvil.call('eth_getTransactionByHash', [txid])) !== null;
}

/** The maker's funding waits in the pool, with every approval mined; nothing is running. */
async function makersFundingWaits(scene: Scene): Promise<{ maker: SettleInput; funding: Kept }> {
  await until(await hastySide(scene, 'taker'), isFunded);
  const maker = await hastySide(scene, 'maker', { replaceAfterMs: 60_000 });
  await anvil.hold();
  const stop = new AbortController();
  const side = running({ ...maker, signal: stop.signal });
  const funded = side.next('funded');
  const mined = new Set<string>();
  while (!side.told.some(isFunded)) {
    const approval = (await maker.store.getSwap(maker.swapId))?.approval;
    // One block for each: another could hold the funding.
    if (approval && !mined.has(approval.txid) && (await isKnown(approval.txid))) {
      mined.add(approval.txid);
      await anvil.block(gwei);
    }
    await Promise.race([funded, sleep(50)]);
  }
  stop.abort();
  await assert.rejects(side.end);
  const { funding } = await recordOf(maker);
  assert.ok(funding);
  assert.ok(await isKnown(funding.txid));
  assert.equal(await anvil.call('eth_getTransactionReceipt', [funding.txid]), null);
  return { maker: { ...maker, replaceAfterMs: 1_000 }, funding };
}

async function said({ told }: ReturnType<typeof running>, text: string): Promise<void> {
  for (let left = 1_200; !told.some((each) => each.text === text); left -= 1) {
    assert.ok(left > 0, `never said: ${text}`);
    await sleep(50);
  }
}

timed(
  'a late EVM funding is cancelled with its nonce, at any base fee, and nothing has moved',
  async () => {
    const { maker, funding } = await makersFundingWaits(chains.swap());
    try {
      const side = running(await tooLate(maker));
      const { txid } = await side.next('cancelled');
      const { cancel } = await recordOf(maker);
      assert.equal(cancel?.txid, txid);
      await anvil.block(80n * gwei);
      const raised = await side.next('replaced');
      assert.match(raised.text, /cancel/);
      await anvil.block(80n * gwei);
      await said(side, 'the end of the late funding is not yet deep');
      assert.ok((await recordOf(maker)).funding);
      await anvil.go();
      const end = await side.end;
      assert.equal(end.end, 'nothing');
      assert.deepEqual(end.txids.a, { fund: null, claim: null, refund: null });
      const mined = await anvil.call<{ status: string }>('eth_getTransactionReceipt', [
        raised.txid,
      ]);
      assert.equal(mined.status, '0x1');
      await assert.rejects(anvil.call('eth_sendRawTransaction', [funding.raw]), /nonce/);
    } finally {
      await anvil.go();
    }
  },
);

timed('a late Bitcoin funding is replaced by a payment back, and nothing has moved', async () => {
  const scene = chains.swap();
  const had = await chains.balance('taker', 'BTC');
  const taker = await hastySide(scene, 'taker');
  await chains.dev.mining(bitcoinKey, false);
  try {
    await until(taker, isFunded);
    const { funding } = await recordOf(taker);
    assert.ok(funding);
    assert.deepEqual(await core('getrawmempool'), [funding.txid]);
    const side = running(await tooLate(taker));
    await side.next('cancelled');
    // Another second without a block: the cancellation is outbid as well.
    const { txid } = await side.next('cancelled', 2);
    while (!(await core<string[]>('getrawmempool')).includes(txid ?? '')) await sleep(50);
    assert.equal((await core<string[]>('getrawmempool')).length, 1);
    await chains.dev.mine(bitcoinKey, 1);
    await said(side, 'the end of the late funding is not yet deep');
    assert.ok((await recordOf(taker)).funding);
    await chains.dev.mining(bitcoinKey, true);
    const end = await side.end;
    assert.equal(end.end, 'nothing');
    assert.deepEqual(end.txids.b, { fund: null, claim: null, refund: null });
    await assert.rejects(core('sendrawtransaction', [funding.raw]), /missingorspent/);
    const paid = had - (await chains.balance('taker', 'BTC'));
    assert.ok(paid > 0n && paid < 5_000n, `the cancellation cost ${paid} sats`);
  } finally {
    await chains.dev.mining(bitcoinKey, true);
  }
});

timed('a Bitcoin funding that was kept and never sent is cancelled just so', async () => {
  const scene = chains.swap();
  const taker = await hastySide(scene, 'taker');
  const { client } = taker;
  assert.ok(client);
  const silent = { ...client, broadcast: async () => ({ txid: '' }) } as unknown as typeof client;
  await until({ ...taker, client: silent }, isFunded);
  const { funding } = await recordOf(taker);
  assert.ok(funding);
  const end = await settle({ ...(await tooLate(taker)), client: null });
  assert.equal(end.end, 'nothing');
  await assert.rejects(core('sendrawtransaction', [funding.raw]), /missingorspent/);
});
