// The description of `/account` (OpenAPI 3.1.0), beside that of `/v1`: for the pages of this
// market's own site, which carry the cookie of a session. Made of what its routes declare.

import type { TSchema } from 'typebox';
import { returnPath } from '../../people/providers.ts';
import type { Settings } from '../../settings/config.ts';
import {
  apiVersion,
  type Components,
  codeHeader,
  headerRefs,
  type Json,
  json,
  parametersOf,
  pathOf,
  publish,
  rateHeaders,
} from '../openapi.ts';
import type { Operation } from '../operations.ts';
import { errorBody } from '../schemas/common.ts';
import { accountHeader, requestHeader } from './same-origin.ts';

const errors: Readonly<Record<number, string>> = {
  400: 'malformed or refused input',
  401: 'nobody is signed in here, or the session has ended',
  403:
    'not from a page of this site; or this needs a sign-in of the last 10 minutes, or one by a ' +
    'wallet',
  404: 'unknown, or a way of signing in that is not offered here',
  408: 'the request took too long to arrive',
  409: 'not in this state; the code says what has changed',
  413: 'the body is larger than 64 KiB',
  415: 'the body is not JSON',
  429: 'over a budget; see Retry-After',
  500: 'a fault on our side, of which nothing is left',
  503: 'shutting down, accounts are off, or something that is asked does not answer; see Retry-After',
  504: 'a chain read timed out',
};

/** What no operation is alone with: the answers of HTTP itself. */
const anyError =
  '405 (another method is meant; see Allow), 417 (unknown Expect), 431 (headers too large): what ' +
  'HTTP itself refuses';

const cookieHeader = {
  'Set-Cookie': {
    description: "a session's token, or the browser's own name; HttpOnly, SameSite=Lax",
    schema: { type: 'string' },
  },
};
const cookieRef = { 'Set-Cookie': { $ref: '#/components/headers/Set-Cookie' } };

export function describeAccount(
  operations: readonly Operation[],
  settings: Pick<Settings, 'productName' | 'shortName'>,
): Json {
  const { productName, shortName } = settings;
  const components: Components = new Map();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = pathOf(operation);
    const described = describeOperation(operation, components);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  paths[returnPath('{id}')] = { get: describeReturn() };
  publish(errorBody, components);
  const tags = [...new Set(operations.flatMap((operation) => operation.tags))];
  return {
    openapi: '3.1.0',
    info: {
      title: `${productName} accounts`,
      version: apiVersion,
      description:
        "Accounts of people, for the pages of this market's own site alone. A request from " +
        'anywhere else is 403; there is no CORS. Times are RFC 3339 UTC.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ session: [] }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: describeErrors(shortName),
      parameters: {
        FromOurPage: fromOurPage(shortName),
        OfAccount: ofAccount(shortName),
        OfAccountIfAny: ofAccountIfAny(shortName),
      },
      headers: { ...rateHeaders, ...cookieHeader },
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: `__Host-${shortName}_session`,
          description: 'On http at loopback its name is without `__Host-`.',
        },
      },
    },
  };
}

/** A provider leads the browser there: what it asks is not ours to declare. */
function describeReturn(): Json {
  const query = ['code', 'state', 'iss', 'error'].map((name) => ({
    name,
    in: 'query',
    required: false,
    schema: { type: 'string' },
  }));
  const location = {
    description: '/account, with `done=` what it came to or `problem=` the code of a refusal',
    schema: { type: 'string' },
  };
  return {
    operationId: 'returnFromProvider',
    summary: 'Where a provider leads the browser back to (OpenID Connect Core 1.0, 3.1.2.5)',
    tags: ['sign-in'],
    security: [{}, { session: [] }],
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 32 } },
      ...query,
    ],
    responses: {
      303: {
        description: 'to the account page, whatever it came to',
        headers: { ...headerRefs, ...cookieRef, Location: location },
      },
      400: { $ref: '#/components/responses/Error400' },
      404: { $ref: '#/components/responses/Error404' },
      default: { $ref: '#/components/responses/ErrorAny' },
    },
  };
}

/** A form cannot send it, nor a script of another origin. */
function fromOurPage(shortName: string): Json {
  return {
    name: requestHeader(shortName),
    in: 'header',
    required: true,
    description: 'Sent with every write by our own pages, beside Origin.',
    schema: { type: 'string', enum: ['1'] },
  };
}

/** A tab that was left open shows somebody else than who is signed in by now. */
function ofAccount(shortName: string): Json {
  return {
    name: accountHeader(shortName),
    in: 'header',
    required: true,
    description:
      'The account that the page shows. Nothing is done to another one: 409 `other_account`.',
    schema: { type: 'string', format: 'uuid' },
  };
}

function ofAccountIfAny(shortName: string): Json {
  const description =
    'The account that the page shows: of whoever is signed in, wanted with every purpose but ' +
    'sign-in. Nothing is done to another one: 409 `other_account`.';
  return { ...ofAccount(shortName), required: false, description };
}

function describeErrors(shortName: string): Json {
  const retry = {
    'Retry-After': { description: 'seconds', schema: { type: 'integer' } },
  };
  const allow = { Allow: { description: 'on 405: the methods', schema: { type: 'string' } } };
  const own: Readonly<Record<string, Json>> = { 429: retry, 503: retry, Any: allow };
  const all = Object.entries({ ...errors, Any: anyError });
  return Object.fromEntries(
    all.map(([status, description]) => [
      `Error${status}`,
      {
        description,
        headers: { ...headerRefs, ...codeHeader(shortName), ...cookieRef, ...own[status] },
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  );
}

function describeOperation(operation: Operation, components: Components): Json {
  const { method, access, params, query, body, replies } = operation;
  const responses: Json = {};
  for (const [status, schema] of Object.entries(replies)) {
    responses[status] = describeReply(schema, components);
  }
  for (const status of errorsOf(operation)) {
    responses[status] ??= { $ref: `#/components/responses/Error${status}` };
  }
  responses.default = { $ref: '#/components/responses/ErrorAny' };
  const parameters = [
    ...parametersOf(params, 'path', components),
    ...parametersOf(query, 'query', components),
    ...(method === 'GET' ? [] : [parameter('FromOurPage'), parameter(ofWhom(access))]),
  ];
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    tags: operation.tags,
    // Whoever is signed in is known there too.
    ...(access === 'browser' ? { security: [{}, { session: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: json(publish(body, components)) } }),
    responses,
  };
}

function ofWhom(access: Operation['access']): string {
  return access === 'session' ? 'OfAccount' : 'OfAccountIfAny';
}

function parameter(name: string): Json {
  return { $ref: `#/components/parameters/${name}` };
}

function describeReply(schema: TSchema, components: Components): Json {
  const content = json(publish(schema, components));
  return { description: 'done', headers: { ...headerRefs, ...cookieRef }, content };
}

function errorsOf({ method, access, params }: Operation): number[] {
  // 400 on all: a URL may be malformed.
  const wanted = [400, 403, 429, 500, 503];
  if (access === 'session') wanted.push(401);
  if (params !== undefined) wanted.push(404);
  if (method !== 'GET') wanted.push(404, 408, 409, 413, 415, 504);
  return [...new Set(wanted)].sort((a, b) => a - b);
}
