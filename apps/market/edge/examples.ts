// Examples of the API description: those that the fields of a shape make together.

export type Json = Record<string, unknown>;

/** The examples of a shape that is one of several, one each. */
export function contentOf(schema: unknown, published: unknown): Json {
  const { anyOf = [] } = schema as { anyOf?: readonly Json[] };
  const isChoice = anyOf.length > 1 && anyOf.every((each) => 'x-name' in each);
  const examples = isChoice
    ? {
        examples: Object.fromEntries(
          anyOf.map((each) => [each['x-name'], { value: exampleOf(each) }]),
        ),
      }
    : { example: exampleOf(schema) };
  return { 'application/json': { schema: published, ...examples } };
}

/** Its own, or one of those of its parts. Throws where a part has none. */
export function exampleOf(schema: unknown): unknown {
  const { examples, anyOf, properties, items, ...rest } = schema as {
    readonly examples?: readonly unknown[];
    readonly anyOf?: readonly unknown[];
    readonly properties?: Json;
    readonly items?: unknown;
    readonly const?: unknown;
    readonly type?: string;
  };
  if (examples !== undefined) return examples[0];
  if ('const' in rest) return rest.const;
  if (anyOf !== undefined) return exampleOf(anyOf[0]);
  if (items !== undefined) return [exampleOf(items)];
  if (rest.type === 'null') return null;
  if (properties === undefined) throw new Error(`no example: ${JSON.stringify(schema)}`);
  return Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, exampleOf(part)]),
  );
}
