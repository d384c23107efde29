// A description as types of TypeScript: each component, the path, query, body and answer of each
// operation, and the frames of the feed. The result has no code that runs.

import type { AsyncApi, Content, OpenApi, Operation, Parameter } from './python/generate.ts';
import { mustBeKnown, type Schema } from './python/generate.ts';

/** The form of an optional field beside its type: `undefined` where a request takes it. */
type Way = 'answer' | 'request';

/** Components that `core` computes with, and the modules that have them. */
const inCore: Readonly<Record<string, string>> = {
  ChainPolicy: 'policy',
  Deadlines: 'deadlines',
  Rules: 'rules',
  Step: 'next',
};
/** The nominal types of fields of 32 bytes. */
const nominal: Readonly<Record<string, string>> = { hashlock: 'Hashlock', secret: 'Secret' };
const bytes32 = '[0-9a-f]{64}$';
/** Second names of fields beside them are for clients of other markets. */
const isAlias = ({ description = '' }: Schema) => description.startsWith('alias: ');

const imports: Readonly<Record<string, string>> = {
  Hashlock: 'hashlock',
  Secret: 'hashlock',
  UnixSeconds: 'nominal',
  ...inCore,
};

type Beside = {
  /** The way to `packages/core/` from the module. */
  readonly core: string;
  readonly feed?: AsyncApi;
};

/** The types of a description of HTTP, and of a feed's frames beside it. */
export function typescriptOf({ paths, components }: OpenApi, { core, feed }: Beside): string {
  const schemas = { ...feed?.components.schemas, ...components.schemas };
  const types = Object.entries(schemas)
    .filter(([name]) => !(name in inCore))
    .map(([name, schema]) => {
      const way = schema.additionalProperties === false ? 'request' : 'answer';
      return `${said(schema, '')}export type ${name} = ${typeOf(schema, { name, way, indent: '' })};`;
    });
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationOf(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  const all = [
    ...types,
    ...(feed === undefined ? [] : [framesOf(feed)]),
    `/** By method and path. */\nexport type Operations = {\n${operations.join('\n')}\n};\n`,
  ].join('\n\n');
  const used = Object.entries(imports).filter(([name]) => new RegExp(`\\b${name}\\b`).test(all));
  const head = used.map(([name, module]) => `import type { ${name} } from '${core}/${module}.ts';`);
  const by =
    '// Written by scripts/generate.ts from the descriptions in docs/: not edited by hand.';
  return [by, head.join('\n'), all].filter(Boolean).join('\n\n');
}

function framesOf({ operations, components }: AsyncApi): string {
  const sent = Object.values(operations).filter(({ action }) => action === 'send');
  const names = sent.flatMap(({ messages }) =>
    messages.map(({ $ref }) => {
      const payload = components.messages[$ref.replace(/.*\//, '')]?.payload ?? {};
      return typeOf(payload, { name: 'Frame', way: 'answer', indent: '' });
    }),
  );
  return `/** A frame of the market, by its \`type\`. */\nexport type Frame = ${names.join(' | ')};`;
}

type Place = { readonly name: string; readonly way: Way; readonly indent: string };

function typeOf(schema: Schema, place: Place): string {
  const { name, way } = place;
  mustBeKnown(schema, name);
  if (schema.$ref !== undefined) return schema.$ref.replace(/.*\//, '');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((each) => typeOf(each, place)).join(' | ');
  }
  switch (schema.type) {
    case 'string':
      return schema.pattern?.endsWith(bytes32) ? (nominal[name] ?? 'string') : 'string';
    case 'integer':
      return /^Unix seconds\b/.test(schema.description ?? '') ? 'UnixSeconds' : 'number';
    case 'number':
      return 'number';
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array': {
      const item = typeOf(schema.items ?? {}, place);
      const whole = item.includes(' | ') && !item.startsWith('{') ? `(${item})` : item;
      return `${way === 'request' ? 'readonly ' : ''}${whole}[]`;
    }
    case 'object':
      return objectOf(schema, place);
    default:
      throw new Error(`${name}: no type for ${JSON.stringify(schema).slice(0, 200)}`);
  }
}

const literal = (value: string | boolean) => JSON.stringify(value);

function objectOf(schema: Schema, { name, way, indent }: Place): string {
  const { properties, required = [], additionalProperties: rest } = schema;
  if (typeof rest === 'object') {
    return `Record<string, ${typeOf(rest, { name, way, indent })}>`;
  }
  if (properties === undefined) throw new Error(`${name}: an object without fields`);
  const fields = Object.entries(properties)
    .filter(([, field]) => way === 'request' || !isAlias(field))
    .map(([each, field]) => {
      const isNeeded = required.includes(each);
      return fieldOf(field, { name: each, way, indent: `${indent}  ` }, isNeeded);
    });
  return `{\n${fields.join('\n')}\n${indent}}`;
}

function fieldOf(schema: Schema, place: Place, isNeeded: boolean): string {
  const { name, way, indent } = place;
  const mark = isNeeded ? '' : '?';
  const head = `${said(schema, indent)}${indent}${name}${mark}: `;
  if (isNeeded || way === 'answer') return `${head}${typeOf(schema, place)};`;
  // A request may say null for a field that it leaves out: `undefined` is enough.
  const { anyOf, ...rest } = schema;
  const given = anyOf?.filter(({ type }) => type !== 'null');
  const type = typeOf(given === undefined ? rest : { ...rest, anyOf: given }, place);
  return `${head}${type} | undefined;`;
}

/** The description of a schema as a comment, with the line's end. */
function said({ description }: Schema, indent: string): string {
  return description === undefined
    ? ''
    : `${indent}/** ${description.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */\n`;
}

function operationOf(name: string, { parameters = [], requestBody, responses }: Operation): string {
  const inside = (place: Parameter['in']): string[] => {
    const all = parameters.filter((each) => each.in === place);
    if (all.length === 0) return [];
    const fields = all.map(({ name: each, schema, required = false, description }) => {
      const described = description === undefined ? schema : { ...schema, description };
      return fieldOf(described, { name: each, way: 'request', indent: '      ' }, required);
    });
    const mark = all.some(({ required }) => required) ? '' : '?';
    return [`    ${place}${mark}: {\n${fields.join('\n')}\n    };`];
  };
  const typed = (content: Content | undefined, way: Way) => {
    const schema = content?.['application/json']?.schema;
    return schema === undefined ? 'undefined' : typeOf(schema, { name, way, indent: '    ' });
  };
  const bodyMark = requestBody?.required === true ? '' : '?';
  const body = requestBody === undefined ? [] : [typed(requestBody.content, 'request')];
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => typed(content, 'answer'));
  return [
    `  ${JSON.stringify(name)}: {`,
    ...inside('path'),
    ...inside('query'),
    ...body.map((type) => `    body${bodyMark}: ${type};`),
    `    answer: ${[...new Set(answers)].join(' | ') || 'undefined'};`,
    '  };',
  ].join('\n');
}
