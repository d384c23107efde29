// Transactions that no block takes, on a real anvil and a real bitcoind: a claim is raised with its
// nonce, a funding with its coins, and a late one is taken back. All that leads to each of these:
// settle/hands/nonces.test.ts.

import assert from 'node:assert/strict';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { parseTransaction } from 'viem';
import { type Progress, type SettleInput, settle } from './settle.ts';
import type { Kept } from './stores/store.ts';
import {
  evmKey,
  gwei,
  hastySide,
  isFunded,
  later,
  onChains,
  recordOf,
  running,
  unscheduled,
  until,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';

const bitcoinKey = 'bitcoin-regtest';
const on = onChains();
const pool = () => on.core<string[]>('getrawmempool');
const fundingOf = async (input: SettleInput) => (await recordOf(input)).funding ?? assert.fail();

/** While `work` runs, no block of Bitcoin is mined but when it says so. */
async function withoutBlocks(work: () => Promise<void>): Promise<void> {
  await on.chains.dev.mining(bitcoinKey, false);
  try {
    await work();
  } finally {
    await on.chains.dev.mining(bitcoinKey, true);
  }
}

timed(
  'a claim that a risen base fee keeps out is raised with its nonce, however late',
  async () => {
    const scene = on.chains.swap();
    const maker = await hastySide(scene, 'maker', unscheduled);
    const taker = await hastySide(scene, 'taker', unscheduled);
    await Promise.all([until(taker, isFunded), until(maker, isFunded)]);
    await on.chains.dev.mine(evmKey, 3);
    await on.anvil.hold();
    try {
      await on.anvil.block(gwei);
      const { txid: sent } = await until(taker, ({ step }) => step === 'claimed');
      const { claim: first } = await recordOf(taker);
      assert.ok(first && first.txid === sent);
      await on.anvil.block(50n * gwei);
      // From revealBy on no secret may be shown, but this one was sent.
      const seconds = (await recordOf(taker)).swap.deadlines.revealBy - on.chains.now() + 60;
      // A new process, whose nodes have seen nothing yet.
      const { chains } = scene.input('taker');
      const side = running(later({ ...taker, chains }, seconds));
      const { txid } = await side.next('replaced');
      const { claim } = await recordOf(taker);
      assert.deepEqual([claim?.txid, claim?.former], [txid, [first.txid]]);
      const [one, other] = [first, claim].map((each) =>
        parseTransaction(each?.raw as `0x${string}`),
      );
      assert.deepEqual([other?.nonce, other?.to, other?.data], [one?.nonce, one?.to, one?.data]);
      assert.ok((other?.maxFeePerGas ?? 0n) >= 50n * gwei);
      await on.anvil.block(50n * gwei);
      await on.anvil.go();
      assert.deepEqual(
        (await Promise.all([side.end, settle(maker)])).map(({ end }) => end),
        ['received', 'received'],
      );
      assert.equal((await side.end).txids.a.claim, txid);
    } finally {
      await on.anvil.go();
    }
  },
);

type Decoded = { vin: { txid: string; vout: number }[]; vout: { value: number }[] };

timed(
  'a Bitcoin funding that waits is raised, again if need be, and funds the leg once',
  async () => {
    const isReplaced = ({ step }: Progress) => step === 'replaced';
    const decoded = ({ raw }: Kept) => on.core<Decoded>('decoderawtransaction', [raw]);
    const coinsOf = ({ vin }: Decoded) => vin.map(({ txid, vout }) => `${txid}:${vout}`).sort();
    const taker = await hastySide(on.chains.swap(), 'taker', unscheduled);
    await withoutBlocks(async () => {
      await until(taker, isFunded);
      const first = await fundingOf(taker);
      await until(taker, isReplaced);
      const second = await fundingOf(taker);
      // As after a crash: the raised version was kept, and is raised in its turn.
      await until(taker, isReplaced);
      const third = await fundingOf(taker);
      assert.deepEqual(third.former, [first.txid, second.txid]);
      const [was, is] = await Promise.all([decoded(first), decoded(third)]);
      assert.deepEqual(coinsOf(is), coinsOf(was));
      assert.equal(is.vout[0]?.value, 0.01);
      while (!(await pool()).includes(third.txid)) {
        await on.core('sendrawtransaction', [third.raw]).catch(() => sleep(50));
      }
      assert.deepEqual(await pool(), [third.txid]);
    });
    const isDeep = ({ text }: Progress) => text === 'funding of leg b is deep';
    const { txid } = await until({ ...taker, replaceAfterMs: 60_000 }, isDeep);
    assert.equal(txid, (await fundingOf(taker)).txid);
  },
);

timed('a late Bitcoin funding is replaced by a payment back, and nothing has moved', async () => {
  const { chains, core } = on;
  const taker = await hastySide(chains.swap(), 'taker', unscheduled);
  const had = await chains.balance('taker', 'BTC');
  await withoutBlocks(async () => {
    await until(taker, isFunded);
    const funding = await fundingOf(taker);
    assert.deepEqual(await pool(), [funding.txid]);
    // Bitcoin's own clock is behind, by an hour at most.
    const { initiatorFundBy } = (await recordOf(taker)).swap.deadlines;
    const side = running(later(taker, initiatorFundBy - chains.now() + 4_000));
    await side.next('cancelled');
    // Another second without a block: the cancellation is outbid as well.
    const { txid } = await side.next('cancelled', 2);
    await waitUntil(async () => (await pool()).includes(txid ?? ''));
    assert.equal((await pool()).length, 1);
    await chains.dev.mine(bitcoinKey, 1);
    const isEnding = ({ text }: Progress) => text.endsWith('late funding is not yet deep');
    await waitUntil(() => side.emitted.some(isEnding));
    assert.ok((await recordOf(taker)).funding);
    await chains.dev.mining(bitcoinKey, true);
    const { end, txids } = await side.end;
    assert.deepEqual([end, txids.b], ['nothing', { fund: null, claim: null, refund: null }]);
    await assert.rejects(core('sendrawtransaction', [funding.raw]), /missingorspent/);
    const paid = had - (await chains.balance('taker', 'BTC'));
    assert.ok(paid > 0n && paid < 5_000n, `the cancellation cost ${paid} sats`);
  });
});
