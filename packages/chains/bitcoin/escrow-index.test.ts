// The index on its own: order of arrival, rivals, what is kept and what is let go.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { escrowFacts } from './escrow-facts.ts';
import {
  applyTransaction,
  connectBlock,
  createIndex,
  dropTransaction,
  historyOf,
  rollBackTo,
  takeTouched,
  unminedTransactions,
  unspentOutpoints,
  unwatchEscrow,
  watchEscrow,
} from './escrow-index.ts';
import { bitcoinNetworks } from './networks.ts';
import {
  bitcoinEscrow,
  destination,
  escrowBytes,
  keySequences,
  replaceableSequence,
} from './plan.ts';
import type { Tx } from './raw-transaction.ts';
import { type TestSwap, testSwap, watchedBytes } from './testing/swaps.ts';

const network = bitcoinNetworks.regtest;
const swap = testSwap({ timelock: 1_800_000_000, since: 0, amount: 1_000n });
const { address } = swap.escrow;

function watching(...swaps: TestSwap[]) {
  const index = createIndex();
  for (const each of swaps) watchEscrow(index, each.escrow, watchedBytes(each.terms, network));
  takeTouched(index);
  return index;
}

function payment(txid: string, amount: bigint, to = swap): Tx {
  const { script } = escrowBytes(to.terms, network);
  return { txid: () => txid, coinbase: false, inputs: [], outputs: [{ script, amount }] };
}

function spend(txid: string, spent: string, secret: string | null, of = swap): Tx {
  const [witnessScript = new Uint8Array()] = escrowBytes(of.terms, network).branches.claim.ends;
  const shown = secret === null ? new Uint8Array() : hexToBytes(secret);
  const witness = [new Uint8Array(71), shown, Uint8Array.of(1), witnessScript];
  const sequence = replaceableSequence;
  const scriptSig = new Uint8Array();
  const input = { outpoint: () => `${spent}:0`, scriptSig, sequence, witness };
  return { txid: () => txid, coinbase: false, inputs: [input], outputs: [] };
}

type How = { readonly to: Uint8Array; readonly witness?: Uint8Array[]; readonly sequence?: number };

/** Spends the outputs by the key of both sides, or by a leaf. */
function ofTree(txid: string, spent: string, how: How): Tx {
  const { to, witness = [new Uint8Array(64)], sequence = keySequences.claim } = how;
  const scriptSig = new Uint8Array();
  const input = { outpoint: () => `${spent}:0`, scriptSig, sequence, witness };
  const outputs = [{ script: to, amount: 900n }];
  return { txid: () => txid, coinbase: false, inputs: [input], outputs };
}

const mark = (height: number) => ({ height, hash: `block ${height}`, readAt: height });
const facts = (index: ReturnType<typeof watching>, of = swap) =>
  escrowFacts(historyOf(index, of.escrow.address), of.terms.amount, 2);

describe('the index', () => {
  it('knows an escrow that is watched anew by what it shares with another', () => {
    for (const form of [undefined, 'p2tr'] as const) {
      const at = { since: 0, amount: 1_000n, ...(form && { form }) };
      const one = testSwap({ ...at, timelock: 1_800_000_000 });
      const other = testSwap({ ...at, timelock: 1_800_000_001 });
      const index = watching(one, other);
      const { outputs } = payment('both', 1_000n, other);
      const paid = payment('both', 1_000n, one);
      const both = { ...paid, outputs: [...paid.outputs, ...outputs] };
      connectBlock(index, mark(1), [both]);
      unwatchEscrow(index, one.escrow.address);
      watchEscrow(index, one.escrow, watchedBytes(one.terms, network));
      applyTransaction(index, both, 1);
      assert.equal(facts(index, one).funded?.txid, 'both');
      assert.equal(facts(index, other).funded?.txid, 'both');
      if (form === undefined) continue;
      const back = { to: new Uint8Array(22), sequence: keySequences.refund };
      applyTransaction(index, ofTree('back', 'both', back), 1);
      assert.equal(facts(index, one).refunded?.txid, 'back');
    }
  });

  it('shows the same in whatever order payment and claim are seen', () => {
    const pay = payment('pay', 1_000n);
    const claim = spend('claim', 'pay', swap.secret);
    const noise = payment('noise', 5n);
    const steps = [pay, claim, noise];
    fc.assert(
      fc.property(fc.shuffledSubarray(steps, { minLength: 3 }), (order) => {
        const index = watching(swap);
        connectBlock(index, mark(1), []);
        for (const tx of order) applyTransaction(index, tx, 1);
        connectBlock(index, mark(2), []);
        const seen = facts(index);
        assert.equal(seen.claimed?.txid, 'claim');
        assert.deepEqual([seen.secret, seen.balance], [swap.secret, 5n]);
      }),
    );
  });

  it('keeps a mined transaction mined when word of it comes from the mempool again', () => {
    const index = watching(swap);
    connectBlock(index, mark(1), [payment('pay', 1_000n)]);
    applyTransaction(index, payment('pay', 1_000n), null);
    assert.equal(facts(index).funded?.confirmations, 1);
    rollBackTo(index, 0);
    assert.equal(facts(index).funded?.confirmations, 0);
    assert.deepEqual(unminedTransactions(index), ['pay']);
  });

  it('drops what a mined transaction makes impossible, and keeps its secret', () => {
    const index = watching(swap);
    connectBlock(index, mark(1), [payment('pay', 1_000n)]);
    applyTransaction(index, spend('claim', 'pay', swap.secret), null);
    assert.equal(facts(index).claimed?.txid, 'claim');
    connectBlock(index, mark(2), [spend('refund', 'pay', null)]);
    assert.deepEqual([facts(index).claimed, facts(index).refunded?.txid], [null, 'refund']);
    assert.equal(facts(index).secret, swap.secret);
    rollBackTo(index, 1);
    dropTransaction(index, 'refund');
    const back = facts(index);
    assert.deepEqual([back.claimed, back.refunded, back.balance], [null, null, 1_000n]);
    assert.equal(back.secret, swap.secret);
  });

  it('holds one transaction for several escrows, until the last of them is let go', () => {
    const other = testSwap({ timelock: 1_800_000_000, since: 0, amount: 1_000n });
    const index = watching(swap, other);
    const both: Tx = {
      ...payment('both', 1_000n),
      outputs: [...payment('', 1_000n).outputs, ...payment('', 1_000n, other).outputs],
    };
    connectBlock(index, mark(1), [both]);
    assert.deepEqual(new Set(takeTouched(index)), new Set([address, other.escrow.address]));
    assert.equal(facts(index).balance, 1_000n);
    unwatchEscrow(index, address);
    assert.equal(facts(index, other).balance, 1_000n);
    unwatchEscrow(index, other.escrow.address);
    assert.deepEqual([index.records.size, index.byAddress.size, index.byScript.size], [0, 0, 0]);
  });

  it('lets go of dust beyond its limit, never of a full payment or a spend', () => {
    const index = watching(swap);
    for (let count = 0; count < 600; count += 1) {
      applyTransaction(index, payment(`dust ${count}`, 330n), null);
    }
    assert.equal(index.records.size, 500);
    applyTransaction(index, payment('pay', 1_000n), null);
    applyTransaction(index, spend('claim', 'pay', swap.secret), null);
    assert.deepEqual([facts(index).funded?.txid, facts(index).claimed?.txid], ['pay', 'claim']);
    assert.equal(unspentOutpoints(index).length, 500);
  });
});

describe('the index of Taproot', () => {
  const tree = testSwap({ timelock: 1_800_000_000, since: 0, amount: 1_000n, form: 'p2tr' });
  const { terms } = tree;
  const { branches } = escrowBytes(terms, network);
  const payout = destination(terms, network, 'claim').script;
  const refund = destination(terms, network, 'refund').script;
  const pay = payment('pay', 1_000n, tree);
  const seen = (...txs: Tx[]) => {
    const index = watching(tree);
    connectBlock(index, mark(1), txs);
    connectBlock(index, mark(2), []);
    const { funded, claimed, refunded, secret, balance } = facts(index, tree);
    const spent = claimed === null ? refunded && 'refund' : 'claim';
    return { funded: funded?.txid, spent, secret, balance };
  };
  const open = { funded: 'pay', spent: null, secret: null, balance: 1_000n };
  const spent = { ...open, balance: 0n };

  it('tells a claim by the key of both from a refund by its sequence, whomever it pays', () => {
    assert.deepEqual(seen(pay), open);
    const elsewhere = payment('', 1n).outputs[0]?.script ?? payout;
    for (const to of [payout, refund, elsewhere]) {
      for (const [sequence, verb] of [
        [0xffff_fffd, 'claim'],
        [0xffff_fffc, 'refund'],
        // Other software of both sides may choose this: it counts as no refund.
        [0xffff_ffff, 'claim'],
        [0, 'claim'],
      ] as const) {
        const by = ofTree('a', 'pay', { to, sequence });
        assert.deepEqual(seen(pay, by), { ...spent, spent: verb });
      }
    }
    const annex = [new Uint8Array(64), Uint8Array.of(0x50, 1)];
    const hidden = ofTree('a', 'pay', { to: payout, witness: annex });
    assert.deepEqual(seen(pay, hidden), { ...spent, spent: 'claim' });
    assert.deepEqual(seen(pay, ofTree('a', 'other', { to: payout })), open, 'another output');
  });

  it('knows a leaf in any order and whomever it pays, with the secret, and behind an annex', () => {
    const signature = new Uint8Array(64);
    const claim = [signature, hexToBytes(tree.secret), ...branches.claim.ends];
    const claimed = { ...spent, spent: 'claim', secret: tree.secret };
    for (const witness of [claim, [...claim, Uint8Array.of(0x50)]]) {
      const by = ofTree('a', 'pay', { to: refund, witness });
      assert.deepEqual(seen(pay, by), claimed);
      assert.deepEqual(seen(by, pay), claimed);
    }
    const by = ofTree('a', 'pay', { to: payout, witness: [signature, ...branches.refund.ends] });
    assert.deepEqual(seen(by, pay), { ...spent, spent: 'refund' });
  });

  it('two escrows of one refund key and timelock are not taken for each other', () => {
    const other = testSwap({ timelock: 1_800_000_000, since: 0, amount: 1_000n, form: 'p2tr' });
    const twin = { ...other, terms: { ...other.terms, refund: terms.refund } };
    const { address: at } = bitcoinEscrow(twin.terms, network);
    const both = { ...twin, escrow: { ...twin.escrow, address: at, terms: twin.terms } };
    const index = watching(tree, both);
    connectBlock(index, mark(1), [pay, payment('twin', 1_000n, both)]);
    const witness = [new Uint8Array(64), ...branches.refund.ends];
    connectBlock(index, mark(2), [ofTree('a', 'pay', { to: refund, witness })]);
    assert.deepEqual([facts(index, tree).refunded?.txid, facts(index, both).refunded], ['a', null]);
    unwatchEscrow(index, both.escrow.address);
    unwatchEscrow(index, tree.escrow.address);
    assert.deepEqual([index.byEnd.size, index.byOutpoint.size], [0, 0]);
  });

  it('keeps a payment known through a reorganisation, in which its spend may come first', () => {
    const index = watching(tree);
    connectBlock(index, mark(1), [pay]);
    connectBlock(index, mark(2), [ofTree('a', 'pay', { to: payout })]);
    rollBackTo(index, 0);
    dropTransaction(index, 'pay');
    dropTransaction(index, 'a');
    applyTransaction(index, ofTree('a', 'pay', { to: payout }), null);
    applyTransaction(index, pay, null);
    assert.equal(facts(index, tree).claimed?.txid, 'a');
  });
});
