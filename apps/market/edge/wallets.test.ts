// Wallets of an account over HTTP: proofs, authorizations, removal, and contract wallets on a real
// chain. Where one may be paid is in routes/swaps.test.ts. Specification parts 4, 5, 7 and 8, decisions 4 and 7. The form
// of the signed texts is tested in apps/market/market/messages.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accounts, deploy, startAnvil } from '@parley/chains/evm/testing/anvil.ts';
import { compileTestContracts } from '@parley/chains/evm/testing/compile.ts';
import { rpcClient } from '@parley/chains/nodes/rpc.ts';
import { families } from '@parley/core/families.ts';
import { encodeDeployData } from 'viem';
import { refused, testEdge } from './testing/edge.ts';
import {
  account,
  link,
  mintOf,
  must,
  prove,
  signed,
  vouching,
  walletNonce,
} from './testing/hands.ts';
import {
  bitcoinWallet,
  evmWallet,
  spellings,
  type TestWallet,
  walletOf,
} from './testing/signers.ts';

const edge = await testEdge();
const someone = (wallet = evmWallet()) => account(edge, wallet);
const walletsOf = async (key: string) => (await edge.call('GET', '/v1/me', { key })).body.wallets;
const remove = (key: string, address: string, headers = {}) =>
  edge.call('DELETE', `/v1/wallets/${encodeURIComponent(address)}`, { key, headers });
const linking =
  ({ address }: Pick<TestWallet, 'address'>) =>
  (nonce: string) =>
    `Parley link this wallet ${address}\nNonce: ${nonce}`;

/** A proof of what `write` makes of a fresh nonce; `authorization` beside it. */
async function proof(
  key: string,
  wallet: TestWallet,
  write: (nonce: string) => string = linking(wallet),
  more: { authorization?: unknown; signature?: string; address?: string } = {},
) {
  const body = await signed(wallet, write(await walletNonce(edge, key, 'link')));
  return prove(edge, key, wallet, { ...body, ...more });
}

for (const family of families) {
  test(`${family}: a wallet is proven in any spelling, for giving only, removed once`, async () => {
    const { wallet: login, key } = await someone(walletOf[family]());
    const wallet = walletOf[family]();
    const { address } = wallet;
    for (const text of spellings(wallet)) {
      const proven = await proof(key, wallet, linking({ address: text }), { address: text });
      assert.deepEqual(proven.body, { address, family, proven: true, authorised: false });
      const shown = { login: login.address, proven: [address] };
      assert.deepEqual((await walletsOf(key))[family], shown);
      assert.deepEqual((await remove(key, text)).body, { address, family, proven: false });
      refused(await remove(key, text), '404 unknown_wallet');
    }
    // A login address is no proof: proving it is 200, and it is not removed.
    const own = await link(edge, key, login);
    const expected = { address: login.address, family, proven: true, authorised: true };
    assert.deepEqual(own.body, expected);
    for (const text of spellings(login)) refused(await remove(key, text), '404 unknown_wallet');
    assert.deepEqual((await walletsOf(key))[family], { login: login.address, proven: [] });
  });
}

test("another account's login or proof is 409, until it is removed", async () => {
  const { wallet: login, key } = await someone();
  const signedIn = await someone();
  const other = await someone();
  const proven = evmWallet();
  must(await link(edge, other.key, proven));
  for (const wallet of [signedIn.wallet, proven]) {
    refused(await link(edge, key, wallet), '409 wallet_taken', new RegExp(wallet.address));
    refused(await link(edge, key, wallet, login), '409 wallet_taken');
  }
  must(await remove(other.key, proven.address));
  must(await link(edge, key, proven));
  // It mints for an account of its own, which removing the proof does not touch.
  const minted = await someone(proven);
  must(await remove(key, proven.address));
  assert.equal((await walletsOf(minted.key)).evm.login, proven.address);
  refused(await link(edge, key, proven), '409 wallet_taken');
});

test('a proof says what it is for, of which wallet, and is signed by it', async () => {
  const { key } = await someone();
  const wallet = evmWallet();
  const other = evmWallet();
  const { address } = wallet;
  const wrong: [(nonce: string) => string, RegExp][] = [
    [(n) => `Parley authorise this wallet ${address}\nNonce: ${n}`, /link this wallet/],
    [linking(other), /does not contain the address/],
  ];
  for (const [write, sentence] of wrong) {
    refused(await proof(key, wallet, write), '400 bad_message', sentence);
  }
  must(await proof(key, bitcoinWallet(), (n) => `Parley link this wallet\nNonce: ${n}`));
  const nonce = await walletNonce(edge, key, 'link');
  const forged = { ...(await signed(other, linking(wallet)(nonce))), address };
  refused(await prove(edge, key, wallet, forged), '400 bad_signature');
});

test('an authorization that does not hold proves nothing, and both nonces are used up', async () => {
  const { wallet: login, key } = await someone();
  const linked = bitcoinWallet();
  const stranger = evmWallet();
  const other = bitcoinWallet();
  must(await link(edge, key, stranger));
  const words = (n: string) => vouching(login, linked, n);
  const wrong: [TestWallet, (nonce: string) => string, RegExp][] = [
    [login, (n) => words(n).replace('Parley', 'Barley'), /Parley/],
    [login, (n) => words(n).replace('authorise', 'authorize'), /authorise this wallet/],
    [login, (n) => vouching(login, other, n), /does not contain the address/],
    [login, (n) => words(n).replace(login.address, ''), new RegExp(`address ${login.address}`)],
    [stranger, (n) => vouching(stranger, linked, n), /not by this account's login wallet/],
    [{ ...evmWallet(), address: login.address }, words, /signature/],
  ];
  for (const [signer, write, sentence] of wrong) {
    const nonce = await walletNonce(edge, key, 'authorize');
    const authorization = await signed(signer, write(nonce));
    const link = linking(linked)(await walletNonce(edge, key, 'link'));
    const body = { ...(await signed(linked, link)), authorization };
    refused(await prove(edge, key, linked, body), '400 bad_authorization', sentence);
    refused(await prove(edge, key, linked, await signed(linked, link)), '400 bad_nonce');
    const good = { authorization: await signed(login, words(nonce)) };
    refused(await proof(key, linked, linking(linked), good), '400 bad_nonce');
  }
  const two = `${words(await walletNonce(edge, key, 'authorize'))}\nNonce: 1`;
  const more = { authorization: await signed(login, two) };
  refused(await proof(key, linked, linking(linked), more), '400 bad_authorization', /Nonce/);
  assert.deepEqual((await walletsOf(key)).bitcoin.proven, []);
});

test('a wallet of another account cannot be removed', async () => {
  const { key } = await someone();
  const other = await someone();
  const theirs = bitcoinWallet();
  must(await link(edge, other.key, theirs));
  const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  for (const address of [
    ...[evmWallet(), other.wallet, theirs].map((each) => each.address),
    mainnet,
    '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    'nothing',
    'evm',
  ]) {
    refused(await remove(key, address), '404 unknown_wallet');
  }
});

test('a contract wallet signs in, is linked and vouches as any other, by its own text alone', async (t) => {
  const chain = await startAnvil({ deploy: false });
  t.after(() => chain.stop());
  const evmNodes = [rpcClient({ chain: 'evm-dev', urls: [chain.rpcUrl] })];
  const own = await testEdge({ evmNodes });
  const { abi, bytecode } = compileTestContracts('Zoo.sol').get('OwnedWallet')!;
  const owner = accounts[1]!;
  const sign = (message: string) => owner.signMessage({ message });
  const contract = async (): Promise<TestWallet> => {
    const data = encodeDeployData({ abi, bytecode, args: [owner.address] });
    return { family: 'evm', address: await deploy(chain, data), pubkey: null, sign };
  };
  const login = await contract();
  const linked = await contract();
  const { key } = await account(own, login);
  assert.equal(must(await link(own, key, linked, login)).authorised, true);
  const text = (n: string) => `Parley create an API key\nAddress: ${login.address}\nNonce: ${n}`;
  must(await mintOf(own, login, text));
  const eoa = { ...login, address: owner.address };
  for (const other of [linked, eoa]) {
    const answer = await mintOf(own, other, text);
    refused(answer, '400 bad_message', /does not contain the address/);
  }
});
