// Every endpoint, called as its own description allows and as it does not: never a 5xx of ours,
// always the shape of an error, only statuses that the description names. Chains have real adapters
// whose nodes are gone, so what needs a node may answer 503 or 504 with a chain's code.

import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { bitcoinAdapter } from '../chains/bitcoin/adapter.ts';
import { evmAdapter } from '../chains/evm/adapter.ts';
import { evmChains } from '../chains/evm/policy.ts';
import { type Answer, startEdge, type TestEdge } from '../server/edge/testing/edge.ts';
import { bitcoinWallet, evmWallet } from '../server/edge/testing/signers.ts';
import { seedAssets } from '../server/market/assets.ts';

// Nothing listens on the discard port.
const nowhere = 'http://127.0.0.1:9';
const runs = 1_200;

type Json = Record<string, unknown>;
type Operation = {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { name: string; in: string; schema: Json }[];
  readonly body: Json | null;
  readonly statuses: ReadonlySet<string>;
};

let edge: TestEdge;
const keys: string[] = [];
let ids: string[] = [];
/** Ids by the first part of the paths that take them. */
const idsOf: Record<string, string[]> = { rfqs: [], threads: [], swaps: [] };
const addresses: string[] = [];
let components: Json = {};
let operations: Operation[] = [];

before(async () => {
  const took = async () => {};
  const bitcoin = bitcoinAdapter({
    chain: 'bitcoin',
    network: 'regtest',
    source: { coreUrl: nowhere, timeMs: 200 },
    now: () => Math.floor(Date.now() / 1_000),
    log: () => {},
  });
  const evm = evmAdapter({
    chain: 'evm-dev',
    chainId: 31_337,
    rpcUrls: [nowhere],
    policy: Object.values(evmChains)[0]!.policy,
    rpc: { attemptTimeoutMs: 200, rounds: 1 },
    log: () => {},
  });
  const adapters = [bitcoin, evm].map((each) => ({ ...each, checkAmount: took }));
  edge = await startEdge({
    adapters: new Map(adapters.map((each) => [each.chain, each])),
    settings: { mintLimit: 1_000_000 },
  });
  await trade();
  const { body } = await edge.call('GET', '/v1/openapi.json');
  components = body.components;
  operations = operationsOf(body);
});
after(() => edge.close());

/** Two accounts, an RFQ, a thread and a swap, so that ids exist to be called with. */
async function trade() {
  const people = [
    [evmWallet(), bitcoinWallet()],
    [bitcoinWallet(), evmWallet()],
  ] as const;
  for (const [login, other] of people) {
    const key: string = ok(await edge.mint(login)).key;
    const body = await edge.proof(other, key);
    ok(await edge.call('POST', `/v1/wallets/${other.family}`, { key, body }));
    keys.push(key);
    addresses.push(login.address, other.address);
  }
  const [btc, eth] = await seedAssets(edge.deps.db, edge.deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain: 'evm-dev', symbol: 'ETH', address: null, decimals: 18 },
  ]);
  const [taker, maker] = keys;
  const post = async (key: string | undefined, url: string, body: unknown) =>
    ok(await edge.call('POST', url, { key: key as string, body }));
  const wanted = {
    direction: 'sell_base',
    baseAssetId: btc?.id,
    baseAmount: '1000000',
    quoteAssetId: eth?.id,
    ttlSeconds: 600_000,
  };
  for (const last of [false, true]) {
    const { rfq } = await post(taker, '/v1/rfqs', wanted);
    const quoteAmount = '5000000000';
    const { thread } = await post(maker, `/v1/rfqs/${rfq.id}/quotes`, { quoteAmount });
    idsOf.rfqs?.push(rfq.id);
    idsOf.threads?.push(thread.id);
    if (!last) continue;
    const hashlock = hash('sha256', randomBytes(32), 'hex');
    for (const [key, party] of [
      [taker, 'taker'],
      [maker, 'maker'],
    ] as const) {
      const body = thread.initiator === party ? { quoteAmount, hashlock } : { quoteAmount };
      const { swap } = await post(key, `/v1/threads/${thread.id}/accept`, body);
      if (swap !== undefined) idsOf.swaps?.push(swap.id);
    }
  }
  ids = [...Object.values(idsOf).flat(), btc!.id, eth!.id];
  assert.equal(ids.length, 7);
}

function ok(answer: Answer) {
  assert.ok(answer.status < 300, `${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

function operationsOf(document: {
  paths: Record<string, Record<string, Json>>;
  components: { parameters: Record<string, Operation['parameters'][number]> };
}): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const given = (operation.parameters ?? []) as (Operation['parameters'][number] & {
        $ref?: string;
      })[];
      const content = (operation.requestBody as { content?: Record<string, { schema: Json }> })
        ?.content;
      return {
        method: method.toUpperCase(),
        path,
        parameters: given.filter((each) => each.$ref === undefined),
        body: content?.['application/json']?.schema ?? null,
        statuses: new Set(Object.keys(operation.responses as Json)),
      };
    }),
  );
}

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(...['', ' ', '0x', '-1', '1e9', '0', '\u2028', 'é', 'a'.repeat(300), '\ud800']),
  fc.constantFrom(0, -1, 1.5, 2 ** 53, 1e300, null, true, [], {}),
  fc.string({ maxLength: 40 }),
);
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((each) => Buffer.from(each).toString('hex'));
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('bitcoin', 'evm-dev', 'evm', 'tron', 'mars', 'a', 'b') },
  { weight: 2, arbitrary: hex(32) },
  {
    weight: 1,
    arbitrary: fc.oneof(
      hex(33),
      hex(20).map((each) => `0x${each}`),
      hex(110),
    ),
  },
  { weight: 1, arbitrary: fc.nat().map(String) },
  { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 3, arbitrary: fc.nat(30).map((at) => addresses[at % addresses.length] as string) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('create an API key', 'link this wallet'), fc.nat(30), hex(16))
      .map(([words, at, nonce]) => {
        const address = addresses[at % addresses.length];
        return `Parley ${words}\nAddress: ${address}\nNonce: ${nonce}`;
      }),
  },
);
const id = fc.oneof(
  { weight: 6, arbitrary: fc.nat(30).map((at) => ids[at % ids.length] as string) },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: text },
);

/** A value that the schema allows, or nearly. */
function valueFor(schema: Json): fc.Arbitrary<unknown> {
  const {
    $ref,
    anyOf,
    enum: listed,
    const: fixed,
    type,
    format,
    pattern,
  } = schema as {
    $ref?: string;
    anyOf?: Json[];
    enum?: unknown[];
    const?: unknown;
    type?: string | string[];
    format?: string;
    pattern?: string;
  };
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) as string;
    return valueFor((components.schemas as Record<string, Json>)[name] as Json);
  }
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(valueFor));
  if (listed !== undefined) return fc.constantFrom(...listed);
  if (fixed !== undefined) return fc.constant(fixed);
  if (format === 'uuid') return id;
  if (pattern !== undefined) return fc.oneof(fc.stringMatching(new RegExp(pattern)), text);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return objectFor(schema);
    case 'array':
      return fc.array(valueFor(schema.items as Json), { maxLength: 3 });
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer({ min: 0, max: 700_000 }), fc.integer({ min: 1, max: 100 }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return text;
    default:
      return junk;
  }
}

function objectFor(schema: Json): fc.Arbitrary<unknown> {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  const values = Object.fromEntries(fields.map(([name, part]) => [name, valueFor(part)]));
  const requiredKeys = (schema.required ?? []) as string[];
  const whole = fc.record(values, { requiredKeys });
  const broken = fc
    .tuple(whole, fc.constantFrom(...fields.map(([name]) => name), 'extra', '__proto__'), junk)
    .map(([value, name, other]) => ({ ...value, [name]: other }));
  return fc.oneof({ weight: 3, arbitrary: whole }, { weight: 1, arbitrary: broken });
}

type Call = { method: string; url: string; options: Json; operation: Operation };

function callOf(operation: Operation): fc.Arbitrary<Call> {
  const place = (kind: string) => operation.parameters.filter((each) => each.in === kind);
  const segments = fc.tuple(
    ...place('path').map(({ name }) => {
      if (name === 'id') {
        const own = idsOf[operation.path.split('/')[2] as string] ?? ids;
        const right = fc.nat(30).map((at) => own[at % own.length] as string);
        return fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: id });
      }
      if (name !== 'leg') return text;
      const leg = fc.constantFrom('a', 'b');
      return fc.oneof({ weight: 6, arbitrary: leg }, { weight: 1, arbitrary: text });
    }),
  );
  const query = fc.record(
    Object.fromEntries(
      place('query').map(({ name, schema }) => [
        name,
        fc.oneof({ weight: 6, arbitrary: valueFor(schema) }, { weight: 1, arbitrary: junk }),
      ]),
    ),
    { requiredKeys: [] },
  );
  const body =
    operation.body === null
      ? fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: junk })
      : fc.oneof(
          { weight: 8, arbitrary: valueFor(operation.body) },
          { weight: 1, arbitrary: junk },
        );
  const who = fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 3);
  const once = fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: fc.nat(10_000).map(String) },
    { weight: 1, arbitrary: fc.constantFrom('one', 'x'.repeat(255), 'x'.repeat(256)) },
  );
  return fc.tuple(segments, query, body, who, once).map(([parts, asked, sent, caller, slot]) => {
    let at = 0;
    const path = operation.path.replace(/\{\w+\}/g, () =>
      encodeURIComponent(String(parts[at++]).replace(/[\ud800-\udfff]/g, '') || 'x'),
    );
    const pairs = Object.entries(asked).map(([name, value]) => {
      const shown = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      return `${name}=${encodeURIComponent(shown.replace(/[\ud800-\udfff]/g, ''))}`;
    });
    const key = caller === 2 ? 'nonsense' : keys[caller];
    const options = {
      ...(key === undefined ? {} : { key }),
      ...(operation.method === 'GET' || sent === undefined ? {} : { body: JSON.stringify(sent) }),
      ...(slot === undefined ? {} : { headers: { 'idempotency-key': slot } }),
    };
    const url = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
    return { method: operation.method, url, options, operation };
  });
}

test('no input is answered with a fault of ours, or with what the description leaves out', async () => {
  const calls = fc.oneof(...operations.map(callOf));
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(calls, async ({ method, url, options, operation }) => {
      const answer = await edge.call(method, url, options);
      const { status, headers, body } = answer;
      const code = String(headers['x-parley-error'] ?? '');
      const about = `${method} ${url} -> ${status} ${code} ${JSON.stringify(body)}`;
      if (status >= 500) assert.match(code, /^chain_/, about);
      assert.ok(operation.statuses.has(String(status)), `not described: ${about}`);
      assert.ok(headers['ratelimit-remaining'] !== undefined, about);
      if (status >= 400) {
        assert.deepEqual(Object.keys(body), ['error'], about);
        assert.ok(body.error.length > 0 && body.error.length < 2_000, about);
        assert.match(code, /^[a-z0-9_]+$/, about);
      }
      const name = `${operation.method} ${operation.path}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }),
    { numRuns: runs, endOnFailure: true },
  );
  assert.equal(seen.size, operations.length, 'every operation was called');
});
