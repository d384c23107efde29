// The generated modules of the Python package: models and operations of docs/openapi.json, frames
// of docs/asyncapi.json, and lists of core/.

import { feedTopics } from '@parley/core/events.ts';
import { families } from '@parley/core/families.ts';
import { graceSeconds, pageLimit } from '@parley/core/limits.ts';
import { scopes } from '@parley/core/scopes.ts';
import { directions, legNames, parties, roles } from '@parley/core/trade.ts';
import { createModels, docstring, type Models, quoted, type Schema, snake } from './schema.ts';

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
const pascal = (name: string) => name.replace(/^./, (first) => first.toUpperCase());

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
