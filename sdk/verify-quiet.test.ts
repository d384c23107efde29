// What is refused of a claim is told without its secret: nobody but this side knows it yet, and
// errors end in logs.

import assert from 'node:assert/strict';
import test from 'node:test';
import { base58 } from '@scure/base';
import { bitcoinEscrow, buildSpend } from '../chains/bitcoin/plan.ts';
import { claimCall as evmClaim, evmEscrow } from '../chains/evm/plan.ts';
import type { Material } from '../chains/interface/material.ts';
import { solanaDeployment, solanaEscrow, solanaTransaction } from '../chains/solana/plan.ts';
import { solanaChains } from '../chains/solana/policy.ts';
import { solanaAddressOfSeed } from '../chains/solana/proof.ts';
import { claimCall as tronClaim, tronEscrow } from '../chains/tron/plan.ts';
import { tronDevPolicy } from '../chains/tron/policy.ts';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import { tronTransaction } from '../chains/tron/transaction.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { found } from '../test/support/secrets.ts';
import { VerificationError } from './errors.ts';
import {
  alterations,
  bitcoinView,
  evmView,
  honestSwap,
  now,
  swapId,
  termsOf,
  tradeOf,
  views,
} from './testing/honest.ts';
import type { ChainView } from './trade.ts';
import type { Swap } from './types.ts';
import { verifySwap } from './verify.ts';
import { verifyMaterial } from './verify-material.ts';

// No byte twice, so that a part of it is known wherever it shows.
const secret = Buffer.from(Array.from({ length: 32 }, (_, at) => 0x81 + 3 * at)).toString('hex');
const hashlock = hashlockOf(secret);
const asked = { verb: 'claim', secret } as const;

const someone = (byte: number) => new Uint8Array(32).fill(byte);
function elsewhere(chain: string, addressOf: (key: Uint8Array) => string): EscrowTerms {
  const [payout, refund] = [someone(1), someone(2)].map((key) => ({
    address: addressOf(key),
    pubkey: null,
  }));
  assert.ok(payout && refund);
  return { chain, hashlock, payout, refund, token: null, amount: 6n, timelock: now + 20_000 };
}

const contract = tronAddressOfKey(someone(9));
const deployment = { chainId: 7, contract };
const tronView: ChainView = {
  ...{ family: 'tron', chain: 'tron-dev', deployment, policy: tronDevPolicy },
};
const { policy } = solanaChains['solana-dev'];
const solanaView: ChainView = {
  ...{ family: 'solana', chain: 'solana-dev', deployment: solanaDeployment, policy },
};
const [evmTerms, btcTerms] = [
  { ...termsOf('a', now + 20_000), hashlock },
  { ...termsOf('b', now + 20_000), hashlock },
];
const tronTerms: EscrowTerms = {
  ...elsewhere('tron-dev', tronAddressOfKey),
  ...{ fundBefore: now + 10_000, lane: { number: 'a5'.repeat(12), counter: 3 } },
};
const solTerms = elsewhere('solana-dev', solanaAddressOfSeed);
const outputs = [{ txid: 'cd'.repeat(32), vout: 1, amount: 1_000_000n }];

const claims: readonly [Material, EscrowTerms, ChainView][] = [
  [
    {
      ...{ chain: 'evm-dev', family: 'evm', sign: 'evm-tx', chainId: 31_337 },
      txs: [evmClaim(evmTerms, evmView.deployment, secret)],
      escrow: evmEscrow(evmTerms, evmView.deployment).address,
    },
    evmTerms,
    evmView,
  ],
  [
    {
      ...{ chain: 'tron-dev', family: 'tron', sign: 'tron-txid' },
      from: tronClaim(tronTerms, deployment, secret).from,
      transactions: [
        tronTransaction(tronClaim(tronTerms, deployment, secret), {
          refBlockBytes: '00ff',
          refBlockHash: '0123456789abcdef',
          expiration: (now + 600) * 1_000,
          timestamp: now * 1_000,
          feeLimitSun: 30_000_000n,
        }),
      ],
      escrow: tronEscrow(tronTerms, deployment).address,
    },
    tronTerms,
    tronView,
  ],
  [
    {
      ...{ chain: 'solana-dev', family: 'solana', sign: 'solana-tx', lastValidBlockHeight: 9 },
      transaction: solanaTransaction(solTerms, solanaDeployment, asked, {
        blockhash: base58.encode(someone(7)),
        unitPrice: 1_000n,
        tokenProgram: null,
      }),
      escrow: solanaEscrow(solTerms, solanaDeployment).address,
    },
    solTerms,
    solanaView,
  ],
  [
    {
      ...{ chain: 'bitcoin-regtest', family: 'bitcoin', sign: 'btc-sighash' },
      ...buildSpend(btcTerms, bitcoinView.network, 'claim', outputs, 400n),
      escrow: bitcoinEscrow(btcTerms, bitcoinView.network).address,
      feeSats: '400',
      feeRateSatPerVbyte: 2.5,
      ladder: [],
    },
    btcTerms,
    bitcoinView,
  ],
];

/** Everything that a log may write of an error. */
function wordsOf(error: unknown): string {
  assert.ok(error instanceof VerificationError, String(error));
  return [error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n');
}

/** Also the secret in place of what is there, as text and in the letters of addresses. */
function* lies(material: Material) {
  const bytes = Buffer.from(secret, 'hex');
  const forms = [secret, `0x${secret.toUpperCase()}`, base58.encode(bytes), [...bytes]];
  for (const { path, value } of alterations(material)) yield [path, value] as const;
  for (const field of Object.keys(material)) {
    for (const form of forms) yield [field, { ...material, [field]: form }] as const;
  }
  if (material.sign !== 'evm-tx') return;
  const [call] = material.txs;
  assert.ok(call);
  for (const field of ['to', 'data', 'value', 'from'] as const) {
    for (const form of forms) {
      yield [`txs[0].${field}`, { ...material, txs: [{ ...call, [field]: form }] }] as const;
    }
  }
}

for (const [material, terms, view] of claims) {
  test(`what is refused of a claim on ${view.chain} is told without its secret`, () => {
    const limits = { validUntil: null, outputs, now };
    let refused = 0;
    for (const [path, lie] of lies(material)) {
      try {
        verifyMaterial(lie as Material, asked, terms, view, limits);
      } catch (error) {
        refused += 1;
        const shown = found(wordsOf(error), new Map([[path, secret]]));
        assert.deepEqual(shown, [], error instanceof Error ? error.message : '');
      }
    }
    assert.ok(refused > 30, `only ${refused} lies were refused`);
  });
}

test('what differs in the calldata of a claim is told by its length and its place', () => {
  const [[material, terms, view]] = claims as [(typeof claims)[0]];
  assert.ok(material.sign === 'evm-tx' && material.txs[0]);
  const { data, ...call } = material.txs[0];
  const other = `${data.slice(0, -1)}${data.endsWith('1') ? '2' : '1'}`;
  const lie = { ...material, txs: [{ ...call, data: other }] };
  assert.throws(() => verifyMaterial(lie, asked, terms, view), {
    field: 'txs[0].data',
    expected: `${data.slice(0, 10)}… (${data.length} characters)`,
    got: `${data.length} characters, others from character ${data.length - 1} on`,
  });
});

test('a secret that the market shows is not repeated, right or wrong', () => {
  const honest = honestSwap('maker');
  const right = '5e'.repeat(32);
  verifySwap({ ...honest, secret: right }, tradeOf('maker'), views, { swapId, now });
  for (const shown of [right.toUpperCase(), `0x${right}`, secret, '', 7, [right]]) {
    const lie = { ...honest, secret: shown } as Swap;
    assert.throws(() => verifySwap(lie, tradeOf('maker'), views, { swapId, now }), {
      field: 'secret',
      expected: `a preimage of ${honest.hashlock}`,
      got: 'another',
    });
  }
});
