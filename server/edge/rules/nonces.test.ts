// Nonces over HTTP: three pools, single-use, also at once and in several processes, and expiring.
// Specification parts 4, 5 and 8, decisions 4.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts';
import { type Answer, startEdge, type TestEdge } from '../testing/edge.ts';
import {
  account,
  codeOf,
  mintNonce,
  prove,
  signed,
  vouching,
  walletNonce,
} from '../testing/hands.ts';
import { type ServerProcess, startServerProcess } from '../testing/process.ts';
import { bitcoinWallet, evmWallet, type TestWallet } from '../testing/signers.ts';

const presentations = 50;
const pools = ['mint', 'link', 'authorize'] as const;
type Pool = (typeof pools)[number];

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

const minting = (wallet: TestWallet, nonce: string) =>
  `Parley - create an API key\n\nAddress: ${wallet.address}\nNonce: ${nonce}`;
const linking = (wallet: TestWallet, nonce: string) =>
  `Parley - link this wallet\n\nAddress: ${wallet.address}\nNonce: ${nonce}`;

type Caller = Awaited<ReturnType<typeof account>>;

function issue(on: TestEdge, pool: Pool, caller: Caller): Promise<string> {
  return pool === 'mint' ? mintNonce(on) : walletNonce(on, caller.key, pool);
}

/** Presents the nonce for what `pool` is for; `forged`: in a proof that somebody else signed. */
async function present(
  on: TestEdge,
  pool: Pool,
  nonce: string,
  caller: Caller,
  forged = false,
): Promise<Answer> {
  const by = (wallet: TestWallet) =>
    forged ? { ...evmWallet(), address: wallet.address } : wallet;
  if (pool === 'mint') {
    const wallet = evmWallet();
    const body = { rail: 'evm', ...(await signed(by(wallet), minting(wallet, nonce))) };
    return on.call('POST', '/v1/keys', { body });
  }
  const wallet = bitcoinWallet();
  if (pool === 'link') {
    const signer = forged ? { ...bitcoinWallet(), address: wallet.address } : wallet;
    return prove(on, caller.key, wallet, await signed(signer, linking(wallet, nonce)));
  }
  const fresh = await walletNonce(on, caller.key, 'link');
  const words = vouching(caller.wallet, wallet, nonce);
  return prove(on, caller.key, wallet, {
    ...(await signed(wallet, linking(wallet, fresh))),
    authorization: await signed(by(caller.wallet), words),
  });
}

const spent = '400 bad_nonce';

test('a nonce is 32 hex characters, and never the same', async () => {
  const caller = await account(edge, evmWallet());
  const issued = new Set<string>();
  for (const pool of pools) {
    for (let count = 0; count < 5; count += 1) {
      const nonce = await issue(edge, pool, caller);
      assert.match(nonce, /^[0-9a-f]{32}$/);
      issued.add(nonce);
    }
  }
  assert.equal(issued.size, 15);
});

test('without a purpose the nonce of a wallet is a link nonce', async () => {
  const caller = await account(edge, evmWallet());
  const { nonce } = (await edge.call('GET', '/v1/wallets/nonce', { key: caller.key })).body;
  assert.equal(codeOf(await present(edge, 'authorize', nonce, caller)), spent);
  assert.equal(codeOf(await present(edge, 'link', nonce, caller)), '200 ok');
});

describe('the three pools are separate', () => {
  for (const from of pools) {
    for (const to of pools) {
      const good = from === to;
      test(`a ${from} nonce is ${good ? 'good' : 'no good'} to ${to}`, async () => {
        const caller = await account(edge, evmWallet());
        const nonce = await issue(edge, from, caller);
        const answer = await present(edge, to, nonce, caller);
        assert.equal(codeOf(answer), good ? '200 ok' : spent);
        if (good && to === 'authorize') assert.equal(answer.body.authorised, true);
      });
    }
  }
});

describe('a nonce works once', () => {
  for (const pool of pools) {
    test(`to ${pool}`, async () => {
      const caller = await account(edge, evmWallet());
      const nonce = await issue(edge, pool, caller);
      assert.equal(codeOf(await present(edge, pool, nonce, caller)), '200 ok');
      assert.equal(codeOf(await present(edge, pool, nonce, caller)), spent);
    });

    test(`to ${pool}: a signature that fails uses it up`, async () => {
      const caller = await account(edge, evmWallet());
      const nonce = await issue(edge, pool, caller);
      const failed = codeOf(await present(edge, pool, nonce, caller, true));
      const code = pool === 'authorize' ? 'bad_authorization' : 'bad_signature';
      assert.equal(failed, `400 ${code}`);
      assert.equal(codeOf(await present(edge, pool, nonce, caller)), spent);
    });
  }
});

describe('a nonce is used up by the first proof that presents it, whatever is wrong with that', () => {
  const again = async (pool: Pool, caller: Caller, nonce: string) =>
    assert.equal(codeOf(await present(edge, pool, nonce, caller)), spent);

  test('to mint: another purpose, another address, unknown scopes', async () => {
    const caller = await account(edge, evmWallet());
    const wallet = evmWallet();
    const wrong: ((nonce: string) => string)[] = [
      (nonce) => linking(wallet, nonce),
      (nonce) => minting(evmWallet(), nonce),
      (nonce) => `${minting(wallet, nonce)}\nScopes: admin`,
    ];
    for (const write of wrong) {
      const nonce = await mintNonce(edge);
      const body = { rail: 'evm', ...(await signed(wallet, write(nonce))) };
      assert.equal(codeOf(await edge.call('POST', '/v1/keys', { body })), '400 bad_message');
      await again('mint', caller, nonce);
    }
  });

  test('to link: another purpose, another address, an authorization that does not hold', async () => {
    const caller = await account(edge, evmWallet());
    const wallet = bitcoinWallet();
    const evm = evmWallet();
    const link = async (words: string, signer: TestWallet, authorization?: object) =>
      codeOf(
        await prove(edge, caller.key, signer, {
          ...(await signed(signer, words)),
          ...(authorization === undefined ? {} : { authorization }),
        }),
      );
    let nonce = await walletNonce(edge, caller.key, 'link');
    assert.equal(await link(minting(wallet, nonce), wallet), '400 bad_message');
    await again('link', caller, nonce);
    nonce = await walletNonce(edge, caller.key, 'link');
    assert.equal(await link(linking(evmWallet(), nonce), evm), '400 bad_message');
    await again('link', caller, nonce);
    nonce = await walletNonce(edge, caller.key, 'link');
    const unsigned = { address: evm.address, message: 'Nonce: 1', signature: '0x' };
    assert.equal(await link(linking(wallet, nonce), wallet, unsigned), '400 bad_nonce');
    await again('link', caller, nonce);
  });

  test('to authorise: another purpose, another wallet, a stranger', async () => {
    const caller = await account(edge, evmWallet());
    const wallet = bitcoinWallet();
    const stranger = evmWallet();
    const wrong: [TestWallet, (nonce: string) => string][] = [
      [caller.wallet, (nonce) => linking(wallet, nonce)],
      [caller.wallet, (nonce) => vouching(caller.wallet, bitcoinWallet(), nonce)],
      [stranger, (nonce) => vouching(stranger, wallet, nonce)],
    ];
    for (const [signer, write] of wrong) {
      const nonce = await walletNonce(edge, caller.key, 'authorize');
      const fresh = await walletNonce(edge, caller.key, 'link');
      const answer = await prove(edge, caller.key, wallet, {
        ...(await signed(wallet, linking(wallet, fresh))),
        authorization: await signed(signer, write(nonce)),
      });
      assert.equal(codeOf(answer), '400 bad_authorization');
      await again('authorize', caller, nonce);
    }
  });
});

describe('a nonce is good for its life and not a millisecond longer', () => {
  for (const [pool, seconds] of [
    ['mint', 300],
    ['link', 600],
    ['authorize', 600],
  ] as const) {
    test(`to ${pool}: ${seconds} s`, async () => {
      const own = await startEdge();
      try {
        own.deps.freeze();
        const caller = await account(own, evmWallet());
        const [young, old] = [await issue(own, pool, caller), await issue(own, pool, caller)];
        own.deps.advance(seconds * 1_000 - 1);
        assert.equal(codeOf(await present(own, pool, young, caller)), '200 ok');
        own.deps.advance(1);
        assert.equal(codeOf(await present(own, pool, old, caller)), spent);
      } finally {
        await own.close();
      }
    });
  }
});

test('a link or authorize nonce is good for the account that asked for it alone', async () => {
  const [owner, thief] = [await account(edge, evmWallet()), await account(edge, evmWallet())];
  for (const pool of ['link', 'authorize'] as const) {
    const nonce = await issue(edge, pool, owner);
    assert.equal(codeOf(await present(edge, pool, nonce, thief)), spent);
    assert.equal(codeOf(await present(edge, pool, nonce, owner)), '200 ok');
  }
});

describe(`of ${presentations} presentations of one nonce at once exactly one succeeds`, () => {
  let database: TestDatabase;
  let processes: ServerProcess[];
  before(async () => {
    database = await testDatabase();
    processes = await Promise.all([
      startServerProcess(database.url),
      startServerProcess(database.url),
    ]);
  });
  after(async () => {
    await Promise.all(processes.map((each) => each.stop()));
    await database.drop().catch(() => {});
  });

  type Got = {
    readonly status: number;
    readonly code: string;
    readonly body: Record<string, string>;
  };
  const request = async (url: string, key?: string, body?: unknown): Promise<Got> => {
    const reply = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const code = reply.headers.get('x-parley-error') ?? 'ok';
    return { status: reply.status, code, body: (await reply.json()) as Got['body'] };
  };

  for (const count of [1, 2]) {
    const where = count === 1 ? 'in one process' : 'across two processes on one database';
    const urls = () => processes.slice(0, count).map((each) => each.url);
    const get = async (path: string, key?: string) =>
      (await request(`${urls()[0]}${path}`, key)).body.nonce as string;
    /** The same path at every process in turn. */
    const all = (path: string, bodies: readonly unknown[], key?: string) =>
      Promise.all(bodies.map((body, at) => request(`${urls()[at % count]}${path}`, key, body)));
    const minted = async (wallet: TestWallet) => {
      const words = minting(wallet, await get('/v1/keys/nonce'));
      return { rail: 'evm', ...(await signed(wallet, words)) };
    };
    const keyOf = async (wallet: TestWallet) =>
      (await request(`${urls()[0]}/v1/keys`, undefined, await minted(wallet))).body.key as string;
    const exactlyOne = (answers: readonly { status: number; code: string }[]) => {
      const tally = answers.map(({ status, code }) => `${status} ${code}`).sort();
      assert.deepEqual(tally, ['200 ok', ...Array(presentations - 1).fill(spent)].sort());
    };

    test(`to mint, ${where}`, async () => {
      const body = await minted(evmWallet());
      exactlyOne(await all('/v1/keys', Array(presentations).fill(body)));
    });

    test(`to link, ${where}`, async () => {
      const key = await keyOf(evmWallet());
      const wallet = bitcoinWallet();
      const words = linking(wallet, await get('/v1/wallets/nonce', key));
      const proofs = Array(presentations).fill(await signed(wallet, words));
      exactlyOne(await all('/v1/wallets/bitcoin', proofs, key));
    });

    test(`to authorise, ${where}, each with a proof of its own`, async () => {
      const login = evmWallet();
      const key = await keyOf(login);
      const wallet = bitcoinWallet();
      const vouched = await get('/v1/wallets/nonce?purpose=authorize', key);
      const authorization = await signed(login, vouching(login, wallet, vouched));
      const proofs = [];
      for (let each = 0; each < presentations; each += 1) {
        const words = linking(wallet, await get('/v1/wallets/nonce', key));
        proofs.push({ ...(await signed(wallet, words)), authorization });
      }
      exactlyOne(await all('/v1/wallets/bitcoin', proofs, key));
    });
  }
});
