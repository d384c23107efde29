// Values for the fuzz, made of JSON schemas: values that a schema allows, those just beyond it, and
// noise. A `Recall` is filled in when the request is sent, from what was answered before.

import fc from 'fast-check';
import { codePoint } from '../support/code-points.ts';
import type { Json } from './description.ts';

/** The `at`-th value known of a kind, counted round. */
export class Recall {
  readonly kind: string;
  readonly at: number;
  constructor(kind: string, at: number) {
    this.kind = kind;
    this.at = at;
  }
}

/** JSON text that no value is written as. */
class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type SchemaOf = (schema: Json) => Json;

/** The first so many times as often as each of the others. */
export function usually<T>(
  weight: number,
  usual: fc.Arbitrary<T>,
  ...others: readonly fc.Arbitrary<T>[]
): fc.Arbitrary<T> {
  const rare = others.map((arbitrary) => ({ weight: 1, arbitrary }));
  return fc.oneof({ weight, arbitrary: usual }, ...rare);
}

/** `baseAssetId` is an asset, `payoutAddress` an address, `rfqs` are each an rfq. */
export function kindOf(name: string): string {
  const bare = name.length > 2 ? name.replace(/Id$/, '') : name;
  const word = /[A-Z]?[a-z]+$/.exec(bare)?.[0] ?? bare;
  return word.toLowerCase().replace(/(?<=[a-z]{2})s$/, '');
}

const texts = [
  '',
  ' ',
  '0',
  '-1',
  '00',
  '1e9',
  '0x',
  '0x0',
  'null',
  'true',
  'NaN',
  'a',
  'b',
  '.',
  '..',
  '\u2028',
  'é',
  '\u202e',
  '\ufeff',
  '\ufffd',
  '😀',
  'ﬀ',
  '\u0130',
  '\ud800',
  'x\udfff',
  '\0',
  '\r\n',
  'a\nNonce: 1',
  '%00',
  '%2e%2e',
  '../..',
  "'; drop table rfqs; --",
  '$1',
  '{{7*7}}',
  '9'.repeat(78),
  '9'.repeat(79),
  '1'.padEnd(5_000, '0'),
  'x'.repeat(300),
  'é'.repeat(9_000),
  'evm',
  'tron',
  'bitcoin',
  'solana',
  'mars',
  'hasOwnProperty',
  '__proto__',
  'constructor',
];
const numbers = [0, -0, -1, 1, 1.5, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e21, 1e308, 5e-324];
const raws = [
  '1e400',
  '-1e400',
  '1'.repeat(400),
  '-0',
  '1.0',
  '1E2',
  '"\\u0000"',
  '"\\ud800"',
  '"\\/"',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"a":1,"a":2}',
  '{"":0}',
  '['.repeat(65) + ']'.repeat(65),
  `${'{"a":'.repeat(63)}1${'}'.repeat(63)}`,
  '[[[[]]]]',
];

export const hostileText = fc.oneof(
  fc.constantFrom(...texts),
  fc.string({ unit: codePoint, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(...numbers, null, true, false, [], {}, [null], [[]]),
  fc.constantFrom(...raws).map((text) => new RawJson(text)),
  fc.jsonValue({ maxDepth: 3 }),
);

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((each) => Buffer.from(each).toString('hex'));

function recall(name: string): fc.Arbitrary<unknown> {
  const kind = kindOf(name);
  return fc.nat(200).map((at) => new Recall(kind, at));
}

/** Values that the schema allows, mostly; then those at its edges or beyond them. */
export function valueFor(schema: Json, name: string, of: SchemaOf): fc.Arbitrary<unknown> {
  const found = of(schema);
  const edge = edges(found, name, of);
  return usually<unknown>(8, allowed(found, name, of), edge, edge, hostile);
}

function allowed(schema: Json, name: string, of: SchemaOf): fc.Arbitrary<unknown> {
  const {
    anyOf,
    enum: listed,
    const: fixed,
  } = schema as { anyOf?: Json[]; enum?: unknown[] } & Json;
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((each) => valueFor(each, name, of)));
  if (listed !== undefined) return fc.constantFrom(...listed);
  if (fixed !== undefined) return fc.constant(fixed);
  switch (typeOf(schema)) {
    case 'object':
      return objectFor(schema, of);
    case 'array':
      return fc.array(valueFor((schema.items ?? {}) as Json, name, of), { maxLength: 3 });
    case 'integer':
      return wholeFor(schema);
    case 'number':
      return fc.oneof(wholeFor(schema), fc.double({ min: 0, max: 1_000, noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return textFor(schema, name);
    default:
      return hostile;
  }
}

function typeOf({ type }: Json): unknown {
  return Array.isArray(type) ? type[0] : type;
}

type Bounds = { minimum?: number; maximum?: number; minLength?: number; maxLength?: number };

function wholeFor(schema: Json): fc.Arbitrary<number> {
  const { minimum = 0, maximum = 1_000_000 } = schema as Bounds;
  return fc.integer({ min: minimum, max: maximum });
}

/** A pattern from which no text can be drawn. */
const looksAround = /\(\?(?!:)/;

/** A value seen under this name before, or new text of the right form. */
function textFor(schema: Json, name: string): fc.Arbitrary<unknown> {
  const { format, pattern } = schema as { format?: string; pattern?: string };
  const { minLength = 0, maxLength = 80 } = schema as Bounds;
  const fresh =
    format === 'uuid'
      ? fc.uuid()
      : pattern !== undefined && !looksAround.test(pattern)
        ? fc.stringMatching(new RegExp(pattern))
        : fc.oneof(
            hex(32),
            hex(33),
            hex(20).map((each) => `0x${each}`),
            hex(110),
            fc.string({ minLength, maxLength: Math.min(maxLength, 80) }),
          );
  return usually<unknown>(4, recall(name), fresh);
}

/** One step within and one beyond what the schema says. */
function edges(schema: Json, name: string, of: SchemaOf): fc.Arbitrary<unknown> {
  const { minimum, maximum, minLength, maxLength } = schema as Bounds;
  const long = (length: number) => 'a'.repeat(Math.max(0, length));
  const values: unknown[] = [];
  if (minimum !== undefined) values.push(minimum, minimum - 1, `${minimum}`);
  if (maximum !== undefined) values.push(maximum, maximum + 1, maximum + 0.5);
  if (minLength !== undefined) values.push(long(minLength - 1), long(minLength));
  if (maxLength !== undefined) values.push(long(maxLength), long(maxLength + 1));
  const right = allowed(schema, name, of);
  const bent = fc
    .tuple(right, fc.constantFrom('\n', '\0', ' ', '\ud800', '0'))
    .map(([value, more]) => (typeof value === 'string' ? `${value}${more}` : [value]));
  const choices = values.length === 0 ? bent : fc.constantFrom(...values);
  return fc.oneof(bent, choices);
}

function objectFor(schema: Json, of: SchemaOf): fc.Arbitrary<unknown> {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  const values = fields.map(([name, part]) => [name, valueFor(part, name, of)] as const);
  const requiredKeys = (schema.required ?? []) as string[];
  const whole = fc.record<Record<string, unknown>>(Object.fromEntries(values), { requiredKeys });
  const names = [...fields.map(([name]) => name), 'extra', '__proto__', 'toString', ''];
  const change = fc.tuple(whole, fc.constantFrom(...names), fc.option(hostile));
  /** One field with another value, or left out. */
  const changed = change.map(([value, name, other]) =>
    Object.fromEntries([
      ...Object.entries(value).filter(([each]) => each !== name),
      ...(other === null ? [] : [[name, other] as const]),
    ]),
  );
  return fc.oneof({ weight: 8, arbitrary: whole }, { weight: 2, arbitrary: changed });
}

/** JSON of a value, with what it recalls filled in. */
export function jsonOf(value: unknown, known: (recall: Recall) => string): string {
  if (value instanceof Recall) return JSON.stringify(known(value));
  if (value instanceof RawJson) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((each) => jsonOf(each, known)).join(',')}]`;
  const pairs = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}:${jsonOf(each, known)}`,
  );
  return `{${pairs.join()}}`;
}
