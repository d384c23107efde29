// The API description (OpenAPI 3.1.0), made of what the routes declare: the schemas that check
// requests are the ones that are published. Schemas given a name by `named` become components.

import type { TSchema } from 'typebox';
import type { Settings } from '../settings/config.ts';
import type { Operation } from './operations.ts';
import { errorBody } from './schemas/common.ts';
import { webhookEvents } from './schemas/events.ts';

export const apiVersion = '1.0.0';

export type Json = Record<string, unknown>;
/** Schemas that have a name. */
export type Components = Map<string, unknown>;

const errors: Readonly<Record<number, string>> = {
  400: 'malformed or refused input',
  401: 'missing, invalid, revoked or expired key',
  403: 'not for this caller, or a key without the scope',
  404: 'unknown, or not visible to this caller',
  408: 'the request took too long to arrive',
  409: 'the state moved, or the first request with this Idempotency-Key still runs',
  413: 'the body is larger than 64 KiB',
  415: 'the body is not JSON',
  422: 'this Idempotency-Key was used with another body',
  429: 'over the budget; see Retry-After',
  500: 'a fault on our side, of which nothing is left; kept under an Idempotency-Key like a refusal',
  503: 'shutting down, or a part of the system does not answer; see Retry-After',
  504: 'a chain read timed out',
};

/** What no operation is alone with: the answers of HTTP itself. */
const anyError =
  '405 (another method is meant; see Allow), 417 (unknown Expect), 431 (headers too large): what ' +
  'HTTP itself refuses';

export function describeApi(
  operations: readonly Operation[],
  settings: Pick<Settings, 'productName' | 'shortName'>,
): Json {
  const { productName, shortName } = settings;
  const components: Components = new Map();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = pathOf(operation);
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(operation, components, shortName),
    };
  }
  const webhooks = Object.fromEntries(
    Object.entries(webhookEvents).map(([name, { when, body }]) => [
      name,
      { post: describeWebhook(name, when, publish(body, components), shortName) },
    ]),
  );
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))];
  publish(errorBody, components);
  return {
    openapi: '3.1.0',
    info: {
      title: `${productName} API`,
      version: apiVersion,
      description:
        'A non-custodial marketplace for cross-chain atomic swaps. Amounts are integer strings in ' +
        'base units; times are RFC 3339 UTC; the service never holds a key of yours.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: tags.map((name) => ({ name })),
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: describeErrors(shortName),
      parameters: { IdempotencyKey: idempotencyKey },
      headers: { ...rateHeaders, ...replayHeader },
      securitySchemes: {
        // In backticks: the reference reads Markdown, where underscores are emphasis.
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `\`${shortName}_test_…\` or \`${shortName}_live_…\``,
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
    },
  };
}

/** As the description writes it: `/v1/rfqs/{id}`. */
export function pathOf({ url }: Operation): string {
  return url.replace(/:(\w+)/g, '{$1}');
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Any text of 1 to 255 characters, new for each new request: a retry with it is answered with ' +
    'the first reply, for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Of requests without a key: minting one. */
const withoutEffect = {
  ...idempotencyKey,
  description: 'Accepted, and without effect: the nonce makes the request single-use already.',
};

const whole = { schema: { type: 'integer' } };
export const rateHeaders = {
  'RateLimit-Limit': { description: 'requests in 60 s', ...whole },
  'RateLimit-Remaining': { description: 'what is left of them', ...whole },
  'RateLimit-Reset': { description: 'seconds until they are all back', ...whole },
  'X-RateLimit-Limit': { description: 'as RateLimit-Limit', ...whole },
  'X-RateLimit-Remaining': { description: 'as RateLimit-Remaining', ...whole },
};

const replayHeader = {
  'Idempotency-Replayed': {
    description: '`true`: the stored reply to an earlier request with this Idempotency-Key',
    schema: { type: 'string', enum: ['true'] },
  },
};

const replayRefs = {
  'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' },
};
/** Refusals that are stored under an Idempotency-Key (once.ts). */
const storedErrors: readonly string[] = ['400', '403', '404', '409', '413', '415', '500'];

export const headerRefs = Object.fromEntries(
  Object.keys(rateHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

export function codeHeader(shortName: string): Json {
  return {
    [`x-${shortName}-error`]: {
      description: 'a stable code for programs; listed in docs/errors.md',
      schema: { type: 'string' },
    },
  };
}

function describeErrors(shortName: string): Json {
  const retry = { 'Retry-After': { description: 'seconds', ...whole } };
  const still = {
    'Retry-After': { description: 'seconds, while the first request still runs', ...whole },
  };
  const scheme = { 'WWW-Authenticate': { description: '`Bearer`', schema: { type: 'string' } } };
  const txid = {
    [`x-${shortName}-txid`]: {
      description: 'on a broadcast: the transaction to look up before it is sent again',
      schema: { type: 'string' },
    },
  };
  const allow = { Allow: { description: 'on 405: the methods', schema: { type: 'string' } } };
  const own: Readonly<Record<string, Json>> = {
    401: scheme,
    409: still,
    429: retry,
    503: retry,
    504: txid,
    Any: allow,
  };
  const responses: Json = {};
  for (const [status, description] of Object.entries({ ...errors, Any: anyError })) {
    responses[`Error${status}`] = {
      description,
      headers: {
        ...headerRefs,
        ...codeHeader(shortName),
        ...(storedErrors.includes(status) ? replayRefs : {}),
        ...own[status],
      },
      content: json({ $ref: '#/components/schemas/Error' }),
    };
  }
  return responses;
}

type Given = {
  readonly components: Components;
  readonly shortName: string;
  readonly writes: boolean;
  readonly outcomes: Operation['outcomes'];
};

/** What an operation answers by itself; an error that others give too may look like theirs. */
function describeReply(
  status: number,
  schema: TSchema,
  { components, shortName, writes, outcomes = {} }: Given,
): Json {
  const own = publish(schema, components);
  const headers = writes ? { ...headerRefs, ...replayRefs } : headerRefs;
  if (status < 300) return { description: outcomes[status] ?? 'done', headers, content: json(own) };
  const common = errors[status];
  const described = common === undefined ? 'refused' : `refused; or ${common}`;
  const either = { anyOf: [own, { $ref: '#/components/schemas/Error' }] };
  return {
    description: described,
    headers: { ...headers, ...codeHeader(shortName) },
    content: json(common === undefined ? own : either),
  };
}

function describeOperation(operation: Operation, components: Components, shortName: string): Json {
  const { method, access, scope, params, query, body, replies, outcomes } = operation;
  const writes = method !== 'GET' && access === 'key';
  const responses: Json = {};
  for (const [status, schema] of Object.entries(replies)) {
    const given = { components, shortName, writes, outcomes };
    responses[status] = describeReply(Number(status), schema, given);
  }
  for (const status of errorsOf(operation)) {
    responses[status] ??= { $ref: `#/components/responses/Error${status}` };
  }
  responses.default = { $ref: '#/components/responses/ErrorAny' };
  const parameters = [
    ...parametersOf(params, 'path', components),
    ...parametersOf(query, 'query', components),
    ...(writes ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(method !== 'GET' && !writes ? [withoutEffect] : []),
  ];
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    tags: operation.tags,
    ...(scope === undefined ? {} : { description: `Needs the scope \`${scope}\`.` }),
    ...(access === 'open' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            // What has no field that must be there may be left out whole.
            required: ((body as { required?: unknown[] }).required ?? []).length > 0,
            content: json(publish(body, components)),
          },
        }),
    responses,
  };
}

function errorsOf({ method, access, params }: Operation): number[] {
  const writes = method !== 'GET';
  // 400 on all: a URL may be malformed.
  const wanted = [400, 429, 500, 503];
  if (access === 'key') wanted.push(401);
  if (params !== undefined) wanted.push(404);
  if (writes) wanted.push(408, 413, 415, 504);
  if (writes && access === 'key') wanted.push(403, 404, 409, 422);
  return [...new Set(wanted)].sort((a, b) => a - b);
}

export function parametersOf(
  schema: TSchema | undefined,
  place: 'path' | 'query',
  components: Components,
): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, TSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, part]) => {
    const { description, ...rest } = part as { description?: string };
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: publish(rest as TSchema, components),
    };
  });
}

function describeWebhook(name: string, when: string, body: unknown, shortName: string): Json {
  const header = (suffix: string, description: string) => ({
    name: `x-${shortName}-${suffix}`,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  });
  return {
    operationId: `on_${name.replaceAll('.', '_')}`,
    summary: when,
    tags: ['webhooks'],
    security: [],
    parameters: [
      header('event', 'the event name'),
      header('delivery', 'the delivery id'),
      header('timestamp', 'Unix seconds'),
      header('signature', 'sha256=<hex of HMAC-SHA256(secret, "<timestamp>.<body>")>'),
    ],
    requestBody: { required: true, content: json(body) },
    responses: {
      '2XX': { description: 'received; anything else, or 10 s of silence, is retried' },
    },
  };
}

export function json(schema: unknown): Json {
  return { 'application/json': { schema } };
}

/** The schema with every named one inside it replaced by a reference. */
export function publish(schema: unknown, components: Components): unknown {
  if (Array.isArray(schema)) return schema.map((part) => publish(part, components));
  if (schema === null || typeof schema !== 'object') return schema;
  const { 'x-name': name, ...fields } = schema as { 'x-name'?: string };
  const parts = Object.entries(fields).map(([key, part]) => [key, publish(part, components)]);
  const published: unknown = Object.fromEntries(parts);
  if (name === undefined) return published;
  const known = components.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(published)) {
    throw new Error(`two different schemas are named ${name}`);
  }
  components.set(name, published);
  return { $ref: `#/components/schemas/${name}` };
}
