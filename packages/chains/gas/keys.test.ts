import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { type GasFamily, parseGasKey } from './keys.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('an EVM and a TRON key is 64 hex characters, with or without 0x', () => {
  const secret = randomBytes(32).toString('hex');
  for (const family of ['evm', 'tron'] as const) {
    for (const text of [secret, `0x${secret}`, secret.toUpperCase(), ` ${secret}\n`]) {
      assert.equal(hex(parseGasKey(family, text).bytes()), secret);
    }
  }
});

test('a Solana key is a keypair in base58 or JSON, or a seed in hex', () => {
  const seed = randomBytes(32);
  const pair = Uint8Array.from([...seed, ...ed25519.getPublicKey(seed)]);
  const list = JSON.stringify([...pair]);
  for (const text of [base58.encode(pair), list, `${list}\n`, hex(seed), `0x${hex(seed)}`]) {
    assert.equal(hex(parseGasKey('solana', text).bytes()), hex(seed));
  }
});

test('a malformed key is refused by a sentence that does not quote it', () => {
  const seed = randomBytes(32);
  const other = Uint8Array.from([...seed, ...ed25519.getPublicKey(randomBytes(32))]);
  const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';
  const wrong: [GasFamily, string, RegExp][] = [
    ['evm', '', /64 hex characters/],
    ['evm', hex(seed).slice(1), /64 hex characters/],
    ['tron', `${hex(seed)}00`, /64 hex characters/],
    ['evm', '00'.repeat(32), /order of secp256k1/],
    ['tron', order, /order of secp256k1/],
    ['solana', base58.encode(seed), /64 bytes/],
    ['solana', base58.encode(other), /second half/],
    ['solana', JSON.stringify([...other].slice(1)), /64 bytes/],
    ['solana', JSON.stringify([...other].map((each) => each + 256)), /64 bytes/],
    ['solana', `[${[...other].join(',')}`, /64 bytes/],
    ['solana', '1'.repeat(5_000), /64 bytes/],
  ];
  for (const [family, text, words] of wrong) {
    assert.throws(
      () => parseGasKey(family, text),
      (error: unknown) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, words);
        for (let at = 0; at + 8 <= text.length; at += 1) {
          assert.ok(!error.message.includes(text.slice(at, at + 8)));
        }
        assert.equal(error.cause, undefined);
        return true;
      },
    );
  }
});

test('a key that is printed or serialised does not show itself', () => {
  const secret = randomBytes(32).toString('hex');
  const key = parseGasKey('evm', secret);
  const shown = `${inspect(key, { depth: 9, showHidden: true })} ${JSON.stringify(key)}`;
  assert.ok(!shown.includes(secret.slice(0, 8)));
  key.bytes().fill(0);
  assert.equal(hex(key.bytes()), secret);
});
