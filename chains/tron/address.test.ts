import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import fc from 'fast-check';
import { TronWeb } from 'tronweb';
import { ParleyError } from '../../core/errors.ts';
import { runs } from '../../test/support/runs.ts';
import { parseTronAddress, tronAddressOf, tronHex } from './address.ts';

// Both forms of the USDT contract, as published on developers.tron.network (TRC-20).
const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const usdtHex = '41a614f803b6fd780986a42c78ec9c7f77e6ded13c';

const refused = (text: string, why: RegExp) =>
  assert.throws(
    () => parseTronAddress(text),
    (error) =>
      error instanceof ParleyError && error.code === 'bad_address' && why.test(error.message),
    text,
  );

test('base58check and 41-hex in any case are one address', () => {
  const mixed = usdtHex.replaceAll('f', 'F');
  for (const text of [usdt, usdtHex, usdtHex.toUpperCase(), mixed]) {
    assert.equal(parseTronAddress(text), usdt);
  }
  assert.equal(tronHex(usdt), usdtHex);
});

test('the first and the last address there can be are read', () => {
  for (const byte of [0x00, 0xff]) {
    const address = tronAddressOf(new Uint8Array(20).fill(byte));
    assert.equal(address.length, 34);
    assert.equal(parseTronAddress(address), address);
  }
});

test('every one-character error in an address is found', () => {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  for (let at = 0; at < usdt.length; at += 1) {
    for (const wrong of alphabet) {
      if (wrong === usdt[at]) continue;
      refused(`${usdt.slice(0, at)}${wrong}${usdt.slice(at + 1)}`, /is not a TRON|wrong checksum/);
    }
  }
});

test('a refusal says what is wrong', () => {
  const base58check = createBase58check(sha256);
  const leading = (byte: number) =>
    base58check.encode(Uint8Array.of(byte, ...new Uint8Array(20).fill(7)));
  refused(`${usdt.slice(0, -1)}u`, /wrong checksum/);
  refused(usdt.toLowerCase(), /T and 33 base58|wrong checksum|leading byte/);
  refused(usdt.slice(0, -1), /T and 33 base58/);
  refused(`${usdt}1`, /T and 33 base58/);
  refused(` ${usdt}`, /T and 33 base58/);
  refused(`${usdt.slice(0, -1)}0`, /T and 33 base58/);
  refused(usdtHex.slice(0, -1), /T and 33 base58/);
  refused(`${usdtHex}0`, /T and 33 base58/);
  refused(`42${usdtHex.slice(2)}`, /T and 33 base58/);
  refused(`0x${usdtHex}`, /without 0x/);
  refused(`0x${usdtHex.slice(2)}`, /is an EVM address/);
  refused(leading(0x40), /leading byte is 64, not 65/);
  refused(leading(0x42), /leading byte is 66, not 65/);
  refused(leading(0xa0), /T and 33 base58/);
  // A Bitcoin address is as long.
  refused('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', /leading byte is 0/);
  refused('1'.repeat(34), /holds 34 bytes, not 25/);
  refused('', /is not a TRON address/);
  refused('T'.repeat(100_000), /100000 characters/);
});

test('tronweb writes and reads the same addresses', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (hash) => {
      const address = tronAddressOf(hash);
      assert.equal(tronHex(address), TronWeb.address.toHex(address));
      assert.equal(parseTronAddress(tronHex(address)), address);
      assert.equal(TronWeb.address.fromHex(tronHex(address)), address);
      assert.ok(TronWeb.isAddress(address));
    }),
  );
});

test('any text is an address where tronweb says so, and refused otherwise', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.stringMatching(/^T[1-9A-HJ-NP-Za-km-z]{32,34}$/),
    fc.stringMatching(/^(0x)?4[0-2][0-9a-fA-F]{38,41}$/),
    fc.mixedCase(fc.constantFrom(usdt, usdtHex)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      let read: string | null = null;
      try {
        read = parseTronAddress(text);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
      }
      assert.equal(read !== null, TronWeb.isAddress(text));
      if (read !== null) assert.equal(parseTronAddress(read), read);
    }),
    { numRuns: runs(500) },
  );
});
