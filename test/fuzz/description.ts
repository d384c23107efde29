// What the published API description promises: its operations, which of them a request reaches, and
// what is wrong with an answer.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export type Json = Readonly<Record<string, unknown>>;

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Json;
};

type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: Json }>>;
  readonly content: Readonly<Record<string, { readonly schema: Json }>>;
};

export type Operation = {
  readonly method: string;
  /** As the description writes it: `/v1/rfqs/{id}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Content types that it takes, with their schemas; none where it takes no body. */
  readonly bodies: readonly { readonly type: string; readonly schema: Json }[];
  /** By status, and `default`. */
  readonly responses: Readonly<Record<string, Response>>;
  readonly needsKey: boolean;
  readonly scope: string | null;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

export type Description = {
  readonly operations: readonly Operation[];
  /** The schema itself, where it is only referred to. */
  schemaOf(schema: Json): Json;
  /** What a request of this method to this address reaches; null = nothing. */
  reached(method: string, url: string): Operation | null;
  /** What the answer has that is not described, or lacks that is; a sentence each. */
  faults(operation: Operation | null, url: string, answer: Answer): string[];
};

// biome-ignore lint/suspicious/noExplicitAny: a document is read by its own references
type Document = any;

export function describedBy(document: Document): Description {
  const whole = closed(document) as Document;
  const ajv = new Ajv2020({ strict: false, formats: { uuid, 'date-time': instant, uri } });
  ajv.addSchema(whole, 'api');
  const operations = operationsOf(document);
  const compiled = new Map<string, ValidateFunction>();
  const check = (schema: Json): ValidateFunction => {
    const text = JSON.stringify(closed(schema)).replaceAll('"$ref":"#', '"$ref":"api#');
    const known = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, known);
    return known;
  };
  return {
    operations,
    schemaOf: (schema) => resolved(document, schema) as Json,
    reached: (method, url) =>
      operations.find((each) => each.method === method && leadsTo(each.path, url)) ?? null,
    faults: (operation, url, answer) => [
      // Elsewhere there are no budgets, and of a head that is too large no address is known.
      ...(url.startsWith('/v1') && answer.status !== 431 ? faultsOfBudget(answer.headers) : []),
      ...faultsOf(operation, answer, check),
    ],
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uri = /^[a-z][a-z0-9+.-]*:\S+$/;

function operationsOf(document: Document): Operation[] {
  const paths = Object.entries<Record<string, Document>>(document.paths);
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({
      method: method.toUpperCase(),
      path,
      parameters: (each.parameters ?? []).map((part: Json) => resolved(document, part)),
      bodies: Object.entries<{ schema: Json }>(each.requestBody?.content ?? {}).map(
        ([type, { schema }]) => ({ type, schema }),
      ),
      responses: Object.fromEntries(
        Object.entries<Json>(each.responses).map(([status, response]) => {
          const found = resolved(document, response) as Document;
          const headers = Object.entries<Json>(found.headers ?? {}).map(([name, header]) => [
            name.toLowerCase(),
            resolved(document, header),
          ]);
          return [status, { ...found, headers: Object.fromEntries(headers) }];
        }),
      ),
      needsKey: wantsOne(each.security ?? document.security),
      scope: /scope `(\w+)`/.exec(each.description ?? '')?.[1] ?? null,
    })),
  );
}

/** Whether every way that is described shows something: `{}` shows nothing. */
function wantsOne(security: readonly object[]): boolean {
  return security.length > 0 && security.every((each) => Object.keys(each).length > 0);
}

function resolved(document: Document, part: Json): unknown {
  const { $ref } = part as { $ref?: string };
  if ($ref === undefined) return part;
  const names = $ref.replace('#/', '').split('/');
  return names.reduce((at: Document, name) => at[name], document);
}

/** A field that is not declared is a fault, even where strangers may read over it. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (part === null || typeof part !== 'object') return part;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(part).map(([name, each]) => [name, closed(each)]),
  );
  if (copy.type !== 'object' || !('properties' in copy)) return copy;
  return { additionalProperties: false, ...copy };
}

/** Segments are compared as a router reads them: decoded where that is possible. */
function leadsTo(template: string, url: string): boolean {
  const wanted = template.split('/');
  const given = (url.split(/[?#]/)[0] as string).split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => {
      const segment = given[at] as string;
      return part.startsWith('{') || part === (decoded(segment) ?? segment);
    })
  );
}

export function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** What HTTP itself refuses is in `default`, whose text names the statuses. */
function responseFor(operation: Operation | null, status: number): Response | null {
  const response = operation?.responses[status];
  if (response !== undefined) return response;
  const otherwise = operation?.responses.default;
  return otherwise?.description.includes(String(status)) === true ? otherwise : null;
}

const rateHeaders = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
/** Of HTTP and of browsers: no description lists them. */
const ofHttp = new Set([
  ...['date', 'connection', 'keep-alive', 'content-type', 'content-length', 'transfer-encoding'],
  ...['cache-control', 'content-security-policy', 'referrer-policy', 'x-content-type-options'],
  'x-frame-options',
]);

function faultsOf(
  operation: Operation | null,
  answer: Answer,
  check: (schema: Json) => ValidateFunction,
): string[] {
  const { status, headers } = answer;
  const faults: string[] = [];
  const type = String(headers['content-type']);
  if (type !== 'application/json; charset=utf-8') faults.push(`content-type is ${type}`);
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    return [...faults, 'the body is not JSON'];
  }
  if (status >= 400) faults.push(...faultsOfRefusal(headers, body));
  const response = responseFor(operation, status);
  if (operation === null) {
    if (![400, 404, 405, 417, 431].includes(status))
      faults.push(`nothing is here, and it says ${status}`);
    return faults;
  }
  if (response === null) return [...faults, `${status} is not described`];
  const media = response.content['application/json'];
  if (media === undefined) return [...faults, 'no JSON is described'];
  const fits = check(media.schema);
  if (!fits(body)) {
    for (const { instancePath, message } of fits.errors ?? []) {
      faults.push(`the body at "${instancePath}" ${message}`);
    }
  }
  return [...faults, ...faultsOfHeaders(headers, response, check)];
}

function faultsOfHeaders(
  headers: Answer['headers'],
  response: Response,
  check: (schema: Json) => ValidateFunction,
): string[] {
  const faults: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (ofHttp.has(name)) continue;
    const schema = response.headers?.[name]?.schema;
    if (schema === undefined) {
      faults.push(`the header ${name} is not described`);
      continue;
    }
    // Cookies come as a list.
    const text = String(value);
    const whole = schema.type === 'integer' && /^\d+$/.test(text);
    if (!check(schema)(whole ? Number(text) : text)) faults.push(`${name} is ${text}`);
  }
  return faults;
}

function faultsOfBudget(headers: Answer['headers']): string[] {
  const faults: string[] = [];
  for (const name of rateHeaders) {
    if (!/^\d+$/.test(String(headers[name]))) faults.push(`${name} is ${headers[name]}`);
  }
  for (const name of rateHeaders.slice(0, 2)) {
    if (headers[`x-${name}`] !== headers[name]) faults.push(`x-${name} differs from ${name}`);
  }
  const [limit, remaining] = rateHeaders.map((name) => Number(headers[name]));
  if ((remaining as number) > (limit as number)) faults.push('more remains than the limit');
  return faults;
}

function faultsOfRefusal(headers: Answer['headers'], body: unknown): string[] {
  const faults: string[] = [];
  const { error, ...more } = (body ?? {}) as { error?: unknown };
  if (typeof error !== 'string' || error.length === 0 || error.length > 2_000) {
    faults.push('`error` is not a sentence');
  }
  if (Object.keys(more).length > 0) faults.push(`beside error: ${Object.keys(more)}`);
  const code = Object.entries(headers).find(([name]) => /^x-\w+-error$/.test(name))?.[1];
  if (!/^[a-z0-9_]+$/.test(String(code))) faults.push(`the code is ${code}`);
  return faults;
}
