// Escrows of Taproot as an adapter reads them of a real node and of an Esplora server: spends by the
// key of both sides show no script, so that they are known by the payment alone.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { legStatus } from '@parley/core/facts.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { SpendTogether } from '../interface/cosigning.ts';
import { refuses } from '../testing/refusals.ts';
import { mayBeEscrow } from './escrow-index.ts';
import { addressesOfPubkey } from './keys.ts';
import { bitcoinNetworks } from './networks.ts';
import { paidTo } from './plan.ts';
import { parseTx, type Tx } from './raw-transaction.ts';
import {
  adapterOn,
  build,
  coreOf,
  inputOf,
  read,
  signal,
  signedBy,
  swapOn,
  type Verb,
} from './testing/lab.ts';
import { startRegtest } from './testing/regtest.ts';
import { esploraServer } from './testing/servers.ts';
import { signedTogether, type TestSwap } from './testing/swaps.ts';

const node = await startRegtest();
const server = await esploraServer(node.rpc);
after(async () => {
  await server.close();
  await node.stop();
});

const newSwap = (lockSeconds?: number) => swapOn(node, lockSeconds, 1_000_000n, 'p2tr');
const pay = ({ escrow, terms }: TestSwap) => node.pay(escrow.address, terms.amount);

async function fundedSwap(lockSeconds?: number): Promise<TestSwap> {
  const swap = newSwap(lockSeconds);
  await pay(swap);
  await node.mine(2);
  return swap;
}

/** Paid to the address of the other side: the chain tells the verb by what both sign. */
async function together(by: ChainAdapter, swap: TestSwap, verb: Verb): Promise<string> {
  const other = verb === 'claim' ? swap.funder : swap.claimer;
  const elsewhere = addressesOfPubkey(other.pubkey, bitcoinNetworks.regtest).p2wpkh;
  const input = inputOf(swap);
  const terms = paidTo(swap.terms, bitcoinNetworks.regtest, verb, elsewhere);
  const given = { ...input, escrow: { ...input.escrow, terms }, isPublic: true };
  const planned = await by.planTogether?.(given, verb, signal());
  assert.equal(planned?.paysTo, elsewhere);
  const { raw } = await signedTogether(swap, planned);
  const signed = await by.readSigned(raw, signal());
  const { address: escrow } = swap.escrow;
  for (const touch of signed.touches) {
    assert.deepEqual(touch, { escrow, verb, secret: null, together: true });
  }
  return by.broadcast(signed, signal());
}

function refundOf({ terms }: TestSwap, outputs: SpendTogether['outputs']): SpendTogether {
  return { verb: 'refund', outputs, feeSats: 900n, paysTo: terms.refund.address };
}

for (const [name, source] of [
  ['a Core node', () => adapterOn(node)],
  ['an Esplora server', () => adapterOn(node, { esploraUrl: server.url })],
] as const) {
  describe(`an escrow of Taproot through ${name}`, () => {
    it('is claimed by its leaf, and shows the secret', async () => {
      const adapter = source();
      const swap = await fundedSwap();
      adapter.watch([swap.escrow]);
      const { funded, balance } = await read(adapter, swap);
      assert.deepEqual([funded?.deep, balance], [true, 1_000_000n]);
      const material = await build(adapter, swap, 'claim');
      assert.equal(material.scheme, 'schnorr');
      const claim = await adapter.readSigned(signedBy(swap, material, 'claim'), signal());
      const touch = { escrow: swap.escrow.address, verb: 'claim', secret: swap.secret };
      assert.deepEqual(claim.touches, [touch]);
      await adapter.broadcast(claim, signal());
      assert.equal((await read(adapter, swap)).secret, swap.secret);
      await node.mine(2);
      const late = await read(source(), swap);
      assert.deepEqual([legStatus(late), late.secret], ['claimed', swap.secret]);
      await node.mine(6);
      assert.equal((await read(adapter, swap)).empty, true);
    });

    it('is refunded by its leaf after the timelock, with the Taproot output as one it pays', async () => {
      const adapter = source();
      const swap = newSwap(3_000);
      const txid = await pay(swap);
      const paid = await adapter.readSigned(await node.rawTransaction(txid), signal());
      assert.ok(paid.pays?.includes(swap.escrow.address));
      await node.mine(2);
      await node.moveMedianTo(swap.terms.timelock + 1);
      const material = await build(adapter, swap, 'refund');
      const refund = await adapter.readSigned(signedBy(swap, material, 'refund'), signal());
      await adapter.broadcast(refund, signal());
      await node.mine(2);
      for (const by of [adapter, source()]) {
        const facts = await read(by, swap);
        assert.deepEqual([legStatus(facts), facts.secret], ['refunded', null]);
      }
    });

    for (const verb of ['claim', 'refund'] as const) {
      it(`shows a ${verb} by the key of both: in the mempool, in a block, and to one that comes late`, async () => {
        const adapter = source();
        const swap = await fundedSwap();
        const txid = await together(adapter, swap, verb);
        const own = await read(adapter, swap);
        const seen = verb === 'claim' ? own.claimed : own.refunded;
        assert.deepEqual([seen?.txid, seen?.confirmations, own.secret], [txid, 0, null]);
        // A refund that waits may be replaced; a claim that both signed is left alone.
        const again = build(adapter, swap, 'refund');
        if (verb === 'refund') await again;
        else await assert.rejects(again, refuses('nothing_there'));
        const late = source();
        const unmined = await read(late, swap);
        assert.deepEqual([unmined.claimed, unmined.refunded], [own.claimed, own.refunded]);
        await node.mine(3);
        const status = verb === 'claim' ? 'claimed' : 'refunded';
        for (const by of [adapter, late, source()]) {
          const facts = await read(by, swap);
          assert.deepEqual([legStatus(facts), facts.balance], [status, 0n]);
        }
      });
    }

    it('is seen whole when a payment and its spend come at once', async () => {
      const adapter = source();
      const swap = newSwap();
      adapter.watch([swap.escrow]);
      await read(adapter, swap);
      const paid = parseTx(await node.rawTransaction(await pay(swap)));
      const { funded } = await read(source(), swap);
      assert.equal(funded?.txid, paid.txid());
      const vout = paid.outputs.findIndex(({ amount }) => amount === swap.terms.amount);
      const outputs = [{ txid: paid.txid(), vout, amount: swap.terms.amount }];
      const { raw, txid } = await signedTogether(swap, refundOf(swap, outputs));
      await node.rpc('sendrawtransaction', [raw]);
      assert.equal((await read(adapter, swap)).refunded?.txid, txid);
      await node.mine(1);
      assert.equal((await read(adapter, swap)).refunded?.confirmations, 1);
    });
  });
}

it('a list of the mempool has no order: a spend may stand before its payment', async () => {
  const real = coreOf(node);
  const turned = adapterOn(node, {
    backend: {
      ...real,
      mempool: async (...about) => {
        const change = await real.mempool(...about);
        const ours = (tx: Tx) => tx.outputs.some(({ script }) => mayBeEscrow(script));
        const transactions = change.transactions.toSorted((a, b) => +ours(a) - +ours(b));
        return { ...change, transactions };
      },
    },
  });
  const swap = newSwap();
  turned.watch([swap.escrow]);
  await read(turned, swap);
  const paid = parseTx(await node.rawTransaction(await pay(swap)));
  const vout = paid.outputs.findIndex(({ amount }) => amount === swap.terms.amount);
  const outputs = [{ txid: paid.txid(), vout, amount: swap.terms.amount }];
  const { raw, txid } = await signedTogether(swap, refundOf(swap, outputs));
  await node.rpc('sendrawtransaction', [raw]);
  assert.equal((await read(turned, swap)).refunded?.txid, txid);
});

describe('a past that is long', () => {
  it('shows what spent a payment of it while it was read', async () => {
    const swap = newSwap();
    await node.mine(60);
    await pay(swap);
    await node.mine(2);
    const helper = adapterOn(node);
    for (const isMined of [true, false]) {
      const adapter = adapterOn(node);
      adapter.watch([swap.escrow]);
      await adapter.changes(signal());
      // The pass has not come to the payment, and the next one hears of its spend before.
      if (isMined) {
        await together(helper, swap, 'claim');
        await node.mine(1);
      }
      assert.equal((await read(adapter, swap)).claimed?.confirmations, 1);
    }
  });

  it('and in the mempool, however long its list is', async () => {
    for (const longList of [undefined, 0]) {
      const swap = newSwap();
      await node.mine(60);
      await pay(swap);
      await node.mine(2);
      const adapter = adapterOn(node, { backend: coreOf(node, longList) });
      adapter.watch([swap.escrow]);
      const txid = await together(adapterOn(node), swap, 'claim');
      await adapter.changes(signal());
      assert.equal((await read(adapter, swap)).claimed?.txid, txid);
    }
  });
});

it('a payment that comes with its block shows its spend by the key that the mempool has had', async () => {
  const adapter = adapterOn(node);
  const swap = newSwap();
  adapter.watch([swap.escrow]);
  await read(adapter, swap);
  await pay(swap);
  await node.mine(2);
  const txid = await together(adapterOn(node), swap, 'claim');
  const { claimed, funded } = await read(adapter, swap);
  assert.deepEqual([funded?.confirmations, claimed?.txid], [2, txid]);
});

it('the key of both is refused on P2WSH', async () => {
  const swap = swapOn(node);
  await pay(swap);
  await node.mine(2);
  const input = { ...inputOf(swap), isPublic: true };
  const planning = adapterOn(node).planTogether(input, 'claim', signal());
  await assert.rejects(planning, refuses('bad_field'));
});
