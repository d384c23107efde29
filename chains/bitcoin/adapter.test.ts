import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { BtcSighash } from '../material.ts';
import { bitcoinAdapter } from './adapter.ts';
import { type Regtest, startRegtest } from './testing/regtest.ts';
import { signed, type TestSwap, testSwap } from './testing/swaps.ts';

const signal = () => AbortSignal.timeout(30_000);

const refuses = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ParleyError, String(error));
  assert.equal(error.code, code, error.message);
  return true;
};

let node: Regtest;
let adapter: ChainAdapter;

before(async () => {
  node = await startRegtest();
  adapter = newAdapter();
});
after(async () => {
  await node?.stop();
});

function newAdapter(): ChainAdapter {
  return bitcoinAdapter({
    chain: 'bitcoin',
    network: 'regtest',
    source: { coreUrl: node.rpcUrl },
    now: node.now,
  });
}

function newSwap(values: { amount?: bigint; lockSeconds?: number } = {}): TestSwap {
  const { amount, lockSeconds = 90_000 } = values;
  const base = { timelock: node.now() + lockSeconds, since: node.now() };
  return testSwap(amount === undefined ? base : { ...base, amount });
}

async function fund(swap: TestSwap, sats = swap.terms.amount): Promise<string> {
  return node.pay(swap.escrow.address, sats);
}

const read = (swap: TestSwap, by = adapter) => by.readEscrow(swap.escrow, signal());

async function claimOf(swap: TestSwap, rate: number | null = null, by = adapter) {
  const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate };
  const material = (await by.buildClaim(input, swap.secret, signal())) as BtcSighash;
  return by.readSigned(signed(material, swap.claimer, swap.secret), signal());
}

async function refundOf(swap: TestSwap, rate: number | null = null) {
  const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate };
  const material = (await adapter.buildRefund(input, signal())) as BtcSighash;
  return adapter.readSigned(signed(material, swap.funder), signal());
}

describe('a swap of one escrow', () => {
  it('is seen, funded, claimed with the secret, and empty', async () => {
    const swap = newSwap();
    const unfunded = await read(swap);
    assert.deepEqual([unfunded.funded, unfunded.empty], [null, true]);
    const txid = await fund(swap);
    assert.deepEqual((await read(swap)).funded, { txid, confirmations: 0, deep: false });
    await node.mine(1);
    assert.deepEqual((await read(swap)).funded, { txid, confirmations: 1, deep: false });
    await node.mine(1);
    const funded = await read(swap);
    assert.deepEqual(funded.funded, { txid, confirmations: 2, deep: true });
    assert.deepEqual([funded.balance, funded.empty, funded.secret], [1_000_000n, false, null]);

    const claim = await claimOf(swap);
    assert.deepEqual(claim.touches, [
      { escrow: swap.escrow.address, verb: 'claim', secret: swap.secret },
    ]);
    assert.equal(await adapter.broadcast(claim, signal()), claim.txid);
    const claiming = await read(swap);
    assert.deepEqual(claiming.claimed, { txid: claim.txid, confirmations: 0, deep: false });
    assert.deepEqual([claiming.secret, claiming.balance], [swap.secret, 0n]);
    await node.mine(2);
    const claimed = await read(swap);
    assert.deepEqual(claimed.claimed, { txid: claim.txid, confirmations: 2, deep: true });
    assert.deepEqual([claimed.refunded, claimed.empty], [null, true]);
    assert.equal(await adapter.broadcast(claim, signal()), claim.txid, 'mined already');
  });

  it('is refunded after the median time past the timelock, and not before', async () => {
    const swap = newSwap({ lockSeconds: 3_600 });
    const txid = await fund(swap);
    await node.mine(2);
    const refund = await refundOf(swap);
    assert.deepEqual(refund.touches, [
      { escrow: swap.escrow.address, verb: 'refund', secret: null },
    ]);
    await assert.rejects(adapter.broadcast(refund, signal()), (error: ParleyError) => {
      assert.match(error.message, /non-final/);
      return refuses('refused_by_node')(error);
    });
    // At the timelock itself it is still not final: BIP 113 wants the median beyond it.
    await node.moveMedianTo(swap.terms.timelock);
    assert.equal(await node.medianTime(), swap.terms.timelock);
    await assert.rejects(adapter.broadcast(refund, signal()), refuses('refused_by_node'));
    await node.moveMedianTo(swap.terms.timelock + 1);
    assert.equal(await adapter.broadcast(refund, signal()), refund.txid);
    await node.mine(2);
    const facts = await read(swap);
    assert.deepEqual(facts.refunded, { txid: refund.txid, confirmations: 2, deep: true });
    assert.deepEqual([facts.claimed, facts.secret, facts.empty], [null, null, true]);
    assert.equal(facts.funded?.txid, txid);
  });
});
