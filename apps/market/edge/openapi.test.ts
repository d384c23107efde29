// The published descriptions of `/v1` and `/account`, and the reference page: golden, valid by
// their references, and true of the routes. Specification part 9.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { checkOf, coercingCheckOf } from '../settings/check.ts';
import { inputCheck } from './command.ts';
import { goldenDescriptions } from './describe.ts';
import { testEdge } from './testing/edge.ts';

// biome-ignore lint/suspicious/noExplicitAny: a part of a document
type Json = Record<string, any>;

const edge = await testEdge();
const golden = await goldenDescriptions();
const { body: api } = await edge.call('GET', '/v1/openapi.json');
const { body: people } = await edge.call('GET', '/account/openapi.json');
const { operations, accountOperations } = edge.app.edge;
const documents = await readdir(new URL('../../../docs', import.meta.url));
/** Two are made of the sources when the site is built. */
const pages = new Set(
  [...documents, 'errors.md', 'limits.md'].map((name) => `/docs/${name.replace(/\.md$/, '')}`),
);

for (const [file, text, published, declared] of [
  ['openapi', golden.api, api, operations],
  ['openapi-account', golden.account, people, accountOperations],
] as const) {
  test(`docs/${file}.json is what the routes declare (scripts/openapi.ts rewrites it)`, async () => {
    const written = await readFile(new URL(`../../../docs/${file}.json`, import.meta.url), 'utf8');
    assert.equal(text, written);
    // Published to anybody.
    assert.deepEqual(published, JSON.parse(text));
  });

  test(`every reference in ${file} resolves, and every check of it compiles`, () => {
    assert.ok(!text.includes('x-name'));
    for (const [, path] of text.matchAll(/"\$ref": ?"#\/([^"]+)"/g)) {
      const found = (path as string).split('/').reduce((at, part) => at?.[part], published);
      assert.ok(found !== undefined, path);
    }
    let checks = 0;
    for (const { operationId, params, query, body } of declared) {
      const all = [
        params && checkOf(params, 'the path'),
        query && coercingCheckOf(query, 'the query'),
        body && inputCheck(body, 'the body'),
      ].filter((each) => each !== undefined);
      // Which is compiled when the first value comes.
      for (const check of all) assert.doesNotThrow(() => check({}), operationId);
      checks += all.length;
    }
    assert.ok(checks >= 10, `${checks} checks`);
  });
}

type Link = {
  readonly operationId: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly requestBody?: string;
};

test('every link fills what its operation takes', () => {
  const all = Object.values<Json>(api.paths).flatMap((path) => Object.values<Json>(path));
  const byId = new Map(all.map((each) => [each.operationId, each]));
  const seen = new Set<string>();
  for (const { operationId, responses } of all) {
    for (const { links = {} } of Object.values<Json>(responses)) {
      for (const [name, link] of Object.entries<Link>(links)) {
        const where = `${operationId} -> ${name}`;
        const target = byId.get(link.operationId);
        assert.ok(target !== undefined, where);
        const body = JSON.parse(link.requestBody ?? '{}');
        const { $ref = '' } = target.requestBody?.content['application/json'].schema ?? {};
        const fields = api.components.schemas[$ref.split('/').at(-1)]?.properties ?? {};
        const taken = (target.parameters ?? []).map((each: Json) => each.name);
        for (const field of Object.keys(link.parameters ?? {})) {
          assert.ok(taken.includes(field), `${where}: ${field}`);
        }
        for (const field of Object.keys(body)) assert.ok(field in fields, `${where}: ${field}`);
        seen.add(link.operationId);
      }
    }
  }
  const swap = ['createRfq', 'quoteRfq', 'acceptPrice', 'setAddress', 'buildFund', 'broadcast'];
  for (const step of [...swap, 'buildClaim', 'buildRefund']) assert.ok(seen.has(step), step);
});

test('the reference page loads from this origin only', async () => {
  const page = await edge.app.inject('/v1/docs');
  assert.equal(page.statusCode, 200);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /connect-src 'self'/);
  assert.ok(!/https?:|\*/.test(policy));
  assert.ok(!/(src|href)="(https?:)?\/\//.test(page.body));
  const [, url = ''] = /<script src="([^"]+)"/.exec(page.body) ?? [];
  const script = await edge.app.inject({ url, headers: { 'accept-encoding': 'identity' } });
  assert.equal(script.headers['content-encoding'], 'gzip', 'plain it is 3 MB for 300 a minute');
  const file = new URL('./vendor/scalar-1.72.1.LICENSE.txt', import.meta.url);
  const digest = createHash('sha256').update(gunzipSync(script.rawPayload)).digest('hex');
  assert.ok((await readFile(file, 'utf8')).includes(digest));
});

test('every document that the reference names is a page of the site', () => {
  const named = [...`${golden.api}${golden.account}`.matchAll(/"url": "(\/docs\/[^"]+)"/g)];
  const urls = new Set(['/docs/api', ...named.map(([, url = '']) => url)]);
  assert.ok(urls.size > 8, [...urls].join());
  // The reference displays the texts of a tag and of the whole as Markdown: a bare path leads
  // nowhere.
  const { info, tags } = JSON.parse(golden.api) as Pick<typeof api, 'info' | 'tags'>;
  const shown = [info, ...tags].map(({ description }) => description).join(' ');
  assert.doesNotMatch(shown, /(?<![[/])\bdocs\//);
  for (const [, url = ''] of shown.matchAll(/\]\((\/[^)]+)\)/g)) urls.add(url);
  for (const url of urls) assert.ok(url === '/docs' || pages.has(url), url);
});

test('a browser that opens the bare address is led to the reference, by a relative path', async () => {
  for (const url of ['/v1', '/v1/']) {
    const answer = await edge.app.inject(url);
    assert.deepEqual([answer.statusCode, answer.headers.location], [302, '/v1/docs'], url);
  }
  assert.equal((await edge.app.inject({ method: 'POST', url: '/v1' })).statusCode, 405);
});

// The needs of a reader and a generator: every operation and every field has a description, and an
// example that its own schema takes.
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const formats = { uuid, 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ };

const pointed = (part: string) => encodeURIComponent(part.replace(/~/g, '~0').replace(/\//g, '~1'));

type Node = Readonly<Record<string, unknown>>;

for (const name of ['api', 'account'] as const) {
  const text = golden[name];
  const whole = JSON.parse(text) as Node & { components: Node; tags: Node[] };
  const ajv = new Ajv({ strict: false, formats });
  ajv.addSchema(whole, 'whole');
  const at = (path: readonly string[]) => `#/${path.map(pointed).join('/')}`;
  const resolved = (node: Node): Node => {
    if (typeof node.$ref !== 'string') return node;
    const parts = node.$ref.slice(2).split('/');
    return parts.reduce((found, part) => found[part] as Node, whole as Node);
  };
  /** Calls `see` for everything inside. */
  const walk = (
    node: unknown,
    path: readonly string[],
    see: (node: Node, path: string[]) => void,
  ) => {
    if (typeof node !== 'object' || node === null) return;
    see(node as Node, [...path]);
    for (const [key, part] of Object.entries(node)) {
      if (key !== 'example' && key !== 'examples') walk(part, [...path, key], see);
    }
  };

  test(`${name}: every operation, parameter, tag and field says what it is`, () => {
    let fields = 0;
    walk(whole, [], (node, path) => {
      const where = path.join(' ');
      if ('operationId' in node && path[0] === 'paths' && path.length === 3) {
        assert.match(String(node.summary), /\w/, where);
        assert.match(String(node.description), /\w.*\.$/, where);
        for (const tag of node.tags as string[]) {
          assert.ok(
            whole.tags.some((each) => each.name === tag && each.description),
            tag,
          );
        }
      }
      const [last = '', of = ''] = path.slice(-2).reverse();
      const isBody = last === 'requestBody';
      if (of === 'responses' || of === 'headers' || isBody || 'in' in node) {
        assert.ok(resolved(node).description, where);
      }
      // The description is on the parameter itself, or on the choice that this is one of.
      const isShape = ['type', 'anyOf', 'const'].some((key) => key in node) && of !== 'anyOf';
      if (isShape && of !== 'examples' && last !== 'properties' && last !== 'schema') {
        assert.ok(node.description, where);
      }
      if (node.type !== 'object' || typeof node.properties !== 'object') return;
      for (const [field, part] of Object.entries(node.properties as Record<string, Node>)) {
        fields += 1;
        assert.ok(part.description ?? resolved(part).description, `${where} ${field}`);
      }
    });
    assert.ok(fields > 100, `${fields} fields`);
  });

  test(`${name}: every example is one of its schema, and every field and body has one`, () => {
    let examples = 0;
    const fits = (value: unknown, path: readonly string[]) => {
      const check = ajv.getSchema(`whole${at(path)}`);
      assert.ok(check !== undefined, at(path));
      assert.ok(check(value), `${at(path)}: ${ajv.errorsText(check.errors)}`);
      examples += 1;
    };
    walk(whole, [], (node, path) => {
      if (path.at(-1) === 'application/json') {
        const all = 'example' in node ? [node.example] : Object.values(node.examples as Node);
        assert.ok(all.length > 0, at(path));
        for (const each of all) {
          fits('example' in node ? each : (each as Node).value, [...path, 'schema']);
        }
      } else if (('in' in node && 'name' in node) || path.at(-2) === 'headers') {
        if ('$ref' in node) return;
        if ('schema' in node) fits(node.example, [...path, 'schema']);
      } else if (Array.isArray(node.examples)) {
        for (const each of node.examples) fits(each, path);
      }
      if (typeof node.type === 'string' && /string|integer|number|boolean/.test(node.type)) {
        const above = path.at(-1) === 'schema' || path.includes('anyOf');
        assert.ok(above || Array.isArray(node.examples) || 'const' in node, at(path));
      }
    });
    assert.ok(examples > 100, `${examples} examples`);
  });
}
