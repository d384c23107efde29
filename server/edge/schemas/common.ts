// Schemas that every route shares. `named` makes a component of the API description; `input` closes
// an object, so that an unknown field is refused.

import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** Gives a schema its name in the API description (`#/components/schemas/<name>`). */
export function named<S extends TSchema>(name: string, schema: S): S {
  return { ...schema, 'x-name': name };
}

/** An object as a request body: a field that it does not name is refused. */
export function input<P extends TProperties>(fields: P): TObject<P> {
  return Type.Object(fields, { additionalProperties: false });
}

/** The same, or null. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** One of these texts. */
export function oneOf<const V extends readonly string[]>(values: V, description?: string) {
  return Type.Unsafe<V[number]>({
    type: 'string',
    enum: values,
    ...(description === undefined ? {} : { description }),
  });
}

export const uuid = Type.String({ format: 'uuid' });
/** For a path: an id that is not a UUID names nothing, and so is 404. */
export const idParams = Type.Object({ id: Type.String({ description: 'UUID' }) });
export const dateTime = Type.String({
  format: 'date-time',
  description: 'RFC 3339, UTC, milliseconds',
});
export const unixSeconds = Type.Integer({ description: 'Unix seconds' });
export const amountPattern = '^[1-9][0-9]{0,77}$';
/** Base units as a canonical integer string, 1 to 2^256-1; core/amounts.ts does the upper bound. */
export const amount = Type.String({
  pattern: amountPattern,
  description: 'base units, an integer from 1 to 2^256-1 as a string',
  examples: ['100000'],
});
/** 32 bytes as the server writes them. */
export const hex32 = Type.String({ pattern: '^[0-9a-f]{64}$', description: '32 bytes, hex' });
export const hex32Pattern = '^(0x)?[0-9a-fA-F]{64}$';
/** 32 bytes as the server takes them: `0x` and capitals are accepted, never produced. */
export const hex32Input = Type.String({
  pattern: hex32Pattern,
  description: '32 bytes, hex',
});

export const pageLimit = { least: 1, most: 100, otherwise: 20 } as const;

/** The query of a list: its filters, and `limit` and `cursor`. */
export function pageQuery<P extends TProperties>(
  filters: P,
  otherwise: number = pageLimit.otherwise,
) {
  return Type.Object({
    ...filters,
    limit: Type.Optional(
      Type.Integer({ minimum: pageLimit.least, maximum: pageLimit.most, default: otherwise }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 1_024, description: 'nextCursor of the page before' }),
    ),
  });
}

export const nextCursor = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'null on the last page',
});

export const errorBody = named(
  'Error',
  Type.Object({ error: Type.String({ description: 'one plain sentence' }) }),
);
