// The generated modules of the Python package: models and operations of docs/openapi.json, frames
// of docs/asyncapi.json, and lists of core/.

import { feedTopics } from '@parley/core/events.ts';
import { families } from '@parley/core/families.ts';
import { graceSeconds, pageLimit } from '@parley/core/limits.ts';
import { scopes } from '@parley/core/scopes.ts';
import { directions, legNames, parties, roles } from '@parley/core/trade.ts';

export type Parameter = {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
};
export type Content = { readonly 'application/json'?: { readonly schema: Schema } };
export type Operation = {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
export type AsyncApi = {
  readonly operations: Readonly<Record<string, { action: string; messages: { $ref: string }[] }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly messages: Readonly<Record<string, { readonly payload: Schema }>>;
  };
};

const methods = ['get', 'post', 'put', 'delete'] as const;
/** Their nonce is good once, so a second try could not succeed. */
const once: readonly string[] = ['mintKey'];
const by = (path: string) =>
  `Written from ${path} by scripts/generate.ts of the repository: not edited by hand.`;

/** By their path in the repository. */
export function pythonFiles(openapi: OpenApi, asyncapi: AsyncApi): Record<string, string> {
  const models = createModels(openapi.components.schemas);
  for (const name of Object.keys(openapi.components.schemas)) models.component(name);
  const operations = operationsOf(openapi, models);
  const events = Object.values(openapi.webhooks ?? {}).map(({ post }) =>
    models.typeOf(bodyOf(post) ?? {}, 'Event', 'answer'),
  );
  const folder = 'python/src/parley';
  return {
    [`${folder}/_lists.py`]: listsModule(),
    [`${folder}/models.py`]: modelsModule(models, events),
    [`${folder}/_operations.py`]: operations,
    [`${folder}/frames.py`]: framesModule(asyncapi, models),
  };
}

const imports = [
  'from typing import Annotated, Literal, TypeAlias',
  '',
  'from pydantic import Field',
  '',
];

function modelsModule(models: Models, events: readonly string[]): string {
  return [
    '"""What the market answers and is asked, as docs/openapi.json has it.',
    '',
    'Amounts are `int` in base units, times are aware `datetime`, ids are `str`. A field that a',
    'newer market adds is left out. A word that it adds to a list comes through, so end a `match`',
    'with `_`.',
    '',
    by('docs/openapi.json'),
    '"""',
    '',
    ...imports,
    'from ._model import Amount, Answer, AnyWord, Body, OpenAnswer, Time',
    '',
    '',
    models.text.join('\n\n\n'),
    '',
    '',
    ...unionOf('WebhookEvent', events, 'A delivery of a webhook, by its `type`.'),
  ].join('\n');
}

const lists = {
  Direction: directions,
  EventName: feedTopics,
  Family: families,
  LegName: legNames,
  Party: parties,
  Role: roles,
  Scope: scopes,
};
const numbers = {
  LEAST_GRACE_SECONDS: graceSeconds.least,
  MOST_GRACE_SECONDS: graceSeconds.most,
  MOST_PAGE: pageLimit.most,
};

function listsModule(): string {
  return [
    '"""Names and limits that the market, its clients and its pages share.',
    '',
    by('packages/core/'),
    '"""',
    '',
    'from typing import Literal, TypeAlias',
    '',
    ...Object.entries(lists).map(
      ([name, words]) => `${name}: TypeAlias = Literal[${words.map(quoted).join(', ')}]`,
    ),
    '',
    ...Object.entries(numbers).map(([name, value]) => `${name} = ${value}`),
    '',
  ].join('\n');
}

function unionOf(name: string, types: readonly string[], said: string): string[] {
  const union = `    ${types.join('\n    | ')}`;
  return [`${name}: TypeAlias = (`, union, ')', `"""${said}"""`, ''];
}

function framesModule({ operations, components }: AsyncApi, models: Models): string {
  const shared = Object.keys(components.schemas).filter((name) => models.has(name));
  const seen = Object.fromEntries(shared.map((name) => [name, `m.${name}`]));
  const frames = createModels(components.schemas, seen);
  const sent = Object.values(operations).filter(({ action }) => action === 'send');
  const types = sent.flatMap(({ messages }) =>
    messages.map(({ $ref }) => {
      const message = components.messages[$ref.replace(/.*\//, '')];
      return frames.typeOf(message?.payload ?? {}, 'Frame', 'answer');
    }),
  );
  return [
    '"""What the maker feed sends, as docs/asyncapi.json has it.',
    '',
    by('docs/asyncapi.json'),
    '"""',
    '',
    ...imports,
    'from . import models as m',
    'from ._model import Amount, Answer, AnyWord, Time',
    '',
    '',
    frames.text.join('\n\n\n'),
    '',
    '',
    ...unionOf('Frame', types, 'A frame, by its `type`.'),
  ].join('\n');
}

function operationsOf(openapi: OpenApi, models: Models): string {
  const unions = new Map<string, string>();
  const texts = Object.entries(openapi.paths).flatMap(([path, of]) =>
    methods.flatMap((method) => {
      const operation = of[method];
      return operation === undefined ? [] : [methodOf({ path, method, operation, models, unions })];
    }),
  );
  return [
    '"""A method for each operation of docs/openapi.json.',
    '',
    by('docs/openapi.json'),
    '"""',
    '',
    'from typing import Literal',
    '',
    'from pydantic import TypeAdapter',
    '',
    'from . import models as m',
    'from ._http import Caller',
    '',
    ...[...unions].map(([type, name]) => `${name}: TypeAdapter[${type}] = TypeAdapter(${type})`),
    '',
    '',
    'class Operations(Caller):',
    '    """Each raises `ParleyApiError` where the market refuses: codes in docs/errors.md."""',
    '',
    texts.join('\n\n'),
    '',
  ].join('\n');
}

type Argument = {
  readonly name: string;
  readonly type: string;
  readonly isNeeded: boolean;
  readonly said: string | undefined;
};
type Told = {
  readonly path: string;
  readonly method: (typeof methods)[number];
  readonly operation: Operation;
  readonly models: Models;
  /** The types that are no class, and the names of their adapters. */
  readonly unions: Map<string, string>;
};

const bodyOf = (operation: Operation) => operation.requestBody?.content['application/json']?.schema;

function methodOf({ path, method, operation, models, unions }: Told): string {
  const { operationId, parameters = [] } = operation;
  const isCommand = method !== 'get';
  const of = (place: Parameter['in']) =>
    parameters
      .filter((each) => each.in === place)
      .map(({ name, schema, required = false, description }) => {
        const type = qualified(models.typeOf(schema, `${operationId}_${name}`, 'request'), models);
        return { name, type, isNeeded: required, said: description };
      });
  const inPath = of('path');
  const inQuery = of('query');
  const body = bodyOf(operation);
  const model = body && models.typeOf(body, `${pascal(operationId)}Body`, 'request');
  const inBody = body === undefined ? [] : fieldsOf(body, models);
  const named = [...inQuery, ...inBody].sort((a, b) => Number(b.isNeeded) - Number(a.isNeeded));
  const key = { name: 'idempotencyKey', type: 'str', isNeeded: false, said: undefined };
  const all: Argument[] = isCommand ? [...named, key] : named;
  const answer = answerOf(operation, models);
  const adapter = models.isUnion(answer) ? adapterOf(answer, operationId, unions) : answer;
  const sends = [
    `${quoted(method.toUpperCase())},`,
    `${pathOf(path)},`,
    `${adapter},`,
    ...listed('query={', '}', inQuery, ({ name }) => `${quoted(name)}: ${snake(name)},`),
    ...listed(`body=m.${model}(`, ')', inBody, ({ name }) => `${snake(name)}=${snake(name)},`),
    ...(isCommand ? ['idempotency_key=idempotency_key,'] : []),
    ...(operation.security?.length === 0 ? ['needs_key=False,'] : []),
    ...(once.includes(operationId) ? ['once=True,'] : []),
  ];
  return [
    `    async def ${snake(operationId)}(`,
    '        self,',
    ...inPath.map(({ name, type }) => `        ${snake(name)}: ${type},`),
    ...(all.length === 0 ? [] : ['        *,']),
    ...all.map(({ name, type, isNeeded }) => {
      const whole = isNeeded ? type : `${type.replace(/ \| None$/, '')} | None = None`;
      return `        ${snake(name)}: ${whole},`;
    }),
    `    ) -> ${answer}:`,
    ...docstring(saidOf(operation, [...inPath, ...all]), '        '),
    '        return await self._call(',
    ...sends.map((line) => `            ${line}`),
    '        )',
  ].join('\n');
}

function listed<T>(open: string, close: string, list: readonly T[], line: (each: T) => string) {
  if (list.length === 0) return [];
  return [open, ...list.map((each) => `    ${line(each)}`), `${close},`];
}

/** Models are seen as `m.Name` outside their module. */
function qualified(type: string, models: Models): string {
  return type
    .replaceAll(/"[^"]*"|\b[A-Z]\w*/g, (word) => (models.has(word) ? `m.${word}` : word))
    .replaceAll(/\bAmount\b/g, 'int');
}

function fieldsOf(body: Schema, models: Models): Argument[] {
  const { name, schema } = models.modelOf(body);
  return Object.entries(schema.properties ?? {}).map(([each, of]) => ({
    name: each,
    type: qualified(models.typeOfField(each, of, name, 'request'), models),
    isNeeded: schema.required?.includes(each) === true,
    said: of.description,
  }));
}

function answerOf({ responses }: Operation, models: Models): string {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => content?.['application/json']?.schema)
    .map((schema) => (schema === undefined ? 'None' : models.typeOf(schema, 'Reply', 'answer')));
  return qualified([...new Set(types)].join(' | '), models);
}

function adapterOf(answer: string, operationId: string, unions: Map<string, string>): string {
  const name = unions.get(answer) ?? `_${snake(operationId).toUpperCase()}`;
  unions.set(answer, name);
  return name;
}

function pathOf(path: string): string {
  const inner = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => `{self._segment(${snake(name)})}`,
  );
  return inner === path ? quoted(path) : `f${quoted(inner)}`;
}

function saidOf({ summary = '', description = '' }: Operation, all: readonly Argument[]): string {
  const said = description === '' ? `${summary}.` : description;
  const lines = all.flatMap(({ name, said: of }) =>
    of === undefined ? [] : [`${snake(name)}: ${of.replaceAll(/\s+/g, ' ')}`],
  );
  return [said, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n');
}

// JSON Schema, as our API descriptions have it, as types and pydantic models of Python. The reader
// refuses a part it does not know, so that no field is ever left out without a word.

export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
};

/** The contents of an answer, or of a request: an open list of words, or a closed one. */
export type Way = 'answer' | 'request';

export type Models = ReturnType<typeof createModels>;

const columns = 96;
const decimal = /^\^\(?(?:0\|)?\[1-9\]\[0-9\]/;
/** Amounts whose answer says no pattern. */
const amountName = /(?:Amount|Sats|Lamports)$/;
/** The fields that a log must not show by accident. */
const hidden = new Set(['key', 'secret', 'preimageHex']);
const reserved = new Set([
  'from',
  'in',
  'is',
  'class',
  'def',
  'not',
  'or',
  'and',
  'global',
  'pass',
]);

export function snake(name: string): string {
  const text = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9_]/g, '_')
    .toLowerCase();
  return reserved.has(text) ? `${text}_` : text;
}

/** As pydantic's generator of aliases does it. */
const camelOf = (name: string) =>
  name.replace(/_$/, '').replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const pascal = (name: string) => name.replace(/^./, (first) => first.toUpperCase());
const singular = (name: string) => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

export const quoted = (text: string) => JSON.stringify(text);

/** Words in lines, indented, between the quotes of a docstring. */
export function docstring(text: string, indent: string): string[] {
  const lines: string[] = [];
  for (const paragraph of text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && indent.length + line.length + word.length + 4 > columns) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  const [first = '', ...rest] = lines;
  // A quote at the end would end it.
  const closes = (line: string) => (line.endsWith('"') ? `${line} ` : line);
  if (rest.length === 0) return [`${indent}"""${closes(first)}"""`];
  return [
    `${indent}"""${first}`,
    ...rest.map((line) => (line === '' ? '' : `${indent}${line}`)),
    `${indent}"""`,
  ];
}

const known = new Set([
  '$ref',
  'type',
  'description',
  'enum',
  'const',
  'format',
  'pattern',
  'anyOf',
  'items',
  'properties',
  'required',
  'additionalProperties',
  // Told by the description, and checked by the market.
  'examples',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'default',
  'x-wanted',
  'uniqueItems',
]);

export function mustBeKnown(schema: Schema, name: string): void {
  const strange = Object.keys(schema).filter((each) => !known.has(each));
  if (strange.length > 0) throw new Error(`${name}: no type for ${strange.join(', ')}`);
}

const word = (each: string | boolean) =>
  typeof each === 'string' ? quoted(each) : pascal(String(each));
const literal = (words: readonly (string | boolean)[]) => `Literal[${words.map(word).join(', ')}]`;

/** `imported`: components that another module has, by the name under which it is seen. */
export function createModels(
  components: Readonly<Record<string, Schema>>,
  imported: Readonly<Record<string, string>> = {},
) {
  /** All that was written, in an order in which Python can read it. */
  const text: string[] = [];
  const aliases = new Set<string>();
  const taken = new Map<string, Schema>();

  const claim = (name: string, schema: Schema): boolean => {
    const other = taken.get(name);
    if (other === schema) return false;
    if (other !== undefined) throw new Error(`two models are called ${name}`);
    taken.set(name, schema);
    return true;
  };

  /** The type of a component, which is written now where it was not yet. */
  const component = (name: string): string => {
    const elsewhere = imported[name];
    if (elsewhere !== undefined) return elsewhere;
    const schema = components[name];
    if (schema === undefined) throw new Error(`there is no component ${name}`);
    if (!claim(name, schema)) return name;
    if (schema.properties !== undefined) writeModel(name, schema);
    else writeAlias(name, schema);
    return name;
  };

  const writeAlias = (name: string, schema: Schema) => {
    const type = typeOf(schema, `${name}Item`, 'answer');
    const said = schema.description === undefined ? [] : docstring(schema.description, '');
    aliases.add(name);
    text.push([`${name}: TypeAlias = ${broken(type, '')}`, ...said].join('\n'));
  };

  const writeModel = (name: string, schema: Schema) => {
    const isRequest = schema.additionalProperties === false;
    const fields = Object.entries(schema.properties ?? {}).flatMap(([each, of]) => {
      const way = isRequest ? 'request' : 'answer';
      const isNeeded = schema.required?.includes(each) === true;
      return field({ name: each, of, type: typeOfField(each, of, name, way), isNeeded });
    });
    const base = isRequest
      ? 'Body'
      : schema.additionalProperties === true
        ? 'OpenAnswer'
        : 'Answer';
    const said = docstring(schema.description ?? `Of ${name}.`, '    ');
    text.push([`class ${name}(${base}):`, ...said, '', ...fields].join('\n'));
  };

  /** The type of a field of the model `owner`. */
  const typeOfField = (name: string, schema: Schema, owner: string, way: Way): string => {
    const own = schema.items === undefined ? name : singular(name);
    const type = typeOf(schema, `${owner}${pascal(camelOf(own))}`, way);
    return amountName.test(name) ? type.replace(/\bstr\b/, 'Amount') : type;
  };

  /** The type of a value. A model that has no name of its own gets `name`. */
  const typeOf = (schema: Schema, name: string, way: Way): string => {
    mustBeKnown(schema, name);
    if (schema.$ref !== undefined) return component(schema.$ref.replace(/.*\//, ''));
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.anyOf !== undefined) {
      const of = schema.anyOf.map((each) => typeOf(each, name, way));
      return [
        ...of.filter((each) => each !== 'None'),
        ...of.filter((each) => each === 'None'),
      ].join(' | ');
    }
    if (schema.enum !== undefined) {
      // The fields that tell the members of a union apart.
      const isSure = way === 'request' || /(?:Event|Frame)Type$/.test(name);
      const words = literal(schema.enum);
      return isSure ? words : `Annotated[${words}, AnyWord]`;
    }
    switch (schema.type) {
      case 'string':
        if (schema.format === 'date-time') return 'Time';
        return decimal.test(schema.pattern ?? '') ? 'Amount' : 'str';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'array':
        return `list[${typeOf(schema.items ?? {}, name, way)}]`;
      case 'object':
        return object(schema, name, way);
      default:
        throw new Error(`${name}: no type for ${JSON.stringify(schema).slice(0, 200)}`);
    }
  };

  const object = (schema: Schema, name: string, way: Way): string => {
    const rest = schema.additionalProperties;
    const of = typeof rest === 'object' ? rest : undefined;
    if (of === undefined && schema.properties === undefined) {
      throw new Error(`${name}: an object without fields`);
    }
    if (of !== undefined) return `dict[str, ${typeOf(of, singular(name), way)}]`;
    if (claim(name, schema)) writeModel(name, schema);
    return name;
  };

  /** The model of a body. */
  const modelOf = (body: Schema) => {
    const name = [...taken].find(([each, of]) => of === body || body.$ref?.endsWith(`/${each}`));
    if (name === undefined) throw new Error('a body that is no model');
    return { name: name[0], schema: name[1] };
  };
  /** Whether a type, as another module sees it, is no class: it wants an adapter. */
  const isUnion = (type: string) => type.includes(' | ') || aliases.has(type.replace('m.', ''));

  const has = (name: string) => taken.has(name);
  return { typeOf, typeOfField, component, modelOf, isUnion, has, text };
}

type Field = {
  readonly name: string;
  readonly of: Schema;
  readonly type: string;
  readonly isNeeded: boolean;
};

function field({ name, of, type, isNeeded }: Field): string[] {
  const own = snake(name);
  const isAlike = camelOf(own) === name && !own.endsWith('_');
  const given = [
    ...(isNeeded ? [] : ['default=None']),
    ...(isAlike
      ? []
      : ['validation_alias', 'serialization_alias'].map((to) => `${to}=${quoted(name)}`)),
    ...(hidden.has(name) ? ['repr=False'] : []),
  ];
  const isPlain = isAlike && !hidden.has(name);
  const whole = isNeeded ? type : `${type.replace(/ \| None$/, '')} | None`;
  const value = !isPlain ? ` = Field(${given.join(', ')})` : isNeeded ? '' : ' = None';
  const head = `    ${own}: ${broken(whole, '    ')}${value}`;
  return [head, ...(of.description === undefined ? [] : docstring(of.description, '    '))];
}

/** A union that is too long goes over several lines. */
function broken(type: string, indent: string): string {
  if (type.length < 70) return type;
  const inner = `${indent}    `;
  if (type.startsWith('Annotated[Literal[')) {
    return type.replace(/^Annotated\[Literal\[(.*)\], AnyWord\]/, (_, words: string) => {
      const lines = words.split(', ').map((each) => `${inner}    ${each},`);
      const list = [`${inner}Literal[`, ...lines, `${inner}],`];
      return ['Annotated[', ...list, `${inner}AnyWord,`, `${indent}]`].join('\n');
    });
  }
  if (!type.includes(' | ')) return type;
  return `(\n${inner}${type.split(' | ').join(`\n${inner}| `)}\n${indent})`;
}
