import assert from 'node:assert/strict';
import test from 'node:test';
import { base64 } from '@scure/base';
import { rateOf } from '../chains/bitcoin/fees.ts';
import { bitcoinEscrow, buildSpend, paymentUri, vsizeOf } from '../chains/bitcoin/plan.ts';
import { claimCall, evmEscrow, fundCalls, refundCall } from '../chains/evm/plan.ts';
import type { EvmCall, Material } from '../chains/interface/material.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { VerificationError } from './errors.ts';
import { alterations, bitcoinView, evmView, now, secret, termsOf } from './testing/honest.ts';
import { type Asked, verifyMaterial } from './verify-material.ts';

const timelock = now + 20_000;
const evmTerms = termsOf('a', timelock);
const nativeTerms: EscrowTerms = { ...evmTerms, token: null };
const btcTerms = termsOf('b', timelock);
const { deployment } = evmView;
const claim: Asked = { verb: 'claim', secret };

function evm(terms: EscrowTerms, txs: EvmCall[], from?: string): Material {
  const escrow = evmEscrow(terms, deployment).address;
  const base = { chain: 'evm-dev', family: 'evm', sign: 'evm-tx', chainId: 31_337 } as const;
  return { ...base, ...(from === undefined ? {} : { from }), txs, escrow };
}

const payment: Material = {
  chain: 'bitcoin-regtest',
  family: 'bitcoin',
  sign: 'btc-payment',
  payTo: bitcoinEscrow(btcTerms, bitcoinView.network).address,
  amountSats: '1000000',
  uri: paymentUri(bitcoinEscrow(btcTerms, bitcoinView.network).address, 1_000_000n),
  escrow: bitcoinEscrow(btcTerms, bitcoinView.network).address,
};

const outputs = [{ txid: 'cd'.repeat(32), vout: 1, amount: 1_000_000n }];

function quoteOf(verb: 'claim' | 'refund', fee: bigint) {
  const vsize = vsizeOf(btcTerms, bitcoinView.network, verb, 1);
  const feeRateSatPerVbyte = rateOf(fee, vsize);
  return {
    feeRateSatPerVbyte,
    ladder: [{ at: now, feeRateSatPerVbyte, feeSats: fee.toString() }],
  };
}

function spend(verb: 'claim' | 'refund', fee = 400n): Material {
  const { network } = bitcoinView;
  const { psbtBase64, sighashHexes } = buildSpend(btcTerms, network, verb, outputs, fee);
  return {
    chain: 'bitcoin-regtest',
    family: 'bitcoin',
    sign: 'btc-sighash',
    psbtBase64,
    sighashHexes,
    escrow: payment.escrow,
    feeSats: fee.toString(),
    ...quoteOf(verb, fee),
  };
}

const from = evmTerms.refund.address;
const cases: [string, Material, Asked, EscrowTerms, typeof evmView | typeof bitcoinView][] = [
  [
    'token funding',
    evm(evmTerms, fundCalls(evmTerms, deployment, 0n), from),
    { verb: 'fund' },
    evmTerms,
    evmView,
  ],
  [
    'token funding with a reset',
    evm(evmTerms, fundCalls(evmTerms, deployment, 5n), from),
    { verb: 'fund' },
    evmTerms,
    evmView,
  ],
  [
    'native funding',
    evm(nativeTerms, fundCalls(nativeTerms, deployment, 0n), from),
    { verb: 'fund' },
    nativeTerms,
    evmView,
  ],
  ['EVM claim', evm(evmTerms, [claimCall(evmTerms, deployment, secret)]), claim, evmTerms, evmView],
  [
    'EVM refund',
    evm(evmTerms, [refundCall(evmTerms, deployment)]),
    { verb: 'refund' },
    evmTerms,
    evmView,
  ],
  ['Bitcoin funding', payment, { verb: 'fund' }, btcTerms, bitcoinView],
  ['Bitcoin claim', spend('claim'), claim, btcTerms, bitcoinView],
  ['Bitcoin refund', spend('refund'), { verb: 'refund' }, btcTerms, bitcoinView],
];

for (const [name, honest, asked, terms, view] of cases) {
  const limits = { validUntil: now, outputs };
  test(`${name}: the honest bytes are accepted`, () => {
    verifyMaterial({ ...honest, validUntil: now }, asked, terms, view, limits);
  });

  test(`${name}: each altered field is refused`, () => {
    let lies = 0;
    for (const { path, how, value } of alterations(honest)) {
      // Whether approvals are due is the token's state: leaving one out only makes it revert.
      if (path === '' || (path === 'txs' && how === 'shorter' && /^token/.test(name))) continue;
      // When to ask again is advice; a step more is another.
      if (path === 'ladder[0].at' || (path === 'ladder' && how !== 'shorter')) continue;
      lies += 1;
      const verify = () => verifyMaterial(value as Material, asked, terms, view, limits);
      assert.throws(
        verify,
        (error) => error instanceof VerificationError,
        `${path} (${how}) was believed`,
      );
    }
    assert.ok(lies >= 20, `only ${lies} lies were told`);
  });
}

test('a further field in an EVM call is refused: a signer may obey it', () => {
  const fields = ['gas', 'nonce', 'type', 'chainId', 'accessList', 'authorizationList', 'from'];
  for (const [name, honest, asked, terms] of cases) {
    if (honest.sign !== 'evm-tx') continue;
    for (const [at, call] of honest.txs.entries()) {
      for (const field of fields) {
        const txs = honest.txs.with(at, { ...call, [field]: undefined });
        assert.throws(
          () => verifyMaterial({ ...honest, txs }, asked, terms, evmView),
          { name: 'VerificationError', field: `txs[${at}].${field}` },
          `${name}: ${field} of call ${at} was believed`,
        );
      }
    }
  }
});

test('an approval of more than the amount is taken from who asked for a standing one alone', () => {
  const built = evm(evmTerms, fundCalls(evmTerms, deployment, 0n, 'standing'), from);
  verifyMaterial(built, { verb: 'fund', allowance: 'standing' }, evmTerms, evmView);
  const verify = () => verifyMaterial(built, { verb: 'fund' }, evmTerms, evmView);
  assert.throws(verify, { name: 'VerificationError', field: 'txs[0].data' });
});

test('a deadline later than the customer’s own is refused, an earlier one is not', () => {
  const limits = { validUntil: now, outputs: null };
  const verify = (validUntil: number) =>
    verifyMaterial({ ...payment, validUntil }, { verb: 'fund' }, btcTerms, bitcoinView, limits);
  verify(now - 1);
  assert.throws(() => verify(now + 1), /validUntil/);
});

for (const verb of ['claim', 'refund'] as const) {
  test(`${verb}: a PSBT with any one byte altered is refused`, () => {
    const honest = spend(verb) as Material & { sign: 'btc-sighash' };
    const bytes = base64.decode(honest.psbtBase64);
    const asked: Asked = verb === 'claim' ? claim : { verb };
    for (const at of bytes.keys()) {
      const other = Uint8Array.from(bytes);
      other[at] = (other[at] ?? 0) ^ 1;
      const lie = { ...honest, psbtBase64: base64.encode(other) };
      assert.throws(
        () => verifyMaterial(lie, asked, btcTerms, bitcoinView, { validUntil: null, outputs }),
        VerificationError,
        `byte ${at} was believed`,
      );
    }
  });
}

test('a fee that eats the money is refused even when everything else fits', () => {
  const verify = (fee: bigint) =>
    verifyMaterial(spend('claim', fee), claim, btcTerms, bitcoinView, {
      validUntil: null,
      outputs,
    });
  assert.throws(() => verify(300_000n), /fee is 300000 sats/);
  const cap = { ...bitcoinView, mostFeeRateSatPerVbyte: 1 };
  assert.throws(() =>
    verifyMaterial(spend('claim', 400n), claim, btcTerms, cap, { validUntil: null, outputs }),
  );
});

test('a secret that does not open the hashlock is never put into a claim', () => {
  const asked: Asked = { verb: 'claim', secret: '00'.repeat(32) };
  const limits = { validUntil: null, outputs };
  const verify = () => verifyMaterial(spend('claim'), asked, btcTerms, bitcoinView, limits);
  assert.throws(verify, /secret/);
});

test('a PSBT is refused without the escrow’s payments, and for coins that are not among them', () => {
  const other = [{ txid: 'ef'.repeat(32), vout: 1, amount: 1_000_000n }];
  for (const verb of ['claim', 'refund'] as const) {
    const asked: Asked = verb === 'claim' ? claim : { verb };
    for (const own of [null, [], other]) {
      const limits = { validUntil: null, outputs: own };
      const verify = () => verifyMaterial(spend(verb), asked, btcTerms, bitcoinView, limits);
      assert.throws(verify, VerificationError);
    }
  }
});
