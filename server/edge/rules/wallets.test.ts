// Wallets of an account over HTTP, beside what server/edge/wallets.test.ts shows: removal, taken
// wallets, retries, and contract wallets on a real chain. Specification parts 4, 7 and 8.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { encodeDeployData } from 'viem';
import { accounts, deploy, startAnvil, type TestChain } from '../../../chains/evm/testing/anvil.ts';
import { compileTestContracts } from '../../../chains/evm/testing/compile.ts';
import { rpcClient } from '../../../chains/nodes/rpc.ts';
import { type HangingNode, hangingNode } from '../../settle/testing/gate.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import {
  account,
  codeOf,
  link,
  mintNonce,
  mintOf,
  prove,
  signed,
  vouch,
  walletNonce,
} from '../testing/hands.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
} from '../testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

const remove = (key: string, address: string, headers = {}) =>
  edge.call('DELETE', `/v1/wallets/${encodeURIComponent(address)}`, { key, headers });
const walletsOf = async (key: string) => (await edge.call('GET', '/v1/me', { key })).body.wallets;

describe('DELETE /v1/wallets/{address} is 404 for', () => {
  const cases: [string, (key: string, login: TestWallet) => Promise<string>][] = [
    ['an address that was never proven', async () => evmWallet().address],
    ['the login address', async (_key, login) => login.address],
    [
      "another account's proof",
      async () => {
        const other = await account(edge, evmWallet());
        const wallet = bitcoinWallet();
        await link(edge, other.key, wallet);
        return wallet.address;
      },
    ],
    ["another account's login", async () => (await account(edge, tronWallet())).wallet.address],
    [
      'a proof that was removed',
      async (key) => {
        const wallet = solanaWallet();
        await link(edge, key, wallet);
        assert.equal((await remove(key, wallet.address)).status, 200);
        return wallet.address;
      },
    ],
    ['an address of another network', async () => 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['a wrong checksum', async () => '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['what is no address', async () => 'nothing'],
    ['the name of a family', async () => 'evm'],
  ];
  for (const [name, make] of cases) {
    test(name, async () => {
      const login = evmWallet();
      const { key } = await account(edge, login);
      const address = await make(key, login);
      assert.equal(codeOf(await remove(key, address)), '404 unknown_wallet');
      assert.equal((await walletsOf(key)).evm.login, login.address);
    });
  }
});

test('removing a proof touches no login of the same wallet on its own account', async () => {
  const wallet = evmWallet();
  const { key } = await account(edge, evmWallet());
  await link(edge, key, wallet);
  const own = await account(edge, wallet);
  assert.equal((await remove(key, wallet.address)).status, 200);
  assert.equal((await walletsOf(own.key)).evm.login, wallet.address);
  assert.equal(codeOf(await remove(own.key, wallet.address)), '404 unknown_wallet');
  assert.equal(codeOf(await link(edge, key, wallet)), '409 wallet_taken');
});

test('re-adding a removed wallet needs a new signature', async () => {
  const wallet = bitcoinWallet();
  const { key } = await account(edge, evmWallet());
  const nonce = await walletNonce(edge, key, 'link');
  const body = await signed(wallet, `Parley link this wallet\nNonce: ${nonce}`);
  assert.equal((await prove(edge, key, wallet, body)).status, 200);
  await remove(key, wallet.address);
  assert.equal(codeOf(await prove(edge, key, wallet, body)), '400 bad_nonce');
  assert.equal((await link(edge, key, wallet)).status, 200);
});

test('proving the login wallet is 200, counts beyond giving, and is no proof', async () => {
  const login = tronWallet();
  const { key } = await account(edge, login);
  const answer = await link(edge, key, login);
  const { address, family } = login;
  assert.deepEqual(answer.body, { address, family, proven: true, authorised: true });
  assert.deepEqual((await walletsOf(key)).tron, { login: address, proven: [] });
});

describe("409 for another account's wallet", () => {
  for (const make of [evmWallet, tronWallet, bitcoinWallet, solanaWallet]) {
    test(`of the ${make().family} family, signed in with or proven, also with an authorization`, async () => {
      const login = evmWallet();
      const { key } = await account(edge, login);
      const [signedIn, proven] = [make(), make()];
      await account(edge, signedIn);
      const other = await account(edge, evmWallet());
      await link(edge, other.key, proven);
      for (const wallet of [signedIn, proven]) {
        const alone = await link(edge, key, wallet);
        assert.equal(codeOf(alone), '409 wallet_taken');
        assert.ok(alone.body.error.includes(wallet.address));
        assert.equal(codeOf(await link(edge, key, wallet, login)), '409 wallet_taken');
      }
      assert.deepEqual((await walletsOf(key))[proven.family].proven, []);
    });
  }

  test('until that account removes its proof', async () => {
    const wallet = solanaWallet();
    const one = await account(edge, evmWallet());
    const two = await account(edge, evmWallet());
    await link(edge, one.key, wallet);
    assert.equal(codeOf(await link(edge, two.key, wallet)), '409 wallet_taken');
    await remove(one.key, wallet.address);
    assert.equal((await link(edge, two.key, wallet)).status, 200);
  });
});

describe('a retry under an Idempotency-Key', () => {
  test('of a removal is replayed, with another address it is another request', async () => {
    const { key } = await account(edge, evmWallet());
    const [one, two] = [bitcoinWallet(), bitcoinWallet()];
    for (const wallet of [one, two]) await link(edge, key, wallet);
    const headers = { 'idempotency-key': 'remove-1' };
    const first = await remove(key, one.address, headers);
    const again = await remove(key, one.address, headers);
    assert.deepEqual([again.status, again.body], [200, first.body]);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    const other = await remove(key, two.address, headers);
    assert.deepEqual([other.status, other.headers['idempotency-replayed']], [200, undefined]);
  });

  test('of a proof with another body is 422, and of a refused one is the same 400', async () => {
    const { key } = await account(edge, evmWallet());
    const wallet = bitcoinWallet();
    const headers = { 'idempotency-key': 'prove-1' };
    const post = (body: unknown) =>
      edge.call('POST', '/v1/wallets/bitcoin', { key, headers, body });
    const bad = await signed(wallet, 'Parley link this wallet\nNonce: 1');
    assert.equal(codeOf(await post(bad)), '400 bad_nonce');
    const again = await post(bad);
    assert.deepEqual(
      [codeOf(again), again.headers['idempotency-replayed']],
      ['400 bad_nonce', 'true'],
    );
    const nonce = await walletNonce(edge, key, 'link');
    const good = await signed(wallet, `Parley link this wallet\nNonce: ${nonce}`);
    assert.equal(codeOf(await post(good)), '422 key_reused');
  });
});

describe('a contract wallet', () => {
  let chain: TestChain;
  let gate: HangingNode;
  let own: TestEdge;
  const { abi, bytecode } = compileTestContracts('Zoo.sol').get('OwnedWallet')!;
  const owner = accounts[1]!;
  before(async () => {
    chain = await startAnvil({ deploy: false });
    gate = await hangingNode(chain.rpcUrl);
    const node = rpcClient({ chain: 'evm-dev', urls: [gate.url] });
    own = await startEdge({ evmNodes: [node], settings: { chainTimeoutMs: 400 } });
  });
  after(async () => {
    await own.close();
    await gate.close();
    await chain.stop();
  });

  async function contractWallet(): Promise<TestWallet> {
    const data = encodeDeployData({ abi, bytecode, args: [owner.address] });
    const address = await deploy(chain, data);
    const sign = (message: string) => owner.signMessage({ message });
    return { family: 'evm', address, pubkey: null, sign };
  }

  test('signs in, is linked and vouches as any other', async () => {
    const login = await contractWallet();
    const { key } = await account(own, login);
    const linked = await contractWallet();
    const answer = await link(own, key, linked, login);
    assert.deepEqual([answer.status, answer.body.authorised], [200, true]);
  });

  test('is not signed for by the text of another wallet of its owner', async () => {
    const [one, other] = [await contractWallet(), await contractWallet()];
    const eoa = { family: 'evm', address: owner.address, pubkey: null, sign: one.sign } as const;
    const text = (n: string) => `Parley create an API key\nAddress: ${one.address}\nNonce: ${n}`;
    assert.equal((await mintOf(own, one, text)).status, 200);
    for (const wallet of [other, eoa]) {
      const answer = await mintOf(own, wallet, text);
      assert.equal(codeOf(answer), '400 bad_message');
      assert.match(answer.body.error, /does not contain the address/);
    }
  });

  test('a chain that does not answer is 504, and the same proof holds when it does', async () => {
    const wallet = await contractWallet();
    const nonce = await mintNonce(own);
    const text = `Parley create an API key\nAddress: ${wallet.address}\nNonce: ${nonce}`;
    const body = { rail: 'evm', ...(await signed(wallet, text)) };
    gate.hang(/eth_call/);
    assert.equal(codeOf(await own.call('POST', '/v1/keys', { body })), '504 chain_timeout');
    gate.hang(null);
    assert.equal((await own.call('POST', '/v1/keys', { body })).status, 200);
  });

  test('also of an authorization, whose proof keeps its nonce too; the 504 is not stored', async () => {
    const login = await contractWallet();
    const { key } = await account(own, login);
    const linked = bitcoinWallet();
    const nonce = await walletNonce(own, key, 'link');
    const words = `Parley link this wallet\nNonce: ${nonce}`;
    const authorization = await vouch(own, key, login, linked);
    const body = { ...(await signed(linked, words)), authorization };
    const headers = { 'idempotency-key': 'contract-1' };
    const post = () => own.call('POST', '/v1/wallets/bitcoin', { key, body, headers });
    gate.hang(/eth_call/);
    assert.equal(codeOf(await post()), '504 chain_timeout');
    gate.hang(null);
    const answer = await post();
    assert.deepEqual([answer.status, answer.body.authorised], [200, true]);
    assert.equal(answer.headers['idempotency-replayed'], undefined);
  });
});
