// Requests for the fuzz, made of what an operation describes: path, query, headers and body, each
// mostly as described, sometimes at an edge, sometimes as no client means it.

import fc from 'fast-check';
import { decoded, type Json, type Operation } from './description.ts';
import type { Memory } from './memory.ts';
import {
  hostile,
  hostileText,
  jsonOf,
  kindOf,
  Recall,
  type SchemaOf,
  usually,
  valueFor,
} from './values.ts';

/** A request before what it recalls is filled in. */
export type Draft = {
  readonly method: string;
  /** Text as it is sent, or what is filled in and encoded. */
  readonly segments: readonly (string | Recall)[];
  readonly query: readonly (readonly [string, unknown])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
};

type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly hex: string }
  /** One that the market takes, made when it is sent. */
  | { readonly kind: 'prepared' };

export type Request = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
};

/** Longer ones are 404 before anything else. */
const longestSegment = 200;

/** Segments that a router, a decoder or a database may stumble over. All are sent as they are. */
const tricks = [
  '%00',
  'a%00b',
  '%2e%2e',
  '..',
  '.',
  '%2f',
  'a%2fb',
  '%zz',
  '%',
  '%e0%a4',
  '%ff',
  '%c0%af',
  '',
  '~',
  '*',
  ':id',
  '{id}',
  '%7Bid%7D',
  '+',
  '%20',
  '%0d%0aa:b',
  'nonce',
  'ping',
  '-1',
  '0',
  'x'.repeat(200),
  'x'.repeat(201),
  'x'.repeat(5_000),
  '%41'.repeat(201),
  '%F0%9F%98%80',
  'a;b',
  'a#b',
  'a,b',
  '$(id)',
  '%25%32%65',
  '%u0041',
  '[0]',
  '&',
  '=',
];

const types = [
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset=utf-16',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  '',
  'application/problem+json',
  'application/json garbage',
  'application/json;;=',
  'x',
  '*/*',
];

const otherHeaders: readonly Readonly<Record<string, string>>[] = [
  { accept: 'text/xml' },
  { 'accept-encoding': 'br;q=1, gzip;q=0' },
  { 'content-encoding': 'gzip' },
  { cookie: 'session=1; a' },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { 'x-forwarded-for': '::1, garbage, 300.1.1.1' },
  { 'x-http-method-override': 'DELETE' },
  { forwarded: 'for=_x;by="' },
  { upgrade: 'websocket', connection: 'upgrade' },
  { expect: 'cake' },
  { host: 'a b' },
  { origin: 'null' },
  { 'x-y': 'é\u00ff'.repeat(500) },
];

const bytes = [
  '{',
  '{"a":',
  '[1,]',
  "{'a':1}",
  '{"a":1}x',
  '\ufeff{}',
  ' ',
  'null',
  '"x"',
  '7',
  '[]',
  '\0',
  ...['['.repeat(30_000), '{"a":1}\n{"a":2}', 'a=1&b=2', '<a/>', 'undefined', '//', '{"a":1,}'],
  '"\\ud83d"',
  '{"\\u0000":1}',
  `"${'x'.repeat(65_534)}"`,
  `"${'x'.repeat(65_535)}"`,
].map((text) => Buffer.from(text).toString('hex'));
const notUtf8 = ['ff', 'c0af', '22eda08022', '7b22ff223a317d', 'fffe7b007d00'];

export type Shape = {
  readonly schemaOf: SchemaOf;
  /** Whether a body that is taken can be made for this operation. */
  readonly prepares: (operation: Operation) => boolean;
};

export function draftFor(operation: Operation, shape: Shape): fc.Arbitrary<Draft> {
  return fc.record({
    method: fc.constant(operation.method),
    segments: segmentsFor(operation),
    query: queryFor(operation, shape.schemaOf),
    headers: headersFor(operation),
    body: bodyFor(operation, shape),
  });
}

function segmentsFor(operation: Operation): fc.Arbitrary<Draft['segments']> {
  const names = operation.path.split('/').slice(1);
  return fc.tuple(
    ...names.map((name, at) => {
      if (!name.startsWith('{')) {
        const odd = fc.constantFrom(`${name}/`, `/${name}`, encoded(name), name.toUpperCase());
        return usually(80, fc.constant(name), odd);
      }
      const kind = kindOf(name === '{id}' ? (names[at - 1] as string) : name.slice(1, -1));
      const known = fc.nat(200).map((nth) => new Recall(kind, nth));
      const tricky = fc.constantFrom(...tricks);
      return usually<string | Recall>(16, known, fc.uuid(), tricky, hostileText.map(component));
    }),
  );
}

function encoded(text: string): string {
  return [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('');
}

/** A lone surrogate has no encoding. */
function component(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function queryFor(operation: Operation, of: SchemaOf): fc.Arbitrary<Draft['query']> {
  const described = operation.parameters.filter((each) => each.in === 'query');
  const pairs = described.map(({ name, schema }) =>
    fc.option(
      valueFor(schema, name, of).map((value) => [name, value] as const),
      { freq: 1 },
    ),
  );
  const names = [...described.map(({ name }) => name), '__proto__', 'a[b]', '', 'limit[]', '%zz'];
  const extra = fc.array(fc.tuple(fc.constantFrom(...names), hostile), {
    minLength: 1,
    maxLength: 2,
  });
  return fc
    .tuple(fc.tuple(...pairs), usually<[string, unknown][]>(9, fc.constant([]), extra))
    .map(([given, more]) => [...given.filter((each) => each !== null), ...more]);
}

function headersFor(operation: Operation): fc.Arbitrary<Record<string, string>> {
  type Headers = Readonly<Record<string, string>>;
  const none = fc.constant<Headers>({});
  const keys = fc.constantFrom(
    'x'.repeat(255),
    'x'.repeat(256),
    '',
    ' ',
    'é',
    '\u00ff',
    'a,b',
    '"',
    '\t',
  );
  const again = fc.nat(400).map((at) => `again-${at}`);
  const once = usually(3, again, keys).map((key): Headers => ({ 'idempotency-key': key }));
  const usual = operation.bodies[0]?.type ?? 'application/json';
  return fc
    .tuple(
      usually(6, none, once, once, once, once),
      usually(20, none, fc.constantFrom(...otherHeaders)),
      usually(20, fc.constant(usual), fc.constantFrom(...types)),
    )
    .map(([key, more, type]) => ({ 'content-type': type, ...key, ...more }));
}

function bodyFor(operation: Operation, { schemaOf, prepares }: Shape): fc.Arbitrary<Body> {
  const value = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<Body> =>
    arbitrary.map((each) => ({ kind: 'value', value: each }));
  const none = fc.constant<Body>({ kind: 'none' });
  const odd: fc.Arbitrary<Body> = fc.oneof(
    fc.constantFrom(...bytes, ...notUtf8).map((hex) => ({ kind: 'bytes', hex }) as const),
    value(hostile),
  );
  const usual = operation.bodies.map(({ schema }) => value(valueFor(schema, 'body', schemaOf)));
  if (usual.length === 0) return usually(16, none, odd);
  const ready = fc.constant<Body>({ kind: 'prepared' });
  return usually(
    16,
    fc.oneof(...usual),
    odd,
    odd,
    none,
    ...(prepares(operation) ? Array(5).fill(ready) : []),
  );
}

/** Fills in what the draft recalls. */
export async function written(
  draft: Draft,
  memory: Memory,
  prepare: () => Promise<Json>,
): Promise<Request> {
  const path = draft.segments.map((each) =>
    typeof each === 'string' ? each : component(memory.recall(each)),
  );
  const pairs = draft.query.map(([name, value]) => {
    const text = value instanceof Recall ? memory.recall(value) : plain(value, memory);
    return `${name === '%zz' ? name : component(name)}=${component(text)}`;
  });
  const body = await bodyOf(draft.body, memory, prepare);
  const { 'content-type': type, ...headers } = draft.headers;
  return {
    method: draft.method,
    url: `/${path.join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`,
    headers: { ...headers, ...(body === null || !type ? {} : { 'content-type': type }) },
    body,
  };
}

function plain(value: unknown, memory: Memory): string {
  return typeof value === 'string' ? value : jsonOf(value, memory.recall);
}

async function bodyOf(
  body: Body,
  memory: Memory,
  prepare: () => Promise<Json>,
): Promise<Buffer | null> {
  switch (body.kind) {
    case 'none':
      return null;
    case 'value':
      return Buffer.from(jsonOf(body.value, memory.recall));
    case 'bytes':
      return Buffer.from(body.hex, 'hex');
    case 'prepared':
      return Buffer.from(JSON.stringify(await prepare()));
  }
}

/** Whether nothing but its operation may refuse the request: its address can be read. */
export function isReadable({ url }: Request): boolean {
  const segments = (url.split('?')[0] as string).split('/').slice(1);
  return segments.every((each) => {
    const length = decoded(each)?.length ?? 0;
    return length > 0 && length <= longestSegment;
  });
}
