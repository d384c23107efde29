// Claims signed beforehand, without their secret: which are taken, and which one is sent.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { Tried } from '../interface/scheduled.ts';
import type { Payment } from './escrow-facts.ts';
import { feeAt } from './fees.ts';
import { signSighashes } from './keys.ts';
import { buildSpend, type Verb, vsizeOf } from './plan.ts';
import { assemble } from './signed-psbt.ts';
import { bumpSeconds, decide, finished, type Shown } from './signed-spends.ts';
import {
  about,
  altered,
  check,
  estimate,
  funder,
  historyOf,
  network,
  paidScript,
  payment,
  refused,
  second,
  signedAt,
  swap,
  terms,
  timelock,
  toDer,
  witnessOf,
} from './testing/signed.ts';

const { claimer, secret } = swap;
const claimSize = vsizeOf(terms, network, 'claim', 1);
const claiming = { ...about, verb: 'claim' as Verb };

const claim = (rate: number, spent: readonly Payment[] = [payment], by = terms) =>
  signedAt('claim', rate, spent, by);
const refund = (rate: number) => signedAt('refund', rate);

describe('a fee bump schedule of signed claims', () => {
  const refusedClaim = (raw: string, code: string, words: RegExp) =>
    refused([raw], code, words, claiming);

  it('is taken without its secret, and is the claim once it is there', () => {
    const raws = [1, 3, 10].map((rate) => claim(rate));
    const bumps = check(raws, claiming);
    assert.deepEqual(
      bumps.map(({ raw, feeSats }) => [raw, feeSats]),
      raws.map((raw, at) => [raw, feeAt(claimSize, [1, 3, 10][at] ?? 0)]),
    );
    const built = buildSpend(terms, network, 'claim', [payment], feeAt(claimSize, 10));
    const signaturesHex = signSighashes(claimer.privateKey, built.sighashHexes);
    const { psbtBase64 } = built;
    const whole = assemble({ psbtBase64, signaturesHex, preimageHex: secret });
    const [, , bump = assert.fail()] = bumps;
    assert.equal(bump.txid, whole.txid, 'the secret does not change it');
    assert.equal(finished(terms, bump.raw, { verb: 'claim', secret }), whole.raw);
    for (const wrong of [null, '11'.repeat(32), secret.slice(2)]) {
      const add = () => finished(terms, bump.raw, { verb: 'claim', secret: wrong });
      assert.throws(add, { code: 'wrong_secret' });
    }
    assert.equal(finished(terms, refund(1), { verb: 'refund', secret }), refund(1));
  });

  it('is of either form of the escrow', () => {
    const tree = { ...terms, form: 'p2tr' } as const;
    const of = { ...claiming, terms: tree };
    const raw = claim(10, [payment], tree);
    const [bump = assert.fail()] = check([raw], of);
    const ladder = { verb: 'claim', secret } as const;
    const [signed, shown, ...rest] = witnessOf(finished(tree, bump.raw, ladder));
    const [before, empty, ...same] = witnessOf(raw);
    assert.deepEqual([shown, empty], [hexToBytes(secret), new Uint8Array()]);
    assert.deepEqual([signed, ...rest], [before, ...same]);
    refused([claim(10)], 'bad_transaction', /transactions\[0\]/, of);
    refused([raw], 'bad_transaction', /transactions\[0\]/, claiming);
  });

  it('is refused by anybody else, with an item beside, or as a refund', () => {
    const raw = claim(10);
    const [signed = new Uint8Array(), empty = new Uint8Array(), branch, script] = witnessOf(raw);
    assert.equal(empty.length, 0);
    const built = buildSpend(terms, network, 'claim', [payment], feeAt(claimSize, 10));
    const [foreign = ''] = signSighashes(funder.privateKey, built.sighashHexes);
    const withWitness = (...items: readonly (Uint8Array | undefined)[]) =>
      altered(raw, () => ({ witnesses: [items.map((each) => each ?? new Uint8Array())] }));
    for (const [bad, words] of [
      [withWitness(hexToBytes(`${toDer(foreign)}01`), empty, branch, script), /by the payout key/],
      [withWitness(signed, hexToBytes(secret), branch, script), /with an empty secret/],
      [withWitness(signed, empty, empty, script), /claim branch/],
      [withWitness(signed, branch, script), /claim branch/],
      [altered(raw, () => ({ lockTime: timelock })), /signature is not by|nLockTime 0/],
      [refund(10), /signature is not by the payout key/],
    ] as const) {
      refusedClaim(bad, 'bad_transaction', words);
    }
    refused([raw], 'bad_transaction', /signature is not by the refund key/);
  });

  it('pays one address that its payee signed, and nothing else', () => {
    const raw = claim(10);
    const script = paidScript(refund(10));
    const to = (of: Uint8Array) =>
      altered(raw, ({ outputs }) => ({
        outputs: outputs.map((each) => ({ ...each, script: of })),
      }));
    refusedClaim(to(script), 'bad_transaction', /signature is not by the payout key/);
    const mixed = [claim(1), claim(10, [payment], { ...terms, payout: paidToFunder() })];
    refused(mixed, 'bad_transaction', /transactions\[1\] pays/, claiming);
  });

  it('spends the payment that funds the escrow alone, at its depth', () => {
    refusedClaim(claim(10, [second]), 'bad_transaction', /is not the payment that funds/);
    refusedClaim(claim(10, [payment, second]), 'bad_transaction', /has 2 inputs, not 1 to 1/);
    const further: Payment = { ...payment, txid: 'ee'.repeat(32), height: 150 };
    const both = { ...claiming, history: historyOf(further, payment) };
    refused([claim(10, [further])], 'bad_transaction', /is not the payment that funds/, both);
    check([claim(10)], both);
    const shallow = { ...claiming, history: historyOf({ ...payment, height: 199 }) };
    refused([claim(10)], 'nothing_there', /has 2 of the 3 confirmations/, shallow);
  });

  it('may cost nearly all, as a claim that is late loses all', () => {
    const small = { ...payment, amount: 40_000n };
    const of = { ...terms, amount: 40_000n };
    const cheap = { ...claiming, terms: of, history: historyOf(small) };
    check([claim(270, [small], of)], cheap);
    refused([claim(275, [small], of)], 'bad_fee_rate', /outside/, cheap);
  });
});

function paidToFunder() {
  return { ...terms.payout, address: terms.refund.address };
}

describe('which signed claim is sent', () => {
  const bumps = check(
    [1, 2, 4, 8, 16].map((rate) => claim(rate)),
    claiming,
  );
  const txidOf = (at: number) => bumps[at]?.txid ?? '';
  const now = timelock - 13 * 3_600;
  const history = { payments: [payment], secret: null, tip: 200 };
  const shown: Shown = {
    history,
    clock: now,
    requiredConfirmations: 3,
    estimate,
    now,
    deadline: timelock,
    pending: null,
  };
  const spentBy = (txid: string, height: number | null, by: Verb) => ({
    history: { ...history, payments: [{ ...payment, spend: { txid, height, by } }] },
  });
  const waiting = (txid: string, feeSats: bigint, by: Verb) => {
    const pending = { txid, vsize: claimSize, feeSats, withDescendantsFeeSats: feeSats };
    return { ...spentBy(txid, null, by), pending };
  };
  const own = (at: number) => waiting(txidOf(at), bumps[at]?.feeSats ?? 0n, 'claim');
  const other = '99'.repeat(32);
  const at = now - bumpSeconds;
  const stuck = { txid: txidOf(1), at, height: 199 };
  const from = (rung: number, over: string | null = null) => {
    return { kind: 'send', from: rung, height: 200, over };
  };
  const late = { clock: timelock + 1, now: timelock + 1, deadline: timelock };

  for (const [what, of, more, tried, verdict] of [
    ['none while its secret is not public', null, {}, null, 'wait'],
    ['none then, however late', null, late, null, 'wait'],
    ['the lowest that is enough, as soon as it is public', secret, {}, null, from(1)],
    ['a higher one near the timelock', secret, { deadline: now + 1_000 }, null, from(3)],
    ['one after the timelock too', secret, late, null, from(3)],
    ['none above one of now', secret, own(1), null, 'wait'],
    ['the next when a block and 20 minutes went by', secret, own(1), stuck, from(2, txidOf(1))],
    ['none in the same block', secret, own(1), { ...stuck, height: 200 }, 'wait'],
    ['one over a refund, at once', secret, waiting(other, 300n, 'refund'), null, from(2, other)],
    ['none over one that pays more', secret, waiting(other, 90_000n, 'refund'), null, 'wait'],
    ['none once a block has a refund', secret, spentBy(other, 199, 'refund'), null, 'wait'],
    ['none ever when a spend is final', secret, spentBy(other, 198, 'claim'), null, 'over'],
    [
      'one of a payment that a reorganisation took out of its block',
      secret,
      { history: { ...history, payments: [{ ...payment, height: null }] } },
      null,
      from(1),
    ],
    [
      'none of a payment that is gone',
      secret,
      { history: { ...history, payments: [] } },
      null,
      'wait',
    ],
  ] as const satisfies readonly (readonly [
    string,
    string | null,
    Partial<Shown>,
    Tried | null,
    unknown,
  ])[]) {
    it(what, () => {
      const ladder = { verb: 'claim', bumps, tried, secret: of } as const;
      const found = decide(ladder, terms, { ...shown, ...more });
      if (typeof verdict === 'string') assert.equal(found.kind, verdict);
      else assert.deepEqual(found, verdict);
    });
  }
});
