// Tools as they are listed. A client's model reads the list whole, so it has no keyword that says
// nothing to a model, and outputs stand in it to a depth alone. Answers have the rest.

import type { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Patterns and bounds are checked here, and a refusal names them. */
const unsaid = ['$schema', 'additionalProperties', 'pattern', 'maxLength'];

/** `depth`: how many objects are shown inside each other. */
function brief(schema: Json, depth: number): Json {
  const said = Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
    const isPart = name === 'properties' || name === 'items' || name === 'required';
    if (unsaid.includes(name) || (isPart && depth === 0)) return [];
    if (name === 'properties' && isObject(value)) return [[name, each(value, depth - 1)]];
    if (name === 'items' && isObject(value)) return [[name, brief(value, depth)]];
    // Not every model's host takes a list of types.
    if (name === 'type' && Array.isArray(value)) {
      return [['anyOf', value.map((type: string) => ({ type }))]];
    }
    if (name !== 'anyOf' || !Array.isArray(value)) return [[name, value]];
    return [[name, value.map((one: Json) => brief(one, depth))]];
  });
  return Object.fromEntries(said);
}

const each = (properties: Json, depth: number) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, brief(value as Json, depth)]),
  );

/**
 * An answer has all its fields, and a value that is named has its type. Inputs keep both: models
 * need to know what may be left out, and not every host takes a value without a type.
 */
function looser(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(looser);
  if (!isObject(schema)) return schema;
  const isNamed = 'enum' in schema || 'const' in schema;
  const parts = Object.entries(schema).filter(
    ([name, value]) =>
      !(isNamed && name === 'type') && !(name === 'required' && Array.isArray(value)),
  );
  return Object.fromEntries(parts.map(([name, value]) => [name, looser(value)]));
}

/** Every input is shown whole. */
const whole = 9;

type Spoken = { readonly jsonSchema: { input(of: object): Json; output(of: object): Json } };

/** For the library: lists the input in short, and leaves it to the tool to look. */
export function listedInput<T extends z.ZodObject>(input: T): T {
  const validate = (value: unknown) => ({ value });
  return withStandard(input, { validate }, (schema) => brief(schema, whole));
}

/** Lists the output to its depth; an answer is held against all of it. */
export function listedOutput<T extends z.ZodObject>(output: T, depth: number): T {
  return withStandard(output, {}, (schema) => looser(brief(schema, depth)) as Json);
}

function withStandard<T extends z.ZodObject>(
  schema: T,
  own: object,
  short: (schema: Json) => Json,
): T {
  const { jsonSchema } = schema['~standard'] as unknown as Spoken;
  const standard = {
    ...schema['~standard'],
    ...own,
    jsonSchema: {
      input: (of: object) => short(jsonSchema.input(of)),
      output: (of: object) => short(jsonSchema.output(of)),
    },
  };
  return { '~standard': standard } as unknown as T;
}
