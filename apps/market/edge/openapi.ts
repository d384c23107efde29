// The descriptions of `/v1` and of `/account` (OpenAPI 3.1.0), made of what the routes declare: the
// schemas that check requests are the ones that are published. Those with a name become components.
// Examples of bodies are put together from those of their fields.

import type { TSchema } from 'typebox';
import type { Settings } from '../settings/config.ts';
import type { Operation } from './command.ts';
import { contentOf, exampleOf, type Json } from './examples.ts';
import { linksOf } from './links.ts';
import { samplesOf } from './samples.ts';
import { errorBody } from './schemas/common.ts';
import { webhookEvents } from './schemas/webhook.ts';

export const apiVersion = '1.0.0';

/** Schemas that have a name. */
export type Components = Map<string, unknown>;
export type Named = Pick<Settings, 'productName' | 'shortName' | 'contacts'>;

/** The common parts of all operations in one description. */
export type Surface = {
  readonly title: string;
  readonly description: string;
  /** The meaning of an error of each status. */
  readonly errors: Readonly<Record<number, string>>;
  /** The topics of the operations, and the guide to them. */
  readonly tags: Readonly<Record<string, string>>;
  readonly security: readonly Json[];
  readonly components: { readonly securitySchemes: Json; parameters: Json; headers: Json };
  /** Besides what its schemas take. */
  parameters(operation: Operation): readonly Json[];
  /** Headers of its own answers, besides those of all. */
  headers(operation: Operation): Json;
  /** Headers of the errors of a status, besides those of all. */
  errorHeaders(status: string): Json;
  readonly hasWebhooks?: true;
};

/** The errors that every operation shares: the answers of HTTP itself. */
const anyError =
  '405 (another method is meant; see Allow), 431 (headers too large): HTTP itself refuses these';

const text = { schema: { type: 'string' } };
const whole = { schema: { type: 'integer' } };
/** The headers of every answer. */
const everyHeader = {
  'RateLimit-Limit': { description: 'requests in 60 s', ...whole, example: 300 },
  'RateLimit-Remaining': { description: 'what is left of them', ...whole, example: 287 },
  'RateLimit-Reset': { description: 'seconds until they are all back', ...whole, example: 41 },
  'X-RateLimit-Limit': { description: 'as RateLimit-Limit', ...whole, example: 300 },
  'X-RateLimit-Remaining': { description: 'as RateLimit-Remaining', ...whole, example: 287 },
  'X-Request-Id': {
    description: 'what the market calls this request: its operator finds the log by it',
    ...text,
    example: '5b0e6a91c3d27f4418aa',
  },
};
const retry = { 'Retry-After': { description: 'seconds', ...whole, example: 5 } };

export function refTo(kind: 'headers' | 'parameters' | 'schemas' | 'responses', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

const everyRef = Object.fromEntries(
  Object.keys(everyHeader).map((name) => [name, refTo('headers', name)]),
);

const etag = {
  ETag: { description: 'changes as the body does', ...text, example: '"f0g4iVCHF_Bjg4r7EFyA89"' },
};
const unchanged = {
  description: 'the body is still the one of `If-None-Match`',
  headers: { ...everyRef, ...etag },
};
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'the `ETag` of an earlier answer: 304 without a body where it is still the same',
  ...text,
  example: etag.ETag.example,
};

function codeHeader(shortName: string): Json {
  const description = 'a stable code for programs; listed in docs/errors.md';
  return { [`x-${shortName}-error`]: { description, ...text, example: 'bad_field' } };
}

/** The market's own names, where examples leave room for them. */
export function branded(
  description: Json,
  { productName, shortName }: Pick<Named, 'productName' | 'shortName'>,
): Json {
  const text = JSON.stringify(description).replaceAll('{short}', shortName);
  return JSON.parse(text.replaceAll('{product}', JSON.stringify(productName).slice(1, -1)));
}

/** The description of the operations of one surface. */
export function describe(surface: Surface, operations: readonly Operation[], names: Named): Json {
  const { shortName } = names;
  const components: Components = new Map();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = operation.url.replace(/:(\w+)/g, '{$1}');
    const described = describeOperation(surface, operation, components, shortName);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  publish(errorBody, components);
  const webhooks = surface.hasWebhooks && { webhooks: describeWebhooks(components, shortName) };
  const { parameters, headers, securitySchemes } = surface.components;
  const described = {
    openapi: '3.1.0',
    info: {
      title: surface.title,
      version: apiVersion,
      description: linked(surface.description),
      contact: contactOf(names),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'this server' }],
    security: surface.security,
    tags: Object.entries(surface.tags).map(([name, description]) => {
      return { name, description: linked(description), ...externalDocs(description) };
    }),
    paths,
    ...webhooks,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: describeErrors(surface, shortName),
      parameters,
      headers: { ...everyHeader, ...headers },
      securitySchemes,
    },
  };
  return branded(described, names);
}

/** The operator's. */
function contactOf({ productName, contacts }: Named): Json {
  const url = contacts.find((each) => each.startsWith('https:'));
  const email = contacts.find((each) => each.startsWith('mailto:'))?.slice('mailto:'.length);
  return { name: `the operator of ${productName}`, url, email };
}

function describeErrors({ errors, errorHeaders }: Surface, shortName: string): Json {
  const allow = { Allow: { description: 'on 405: the methods', ...text, example: 'GET, POST' } };
  const own: Readonly<Record<string, Json>> = { 429: retry, 503: retry, Any: allow };
  const all = Object.entries({ ...errors, Any: anyError });
  return Object.fromEntries(
    all.map(([status, description]) => {
      const code = codeHeader(shortName);
      const headers = { ...everyRef, ...code, ...own[status], ...errorHeaders(status) };
      const content = contentOf(errorBody, refTo('schemas', 'Error'));
      return [`Error${status}`, { description, headers, content }];
    }),
  );
}

function describeOperation(
  surface: Surface,
  operation: Operation,
  components: Components,
  shortName: string,
): Json {
  const { about, access, params, query, body, replies, operationId } = operation;
  const [summary = ''] = about.split(/(?<=\.)\s/);
  const scope = access.scope === undefined ? '' : ` Needs the scope \`${access.scope}\`.`;
  const security = securityOf(operation);
  const responses: Json = {};
  for (const [status, schema] of Object.entries(replies)) {
    responses[status] = describeReply(surface, operation, Number(status), schema, {
      components,
      shortName,
    });
  }
  if (operation.isTagged) responses[304] = unchanged;
  for (const status of errorsOf(operation)) {
    responses[status] ??= refTo('responses', `Error${status}`);
  }
  responses.default = refTo('responses', 'ErrorAny');
  const parameters = [
    ...parametersOf(params, 'path', components),
    ...parametersOf(query, 'query', components),
    ...surface.parameters(operation),
  ];
  return {
    operationId,
    summary: summary.replace(/\.$/, ''),
    description: about + scope,
    tags: [operation.tag],
    ...externalDocs(about),
    ...(security === null ? {} : { security }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: bodyOf(body, components) }),
    responses,
    ...(operation.url.startsWith('/account') ? {} : { 'x-codeSamples': samplesOf(operation) }),
  };
}

/** The errors that it may answer beside its own. 400 on all: a URL may be malformed. */
function errorsOf({ method, access: { kind }, params }: Operation): readonly number[] {
  const wanted = [400, 429, 500, 503];
  if (kind === 'key' || kind === 'session') wanted.push(401);
  if (kind === 'session' || kind === 'browser') wanted.push(403);
  if (params !== undefined) wanted.push(404);
  if (method === 'GET') return wanted;
  wanted.push(408, 413, 415, 504);
  if (kind !== 'open') wanted.push(404, 409);
  if (kind === 'key') wanted.push(403, 422);
  return wanted;
}

/** The callers of an operation, where they are not those of all; a person is known if signed in. */
function securityOf({ access: { kind } }: Operation): readonly Json[] | null {
  if (kind === 'open') return [];
  return kind === 'browser' ? [{}, { session: [] }] : null;
}

/** The reference reads Markdown, and has no link for what `externalDocs` of a tag names. */
function linked(text: string): string {
  return text.replace(/(?<!\[)\bdocs\/([a-z-]+)\.md\b/g, '[$&](/docs/$1)');
}

/** The guide that a text names. */
function externalDocs(text: string): Json {
  const [path, name] = /\bdocs\/([a-z-]+)\.md\b/.exec(text) ?? [];
  return path === undefined ? {} : { externalDocs: { url: `/docs/${name}`, description: path } };
}

/** A body without required fields may be left out whole. */
function bodyOf(body: TSchema, components: Components): Json {
  const { required = [], description } = body as { required?: unknown[]; description?: string };
  const content = contentOf(body, publish(body, components));
  return { description, required: required.length > 0, content };
}

/** The answers of an operation by itself; an error that others give too may look like theirs. */
function describeReply(
  { errors, headers }: Surface,
  operation: Operation,
  status: number,
  schema: TSchema,
  { components, shortName }: { components: Components; shortName: string },
): Json {
  const own = publish(schema, components);
  const all = { ...everyRef, ...headers(operation) };
  if (status < 300) {
    const { description } = schema as { description?: string };
    const links = linksOf(operation.operationId, schema);
    return {
      description: operation.outcomes?.[status] ?? description ?? 'done',
      headers: all,
      content: contentOf(schema, own),
      ...(links === null ? {} : { links }),
    };
  }
  const common = errors[status];
  const either = { anyOf: [own, refTo('schemas', 'Error')] };
  return {
    description: common === undefined ? 'refused' : `refused; or ${common}`,
    headers: { ...all, ...codeHeader(shortName) },
    content: contentOf(schema, common === undefined ? own : either),
  };
}

function parametersOf(
  schema: TSchema | undefined,
  place: 'path' | 'query',
  components: Components,
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, part]) => {
    const { description, ...rest } = part as { description?: string };
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema: publish(rest, components),
      example: exampleOf(part),
    };
  });
}

function describeWebhooks(components: Components, shortName: string): Json {
  const header = (suffix: string, description: string, example: string) => ({
    name: `x-${shortName}-${suffix}`,
    in: 'header',
    required: true,
    description,
    ...text,
    example,
  });
  const signature = `sha256=${'5d41402abc4b2a76'.repeat(4)}`;
  const all = Object.entries(webhookEvents).map(([name, { when, body }]) => {
    const post = {
      operationId: `on_${name.replaceAll('.', '_')}`,
      summary: when,
      description: `${when}. Signatures, retries and order: docs/webhooks.md.`,
      // Not that of the operations: a generator makes one file a tag, and writes it twice.
      tags: ['events'],
      security: [],
      parameters: [
        header('event', 'the event name', name),
        header('delivery', 'the delivery id', '01936b24-4fe8-7c6a-a914-7d3b0c8e5f29'),
        header('timestamp', 'Unix seconds', '1773480413'),
        header('signature', 'sha256=<hex of HMAC-SHA256(secret, "<timestamp>.<body>")>', signature),
      ],
      requestBody: bodyOf(body, components),
      responses: {
        '2XX': { description: 'received; anything else, or 10 s of silence, is retried' },
      },
    };
    return [name, { post }];
  });
  return Object.fromEntries(all);
}

/** The schema with every named one inside it replaced by a reference. */
export function publish(schema: unknown, components: Components): unknown {
  if (Array.isArray(schema)) return schema.map((part) => publish(part, components));
  if (schema === null || typeof schema !== 'object') return schema;
  type Marks = { 'x-name'?: string; 'x-published'?: object };
  const { 'x-name': name, 'x-published': more, ...fields } = schema as Marks;
  const parts = Object.entries({ ...fields, ...more }).map(([key, part]) => [
    key,
    publish(part, components),
  ]);
  const published: unknown = Object.fromEntries(parts);
  if (name === undefined) return published;
  const known = components.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(published)) {
    throw new Error(`two different schemas are named ${name}`);
  }
  components.set(name, published);
  return refTo('schemas', name);
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
/** The note on requests without a key: minting one. */
const withoutEffect = {
  ...idempotencyKey,
  description: 'Accepted, and without effect: the nonce makes the request single-use already.',
};
const replayed = { 'Idempotency-Replayed': refTo('headers', 'Idempotency-Replayed') };
/** Refusals that are stored under an Idempotency-Key (once.ts). */
const storedErrors: readonly string[] = ['400', '403', '404', '409', '413', '415', '500'];
const isStored = ({ method, access }: Operation) => method !== 'GET' && access.kind === 'key';

export const apiErrors = {
  400: 'malformed or refused input',
  401: 'missing, invalid, revoked or expired key',
  403: 'not for this caller, or a key without the scope',
  404: 'unknown, or not visible to this caller',
  408: 'the request took too long to arrive',
  409: 'the state moved, or the first request with this Idempotency-Key still runs',
  413: 'the body is larger than 64 KiB',
  415: 'the body is not JSON, or is compressed',
  422: 'this Idempotency-Key was used with another body',
  429: 'over the budget; see Retry-After',
  500: 'a fault on our side, of which nothing is left; kept under an Idempotency-Key like a refusal',
  503: 'shutting down, or a part of the system does not answer; see Retry-After',
  504: 'a chain read timed out',
};

const apiTags = {
  keys: 'API keys, made by the signature of a wallet. Guide: docs/signing.md.',
  account: 'The account of a key.',
  wallets: 'Wallets of the account: what it may trade with. Guide: docs/signing.md.',
  assets: 'What may be traded, and how a token is listed. Guide: docs/listing.md.',
  rules: 'What times are computed from. Guide: docs/timelocks.md.',
  pairs: 'What a trade means and costs, and what others traded at. Guide: docs/lifecycle.md.',
  levels: 'Indicative prices of makers. Guide: docs/levels.md.',
  market: 'Whether the market works. Guide: docs/limits.md.',
  rfqs: 'Requests for quote: the book. Guide: docs/lifecycle.md; for makers docs/feed.md.',
  threads: 'Quotes, and the negotiation that each one opens. Guide: docs/lifecycle.md.',
  swaps: 'Swaps, and what their parties sign. Guides: docs/lifecycle.md, docs/funding.md.',
  transactions: 'Sending what was signed. Guide: docs/lifecycle.md.',
  webhooks: 'Where events are sent. Guide: docs/webhooks.md.',
  events: 'What is sent there. Guide: docs/webhooks.md.',
};

/** The description of `/v1`. */
export function describeApi(operations: readonly Operation[], settings: Named): Json {
  const { productName, shortName } = settings;
  const surface: Surface = {
    title: `${productName} API`,
    description:
      'A non-custodial marketplace for cross-chain atomic swaps. Amounts are integer strings in ' +
      'base units; times are RFC 3339 UTC; the service never holds a key of yours. An optional ' +
      'field of a body may be null, as if it were left out. Guides: ' +
      'docs/lifecycle.md (a swap from end to end), docs/dont-trust-verify.md (what to check by ' +
      'yourself), docs/errors.md (each code, and what to do next), docs/limits.md. All of them: ' +
      '[documents](/docs); how to begin: [docs/api.md](/docs/api).',
    errors: apiErrors,
    tags: apiTags,
    security: [{ bearer: [] }, { apiKey: [] }],
    components: {
      securitySchemes: {
        // In backticks: the reference reads Markdown, where underscores are emphasis.
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `\`${shortName}_test_…\` or \`${shortName}_live_…\``,
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'the same key',
        },
      },
      parameters: {},
      headers: {
        'Idempotency-Replayed': {
          description: '`true`: the stored reply to an earlier request with this Idempotency-Key',
          schema: { type: 'string', enum: ['true'] },
          example: 'true',
        },
      },
    },
    parameters: (operation) => {
      if (operation.method === 'GET') return operation.isTagged ? [ifNoneMatch] : [];
      const header = isStored(operation) ? idempotencyKey : withoutEffect;
      // One of another operation would be refused as used already.
      return [{ ...header, example: `${operation.operationId}-7b0a3a1e` }];
    },
    headers: (operation) => {
      if (operation.isTagged) return etag;
      return isStored(operation) ? replayed : {};
    },
    errorHeaders: (status) => ({
      ...(storedErrors.includes(status) ? replayed : {}),
      ...errorHeadersOf(shortName)[status],
    }),
    hasWebhooks: true,
  };
  return describe(surface, operations, settings);
}

function errorHeadersOf(shortName: string): Readonly<Record<string, Json>> {
  const scheme = { description: '`Bearer`', ...text, example: 'Bearer' };
  const still = {
    ...retry['Retry-After'],
    description: 'seconds, while the first request still runs',
  };
  const description = 'on a broadcast: the transaction to look up before it is sent again';
  const example = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b';
  return {
    401: { 'WWW-Authenticate': scheme },
    409: { 'Retry-After': still },
    504: { [`x-${shortName}-txid`]: { description, ...text, example } },
  };
}
