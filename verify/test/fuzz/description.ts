// The promises of the published API description: its operations, which of them a request reaches,
// and what is wrong with an answer.

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
  /** Content types that it takes, with their schemas; empty where it takes no body. */
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
  /** The operation that a request of this method to this address reaches, if any. */
  reached(method: string, url: string): Operation | null;
  /** The differences between the answer and its description; a sentence each. */
  faults(operation: Operation | null, url: string, answer: Answer): string[];
};

// biome-ignore lint/suspicious/noExplicitAny: a document is read by its own references
type Document = any;

export function describedBy(document: Document): Description {
  const operations = operationsOf(document);
  return {
    operations,
    schemaOf: (schema) => resolved(document, schema) as Json,
    reached: (method, url) =>
      operations.find((each) => each.method === method && leadsTo(each.path, url)) ?? null,
    faults: (operation, url, answer) => [
      // Elsewhere there are no budgets, and of a head that is too large no address is known.
      ...(url.startsWith('/v1') && answer.status !== 431 ? faultsOfBudget(answer.headers) : []),
      ...faultsOf(operation, answer),
    ],
  };
}

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

/** A refusal by HTTP itself is in `default`, whose text names the statuses. */
function responseFor(operation: Operation | null, status: number): Response | null {
  const response = operation?.responses[status];
  if (response !== undefined) return response;
  const otherwise = operation?.responses.default;
  return otherwise?.description.includes(String(status)) === true ? otherwise : null;
}

/** Headers of HTTP and of browsers: no description lists them. */
const ofHttp = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-type',
  'content-length',
  'transfer-encoding',
  'cache-control',
  'content-security-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
]);

/** The server itself checks the body that is no refusal: `strictly`. An answer of 304 has none. */
function faultsOfBody({ status, headers, text }: Answer): string[] {
  if (status === 304) return text === '' ? [] : ['304 has a body'];
  const type = String(headers['content-type']);
  const faults = type === 'application/json; charset=utf-8' ? [] : [`content-type is ${type}`];
  try {
    const body = JSON.parse(text);
    return status >= 400 ? [...faults, ...faultsOfRefusal(headers, body)] : faults;
  } catch {
    return [...faults, 'the body is not JSON'];
  }
}

function faultsOf(operation: Operation | null, answer: Answer): string[] {
  const { status, headers } = answer;
  const faults = faultsOfBody(answer);
  if (operation === null) {
    const isSaid = [400, 404, 405, 431].includes(status);
    return isSaid ? faults : [...faults, `nothing is here, and it says ${status}`];
  }
  const response = responseFor(operation, status);
  if (response === null) return [...faults, `${status} is not described`];
  const known = (name: string) => ofHttp.has(name) || response.headers?.[name] !== undefined;
  const others = Object.keys(headers).filter((name) => !known(name));
  return [...faults, ...others.map((name) => `the header ${name} is not described`)];
}

function faultsOfBudget(headers: Answer['headers']): string[] {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers[`ratelimit-${name}`] ?? Number.NaN),
  ) as [number, number, number];
  const isSound = remaining >= 0 && remaining <= limit && reset >= 0;
  const isTwice =
    headers['x-ratelimit-limit'] === `${limit}` &&
    headers['x-ratelimit-remaining'] === `${remaining}`;
  return isSound && isTwice ? [] : [`a budget of ${limit}, ${remaining}, ${reset}`];
}

function faultsOfRefusal(headers: Answer['headers'], body: unknown): string[] {
  const { error, ...more } = (body ?? {}) as { error?: unknown };
  const isSentence = typeof error === 'string' && error.length > 0 && error.length <= 2_000;
  const code = Object.entries(headers).find(([name]) => /^x-\w+-error$/.test(name))?.[1];
  return [
    ...(isSentence ? [] : ['`error` is not a sentence']),
    ...Object.keys(more).map((name) => `${name} is beside error`),
    ...(/^[a-z0-9_]+$/.test(String(code)) ? [] : [`the code is ${code}`]),
  ];
}
