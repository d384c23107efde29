// Signing in, and wallets proven and vouched for, against the server. A wallet of every family does
// so in dev/demo/people.ts and test/families/people.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startEdge, type TestEdge } from '@parley/market/edge/testing/edge.ts';
import { parleyClient } from './client.ts';
import { linkMessage, linkWallet, mintKey } from './keys.ts';
import { solanaMessageSigner } from './wallets/solana.ts';
import { tronMessageSigner } from './wallets/tron.ts';

let edge: TestEdge;
let baseUrl: string;
before(async () => {
  edge = await startEdge();
  baseUrl = await edge.app.listen({ host: '127.0.0.1', port: 0 });
});
after(() => edge.close());

const tron = () => tronMessageSigner({ privateKey: randomBytes(32).toString('hex') });

test('a wallet signs in, links another and vouches for it, and no stranger does', async () => {
  const login = tron();
  const minted = await mintKey({ baseUrl }, login, { name: 'desk', scopes: ['maker', 'read'] });
  assert.deepEqual([minted.name, minted.scopes], ['desk', ['read', 'maker']]);
  const client = parleyClient({ baseUrl, key: minted.key });
  assert.equal((await client.me()).wallets.tron.login, login.address);
  const wallet = solanaMessageSigner({ secretKey: randomBytes(32) });
  const { address, family } = wallet;
  const proven = { address, family, proven: true };
  assert.deepEqual(await linkWallet(client, wallet), { ...proven, authorised: false });
  await assert.rejects(linkWallet(client, wallet, tron()), { code: 'bad_authorization' });
  assert.deepEqual(await linkWallet(client, wallet, login), { ...proven, authorised: true });
  assert.deepEqual((await client.me()).wallets.solana.proven, [address]);
  assert.deepEqual(await client.removeWallet(address), { address, family, proven: false });
});

test('a market’s nonce brings no lines of its own into what a key signs', () => {
  const { address } = tron();
  assert.match(linkMessage({ address, nonce: '0aZ9' }), /\nNonce: 0aZ9$/);
  for (const nonce of ['', '1\nScopes: maker', '1 create an API key', 'é', '1'.repeat(129)]) {
    assert.throws(() => linkMessage({ address, nonce }), { field: 'nonce' }, nonce);
  }
});
