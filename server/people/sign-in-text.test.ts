// The layout of a text that a wallet signs in the browser: EIP-4361 (ERC-4361, "ABNF Message
// Format") and Sign In With Solana (phantom/sign-in-with-solana, "Message format").

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe';
import { ParleyError } from '../../core/errors.ts';
import { families } from '../../core/families.ts';
import {
  clockToleranceMs,
  mustBeWanted,
  parseSignInText,
  type SignInText,
  writeSignInText,
} from './sign-in-text.ts';

const issued = Date.parse('2026-03-01T10:00:00.000Z');
const sample: SignInText = {
  family: 'evm',
  domain: 'market.example',
  address: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  statement: 'Sign in to Parley.',
  uri: 'https://market.example',
  chain: '1',
  nonce: '5f2d0c9a7be14d63a8f01b27c4e6d590',
  issuedAt: new Date(issued),
  expiresAt: new Date(issued + 600_000),
};

const signs = (of: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...of), minLength, maxLength });
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const time = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2999-12-31'), noInvalidDate: true })
  .map((each) => new Date(each.getTime()));
const fields = fc.record(
  {
    family: fc.constantFrom(...families),
    domain: signs(`${letters}.-:[]`, 1, 60),
    address: signs(letters, 1, 90),
    statement: signs(`${letters} -._~:/?#[]@!$&'()*+,;=`, 1, 120),
    uri: signs(`${letters}.-:/`, 1, 80),
    chain: signs(`${letters}-`, 1, 32),
    nonce: signs(letters, 8, 64),
    issuedAt: time,
  },
  { noNullPrototype: true },
);
const texts: fc.Arbitrary<SignInText> = fields.map((each) => {
  return { ...each, expiresAt: new Date(each.issuedAt.getTime() + 600_000) };
});

const refused = (message: string, sentence?: RegExp) =>
  assert.throws(
    () => parseSignInText(message),
    (error) =>
      error instanceof ParleyError &&
      error.code === 'bad_message' &&
      (sentence?.test(error.message) ?? true),
    message,
  );

test('what is written is read as it was, whatever its fields', () => {
  fc.assert(
    fc.property(texts, (text) => {
      assert.deepEqual(parseSignInText(writeSignInText(text)), text);
    }),
  );
});

test('a text with one character more, less or other is no text, or another one', () => {
  const changed = fc.tuple(
    texts,
    fc.nat(),
    fc.nat(2),
    fc.constantFrom(...`${letters} \n\r\t\0é: `),
  );
  fc.assert(
    fc.property(changed, ([text, where, kind, sign]) => {
      const written = writeSignInText(text);
      mustBeWanted(text, text, text.issuedAt.getTime());
      const at = where % (written.length + 1);
      const [cut, put] = [kind === 0 ? 0 : 1, kind === 1 ? '' : sign];
      const other = written.slice(0, at) + put + written.slice(at + cut);
      fc.pre(other !== written);
      let read: SignInText;
      try {
        read = parseSignInText(other);
      } catch (error) {
        assert.ok(error instanceof ParleyError && error.code === 'bad_message');
        return;
      }
      assert.equal(writeSignInText(read), other);
      assert.throws(() => mustBeWanted(read, text, text.issuedAt.getTime()));
    }),
    { numRuns: 400 },
  );
});

test('a text for an EVM wallet is one of EIP-4361 to a library that others wrote', () => {
  const parsed = parseSiweMessage(writeSignInText(sample));
  assert.deepEqual(parsed, {
    address: sample.address,
    chainId: 1,
    domain: sample.domain,
    expirationTime: sample.expiresAt,
    issuedAt: sample.issuedAt,
    nonce: sample.nonce,
    statement: sample.statement,
    uri: sample.uri,
    version: '1',
  });
  const { address, domain, nonce } = sample;
  const time = new Date(issued + 1);
  assert.ok(
    validateSiweMessage({ message: parsed, address: address as '0x', domain, nonce, time }),
  );
});

test('a text for a Solana wallet has the layout of Sign In With Solana', () => {
  const address = '586Z7H2vpX9qNhN2T4e9Utugie3ogjbxzGaMtM3E6HR5';
  assert.equal(
    writeSignInText({ ...sample, family: 'solana', address, chain: 'mainnet' }),
    `market.example wants you to sign in with your Solana account:
${address}

Sign in to Parley.

URI: https://market.example
Version: 1
Chain ID: mainnet
Nonce: 5f2d0c9a7be14d63a8f01b27c4e6d590
Issued At: 2026-03-01T10:00:00.000Z
Expiration Time: 2026-03-01T10:10:00.000Z`,
  );
});

test('nothing may stand around the text, and no line of the layout in another place', () => {
  const written = writeSignInText(sample);
  refused(written.replaceAll('\n', '\r\n'), /without CR/);
  refused(`${written}\n`, /line 12/);
  refused(`${written}\nResources:\n- https://evil.example/`, /line 12/);
  refused(`${written}\nRequest ID: 1`, /line 12/);
  refused(`\n${written}`, /line 1 /);
  refused(` ${written}`, /line 1 /);
  refused(`https://${written.replace(' wants', '  wants')}`, /line 1 /);
  refused(`\ufeff${written.replace(' wants', '\u00a0wants')}`, /line 1 /);
  refused(written.replace('\nVersion: 1', ''), /line 7 /);
  refused(written.replace('Version: 1', 'Version: 2'), /line 7 /);
  refused(written.replace('Sign in to Parley.\n', ''), /line 4 /);
  refused(written.replace('Parley.', 'Parley.\u2028Nonce: 1'), /line 4 /);
  refused(written.replace('Parley.', 'P\u0430rley.'), /line 4 /);
  refused(written.replace('account:', 'account: '), /line 1 /);
  refused(written.replace('Ethereum', 'ethereum'), /line 1 /);
  refused(written.replace('.000Z', 'Z'), /line 10 /);
  refused(written.replace('.000Z', '.000+00:00'), /line 10 /);
  refused(written.replace('2026-03-01T10:00', '2026-02-30T10:00'), /no time/);
  refused(written.replace('2026-03-01T10:00', '2026-03-01T24:00'), /no time/);
  refused(written.slice(0, written.lastIndexOf('\n')), /line 11 /);
  refused('', /line 1 /);
  refused('x'.repeat(2_049), /longer than 2048/);
  const swapped = written.split('\n');
  [swapped[8], swapped[9]] = [swapped[9]!, swapped[8]!];
  refused(swapped.join('\n'), /line 9 /);
});

test('every field is compared, and the refusal says which one is another', () => {
  const unwanted = (other: Partial<SignInText>, sentence: RegExp) =>
    assert.throws(
      () => mustBeWanted({ ...sample, ...other }, sample, issued + 1),
      (error) => error instanceof ParleyError && sentence.test(error.message),
    );
  mustBeWanted(sample, sample, issued + 1);
  unwanted({ domain: 'evil.example' }, /is for "evil.example", and this is market.example/);
  unwanted({ domain: 'mark\u0435t.example' }, /is for "mark\u0435t.example"/);
  unwanted({ domain: 'xn--markt-kva.example' }, /is for "xn--markt-kva.example"/);
  unwanted({ domain: 'MARKET.example' }, /is for "MARKET.example"/);
  unwanted({ domain: 'market.example:443' }, /is for/);
  unwanted({ domain: 'market.example@evil.example' }, /is for/);
  unwanted({ uri: 'https://market.example/' }, /URI/);
  unwanted({ uri: 'http://market.example' }, /URI/);
  unwanted({ statement: 'Sign in to Parley' }, /was begun for "Sign in to Parley."/);
  unwanted({ family: 'solana' }, /Solana accounts/);
  unwanted({ address: sample.address.toLowerCase() }, /address/);
  unwanted({ chain: '10' }, /chain is 10, not 1/);
  unwanted({ nonce: '0'.repeat(32) }, /nonce/);
  unwanted({ issuedAt: new Date(issued - 1) }, /was issued at 2026-03-01T09:59:59.999Z, not/);
  unwanted({ expiresAt: new Date(issued + 600_001) }, /expires at 2026-03-01T10:10:00.001Z, not/);
});

test('it is good until it expires, and from 2 minutes before it was issued', () => {
  const at = (nowMs: number) => mustBeWanted(sample, sample, nowMs);
  at(issued + 599_999);
  assert.throws(() => at(issued + 600_000), /expired at 2026-03-01T10:10:00.000Z/);
  at(issued - clockToleranceMs);
  assert.throws(() => at(issued - clockToleranceMs - 1), /not valid yet/);
  assert.equal(clockToleranceMs, 120_000);
});
