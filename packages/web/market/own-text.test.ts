// A wallet signs nothing here that signs in elsewhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeSignInText } from '@parley/market/people/sign-in-text.ts';
import { mustBeFor } from './own-text.ts';

const textFor = (domain: string) =>
  writeSignInText({
    family: 'bitcoin',
    domain,
    address: 'bc1q',
    statement: 'Sign in',
    chain: 'bitcoin',
    uri: `https://${domain}`,
    nonce: '5f2d0c9a',
    issuedAt: new Date(0),
    expiresAt: new Date(600_000),
  });

test("a wallet's text names this site, and no other market’s", () => {
  const host = 'market.example:8443';
  mustBeFor(host, textFor(host));
  for (const other of ['other.example', 'market.example', `${host}.evil.example`, '']) {
    assert.throws(() => mustBeFor(host, textFor(other)), { field: 'the text to sign' }, other);
  }
  for (const text of ['', `${host} asks you to sign to create an API key.`, `\n${textFor(host)}`]) {
    assert.throws(() => mustBeFor(host, text), { field: 'the text to sign' }, text);
  }
});
