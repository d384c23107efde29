// The honest unsigned bytes of each family are accepted, and no other. Lies that are consistent in
// themselves, and other terms: vectors.test.ts.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { aliasesOf } from '@parley/chains/interface/aliases.ts';
import type { BtcSighash, Material } from '@parley/chains/interface/material.ts';
import { mostPriorityLamports, unitLimits } from '@parley/chains/solana/plan.ts';
import type { Family } from '@parley/core/families.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import { base58, base64 } from '@scure/base';
import { VerificationError } from './errors.ts';
import { bitcoinView, now, secret } from './testing/honest.ts';
import { blockhash, built, outputs, termsOn, tronView, viewOf } from './testing/materials.ts';
import { type Asked, verifyMaterial } from './verify-material.ts';

const fund: Asked = { verb: 'fund' };
const claim: Asked = { verb: 'claim', secret };
const refund: Asked = { verb: 'refund' };
const limits = { validUntil: null, outputs, now };

type Case = ReturnType<typeof caseOf>;
function caseOf(family: Family, isToken: boolean, asked: Asked, allowed = 0n) {
  const terms = termsOn(family, isToken);
  const material = built(family, terms, asked, { allowed });
  const honest = { ...material, ...aliasesOf(material) };
  const reset = allowed > 0n ? ' with a reset' : '';
  const name = `${family} ${isToken ? 'token' : 'coin'} ${asked.verb}${reset}`;
  return { name, honest, asked, terms, view: viewOf[family] };
}

const cases = (['evm', 'tron', 'solana', 'bitcoin'] as const).flatMap((family) => {
  const kinds = family === 'bitcoin' ? [false] : [false, true];
  const plain = kinds.flatMap((isToken) =>
    [fund, claim, refund].map((asked) => caseOf(family, isToken, asked)),
  );
  const approves = family === 'evm' || family === 'tron';
  return approves ? [...plain, caseOf(family, true, fund, 5n)] : plain;
});

const check = ({ asked, terms, view }: Case, material: unknown, own: object = limits) =>
  verifyMaterial(material as Material, asked, terms, view, { ...limits, ...own });
const refuses = (of: Case, lie: unknown, why: string, field = '') =>
  assert.throws(
    () => check(of, lie),
    (error) => error instanceof VerificationError && error.field.startsWith(field),
    `${of.name}: ${why} was believed`,
  );

test('an approval of more than the amount is taken from who asked for a standing one alone', () => {
  const of = caseOf('evm', true, fund);
  const standing = built('evm', of.terms, fund, { standing: true });
  check({ ...of, asked: { verb: 'fund', allowance: 'standing' } }, standing);
  refuses(of, standing, 'the allowance', 'txs[0].data');
});

test('a spend of the Taproot form is taken as such alone, and names its scheme', () => {
  for (const asked of [claim, refund]) {
    const of = caseOf('bitcoin', false, asked);
    const terms = { ...of.terms, form: 'p2tr' } as const;
    const tree = { ...of, terms, honest: built('bitcoin', terms, asked) };
    check(tree, tree.honest);
    const { scheme: _, ...plain } = tree.honest as BtcSighash;
    refuses(tree, plain, 'ECDSA', 'scheme');
    refuses(of, { ...of.honest, scheme: 'schnorr' }, 'BIP 340', 'scheme');
    refuses(tree, of.honest, 'the other form');
    refuses(of, tree.honest, 'the other form');
  }
});

test('a deadline later than the customer’s own is refused, an earlier one is not', () => {
  const of = caseOf('bitcoin', false, fund);
  const at = (validUntil: number) => check(of, { ...of.honest, validUntil }, { validUntil: now });
  at(now - 1);
  assert.throws(() => at(now + 1), /validUntil/);
});

test('a PSBT is refused without the escrow’s payments, and for coins that are not among them', () => {
  const other = [{ txid: 'ef'.repeat(32), vout: 1, amount: 1_000_000n }];
  for (const asked of [claim, refund]) {
    const of = caseOf('bitcoin', false, asked);
    for (const own of [null, [], other]) {
      assert.throws(() => check(of, of.honest, { outputs: own }), VerificationError);
    }
  }
});

// A seventh of the bytes, another one each time; in the soak each of them.
const step = runs(1) > 1 ? 1 : 7;
const first = randomInt(step);

test('a PSBT or a Solana transaction with any one byte altered is refused, but its blockhash', () => {
  for (const of of cases) {
    const { honest } = of;
    const field = honest.sign === 'btc-sighash' ? 'psbtBase64' : 'transaction';
    if (honest.sign !== 'btc-sighash' && honest.sign !== 'solana-tx') continue;
    const bytes = base64.decode((honest as Material & Record<typeof field, string>)[field]);
    const hash = Buffer.from(bytes).indexOf(base58.decode(blockhash));
    // The price of speed is bounded: its low bytes may be any.
    const price = Buffer.from(bytes).indexOf(Uint8Array.of(3, 0xe8, 3, 0, 0, 0, 0, 0, 0));
    const isSolana = honest.sign === 'solana-tx';
    assert.equal(isSolana, hash > 0 && price > 0);
    const within = (at: number, from: number, count: number) => at >= from && at < from + count;
    for (const at of bytes.keys()) {
      if (at % step !== first) continue;
      if (isSolana && (within(at, hash, 32) || within(at, price + 1, 4))) continue;
      const other = Uint8Array.from(bytes);
      other[at] = (other[at] ?? 0) ^ 1;
      refuses(of, { ...honest, [field]: base64.encode(other) }, `byte ${at}`);
    }
  }
});

test('fees beyond the customer’s bound are refused, of each family that offers any', () => {
  const btc = caseOf('bitcoin', false, claim);
  const fee = (sats: bigint) => built('bitcoin', btc.terms, claim, { fee: sats });
  assert.throws(() => check(btc, fee(300_000n)), /fee is 300000 sats/);
  const dear = { ...bitcoinView, mostFeeRateSatPerVbyte: 10_000 };
  check({ ...btc, view: dear }, fee(900_000n), { isPublic: true });
  assert.throws(() => check({ ...btc, view: dear }, fee(300_000n)), /outside \d+ to 250000/);
  const late = { ...caseOf('bitcoin', false, refund), view: dear };
  const refunded = built('bitcoin', late.terms, refund, { fee: 300_000n });
  assert.throws(() => check(late, refunded, { isPublic: true }), /outside \d+ to 250000/);
  const cheap = { ...bitcoinView, mostFeeRateSatPerVbyte: 1 };
  assert.throws(() => check({ ...btc, view: cheap }, fee(400n)), VerificationError);
  const trx = caseOf('tron', false, refund);
  const burns = (feeLimitSun: bigint) =>
    built('tron', trx.terms, refund, { envelope: { feeLimitSun } });
  check(trx, burns(500_000_000n));
  assert.throws(
    () => check(trx, burns(500_000_001n)),
    /fee_limit is 500000001 sun, above 500000000/,
  );
  const own = { ...tronView, mostFeeLimitSun: 1_000n };
  assert.throws(() => check({ ...trx, view: own }, burns(1_001n)), /above 1000/);
  const sol = caseOf('solana', false, refund);
  const most = (mostPriorityLamports * 1_000_000n) / BigInt(unitLimits.sol);
  const speed = (unitPrice: bigint) => built('solana', sol.terms, refund, { unitPrice });
  check(sol, speed(most));
  assert.throws(() => check(sol, speed(most + 1n)), /beyond any need/);
});

test('a TRON transaction that lives for more than an hour is refused', () => {
  const of = caseOf('tron', false, refund);
  const last = now * 1_000 + 3_600_000;
  const until = (expiration: number) =>
    built('tron', of.terms, refund, { envelope: { expiration } });
  check(of, until(last));
  assert.throws(() => check(of, until(last + 1)), /more than 60 minutes ahead/);
});
