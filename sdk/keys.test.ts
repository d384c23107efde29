// Signing in, and wallets proven and vouched for, with a wallet of every family against the server.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { bitcoinNetworks } from '../chains/bitcoin/networks.ts';
import { type Family, families } from '../core/families.ts';
import { startEdge, type TestEdge } from '../server/edge/testing/edge.ts';
import { type ParleyClient, parleyClient } from './client.ts';
import { ParleyApiError } from './errors.ts';
import { linkWallet, type MessageSigner, mintKey } from './keys.ts';
import { bitcoinWallet } from './wallets/bitcoin.ts';
import { coreCoins } from './wallets/coins.ts';
import { evmWallet } from './wallets/evm.ts';
import { solanaMessageSigner } from './wallets/solana.ts';
import { tronMessageSigner } from './wallets/tron.ts';

let edge: TestEdge;
let baseUrl: string;
before(async () => {
  edge = await startEdge();
  baseUrl = await edge.app.listen({ host: '127.0.0.1', port: 0 });
});
after(() => edge.close());

// No text needs a node.
const noNode = 'http://127.0.0.1:1';
const signers: Readonly<Record<Family, () => MessageSigner>> = {
  evm: () =>
    evmWallet({
      privateKey: `0x${randomBytes(32).toString('hex')}`,
      chainId: 31_337,
      rpcUrl: noNode,
    }),
  tron: () => tronMessageSigner({ privateKey: randomBytes(32).toString('hex') }),
  bitcoin: () =>
    bitcoinWallet({
      privateKey: randomBytes(32).toString('hex'),
      network: bitcoinNetworks.regtest,
      source: coreCoins(noNode),
    }),
  solana: () => solanaMessageSigner({ secretKey: randomBytes(32) }),
};

async function signIn(login: MessageSigner): Promise<ParleyClient> {
  const minted = await mintKey({ baseUrl }, login, { name: 'desk', scopes: ['maker', 'read'] });
  assert.equal(minted.name, 'desk');
  assert.deepEqual(minted.scopes, ['read', 'maker']);
  return parleyClient({ baseUrl, key: minted.key });
}

for (const family of families) {
  test(`a wallet of ${family} signs in, links one of every family and vouches for it`, async () => {
    const login = signers[family]();
    const client = await signIn(login);
    assert.equal((await client.me()).wallets[family].login, login.address);
    for (const linkedFamily of families) {
      const wallet = signers[linkedFamily]();
      const { address } = wallet;
      const proven = { address, family: linkedFamily, proven: true };
      assert.deepEqual(await linkWallet(client, wallet), { ...proven, authorised: false });
      assert.deepEqual(await linkWallet(client, wallet, login), { ...proven, authorised: true });
      assert.deepEqual((await client.me()).wallets[linkedFamily].proven, [address]);
      const removed = { address, family: linkedFamily, proven: false };
      assert.deepEqual(await client.removeWallet(address), removed);
    }
  });
}

test('a wallet of another account vouches for nothing', async () => {
  const client = await signIn(signers.tron());
  await assert.rejects(
    linkWallet(client, signers.solana(), signers.tron()),
    (error) => error instanceof ParleyApiError && error.code === 'bad_authorization',
  );
});
