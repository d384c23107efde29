// The parts of schemas. A field takes one line: its meaning, and a real example. The description of
// the API is made of the same schemas that check requests.

import { pageLimit } from '@parley/core/limits.ts';
import Type, {
  type TObject,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TStringOptions,
} from 'typebox';

export const optional = Type.Optional;

export function text(description: string, example: string, more: TStringOptions = {}) {
  return Type.String({ ...more, description, examples: [example] });
}

/** At least one character, and at most so many. */
export function bounded(description: string, example: string, maxLength: number) {
  return text(description, example, { minLength: 1, maxLength });
}

export function int(description: string, example: number, more: TSchemaOptions = {}) {
  return Type.Integer({ ...more, description, examples: [example] });
}

export function decimal(description: string, example: number, more: TSchemaOptions = {}) {
  return Type.Number({ ...more, description, examples: [example] });
}

export function flag(description: string, example: boolean) {
  return Type.Boolean({ description, examples: [example] });
}

export function list<S extends TSchema>(description: string, items: S, more: TSchemaOptions = {}) {
  return Type.Array(items, { ...more, description });
}

/** One of these texts. */
export function oneOf<const V extends readonly string[]>(
  values: V,
  description: string,
  example: V[number] = values[0] as string,
) {
  return Type.Unsafe<V[number]>({
    type: 'string',
    enum: values,
    description,
    examples: [example],
  });
}

/** The same, or null. Says what the schema says, unless told otherwise. */
export function nullable<S extends TSchema>(schema: S, description?: string) {
  const { description: own, examples } = schema as { description?: string; examples?: unknown[] };
  const said = description ?? own;
  return Type.Union([schema, Type.Null()], {
    ...(said === undefined ? {} : { description: said }),
    ...(examples === undefined ? {} : { examples }),
  });
}

/** The same schema, said of this place. */
export function as<S extends TSchema>(schema: S, description: string, example?: unknown): S {
  return { ...schema, description, ...(example === undefined ? {} : { examples: [example] }) };
}

/**
 * The description is narrower than the check: a refusal of its own meets what is outside, or a
 * market that is older has it.
 */
export function told<S extends TSchema>(schema: S, more: TSchemaOptions): S {
  return { ...schema, 'x-published': more };
}

/** The text that is its example. */
export function exampleIn(schema: TSchema): string {
  return (schema as { examples?: readonly string[] }).examples?.[0] ?? '';
}

/** Gives a schema its name in the API description (`#/components/schemas/<name>`). */
export function named<S extends TSchema>(name: string, schema: S): S {
  return { ...schema, 'x-name': name };
}

/** An object inside another one. */
export function group<P extends TProperties>(description: string, fields: P): TObject<P> {
  return Type.Object(fields, { description });
}

/** An object that is answered: a component of the description. */
export function model<P extends TProperties>(name: string, description: string, fields: P) {
  return named(name, group(description, fields));
}

/** An object that is taken: a field that it does not name is refused. */
export function input<P extends TProperties>(fields: P, description?: string): TObject<P> {
  return Type.Object(taken(fields), {
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
  });
}

/** Marks a choice in which null stands for a field that is left out. */
const leftOut = Symbol('null is left out');

/**
 * Fields that are taken. An optional one may be null as well, which says no more than its absence
 * (decision 0044 in docs/decisions/README.md). Where null has a meaning it keeps it.
 */
export function taken<P extends TProperties>(fields: P): P {
  const each = Object.entries(fields).map(([name, field]) => {
    if (!Type.IsOptional(field) || takesNull(field)) return [name, field];
    const { description = '', examples, ...rest }: Said = field;
    const isSaidOnce = 'x-name' in rest || examples === undefined;
    const inside: TSchema = isSaidOnce ? field : rest;
    const said = { description, ...(examples === undefined ? {} : { examples }) };
    const choice = { ...Type.Union([inside, Type.Null()], said), [leftOut]: true };
    return [name, Type.Optional(choice)];
  });
  return Object.fromEntries(each) as P;
}

function takesNull(schema: TSchema): boolean {
  const { type, anyOf = [] } = schema as Composed;
  return type === 'null' || anyOf.some(takesNull);
}

/** The part that fits the schema, without the nulls that stand for fields left out. */
export function withoutNulls(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { anyOf, items, properties } = schema as Composed;
  if (anyOf !== undefined) {
    return anyOf.reduce<unknown>((left, each) => withoutNulls(each, left), value);
  }
  if (Array.isArray(value)) return items ? value.map((each) => withoutNulls(items, each)) : value;
  if (properties === undefined) return value;
  const fields: [string, unknown][] = [];
  let isWhole = true;
  for (const [name, each] of Object.entries(value)) {
    const field = Object.hasOwn(properties, name) ? properties[name]! : {};
    const fits = withoutNulls(field, each);
    const isLeftOut = each === null && Object.hasOwn(field, leftOut);
    if (isLeftOut || fits !== each) isWhole = false;
    if (!isLeftOut) fields.push([name, fits]);
  }
  return isWhole ? value : Object.fromEntries(fields);
}

type Said = TSchema & { readonly description?: string; readonly examples?: readonly unknown[] };
type Composed = {
  readonly type?: unknown;
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
};

/** A request's body, as a component. */
export function form<P extends TProperties>(name: string, description: string, fields: P) {
  return named(name, input(fields, description));
}

export const examples = {
  evm: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
  tron: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  solana: 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg',
  bitcoin: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  pubkey: '02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5',
  usdc: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  contract: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f',
  escrowId: '0x9f1c4d2ab07e63d85f20c9a1746be83d5a0c2f9e81b7d4360e5fa92c7b183e0b',
  txid: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  secret: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
  hashlock: '630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd',
  nonce: '5f3c9a1e8b7d42f60c1d9e8a7b6c5d4e',
  instant: '2026-03-14T09:26:53.589Z',
  evmSignature: `0x${'1b8f3c5d'.repeat(16)}1c`,
} as const;

/** A UUID that says whose. */
export function id(description: string, example: string) {
  return text(description, example, { format: 'uuid' });
}
export const accountId = id('UUID of the account', '01936b1e-7c40-7a31-8c5e-3f1d2b6a9e04');
export const assetId = id('UUID of the asset', '01936b1e-8a11-7c02-9d4f-51a7c0e3b862');
/** The two assets of a trade. */
export const pair = {
  baseAssetId: as(assetId, 'UUID of the base asset'),
  quoteAssetId: as(assetId, 'UUID of the quote asset', '01936b1e-8a12-7d47-b1e0-6f38a9c5d204'),
};
export const rfqId = id('UUID of the RFQ', '01936b20-12f3-7b8e-a6d0-94c1e7f2035a');
export const threadId = id('UUID of the thread', '01936b21-5d04-7e19-8f3b-2c6a0d9b7e41');
export const swapId = id('UUID of the swap', '01936b22-e9a5-7d20-b71c-8e4f5a3c1d96');
export const keyId = id('UUID of the key', '01936b1f-03c6-7f44-93ae-6b0d7e2c8f15');
export const webhookId = id('UUID of the webhook', '01936b23-61b7-7a95-8c2d-d05e9f4a7b38');
export const deliveryId = id('UUID of the delivery', '01936b24-4fe8-7c6a-a914-7d3b0c8e5f29');

/** For a path: an id that is not a UUID names nothing, and so is 404. An empty one is no path. */
export function idParams(of: TSchema) {
  const { description = '' } = of as { description?: string };
  return Type.Object({ id: text(description, exampleIn(of), { minLength: 1 }) });
}

export function instant(description: string) {
  return text(`${description}: RFC 3339, UTC, milliseconds`, examples.instant, {
    format: 'date-time',
  });
}

export function unixSeconds(description: string, example = 1_773_480_413) {
  return int(`Unix seconds: ${description}`, example);
}

export const amountPattern = '^[1-9][0-9]{0,77}$';
/** Base units as a canonical integer string, 1 to 2^256-1; packages/core/amounts.ts does the upper bound. */
export const amount = text('base units, an integer from 1 to 2^256-1 as a string', '100000', {
  pattern: amountPattern,
});

/** 32 bytes as the server writes them. */
export const hex32 = text('32 bytes, hex', examples.hashlock, { pattern: '^[0-9a-f]{64}$' });
export const hex32Pattern = '^(0x)?[0-9a-fA-F]{64}$';
/** 32 bytes as the server takes them: `0x` and capitals are accepted, never produced. */
export const hex32Input = as({ ...hex32, pattern: hex32Pattern }, '32 bytes, hex');

export const chainKey = text('chain key, such as `bitcoin`', 'ethereum');
export const txid = text('transaction id, as its chain writes it', examples.txid);
export const escrow = text(
  'the escrow: its address, or `<contract>:<id>`',
  `${examples.contract}:${examples.escrowId}`,
);
export const sentence = text('one plain sentence', 'the amount must be a positive integer');

/** The query of a list: its filters, and `limit` and `cursor`. */
export function pageQuery<P extends TProperties>(
  filters: P,
  otherwise: number = pageLimit.otherwise,
) {
  const { least: minimum, most: maximum } = pageLimit;
  return Type.Object({
    ...filters,
    limit: optional(int('how many at most', 50, { minimum, maximum, default: otherwise })),
    cursor: optional(text('`nextCursor` of the page before', cursorExample, { maxLength: 1_024 })),
  });
}

const cursorExample = 'q0Yy2l0m1mXnVb7p1w6cT1siMDE5MzZiMjAtMTJmMyJd';
export const nextCursor = nullable(
  text('what the next page is asked for with; null on the last page', cursorExample),
);

/** A page of a list, under the name of what is in it. */
export function page(name: string, description: string, field: string, items: TSchema) {
  return model(name, description, {
    [field]: list(`the ${field} of this page`, items),
    nextCursor,
  });
}

export const errorBody = model('Error', 'A refusal; its code is in the header.', {
  error: sentence,
});
