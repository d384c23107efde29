// The refusal of a claim does not quote its secret: only this side knows it yet, and errors end in
// logs.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Material } from '@parley/chains/interface/material.ts';
import { found } from '@parley/verify/test/support/secrets.ts';
import { base58 } from '@scure/base';
import { VerificationError } from './errors.ts';
import { alterations, honestSwap, now, pinned, swapId, tradeOf } from './testing/honest.ts';
import { built, outputs, termsOn, viewOf } from './testing/materials.ts';
import type { Swap } from './types.ts';
import { verifySwap } from './verify.ts';
import { verifyMaterial } from './verify-material.ts';

// No byte twice, so that a part of it is known wherever it shows.
const secret = Buffer.from(Array.from({ length: 32 }, (_, at) => 0x81 + 3 * at)).toString('hex');
const asked = { verb: 'claim', secret } as const;

const claims = (['evm', 'tron', 'solana', 'bitcoin'] as const).map((family) => {
  const terms = termsOn(family, false, secret);
  return [built(family, terms, asked), terms, viewOf[family]] as const;
});

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
  test(`a refused claim on ${view.chain} is reported without its secret`, () => {
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

test('a difference in the calldata of a claim is told by its length and its place', () => {
  const [[material, terms, view]] = claims as [(typeof claims)[number]];
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
  verifySwap({ ...honest, secret: right }, tradeOf('maker'), pinned, { swapId, now });
  for (const shown of [right.toUpperCase(), `0x${right}`, secret, '', 7, [right]]) {
    const lie = { ...honest, secret: shown } as Swap;
    assert.throws(() => verifySwap(lie, tradeOf('maker'), pinned, { swapId, now }), {
      field: 'secret',
      expected: `a preimage of ${honest.hashlock}`,
      got: 'another',
    });
  }
});
