// Signatures of a key for a market. A wallet of every family signs in, is linked and vouched for in
// verify/test/support/customers.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { linkMessage } from './keys.ts';
import { tronMessageSigner } from './wallets/tron.ts';

const tron = () => tronMessageSigner({ privateKey: randomBytes(32).toString('hex') });

test('a market’s nonce brings no lines of its own into what a key signs', () => {
  const { address } = tron();
  assert.match(linkMessage({ address, nonce: '0aZ9' }), /\nNonce: 0aZ9$/);
  for (const nonce of ['', '1\nScopes: maker', '1 create an API key', 'é', '1'.repeat(129)]) {
    assert.throws(() => linkMessage({ address, nonce }), { field: 'nonce' }, nonce);
  }
});
