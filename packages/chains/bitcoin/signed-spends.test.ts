import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { Bump, Tried } from '../interface/scheduled.ts';
import type { Payment } from './escrow-facts.ts';
import { feeAt } from './fees.ts';
import { signSighashes } from './keys.ts';
import { buildSpend, type Verb, vsizeOf } from './plan.ts';
import {
  bumpSeconds,
  checkSignedSpends,
  decide,
  longestScheduledHex,
  mostScheduledInputs,
  type Shown,
} from './signed-spends.ts';
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
import { keyOf } from './testing/swaps.ts';

const vsize = vsizeOf(terms, network, 'refund', 1);

const refund = (rate: number, spent: readonly Payment[] = [payment], by = terms) =>
  signedAt('refund', rate, spent, by);

const buildAt = (rate: number) =>
  buildSpend(terms, network, 'refund', [payment], feeAt(vsize, rate));

describe('a fee bump schedule of signed refunds', () => {
  it('is taken with its fees, whatever case its hex has', () => {
    const raws = [1, 3, 10].map((rate) => refund(rate));
    const bumps = check([...raws.slice(0, 2), raws[2]?.toUpperCase() ?? '']);
    assert.deepEqual(
      bumps.map(({ raw, feeSats, feeRateSatPerVbyte }) => [raw, feeSats, feeRateSatPerVbyte]),
      raws.map((raw, at) => [raw, feeAt(vsize, [1, 3, 10][at] ?? 0), [1, 3, 10][at]]),
    );
    assert.equal(check([refund(8, [second, payment])]).length, 1);
  });

  it('is refused with another lock time, also one that its funder signed', () => {
    for (const other of [0, timelock - 1, timelock + 1]) {
      const early = { ...terms, timelock: Math.max(500_000_000, other) };
      const signed = refund(10, [payment], early);
      refused([signed], 'bad_transaction', /signature is not by/);
    }
    const raw = altered(refund(10), () => ({ lockTime: timelock - 1 }));
    refused([raw], 'bad_transaction', /is not the refund of these terms/);
  });

  it('is taken to any one address that its funder signed, and to no other', () => {
    const script = paidScript(refund(10, [payment], swapOfClaimer()));
    const raw = refund(10);
    const to = (script: Uint8Array) =>
      altered(raw, ({ outputs }) => ({ outputs: outputs.map((each) => ({ ...each, script })) }));
    refused([to(script)], 'bad_transaction', /transactions\[0\]: input 0: the signature is not by/);
    const more = altered(raw, ({ outputs }) => ({ outputs: [...outputs, { script, amount: 1n }] }));
    refused([more], 'bad_transaction', /has 2 outputs, not 1/);
    const noAddress = to(hexToBytes('6a0548656c6c6f'));
    refused([noAddress], 'bad_transaction', /pays no address \(P2PKH, P2SH/);
    const elsewhere = [1, 10].map((rate) => refund(rate, [payment], swapOfClaimer()));
    assert.equal(check(elsewhere).length, 2);
    const mixed = [refund(1), refund(10, [payment], swapOfClaimer())];
    refused(
      mixed,
      'bad_transaction',
      /transactions\[1\] pays bcrt1\w+, and the one before it bcrt1/,
    );
    const escrow = { ...terms, refund: { ...terms.refund, address: swap.escrow.address } };
    refused([refund(10, [payment], escrow)], 'bad_transaction', /is the escrow itself/);
  });

  it('is refused when it could not be replaced, is unsigned, or signed by anybody else', () => {
    const raw = refund(10);
    const [signed = new Uint8Array(), branch = new Uint8Array(), script = new Uint8Array()] =
      witnessOf(raw);
    const withWitness = (...items: readonly Uint8Array[]) =>
      altered(raw, () => ({ witnesses: [[...items]] }));
    const withSequence = (sequence: number) =>
      altered(raw, ({ inputs }) => ({ inputs: inputs.map((each) => ({ ...each, sequence })) }));
    const { sighashHexes } = buildAt(10);
    const [foreign = ''] = signSighashes(keyOf('somebody else').privateKey, sighashHexes);
    const flagged = Uint8Array.from(signed);
    flagged[flagged.length - 1] = 0x83;
    // A lenient reader takes these, and no node: 64 bytes, a high S.
    const [compact = ''] = signSighashes(funder.privateKey, sighashHexes);
    const { n } = secp256k1.Point.CURVE();
    const high = (n - BigInt(`0x${compact.slice(64)}`)).toString(16).padStart(64, '0');
    const lenient = [`${compact}01`, compact, `${toDer(compact.slice(0, 64) + high)}01`];
    for (const [bad, words] of [
      ...[0xffff_ffff, 0xffff_fffe, 0, 0xffff].map(
        (sequence) => [withSequence(sequence), /is not the refund/] as const,
      ),
      [altered(raw, () => ({ segwitFlag: false, witnesses: undefined })), /is not signed/],
      [withWitness(hexToBytes(`${toDer(foreign)}01`), branch, script), /not by the refund key/],
      [withWitness(flagged, branch, script), /signature/],
      ...lenient.map((hex) => [withWitness(hexToBytes(hex), branch, script), /signature/] as const),
      [withWitness(signed, Uint8Array.of(1), script), /refund branch/],
      [altered(raw, () => ({ version: 3 })), /is not the refund/],
      [`${raw}00`, /no transaction in hex/],
      ['zz', /no transaction in hex/],
      ['00'.repeat(longestScheduledHex), /characters, more than/],
    ] as const) {
      refused([bad], 'bad_transaction', words);
    }
  });

  it('spends what the chain shows of this escrow, all of it the same', () => {
    const absent = { ...payment, vout: 0 };
    refused([refund(10, [absent])], 'bad_transaction', /which the chain does not show/);
    const spend = { txid: 'ef'.repeat(32), height: 101, by: 'refund' as const };
    const gone = { ...about, history: historyOf({ ...payment, spend }) };
    refused([refund(10)], 'nothing_there', /which efef\w+ has spent/, gone);
    const sets = [refund(4), refund(10, [payment, second])];
    refused(sets, 'bad_transaction', /transactions\[1\] spends .*, and the one before it/);
    const lied = { ...payment, amount: 990_000n };
    refused([refund(10, [lied])], 'bad_transaction', /signature is not by|not the refund/);
    const many = Array.from({ length: mostScheduledInputs.refund + 1 }, (_, vout) => ({
      ...payment,
      vout,
    }));
    const wide = { ...about, history: historyOf(...many) };
    refused([refund(10, many)], 'bad_transaction', /has \d+ (inputs|characters)/, wide);
    assert.ok(refund(10, many.slice(1)).length <= longestScheduledHex);
    assert.equal(check([refund(10, many.slice(1))], wide).length, 1);
  });

  it('spends what is as confirmed as the escrow wants, and nothing that a small reorganisation takes', () => {
    const at = (height: number | null, more: Partial<Payment> = {}) => ({
      ...about,
      history: historyOf({ ...payment, height, ...more }),
    });
    const shallow = /has (0|1|2) of the 3 confirmations/;
    for (const height of [null, 200, 199]) {
      refused([refund(10)], 'nothing_there', shallow, at(height));
    }
    check([refund(10)], at(198));
    const mined = { coinbase: true };
    refused([refund(10)], 'nothing_there', /has 99 of the 100/, at(102, mined));
    check([refund(10)], at(101, mined));
    const dust = { ...about, history: historyOf(payment, { ...second, height: 200 }) };
    refused([refund(10, [payment, second])], 'nothing_there', shallow, dust);
    check([refund(10)], dust);
  });

  it('is checked a step at a time, a signature each, and unchanged bytes without any', () => {
    const both = [payment, second];
    const raws = [1, 4, 10].map((rate) => refund(rate, both));
    const stepsOf = (transactions: readonly string[], known: readonly Bump[]) => {
      const steps = checkSignedSpends(transactions, { ...about, known });
      let count = 0;
      for (;;) {
        const { done, value } = steps.next();
        if (done) return { count, bumps: value };
        count += 1;
      }
    };
    const first = stepsOf(raws, []);
    // To begin, to read each, and of each to build it and to verify two inputs.
    const verifying = 2 + both.length;
    assert.equal(first.count, 1 + raws.length * (1 + verifying));
    const again = stepsOf(raws, first.bumps);
    assert.deepEqual(again, { count: 1 + raws.length, bumps: first.bumps });
    const longer = [...raws, refund(20, both)];
    assert.equal(stepsOf(longer, first.bumps).count, 1 + longer.length + verifying);
    // Bytes that were never seen are not taken for known by what they would do.
    const [kept] = first.bumps;
    assert.ok(kept);
    const forged = altered(kept.raw, ({ witnesses = [] }) => ({
      witnesses: witnesses.toReversed(),
    }));
    const known = { ...about, known: first.bumps };
    refused([forged, ...raws.slice(1)], 'bad_transaction', /signature is not by/, known);
  });

  it('pays within the bounds, each enough to replace the one before, and enough at its top', () => {
    const thirteen = Array.from({ length: 13 }, (_, at) => at + 1);
    for (const [rates, code, words] of [
      [[0.9], 'bad_fee_rate', /sats for \d+ vbytes, outside \d+ to \d+ sats/],
      [[501], 'bad_fee_rate', /outside/],
      [[10, 10.9], 'bad_fee_rate', /to replace the one before it takes/],
      [[10, 10], 'bad_fee_rate', /to replace/],
      [[12, 11], 'bad_fee_rate', /to replace/],
      [[1, 7.9], 'bad_fee_rate', /the highest must pay at least \d+ sats/],
      [[], 'bad_field', /1 to 12/],
      [thirteen, 'bad_field', /1 to 12/],
    ] as const) {
      refused(
        rates.map((rate) => refund(rate)),
        code,
        words,
      );
    }
    for (const rates of [
      [10, 11],
      [1, 8],
    ])
      check(rates.map((rate) => refund(rate)));
  });
});

function swapOfClaimer() {
  return { ...terms, refund: { ...terms.refund, address: terms.payout.address } };
}

describe('which of them is sent', () => {
  const bumps: readonly Bump[] = check([1, 2, 4, 8, 16].map((rate) => refund(rate)));
  const txidOf = (at: number) => bumps[at]?.txid ?? '';
  const now = timelock + 5_000;
  const history = { payments: [payment], secret: null, tip: 200 };
  const shown: Shown = {
    history,
    clock: timelock + 1,
    requiredConfirmations: 3,
    estimate,
    now,
    deadline: now + 13 * 3_600,
    pending: null,
  };
  const next = (more: Partial<Shown>, tried: Tried | null = null) =>
    decide({ verb: 'refund', bumps, tried, secret: null }, terms, { ...shown, ...more });
  const spentBy = (txid: string, height: number | null, by: Verb = 'refund') => ({
    history: { ...history, payments: [{ ...payment, spend: { txid, height, by } }] },
  });
  const inPool = (at: number) => {
    const feeSats = bumps[at]?.feeSats ?? 0n;
    const pending = { txid: txidOf(at), vsize, feeSats, withDescendantsFeeSats: feeSats };
    return { ...spentBy(txidOf(at), null), pending };
  };
  const paidBy = (...payments: readonly Payment[]) => ({ history: { ...history, payments } });
  const from = (at: number, over: string | null = null) => {
    return { kind: 'send', from: at, height: 200, over };
  };
  const at = now - bumpSeconds;
  const stuck = { txid: txidOf(1), at, height: 199 };
  const forgotten = (bump: number) => ({ txid: txidOf(bump), at: now, height: 200 });
  const rates = (fast: number, medium: number, slow: number, least: number) => ({
    estimate: { fast, medium, slow, least, at: 0 },
  });
  const other = '99'.repeat(32);
  const { secret } = swap;
  const gone = { history: { ...history, secret }, deadline: now };

  for (const [what, more, tried, verdict] of [
    ['none long before its timelock', { clock: 0 }, null, 'wait'],
    ['none a second before it', { clock: timelock - 1 }, null, 'wait'],
    ['none while median time past is at it', { clock: timelock }, null, 'wait'],
    ['the lowest that is enough now, once it is beyond', {}, null, from(1)],
    ['a higher one near the deadline', { deadline: now + 1_000 }, null, from(3)],
    ['what a full mempool takes', rates(4, 3, 2, 5), null, from(3)],
    ['the highest where none is enough', rates(90, 90, 90, 1), null, from(4)],
    ['the same where the node forgot it', {}, forgotten(3), from(3)],
    ['a higher one where that is too low by now', {}, forgotten(0), from(1)],
    ['the next when a block and 20 minutes went by', inPool(1), stuck, from(2, txidOf(1))],
    ['none a second before that', inPool(1), { ...stuck, at: at + 1 }, 'wait'],
    ['none in the same block', inPool(1), { ...stuck, height: 200 }, 'wait'],
    ['none above the highest', inPool(4), { ...stuck, txid: txidOf(4) }, 'wait'],
    ['none against a claim that waits', spentBy(other, null, 'claim'), null, 'wait'],
    ['the dearest sensible one once a claim is gone', gone, null, from(3)],
    ['none once a block has a refund', spentBy(other, 199), null, 'wait'],
    ['none once a block has a claim', spentBy(other, 199, 'claim'), null, 'wait'],
    ['none ever when the refund is final', spentBy(other, 198), null, 'over'],
    ['none ever when the claim is final', spentBy(other, 198, 'claim'), null, 'over'],
    ['none while the funding is in no block', paidBy({ ...payment, height: null }), null, 'wait'],
    ['none of what was not paid', paidBy(), null, 'wait'],
  ] as const satisfies readonly (readonly [string, Partial<Shown>, Tried | null, unknown])[]) {
    it(what, () => {
      const found = next(more, tried);
      if (typeof verdict === 'string') assert.equal(found.kind, verdict);
      else assert.deepEqual(found, verdict);
    });
  }

  it('counts the wait of a refund that somebody else sent from the first sight of it', () => {
    const foreign = { ...inPool(1).pending, txid: '77'.repeat(32) };
    const waiting = { ...spentBy(foreign.txid, null), pending: foreign };
    const verdict = next(waiting);
    assert.ok(verdict.kind === 'wait');
    assert.deepEqual(verdict.tried, { txid: foreign.txid, at: now, height: 200 });
    const later = { ...verdict.tried, at, height: 199 };
    assert.deepEqual(next(waiting, later), from(2, foreign.txid), 'it pays for the replacement');
  });
});
