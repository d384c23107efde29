// The honest unsigned bytes of each family are accepted, and no other. Lies that are consistent in
// themselves, and other terms: vectors.test.ts.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { bytesToHex } from '@noble/hashes/utils.js';
import { aliasesOf, aliasNames } from '@parley/chains/interface/aliases.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { mostPriorityLamports, solanaDeployment, unitLimits } from '@parley/chains/solana/plan.ts';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import type { Family } from '@parley/core/families.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import { base58, base64 } from '@scure/base';
import fc from 'fast-check';
import { VerificationError } from './errors.ts';
import { alterations, bitcoinView, now, secret } from './testing/honest.ts';
import {
  blockhash,
  built,
  callsOn,
  outputs,
  solanaView,
  someone,
  termsOn,
  tronMaterial,
  tronView,
  viewOf,
} from './testing/materials.ts';
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

/** Fields that do not follow from the terms, within bounds: its id belongs to it no more. */
const isOpen =
  /^transactions\[\d\]\.raw_data\.(ref_block_bytes|ref_block_hash|expiration|timestamp|fee_limit)$/;

for (const of of cases) {
  test(`${of.name}: the honest bytes are accepted, and each altered field is refused`, () => {
    const { honest, view } = of;
    check(of, { ...honest, validUntil: now }, { validUntil: now });
    const isTron = view.family === 'tron' || view.family === 'solana';
    let lies = 0;
    for (const { path, how, value } of alterations(honest)) {
      // Whether approvals are due is the token's state: leaving one out only makes it revert.
      const isList = path === 'txs' || path === 'transactions';
      if (path === '' || (isList && how === 'shorter' && of.name.includes('token fund'))) continue;
      // When to ask again is advice; a step more is another.
      if (path === 'ladder[0].at' || (path === 'ladder' && how !== 'shorter')) continue;
      // A market may have no second names.
      if (how === 'absent' && aliasNames.some((name) => name === path)) continue;
      // Blocks after which it dies are numbers of the node's: see the wallet.
      if (path === 'lastValidBlockHeight' && /more|less/.test(how)) continue;
      lies += 1;
      const named = isTron && !isOpen.test(path) ? path : '';
      refuses(of, value, `${path} (${how})`, named);
    }
    assert.ok(lies >= 15, `only ${lies} lies were told`);
  });
}

test('a contract or program of the market’s own choice is refused', () => {
  const contract = tronAddressOfKey(someone(8));
  const program = solanaAddressOfSeed(someone(8));
  const tron = { ...tronView, deployment: { ...tronView.deployment, contract } };
  const solana = { ...solanaView, deployment: { ...solanaDeployment, program } };
  for (const of of cases) {
    const view = of.view.family === 'tron' ? tron : of.view.family === 'solana' ? solana : null;
    if (view !== null) refuses({ ...of, view } as Case, of.honest, 'the contract', 'escrow');
  }
});

test('a further field in an EVM call is refused: a signer may obey it', () => {
  const fields = ['gas', 'nonce', 'type', 'chainId', 'accessList', 'authorizationList', 'from'];
  for (const of of cases) {
    const { honest } = of;
    if (honest.sign !== 'evm-tx') continue;
    for (const [at, call] of honest.txs.entries()) {
      for (const field of fields) {
        const txs = honest.txs.with(at, { ...call, [field]: undefined });
        refuses(of, { ...honest, txs }, field, `txs[${at}].${field}`);
      }
    }
  }
});

test('an approval of more than the amount is taken from who asked for a standing one alone', () => {
  const of = caseOf('evm', true, fund);
  const standing = built('evm', of.terms, fund, { standing: true });
  check({ ...of, asked: { verb: 'fund', allowance: 'standing' } }, standing);
  refuses(of, standing, 'the allowance', 'txs[0].data');
});

test('a deadline later than the customer’s own is refused, an earlier one is not', () => {
  const of = caseOf('bitcoin', false, fund);
  const at = (validUntil: number) => check(of, { ...of.honest, validUntil }, { validUntil: now });
  at(now - 1);
  assert.throws(() => at(now + 1), /validUntil/);
});

test('a secret that does not open the hashlock is never put into a claim', () => {
  const of = caseOf('bitcoin', false, claim);
  const asked: Asked = { verb: 'claim', secret: '00'.repeat(32) };
  refuses({ ...of, asked }, of.honest, 'the secret', 'secret');
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

const onTron = cases.filter(({ view }) => view.family === 'tron');

test('a TRON transaction of another call is refused, however well its id fits', () => {
  const address = fc.integer({ min: 4, max: 9 }).map((byte) => tronAddressOfKey(someone(byte)));
  const data = fc.uint8Array({ minLength: 4, maxLength: 300 }).map(bytesToHex);
  const value = fc.bigInt({ min: 1n, max: 500_000_000n });
  const other = fc.record({ from: address, to: address, data, value }, { requiredKeys: [] });
  const legal = fc.record({
    expiration: fc.integer({ min: now * 1_000, max: (now + 3_600) * 1_000 }),
    timestamp: fc.integer({ min: 1, max: now * 2_000 }),
    feeLimitSun: value,
  });
  const which = fc.constantFrom(...onTron);
  const property = fc.property(which, other, legal, fc.nat(2), (of, lie, how, at) => {
    const honest = callsOn(of.terms, of.asked);
    const index = at % honest.length;
    const calls = honest.map((call, place) => (place === index ? { ...call, ...lie } : call));
    const { from } = tronMaterial(of.terms, honest) as Material & { from: string };
    const material = { ...tronMaterial(of.terms, calls, how), from };
    if (isDeepStrictEqual(calls, honest)) return check(of, material);
    refuses(of, material, 'another call', `transactions[${index}].raw_data.`);
  });
  fc.assert(property, { numRuns: runs(100) });
});
