// The layout of a text that a wallet signs in the browser: EIP-4361 (ERC-4361, "ABNF Message
// Format") and Sign In With Solana (phantom/sign-in-with-solana, "Message format").

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe';
import { mustBeWritten, nonceIn, type SignInText, writeSignInText } from './sign-in-text.ts';

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

test('a text for a TRON or Bitcoin wallet has the short layout', () => {
  const address = 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC';
  const written = writeSignInText({ ...sample, family: 'tron', address, chain: '' });
  assert.equal(
    written,
    `market.example wants you to sign in with your TRON account:
${address}

Sign in to Parley.

Nonce: 5f2d0c9a7be14d63a8f01b27c4e6d590
Expires: 2026-03-01T10:10:00Z`,
  );
  assert.equal(nonceIn(written), sample.nonce);
  const bitcoin = writeSignInText({ ...sample, family: 'bitcoin', address, chain: '' });
  assert.equal(bitcoin, written.replace('TRON', 'Bitcoin'));
});

const refused = (message: string, sentence: RegExp) =>
  assert.throws(
    () => mustBeWritten(message, sample),
    (error: { code?: string; message: string }) =>
      error.code === 'bad_message' && sentence.test(error.message),
    message,
  );

test('a text with one character more, less or other is refused, with the line that is another', () => {
  const written = writeSignInText(sample);
  mustBeWritten(written, sample);
  for (let at = 0; at < written.length; at += 1) {
    for (const [put, cut] of [
      ['x', 0],
      ['', 1],
      ['\u0430', 1],
      ['\n', 0],
    ] as const) {
      refused(written.slice(0, at) + put + written.slice(at + cut), /: line \d+ |may follow/);
    }
  }
  refused(written.replaceAll('\n', '\r\n'), /line 1 must be .* and is ".*account:\\r"$/);
  refused(`${written}\nRequest ID: 1`, /no line may follow .* line 12 does/);
  refused(written.replace('\nVersion: 1', ''), /line 7 must be "Version: 1", and is "Chain ID: 1"/);
  refused(written.replace('Issued At', 'Not Before'), /line 10 /);
  refused('', /line 1 /);
});

test('it is found by its nonce, which stands in its line of the layout alone', () => {
  const written = writeSignInText(sample);
  assert.equal(nonceIn(written), sample.nonce);
  const noNonce = /line 9 must be "Nonce: <letters and digits>"/;
  assert.throws(() => nonceIn(written.replace('5f2d', '5f-d')), noNonce);
  const moved = written.replace('\nVersion: 1', '').replace('\n\n', '\n\n\n');
  assert.throws(() => nonceIn(moved.replace('Nonce', 'Version')), noNonce);
  assert.throws(() => nonceIn(''), /1 lines instead of 11/);
  assert.throws(() => nonceIn(`${written}\n`), /12 lines instead of 11/);
  assert.throws(() => nonceIn(written.replace('\nURI', '\r\nURI')), /without CR/);
});
