import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { legStatus } from '@parley/core/facts.ts';
import { freeRefund } from '@parley/core/remains.ts';
import fc from 'fast-check';
import { leastRefundOf } from './costs.ts';
import {
  type EscrowSpend,
  escrowFacts,
  fundingPayment,
  type Payment,
  paymentsOf,
} from './escrow-facts.ts';
import { defaultFeeBounds } from './fees.ts';
import { bitcoinNetworks } from './networks.ts';
import { destination, escrowBytes } from './plan.ts';
import { testSwap } from './testing/swaps.ts';

const tip = 100;
const wanted = 1_000n;
const secret = '5e'.repeat(32);

function pay(
  name: string,
  amount: bigint,
  height: number | null,
  spend: EscrowSpend | null = null,
) {
  return { txid: name, vout: 0, amount, height, coinbase: false, spend };
}
const refund = (height: number | null): EscrowSpend => ({ txid: 'refund', height, by: 'refund' });
const claim = (height: number | null): EscrowSpend => ({ txid: 'claim', height, by: 'claim' });

const leastRefund = freeRefund;
const facts = (...payments: Payment[]) =>
  escrowFacts({ payments, secret: null, tip, leastRefund }, wanted, 3);

describe('escrow facts', () => {
  it('count confirmations from the block that holds the payment', () => {
    for (const [height, confirmations, deep] of [
      [null, 0, false],
      [100, 1, false],
      [99, 2, false],
      [98, 3, true],
      [101, 0, false],
    ] as const) {
      const { funded } = facts(pay('a', wanted, height));
      assert.deepEqual(funded, { txid: 'a', confirmations, deep });
    }
  });

  it('never sum payments: less than the amount in one output is not funded, and refundable', () => {
    const dust = facts(pay('a', 999n, 50), pay('b', 999n, 50));
    assert.deepEqual([dust.funded, dust.balance, dust.empty], [null, 1_998n, false]);
    assert.equal(legStatus(dust), 'unfunded');
    assert.equal(facts(pay('a', 1_001n, 50)).funded?.txid, 'a', 'overpaid is funded');
  });

  it('count no dust that a refund cannot bring back at the least fee, in a block or not', () => {
    const { terms } = testSwap({ timelock: 1_800_000_000, since: 0 });
    const escrow = escrowBytes(terms, bitcoinNetworks.regtest);
    const to = destination(terms, bitcoinNetworks.regtest, 'refund');
    const dear = leastRefundOf(escrow, to, defaultFeeBounds);
    const of = (...payments: Payment[]) => {
      const seen = escrowFacts({ payments, secret, tip, leastRefund: dear }, 1_000_000n, 3);
      return [seen.balance, seen.empty];
    };
    const gone = pay('main', 1_000_000n, 50, claim(60));
    const dust = (height: number | null, sats = 330n, spend: EscrowSpend | null = null) =>
      pay(`dust ${height}`, sats, height, spend);
    // 131 vbytes, and 294 sats for an output.
    const least = dear.feeOf(1) + 294n;
    for (const [payments, balance, empty] of [
      [[dust(70)], 0n, true],
      [[dust(null)], 0n, true],
      [[dust(70, least - 1n)], 0n, true],
      [[dust(70, least)], least, false],
      [[dust(null, least)], 0n, false],
      [[dust(70), dust(71)], 660n, false],
      [[dust(70), dust(null)], 0n, false],
      [[dust(70, 330n, refund(71))], 0n, true],
    ] as const) {
      assert.deepEqual(of(gone, ...payments), [balance, empty]);
      assert.deepEqual(of(...payments), [balance, empty]);
    }
    const open = pay('main', 1_000_000n, 50);
    assert.deepEqual(of(open, dust(70), dust(71, 50n)), [1_000_330n, false]);
  });

  it('take the payment that came to depth first, whatever is paid later', () => {
    const first = pay('z', wanted, 90);
    for (const others of [[pay('a', 9_999n, 91)], [pay('a', wanted, null)], [pay('b', 5n, 10)]]) {
      assert.equal(facts(...others, first).funded?.txid, 'z');
      assert.equal(facts(first, ...others).funded?.txid, 'z');
    }
  });

  it('name what each payment is to the leg, in the order of the chain', () => {
    const payments = [
      pay('pooled', wanted, null),
      pay('second', wanted, 91),
      pay('main', wanted + 7n, 90, claim(97)),
      pay('little', 999n, 89, refund(98)),
    ];
    const seen = paymentsOf({ payments, tip }, wanted);
    assert.deepEqual(
      seen.map((each) => [each.txid, each.is, each.confirmations, each.spent?.by ?? null]),
      [
        ['little', 'too_little', 12, 'refund'],
        ['main', 'funding', 11, 'claim'],
        ['second', 'further', 10, null],
        ['pooled', 'further', 0, null],
      ],
    );
  });

  it('say claimed and refunded of the funding payment alone', () => {
    const main = pay('main', wanted, 90);
    const dustGone = facts(main, pay('dust', 10n, 80, refund(97)));
    assert.deepEqual(
      [legStatus(dustGone), dustGone.refunded, dustGone.balance],
      ['funded', null, wanted],
    );
    const dustClaimed = facts(main, pay('dust', 10n, 80, claim(97)));
    assert.deepEqual([legStatus(dustClaimed), dustClaimed.claimed], ['funded', null]);
    const mainGone = facts({ ...main, spend: refund(95) }, pay('dust', 10n, 80));
    assert.deepEqual(
      [legStatus(mainGone), mainGone.balance, mainGone.empty],
      ['refunded', 10n, false],
    );
    const both = facts({ ...main, spend: refund(95) }, pay('again', wanted, 96));
    assert.deepEqual([legStatus(both), both.balance], ['refunded', wanted]);
  });

  it('say claimed when any full payment was claimed: the claimer has been paid', () => {
    const paid = facts(pay('a', wanted, 80), pay('b', wanted, 81, claim(95)));
    assert.deepEqual([legStatus(paid), paid.balance], ['claimed', wanted]);
    const both = facts(pay('a', wanted, 80, refund(94)), pay('b', wanted, 81, claim(95)));
    assert.equal(legStatus(both), 'claimed');
  });

  it('show a spend in the mempool at once, and count it at depth only', () => {
    const seen = facts(pay('a', wanted, 80, claim(null)));
    assert.deepEqual([legStatus(seen), seen.balance, seen.empty], ['funded', 0n, false]);
    assert.deepEqual(seen.claimed, { txid: 'claim', confirmations: 0, deep: false });
    const at = (height: number) => facts(pay('a', wanted, 80, claim(height)));
    assert.deepEqual(
      [99, 98].map((height) => at(height).claimed?.deep),
      [false, true],
    );
    // Six blocks beyond its depth nothing takes it back any more.
    assert.deepEqual(
      [93, 92].map((height) => at(height).empty),
      [false, true],
    );
  });

  it('do not count a coinbase before it can be spent', () => {
    const mined = (height: number) => facts({ ...pay('a', wanted, height), coinbase: true });
    assert.equal(mined(2).funded?.deep, false);
    assert.equal(mined(1).funded?.deep, true);
  });

  it('keep the secret though the transaction that showed it is gone', () => {
    const history = { payments: [pay('a', wanted, 80)], secret, tip, leastRefund };
    const seen = escrowFacts(history, wanted, 3);
    assert.deepEqual([seen.secret, seen.claimed, legStatus(seen)], [secret, null, 'funded']);
  });

  it('hold together for every history', () => {
    const height = fc.option(fc.integer({ min: 1, max: tip }), { nil: null });
    const spend = fc.option(
      fc.record({
        txid: fc.constantFrom('s1', 's2'),
        height,
        by: fc.constantFrom('claim' as const, 'refund' as const),
      }),
      { nil: null },
    );
    const payments = fc.uniqueArray(
      fc.record({
        txid: fc.string({ minLength: 1, maxLength: 2 }),
        vout: fc.nat(2),
        amount: fc.bigInt(1n, 2_000n),
        height,
        coinbase: fc.boolean(),
        spend,
      }),
      { selector: ({ txid, vout }) => `${txid}:${vout}`, maxLength: 8 },
    );
    fc.assert(
      fc.property(payments, fc.integer({ min: 1, max: 6 }), (paid, required) => {
        const history = { payments: paid, secret: null, tip, leastRefund };
        const seen = escrowFacts(history, wanted, required);
        assert.ok(seen.claimed === null || seen.refunded === null);
        if (seen.claimed !== null || seen.refunded !== null) assert.ok(seen.funded !== null);
        assert.equal(
          seen.funded === null,
          paid.every(({ amount }) => amount < wanted),
        );
        if (seen.balance > 0n) assert.equal(seen.empty, false);
        // The order in which they were seen changes nothing.
        const reversed = { ...history, payments: paid.toReversed() };
        assert.deepEqual(escrowFacts(reversed, wanted, required), seen);
        assert.deepEqual(fundingPayment(reversed, wanted), fundingPayment(history, wanted));
      }),
    );
  });
});
