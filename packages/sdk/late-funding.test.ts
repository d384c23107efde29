// A funding that is not mined when the time to fund has passed: it is cancelled, or wins and is
// refunded. Never both, and never neither. On a real anvil and a real bitcoind.

import assert from 'node:assert/strict';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { type SettleInput, settle } from './settle.ts';
import type { Kept } from './stores/store.ts';
import {
  gwei,
  hastySide,
  isFunded,
  later,
  onChains,
  recordOf,
  running,
  until,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';

const bitcoinKey = 'bitcoin-regtest';
const on = onChains();

/** The same side after the time to fund, its clocks and its chains' moved for it alone. */
async function tooLate(input: SettleInput): Promise<SettleInput> {
  const { initiatorFundBy, counterpartyFundBy } = (await recordOf(input)).swap.deadlines;
  const fundBy = input.trade?.party === 'taker' ? initiatorFundBy : counterpartyFundBy;
  // Bitcoin's own clock is behind, by an hour at most.
  return later(input, fundBy - on.chains.now() + 4_000);
}

/** The maker's funding waits in the pool, with every approval mined; no process is running. */
async function makersFundingWaits(): Promise<{ maker: SettleInput; funding: Kept }> {
  const scene = on.chains.swap();
  await until(await hastySide(scene, 'taker'), isFunded);
  const maker = await hastySide(scene, 'maker', { replaceAfterMs: 60_000 });
  await on.anvil.hold();
  const stop = new AbortController();
  const side = running({ ...maker, signal: stop.signal });
  const mined = new Set<string>();
  while (!side.emitted.some(isFunded)) {
    const approval = (await maker.store.getSwap(maker.swapId))?.approval;
    // One block for each: another could hold the funding.
    if (approval && !mined.has(approval.txid) && (await on.anvil.isKnown(approval.txid))) {
      mined.add(approval.txid);
      await on.anvil.block(gwei);
    }
    await sleep(50);
  }
  stop.abort();
  await assert.rejects(side.end);
  const { funding } = await recordOf(maker);
  assert.ok(funding && (await on.anvil.isKnown(funding.txid)));
  assert.equal(await on.anvil.receipt(funding.txid), null);
  return { maker: { ...maker, replaceAfterMs: 1_000 }, funding };
}

/** Waits until it says that the end of the funding is known, and not yet final. */
async function ending({ emitted }: ReturnType<typeof running>): Promise<void> {
  const text = 'the end of the late funding is not yet deep';
  for (let left = 1_200; !emitted.some((each) => each.text === text); left -= 1) {
    assert.ok(left > 0, `never said: ${text}`);
    await sleep(50);
  }
}

timed(
  'a late EVM funding is cancelled with its nonce, at any base fee: nothing moves',
  async () => {
    try {
      const { maker, funding } = await makersFundingWaits();
      const side = running(await tooLate(maker));
      const { txid } = await side.next('cancelled');
      assert.equal((await recordOf(maker)).cancel?.txid, txid);
      await on.anvil.block(80n * gwei);
      const raised = await side.next('replaced');
      assert.match(raised.text, /cancel/);
      await on.anvil.block(80n * gwei);
      await ending(side);
      assert.ok((await recordOf(maker)).funding);
      await on.anvil.go();
      const { end, txids } = await side.end;
      assert.deepEqual([end, txids.a], ['nothing', { fund: null, claim: null, refund: null }]);
      assert.equal((await on.anvil.receipt(raised.txid ?? ''))?.status, '0x1');
      await assert.rejects(on.anvil.call('eth_sendRawTransaction', [funding.raw]), /nonce/);
    } finally {
      await on.anvil.go();
    }
  },
);

timed('a late Bitcoin funding is replaced by a payment back, and nothing has moved', async () => {
  const { chains, core } = on;
  const taker = await hastySide(chains.swap(), 'taker');
  const had = await chains.balance('taker', 'BTC');
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
    await waitUntil(async () => (await core<string[]>('getrawmempool')).includes(txid ?? ''));
    assert.equal((await core<string[]>('getrawmempool')).length, 1);
    await chains.dev.mine(bitcoinKey, 1);
    await ending(side);
    assert.ok((await recordOf(taker)).funding);
    await chains.dev.mining(bitcoinKey, true);
    const { end, txids } = await side.end;
    assert.deepEqual([end, txids.b], ['nothing', { fund: null, claim: null, refund: null }]);
    await assert.rejects(core('sendrawtransaction', [funding.raw]), /missingorspent/);
    const paid = had - (await chains.balance('taker', 'BTC'));
    assert.ok(paid > 0n && paid < 5_000n, `the cancellation cost ${paid} sats`);
  } finally {
    await chains.dev.mining(bitcoinKey, true);
  }
});

timed('a Bitcoin funding that was kept and never sent is cancelled just so', async () => {
  const taker = await hastySide(on.chains.swap(), 'taker');
  const { client } = taker;
  assert.ok(client);
  const silent = { ...client, broadcast: async () => ({ txid: '' }) } as unknown as typeof client;
  await until({ ...taker, client: silent }, isFunded);
  const { funding } = await recordOf(taker);
  assert.ok(funding);
  assert.equal((await settle({ ...(await tooLate(taker)), client: null })).end, 'nothing');
  await assert.rejects(on.core('sendrawtransaction', [funding.raw]), /missingorspent/);
});
