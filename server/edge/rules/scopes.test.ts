// Who may call what: every operation of the published description, every set of scopes, every way
// of not having a valid key. Specification part 5.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Scope } from '../../../core/scopes.ts';
import { insertTrader } from '../../../test/support/trading.ts';
import { type Answer, startEdge, type TestEdge } from '../testing/edge.ts';
import { account, codeOf } from '../testing/hands.ts';
import { evmWallet } from '../testing/signers.ts';

/** The specification's table; listing tokens is there once it is served. */
const scopeOf: Readonly<Record<string, Scope>> = {
  'POST /v1/rfqs': 'taker',
  'POST /v1/rfqs/{id}/cancel': 'taker',
  'POST /v1/assets': 'taker',
  'POST /v1/rfqs/{id}/quotes': 'maker',
};
const withoutKey = ['GET /v1/keys/nonce', 'POST /v1/keys'];

type Operation = { readonly name: string; readonly method: string; readonly url: string };
let edge: TestEdge;
let operations: Operation[];

before(async () => {
  edge = await startEdge();
  const { body } = await edge.call('GET', '/v1/openapi.json');
  operations = Object.entries<Record<string, unknown>>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((each) => {
      const method = each.toUpperCase();
      const url = path.replaceAll(/\{\w+\}/g, '0193b5a0-0000-7000-8000-000000000000');
      return { name: `${method} ${path}`, method, url };
    }),
  );
});
after(() => edge.close());

const keyed = () => operations.filter(({ name }) => !withoutKey.includes(name));
const call = ({ method, url }: Operation, headers: Record<string, string>) =>
  edge.call(method, url, { headers });

test('every scope of the table names an operation that is described', () => {
  const names = operations.map(({ name }) => name);
  assert.ok(names.length >= 24, `${names.length} operations`);
  for (const name of [...Object.keys(scopeOf), ...withoutKey]) {
    if (name !== 'POST /v1/assets') assert.ok(names.includes(name), name);
  }
});

const sets = Array.from({ length: 8 }, (_, bits) =>
  (['read', 'taker', 'maker'] as const).filter((_scope, at) => (bits >> at) % 2 === 1),
);

for (const scopes of sets) {
  const held = scopes.length === 0 ? 'no scope' : scopes.join(', ');
  test(`a key with ${held} gets 403 where the table asks for more, and nowhere else`, async () => {
    const { key } = await insertTrader(edge.deps, scopes, []);
    for (const operation of keyed()) {
      const answer = await call(operation, { authorization: `Bearer ${key}` });
      const needed = scopeOf[operation.name];
      const lacks = needed !== undefined && !scopes.includes(needed);
      const code = answer.headers['x-parley-error'];
      if (lacks) {
        assert.equal(codeOf(answer), '403 scope_missing', operation.name);
        assert.match(answer.body.error, new RegExp(`"${needed}"`));
      } else {
        assert.ok(answer.status !== 401 && code !== 'scope_missing', `${operation.name} ${code}`);
      }
    }
  });
}

test('without a key only minting and its nonce are answered', async () => {
  for (const operation of operations) {
    const answer = await call(operation, {});
    const open = withoutKey.includes(operation.name);
    if (open) assert.notEqual(answer.status, 401, operation.name);
    else assert.equal(codeOf(answer), '401 key_missing', operation.name);
  }
});

test('a key that is not needed is not looked at: minting works with a bad one', async () => {
  for (const operation of operations.filter(({ name }) => withoutKey.includes(name))) {
    const answer = await call(operation, { authorization: 'Bearer nonsense' });
    assert.notEqual(answer.status, 401);
  }
});

const forms: [string, (key: string) => Record<string, string>][] = [
  ['Authorization: Bearer', (key) => ({ authorization: `Bearer ${key}` })],
  ['X-Api-Key', (key) => ({ 'x-api-key': key })],
];

describe('401 on every operation that needs a key', () => {
  const made: [string, () => Promise<string>][] = [
    ['an invalid key', async () => `parley_test_${'a'.repeat(43)}`],
    [
      'a revoked key',
      async () => {
        const wallet = evmWallet();
        const { key } = await account(edge, wallet);
        await edge.mint(wallet);
        return key;
      },
    ],
    ['an expired key', () => endingKey(0)],
  ];
  for (const [name, make] of made) {
    for (const [form, headers] of forms) {
      test(`${name}, ${form}`, async () => {
        const key = await make();
        for (const operation of keyed()) {
          assert.equal(
            codeOf(await call(operation, headers(key))),
            '401 key_invalid',
            operation.name,
          );
        }
      });
    }
  }
});

/** A key that ends in some milliseconds. */
async function endingKey(inMs: number): Promise<string> {
  const { key } = await insertTrader(edge.deps, ['read'], []);
  await edge.deps.db.rows({
    name: 'test_ending',
    text: 'update api_keys set expires_at = $2 where hash = $1',
    values: [hash('sha256', key, 'buffer'), new Date(edge.deps.now() + inMs)],
  });
  return key;
}

test('a key is valid up to its expiry and not from it on, to the millisecond', async () => {
  const own = await startEdge();
  try {
    own.deps.freeze();
    const { body } = await own.mint(evmWallet());
    const me = () => own.call('GET', '/v1/me', { key: body.key });
    own.deps.advance(Date.parse(body.expiresAt) - own.deps.now() - 1);
    assert.equal((await me()).status, 200);
    own.deps.advance(1);
    assert.equal(codeOf(await me()), '401 key_invalid');
  } finally {
    await own.close();
  }
});

describe('a key is read', () => {
  let key: string;
  const bad = `parley_test_${'b'.repeat(43)}`;
  before(async () => {
    ({ key } = await account(edge, evmWallet()));
  });
  const me = (headers: Record<string, string>): Promise<Answer> =>
    edge.call('GET', '/v1/me', { headers });

  test('from either header', async () => {
    for (const [, headers] of forms) assert.equal((await me(headers(key))).status, 200);
  });

  test('from Authorization: Bearer where both are given', async () => {
    assert.equal((await me({ authorization: `Bearer ${key}`, 'x-api-key': bad })).status, 200);
    const other = await me({ authorization: `Bearer ${bad}`, 'x-api-key': key });
    assert.equal(codeOf(other), '401 key_invalid');
    assert.equal((await me({ authorization: 'Basic eDp5', 'x-api-key': key })).status, 200);
  });

  test('in no other form: 401', async () => {
    const forms = [
      { authorization: key },
      { authorization: `Token ${key}` },
      { authorization: `Bearer${key}` },
      { authorization: `Bearer "${key}"` },
      { authorization: `Bearer ${key}, Bearer ${key}` },
      { authorization: `Bearer ${key} x` },
      { 'x-api-key': `${key}, ${key}` },
      { 'x-api-key': `Bearer ${key}` },
      { 'x-api-key': '' },
      { 'x-apikey': key },
      { cookie: `key=${key}` },
    ];
    for (const headers of forms)
      assert.equal((await me(headers)).status, 401, JSON.stringify(headers));
    assert.equal((await edge.call('GET', `/v1/me?key=${key}&apiKey=${key}`)).status, 401);
  });

  test('exactly: not shorter, longer, in another case or of another world', async () => {
    const swapped = [...key].map((each) =>
      each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase(),
    );
    const others = [
      key.slice(0, -1),
      `${key}0`,
      swapped.join(''),
      key.toUpperCase(),
      key.replace('parley', 'Parley'),
      key.replace('_test_', '_live_'),
      key.slice('parley_test_'.length),
      `x${key}`,
      key.replace('_test_', '_test_\u00e9'),
    ];
    for (const each of others) {
      for (const [, headers] of forms) {
        assert.equal(codeOf(await me(headers(each))), '401 key_invalid', each);
      }
    }
  });
});

describe('a deployment', () => {
  for (const [network, start] of [
    ['testnet', 'parley_test_'],
    ['dev', 'parley_test_'],
    ['mainnet', 'parley_live_'],
  ] as const) {
    test(`of ${network} issues keys that start ${start}, and takes no others`, async () => {
      const own = await startEdge({ settings: { network } });
      try {
        const { body } = await own.mint(evmWallet());
        assert.ok(body.key.startsWith(start), body.prefix);
        assert.ok(body.prefix.startsWith(start));
        assert.equal((await own.call('GET', '/v1/me', { key: body.key })).status, 200);
        const other = body.key.replace(
          /_(test|live)_/,
          network === 'mainnet' ? '_test_' : '_live_',
        );
        assert.equal((await own.call('GET', '/v1/me', { key: other })).status, 401);
      } finally {
        await own.close();
      }
    });
  }
});
