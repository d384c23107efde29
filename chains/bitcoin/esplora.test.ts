// The Esplora backend against a small Esplora-shaped server over a real node.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ParleyError } from '../../core/errors.ts';
import { legStatus } from '../../core/facts.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { BtcSighash } from '../interface/material.ts';
import { bitcoinAdapter } from './adapter.ts';
import { esploraBackend } from './esplora-backend.ts';
import { bitcoinNetworks } from './networks.ts';
import { parseTx } from './raw-transaction.ts';
import { type Regtest, startRegtest } from './testing/regtest.ts';
import { esploraServer } from './testing/servers.ts';
import { signed, type TestSwap, testSwap } from './testing/swaps.ts';

const signal = () => AbortSignal.timeout(60_000);
let node: Regtest;
let server: Awaited<ReturnType<typeof esploraServer>>;

before(async () => {
  node = await startRegtest();
  server = await esploraServer(node.rpc);
});
after(async () => {
  await server?.close();
  await node?.stop();
});

function newAdapter(network: 'regtest' | 'mainnet' = 'regtest'): ChainAdapter {
  const source = { esploraUrl: `${server.url}/` };
  return bitcoinAdapter({ chain: 'bitcoin', network, source, now: node.now });
}

const newSwap = (lockSeconds = 90_000): TestSwap =>
  testSwap({ timelock: node.now() + lockSeconds, since: node.now() });
const read = (adapter: ChainAdapter, swap: TestSwap) => adapter.readEscrow(swap.escrow, signal());

describe('an Esplora server', () => {
  it('shows a swap from payment to claim, with the same heads as the node', async () => {
    const adapter = newAdapter();
    const swap = newSwap();
    const txid = await node.pay(swap.escrow.address, swap.terms.amount);
    assert.deepEqual((await read(adapter, swap)).funded, { txid, confirmations: 0, deep: false });
    await node.mine(2);
    assert.deepEqual((await read(adapter, swap)).funded, { txid, confirmations: 2, deep: true });
    const { height, clock } = await adapter.heads(signal());
    assert.equal(height, await node.rpc('getblockcount'));
    assert.equal(clock, await node.medianTime());

    const input = { escrow: swap.escrow, feeRateSatPerVbyte: null, isPublic: false };
    const material = (await adapter.buildClaim(input, swap.secret, signal())) as BtcSighash;
    const claim = await adapter.readSigned(signed(material, swap.claimer, swap.secret), signal());
    assert.equal(await adapter.isKnown(claim, signal()), false);
    const backend = esploraBackend({ url: server.url, network: bitcoinNetworks.regtest });
    const spent = parseTx(claim.raw).inputs.map((each) => each.outpoint());
    assert.deepEqual(await backend.spenders(spent, signal()), []);
    assert.equal(await adapter.broadcast(claim, signal()), claim.txid);
    assert.deepEqual(await backend.spenders(spent, signal()), [claim.txid]);
    assert.equal(await adapter.broadcast(claim, signal()), claim.txid, 'known');
    assert.equal(await adapter.isKnown(claim, signal()), true);
    const other = { ...claim, raw: claim.raw.replace(swap.secret, 'ab'.repeat(32)) };
    assert.equal(await adapter.isKnown(other, signal()), false, 'of the same txid');
    await adapter.changes(signal());
    const again = (await adapter.buildClaim(input, swap.secret, signal())) as BtcSighash;
    assert.ok(BigInt(again.feeSats) > BigInt(material.feeSats), 'a replacement pays more');
    await node.mine(2);
    const claimed = await read(adapter, swap);
    assert.equal(legStatus(claimed), 'claimed');
    assert.deepEqual([claimed.secret, claimed.empty], [swap.secret, false]);
    await node.mine(6);
    assert.equal((await read(adapter, swap)).empty, true);
    assert.deepEqual(await backend.spenders(spent, signal()), [], 'mined');
  });

  it('tells a new adapter what happened before', async () => {
    const swap = newSwap(2_000);
    await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(3);
    const adapter = newAdapter();
    assert.equal((await read(adapter, swap)).funded?.confirmations, 3);
    const input = { escrow: swap.escrow, feeRateSatPerVbyte: 2, isPublic: false };
    const material = (await adapter.buildRefund(input, signal())) as BtcSighash;
    const refund = await adapter.readSigned(signed(material, swap.funder), signal());
    await assert.rejects(adapter.broadcast(refund, signal()), (error: ParleyError) => {
      assert.match(error.message, /non-final/);
      return error.code === 'refused_by_node';
    });
    await node.moveMedianTo(swap.terms.timelock + 1);
    await adapter.broadcast(refund, signal());
    await node.mine(2);
    assert.equal(legStatus(await read(newAdapter(), swap)), 'refunded');
  });

  it('shows a claim in the mempool by turns, without being asked about that escrow', async () => {
    const adapter = newAdapter();
    const swaps = Array.from({ length: 25 }, () => newSwap());
    adapter.watch(swaps.map(({ escrow }) => escrow));
    const last = swaps.at(-1)!;
    for (let pass = 0; pass < 3; pass += 1) await adapter.changes(signal());
    await node.pay(last.escrow.address, last.terms.amount);
    const seen = new Set<string>();
    for (let pass = 0; pass < 2; pass += 1) {
      for (const address of (await adapter.changes(signal())).touched) seen.add(address);
    }
    assert.ok(seen.has(last.escrow.address));
    const before = server.requests.length;
    await adapter.changes(signal());
    assert.ok(server.requests.length - before < 30, 'requests of a pass are bounded');
  });

  it('is followed through a reorganisation', async () => {
    const adapter = newAdapter();
    const swap = newSwap();
    adapter.watch([swap.escrow]);
    const txid = await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(3);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 3);
    const height = await node.rpc<number>('getblockcount');
    await node.rpc('invalidateblock', [await node.rpc('getblockhash', [height - 2])]);
    const back = await read(adapter, swap);
    assert.deepEqual(back.funded, { txid, confirmations: 0, deep: false });
    await node.mine(4);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 4);
  });

  it('of another network is not served', async () => {
    await assert.rejects(newAdapter('mainnet').heads(signal()), (error: ParleyError) => {
      assert.match(error.message, /first block is [0-9a-f]{64}, which is not of Bitcoin mainnet/);
      return error.code === 'chain_unavailable';
    });
  });
});
