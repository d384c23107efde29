// Every error of identity that the specification's part 7 lists, by its status and condition: the
// body is exactly one sentence, the code is the one that docs/errors.md has for that status.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { rpcClient } from '../../../chains/nodes/rpc.ts';
import { hangingNode } from '../../../chains/testing/nodes.ts';
import { type Answer, startEdge, type TestEdge } from '../testing/edge.ts';
import {
  account,
  link,
  mintNonce,
  mintOf,
  prove,
  signed,
  vouch,
  vouching,
  walletNonce,
} from '../testing/hands.ts';
import { bitcoinWallet, evmWallet } from '../testing/signers.ts';

let edge: TestEdge;
let documented: string;
before(async () => {
  edge = await startEdge();
  documented = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
});
after(() => edge.close());

const someone = () => account(edge, evmWallet());
const minting = (address: string) => (nonce: string) =>
  `Parley - create an API key\n\nAddress: ${address}\nNonce: ${nonce}`;

/** A proof of a fresh wallet, with words of the test's choice. */
async function proof(key: string, words: string, nonce?: string): Promise<Answer> {
  const wallet = bitcoinWallet();
  const fresh = nonce ?? (await walletNonce(edge, key, 'link'));
  return prove(edge, key, wallet, await signed(wallet, `Parley ${words}\nNonce: ${fresh}`));
}

type Row = [status: number, condition: string, code: string, make: () => Promise<Answer>];

const ofMinting: Row[] = [
  [
    400,
    'key mint: bad signature',
    'bad_signature',
    () => {
      const wallet = { ...evmWallet(), address: evmWallet().address };
      return mintOf(edge, wallet, minting(wallet.address));
    },
  ],
  [
    400,
    'key mint: spent nonce',
    'bad_nonce',
    async () => {
      const wallet = evmWallet();
      const nonce = await mintNonce(edge);
      await mintOf(edge, wallet, () => minting(wallet.address)(nonce));
      return mintOf(edge, wallet, () => minting(wallet.address)(nonce));
    },
  ],
  [
    400,
    'key mint: the account already holds 10 live keys',
    'too_many_keys',
    async () => {
      const { wallet, userId } = await someone();
      await edge.deps.db.rows({
        name: 'test_browser_kind',
        text: `update accounts set kind = 'browser' where id = $1`,
        values: [userId],
      });
      for (let held = 1; held < 10; held += 1) await edge.mint(wallet);
      return edge.mint(wallet);
    },
  ],
];

const ofProofs: Row[] = [
  [
    400,
    'wallet proof: bad signature',
    'bad_signature',
    async () => link(edge, (await someone()).key, { ...evmWallet(), address: evmWallet().address }),
  ],
  [
    400,
    'wallet proof: message lacking "link this wallet"',
    'bad_message',
    async () => proof((await someone()).key, 'create an API key'),
  ],
  [
    400,
    'wallet proof: message lacking "authorise this wallet"',
    'bad_authorization',
    async () => {
      const { key, wallet: login } = await someone();
      const wallet = bitcoinWallet();
      const nonce = await walletNonce(edge, key, 'link');
      const body = await signed(wallet, `Parley link this wallet\nNonce: ${nonce}`);
      const other = await walletNonce(edge, key, 'authorize');
      const words = vouching(login, wallet, other).replace('authorise', 'link');
      return prove(edge, key, wallet, { ...body, authorization: await signed(login, words) });
    },
  ],
];

const ofAuthorizations: Row[] = [
  [
    400,
    'wallet proof: authorization not signed by the login wallet',
    'bad_authorization',
    async () => link(edge, (await someone()).key, bitcoinWallet(), evmWallet()),
  ],
  [
    400,
    'wallet proof: authorization not naming the address',
    'bad_authorization',
    async () => {
      const { key, wallet: login } = await someone();
      const wallet = bitcoinWallet();
      const nonce = await walletNonce(edge, key, 'link');
      const body = await signed(wallet, `Parley link this wallet\nNonce: ${nonce}`);
      const authorization = await vouch(edge, key, login, bitcoinWallet());
      return prove(edge, key, wallet, { ...body, authorization });
    },
  ],
];

const ofNonces: Row[] = [
  [
    400,
    'wallet proof: nonce never issued',
    'bad_nonce',
    async () => proof((await someone()).key, 'link this wallet', 'f'.repeat(32)),
  ],
  [
    400,
    'wallet proof: nonce used',
    'bad_nonce',
    async () => {
      const { key } = await someone();
      const nonce = await walletNonce(edge, key, 'link');
      await proof(key, 'link this wallet', nonce);
      return proof(key, 'link this wallet', nonce);
    },
  ],
];

const others: Row[] = [
  [401, 'missing key', 'key_missing', () => edge.call('GET', '/v1/me')],
  [401, 'invalid key', 'key_invalid', () => edge.call('GET', '/v1/me', { key: 'x' })],
  [
    401,
    'revoked key',
    'key_invalid',
    async () => {
      const { wallet, key } = await someone();
      await edge.mint(wallet);
      return edge.call('GET', '/v1/me', { key });
    },
  ],
  [
    403,
    'key lacks the needed scope',
    'scope_missing',
    async () => {
      const { key } = await account(edge, evmWallet(), ['Scopes: read, maker']);
      return edge.call('POST', '/v1/rfqs', { key });
    },
  ],
  [
    404,
    'DELETE /v1/wallets/{address} when the account has no proof for that address',
    'unknown_wallet',
    async () => {
      const { key } = await someone();
      return edge.call('DELETE', `/v1/wallets/${evmWallet().address}`, { key });
    },
  ],
  [
    409,
    'wallet belongs to another account',
    'wallet_taken',
    async () => link(edge, (await someone()).key, (await someone()).wallet),
  ],
  [
    422,
    'an Idempotency-Key reused with a different body',
    'key_reused',
    async () => {
      const { key } = await someone();
      const headers = { 'idempotency-key': 'a' };
      const post = (address: string) =>
        edge.call('POST', '/v1/wallets/evm', { key, headers, body: { address } });
      await post('a');
      return post('b');
    },
  ],
];

function wellSaid({ status, headers, body }: Answer, wanted: number, code: string): void {
  assert.equal(`${status} ${headers['x-parley-error']}`, `${wanted} ${code}`);
  assert.deepEqual(Object.keys(body), ['error']);
  assert.match(body.error, /^[^\n]{10,400}$/);
  assert.match(String(headers['content-type']), /^application\/json/);
  const row = documented
    .split('\n')
    .find((line) => line.startsWith('|') && line.includes(`\`${code}\``));
  assert.match(row ?? '', new RegExp(`\\| ${wanted} \\|`), `${code} in docs/errors.md`);
}

describe('errors of identity', () => {
  const rows = [...ofMinting, ...ofProofs, ...ofAuthorizations, ...ofNonces, ...others];
  for (const [status, condition, code, make] of rows) {
    test(`${status} ${condition}`, async () => wellSaid(await make(), status, code));
  }

  test('401 expired key', async () => {
    const own = await startEdge();
    try {
      const { body } = await own.mint(evmWallet());
      own.deps.advance(90 * 86_400_000);
      wellSaid(await own.call('GET', '/v1/me', { key: body.key }), 401, 'key_invalid');
    } finally {
      await own.close();
    }
  });

  test('429 rate limit exceeded, with Retry-After and the message for the account', async () => {
    const own = await startEdge({ settings: { rateLimit: 2 } });
    try {
      own.deps.freeze();
      const { body } = await own.mint(evmWallet());
      const me = () => own.call('GET', '/v1/me', { key: body.key });
      assert.deepEqual([(await me()).status, (await me()).status], [200, 200]);
      const refused = await me();
      wellSaid(refused, 429, 'account_rate_limited');
      assert.match(refused.body.error, /too many requests for this account/);
      assert.match(String(refused.headers['retry-after']), /^\d+$/);
    } finally {
      await own.close();
    }
  });

  test('504 a chain read timed out: no key, no wallet, the nonce not used', async () => {
    const node = await hangingNode();
    const evmNodes = [rpcClient({ chain: 'evm-dev', urls: [node.url] })];
    const own = await startEdge({ evmNodes, settings: { chainTimeoutMs: 150 } });
    try {
      // Nobody's key: whether there is a contract that signs, only the node could say.
      const wallet = { ...evmWallet(), address: evmWallet().address };
      wellSaid(await mintOf(own, wallet, minting(wallet.address)), 504, 'chain_timeout');
      const { key } = await account(own, evmWallet());
      const words = (nonce: string) => `Parley link this wallet ${wallet.address}\nNonce: ${nonce}`;
      const nonce = await walletNonce(own, key, 'link');
      wellSaid(
        await prove(own, key, wallet, await signed(wallet, words(nonce))),
        504,
        'chain_timeout',
      );
      const unused = await own.deps.db.rows<{ count: number }>({
        name: 'test_unused',
        text: 'select count(*) from nonces where used_at is null',
        values: [],
      });
      assert.equal(unused[0]?.count, 2);
      const me = await own.call('GET', '/v1/me', { key });
      assert.deepEqual(me.body.wallets.evm.proven, []);
    } finally {
      await own.close();
      await node.stop();
    }
  });
});
