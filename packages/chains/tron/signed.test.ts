import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { decodeFields, encodeFields, type Field } from '@parley/contracts/tron/protobuf.ts';
import { TronWeb } from 'tronweb';
import type { SignedTron } from '../interface/material.ts';
import { tronAddressOf } from './address.ts';
import { readTronSigned, signTronTransaction } from './broadcast.ts';
import { tronTransaction } from './plan.ts';
import { tronAddressOfKey } from './proof.ts';

const key = new Uint8Array(32).fill(0x11);
const owner = tronAddressOfKey(key);
const made = tronTransaction(
  { from: owner, to: tronAddressOf(new Uint8Array(20).fill(5)), data: '1aaeeb2e', value: 7n },
  {
    refBlockBytes: '28c3',
    refBlockHash: 'ce6d340282788569',
    expiration: 1_777_447_227_000,
    timestamp: 1_777_447_168_009,
    feeLimitSun: 100_000_000n,
  },
);
const signed = signTronTransaction(key, made);
const [signature = ''] = signed.signature;

const refused = (words: RegExp) => (error: unknown) => {
  const { code, message } = error as { code?: string; message: string };
  assert.equal(code, 'bad_transaction', message);
  assert.match(message, words);
  return true;
};

test('a tronweb signature is read, with the same id, and is the same as our own', async () => {
  const tronWeb = new TronWeb({ fullHost: 'http://127.0.0.1:1', privateKey: '11'.repeat(32) });
  const theirs = (await tronWeb.trx.sign(structuredClone(made) as never)) as unknown as SignedTron;
  assert.deepEqual(
    theirs.signature.map((each) => each.toLowerCase()),
    [signature],
  );
  const read = readTronSigned(theirs);
  assert.equal(read.txid, made.txID);
  assert.equal(read.owner, owner);
  assert.equal(read.expiration, 1_777_447_227_000);
  assert.equal(read.rawData, made.raw_data_hex);
});

test('another txID, no signature, half of one, or that of another key is refused', () => {
  const at = (over: Partial<Record<keyof SignedTron, unknown>>) => () =>
    readTronSigned({ ...signed, ...over } as SignedTron);
  assert.throws(at({ txID: '00'.repeat(32) }), refused(/its txID is 0000/));
  assert.throws(at({ txID: 7 }), refused(/its txID is 7/));
  readTronSigned({ raw_data_hex: signed.raw_data_hex, signature: signed.signature });
  assert.throws(at({ signature: [] }), refused(/not signed/));
  assert.throws(at({ signature: undefined }), refused(/not signed/));
  assert.throws(at({ signature: [signature.slice(2)] }), refused(/64 bytes, not 65/));
  assert.throws(at({ signature: [`${'00'.repeat(64)}1b`] }), refused(/belongs to no key/));
  assert.throws(at({ signature: [`${signature.slice(0, -2)}1d`] }), refused(/belongs to no key/));
  assert.throws(at({ signature: ['zz'] }), refused(/a signature is not hex/));
  const other = signTronTransaction(new Uint8Array(32).fill(0x22), made);
  assert.throws(at({ signature: other.signature }), refused(/signed by T\w+, not by its owner T/));
  assert.throws(at({ raw_data_hex: '' }), refused(/raw_data_hex is not hex/));
  assert.throws(() => readTronSigned('00'), refused(/./));
  assert.throws(
    () => readTronSigned({ psbtBase64: '', signaturesHex: [] }),
    refused(/must be the transaction object/),
  );
});

function rawOf(change: (parts: Uint8Array[]) => Uint8Array[]): SignedTron {
  const shape = { 1: 'bytes', 4: 'bytes', 8: 'int', 11: 'message', 14: 'int', 18: 'int' } as const;
  const parts = decodeFields(hexToBytes(made.raw_data_hex), shape).map((field: Field) =>
    encodeFields([field]),
  );
  const bytes = concatBytes(...change(parts));
  const txID = bytesToHex(sha256(bytes));
  return signTronTransaction(key, { raw_data_hex: bytesToHex(bytes), txID });
}

test('bytes that java-tron would write otherwise, and so give another id, are refused', () => {
  assert.equal(readTronSigned(rawOf((parts) => parts)).txid, made.txID);
  const cases: [RegExp, (parts: Uint8Array[]) => Uint8Array[]][] = [
    [/out of place/, (parts) => parts.toReversed()],
    [/out of place/, (parts) => [parts[0] as Uint8Array, ...parts]],
    [/unknown field 19/, (parts) => [...parts, Uint8Array.of(0x9a, 0x01, 1, 0)]],
    [/zero and yet written/, (parts) => [...parts.slice(0, 5), Uint8Array.of(0x90, 1, 0)]],
    [/too long/, (parts) => [...parts.slice(0, 5), Uint8Array.of(0x90, 1, 0x81, 0)]],
    [/of another type/, ([, ...rest]) => [Uint8Array.of(0x08, 1), ...rest]],
    [/ends early/, (parts) => parts.map((each, at) => (at === 5 ? each.subarray(0, 3) : each))],
    [/refers to no block/, ([, ...rest]) => rest],
    [/has no owner/, (parts) => parts.filter((_, at) => at !== 3)],
    [
      /too large/,
      (parts) => [...parts.slice(0, 5), Uint8Array.of(0x90, 1, ...new Uint8Array(9).fill(255), 1)],
    ],
  ];
  for (const [words, change] of cases) {
    const odd = rawOf(change);
    assert.throws(() => readTronSigned(odd), refused(words), String(words));
  }
});

test('a transaction of two contracts is refused: a node runs the first alone', () => {
  const two = rawOf((parts) => [...parts.slice(0, 4), parts[3] as Uint8Array, ...parts.slice(4)]);
  assert.throws(() => readTronSigned(two), refused(/field 11 is out of place/));
});
