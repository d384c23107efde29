// How a route is declared: with `read`, `open` or `command`, and in the browser those of
// account/declare.ts. A command (POST, DELETE) commits its effect, its stored idempotent reply and
// its outbox rows in one transaction; a read only answers.

import { parseBaseUnits } from '@parley/core/amounts.ts';
import { parseHex32 } from '@parley/core/hashlock.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { mustBeFresh } from '../people/sessions.ts';
import { causedBy } from '../ports/cause.ts';
import type { Deps } from '../ports/deps.ts';
import { type Check, checkOf, coercingCheckOf, type Readers } from '../settings/check.ts';
import { type Access, callerOf, causeOf } from './access.ts';
import type { Caller } from './auth.ts';
import { isRefusedToBlocked } from './blocked.ts';
import { Malformed, notJson, tooLarge } from './body.ts';
import { bytesOfRequest, type Soon, whenKnown } from './budgets.ts';
import { HttpError } from './errors.ts';
import { clientOf } from './forwarded.ts';
import {
  baseHeaders,
  headersOf,
  jsonOf,
  jsonType,
  setHeaders,
  Tagged,
  answer as write,
} from './headers.ts';
import { type Answer, type Asked, runOnce, type Steps } from './idempotency/once.ts';
import { amountPattern, hex32Pattern, withoutNulls } from './schemas/common.ts';
import { scopeFor } from './scopes.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

/** Where operations are declared, and the tag that the description files them under. */
export type Place = { readonly app: FastifyInstance; readonly deps: Deps; readonly tag: string };

/** The declaration of every operation: the description of the API is made of it. */
export type Declared<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  /** The description of the operation. The first sentence is the summary. */
  readonly about: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly replies: Readonly<Record<number, TSchema>>;
  /** The meaning of each of several answers. */
  readonly outcomes?: Readonly<Record<number, string>>;
  /** Its answer may have a tag: 304 where the client has it. */
  readonly isTagged?: true;
};

export type Operation = Declared<TSchema, TSchema, TSchema> & {
  readonly method: Method;
  /** Fastify's spelling: `/v1/rfqs/:id`. */
  readonly url: string;
  readonly operationId: string;
  readonly tag: string;
  readonly access: Access;
};

export type Parsed<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
};
type Input<P extends TSchema, Q extends TSchema, B extends TSchema> = Parsed<P, Q, B> & {
  readonly caller: Caller;
};

/** Takes an operation into the description; `at` is its method and URL. */
function declare(
  { app, tag }: Place,
  at: string,
  operationId: string,
  spec: Declared<TSchema, TSchema, TSchema>,
  given: Access,
): Operation {
  const [method, url] = at.split(' ') as [Method, string];
  const access = { ...given, isNew: isRefusedToBlocked(method, operationId) };
  const { about, params, query, body, replies, outcomes, isTagged } = spec;
  const shapes = { params, query, body, replies, outcomes, isTagged };
  const operation = { method, url, operationId, about, tag, access, ...shapes } as Operation;
  const isOfAccount = access.kind === 'session' || access.kind === 'browser';
  app.edge[isOfAccount ? 'accountOperations' : 'operations'].push(operation);
  return operation;
}

type Answered = { readonly status?: number; readonly body: unknown };

/** Declares an operation that keeps no idempotent reply, and answers it. */
export function serve<P extends TSchema, Q extends TSchema, B extends TSchema>(
  place: Place,
  at: string,
  operationId: string,
  spec: Declared<P, Q, B>,
  access: Access,
  answer: (input: Parsed<P, Q, B>, request: FastifyRequest, reply: FastifyReply) => Soon<Answered>,
): void {
  const { app, deps } = place;
  const operation = declare(place, at, operationId, spec, access);
  const parse = parserOf<P, Q, B>(operation);
  // Reads with a key are most of what is asked. Their own failure is told with its name anyway.
  const isRead = operation.method === 'GET' && access.kind === 'key';
  const isTold = !isRead || deps.log.isLevelEnabled('debug');
  app.route({
    method: operation.method,
    url: operation.url,
    config: { access: operation.access, headersWait: isRead },
    // An operation that waits for nothing is answered in the turn that asked: two awaits are a
    // twentieth of it.
    handler: (request, reply) => {
      const work = () => answer(parse(request), request, reply);
      const send = ({ status = 200, body }: Answered) => {
        app.edge.checkReply?.(operation, status, jsonOf(body));
        return isRead ? sendRead(request, reply, body) : void sendJson(reply, status, body);
      };
      const sent = whenKnown(isTold ? causedBy(causeOf(request), work) : work(), send);
      return sent instanceof Promise ? sent : undefined;
    },
  });
}

/** A large answer that was made for this request costs its caller as many as it is worth. */
function sendRead(request: FastifyRequest, reply: FastifyReply, body: unknown): Soon<void> {
  const json = jsonOf(body);
  const isMade = body !== json && !(body instanceof Tagged);
  const more = isMade ? Math.floor(json.length / bytesOfRequest) : 0;
  if (more === 0) return write(request, reply, isMade ? json : body);
  const { budgets } = request.server.edge;
  return whenKnown(budgets.spendCaller(callerOf(request), clientOf(request), more), (spent) => {
    if (spent.allowed) request.spent = spent;
    write(request, reply, json);
  });
}

/** A GET with a key. A string or bytes answer as they are: JSON that was made before. */
export function read<P extends TSchema, Q extends TSchema>(
  place: Place,
  url: string,
  operationId: string,
  spec: Declared<P, Q, TSchema> & {
    readonly handle: (input: Omit<Input<P, Q, TSchema>, 'body'>) => Soon<unknown>;
  },
): void {
  serve(place, `GET ${url}`, operationId, spec, { kind: 'key' }, (input, request) =>
    whenKnown(spec.handle({ ...input, caller: callerOf(request) }), (body) => ({ body })),
  );
}

/** An operation that needs no key. `mint`: counts against the mints of the client's network. */
export function open<P extends TSchema, Q extends TSchema, B extends TSchema>(
  place: Place,
  at: string,
  operationId: string,
  spec: Declared<P, Q, B> & {
    readonly mint?: true;
    readonly handle: (input: Parsed<P, Q, B>) => Promise<unknown>;
  },
): void {
  const access = { kind: 'open', mint: spec.mint } as const;
  serve(place, at, operationId, spec, access, async (input) => ({
    body: await spec.handle(input),
  }));
}

/** A read of what is public: `/v1{path}` with a key, `/market{path}` for who has none. */
export function readByAll<Q extends TSchema>(
  place: Place,
  path: string,
  operationId: string,
  spec: Declared<TSchema, Q, TSchema> & {
    readonly handle: (input: {
      readonly query: Input<TSchema, Q, TSchema>['query'];
    }) => Promise<unknown>;
  },
): void {
  read(place, `/v1${path}`, operationId, spec);
  const about = `${spec.about} Needs no key.`;
  open({ ...place, tag: 'market' }, `GET /market${path}`, `${operationId}Openly`, {
    ...spec,
    about,
  });
}

export type CommandSpec<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  Prepared,
> = Declared<P, Q, B> &
  Omit<Steps<Input<P, Q, B>, Prepared>, 'parse' | 'before'> & {
    /** A session does it only with a sign-in of the last 10 minutes; keys have no sign-in. */
    readonly fresh?: true;
    /**
     * Slow reads of chains, before and outside the transaction. `signal` ends at
     * settings.chainTimeoutMs; a read that it ends is answered as `chain_timeout`. `attempt` is the
     * same for the same request under the same Idempotency-Key; null without one. `client`: its
     * address.
     */
    readonly before?: (
      input: Input<P, Q, B> & {
        signal: AbortSignal;
        attempt: Uint8Array | null;
        client: string;
      },
    ) => Promise<Prepared>;
  };

/** The command as it is run for a caller who has passed the gate, whatever way it came. */
export type Run = (asked: Asked, caller: Caller) => Promise<Answer>;

export function command<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  Prepared = undefined,
>(place: Place, at: string, operationId: string, spec: CommandSpec<P, Q, B, Prepared>): Run {
  const { app, deps } = place;
  const access: Access = { kind: 'key', scope: scopeFor(operationId) };
  const operation = declare(place, at, operationId, spec, access);
  const parse = parserOf<P, Q, B>(operation);
  const { before } = spec;
  const run: Run = async (asked, caller) => {
    const { signedInAt } = caller;
    if (spec.fresh && signedInAt !== null) mustBeFresh({ signedInAt }, deps.now());
    const prepare =
      before &&
      ((input: Input<P, Q, B>, attempt: Uint8Array | null) =>
        withTimeLimit(deps.settings.chainTimeoutMs, (signal) =>
          before({ ...input, signal, attempt, client: clientOf(asked) }),
        ));
    const steps = { ...spec, parse: () => ({ caller, ...parse(asked) }), before: prepare };
    return runOnce(deps, app.edge.underway, asked, caller, steps);
  };
  const answer = async (asked: Asked, request: FastifyRequest, reply: FastifyReply) => {
    const { status, body, code, replayed } = await run(asked, callerOf(request));
    app.edge.checkReply?.(operation, status, body);
    const more = replayed ? ['idempotency-replayed', 'true'] : [];
    // The meter reads the code of a refusal from the reply, and an unread body has headers there.
    if (code === null && asked === request) return write(request, reply, body, { status, more });
    if (code !== null) more.push(`x-${deps.settings.shortName}-error`, code);
    setHeaders(reply, [...baseHeaders, ...headersOf(request), ...more]);
    return sendJson(reply, status, body);
  };
  app.route({
    method: operation.method,
    url: operation.url,
    config: { access: operation.access, headersWait: true },
    handler: (request, reply) => causedBy(causeOf(request), () => answer(request, request, reply)),
    // oxlint-disable-next-line typescript/no-misused-promises -- Fastify awaits what it returns
    errorHandler: (error, request, reply) => {
      const body = unread(error);
      if (body === null) throw error;
      const { method, url, headers, params, query } = request;
      const asked = { method, url, headers, params, query, body };
      return causedBy(causeOf(request), () => answer(asked, request, reply));
    },
  });
  return run;
}

/** The body that fastify refused before it was read; null of another error. */
function unread(error: unknown): Malformed | null {
  const { code } = error as { code?: string };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge();
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ? notJson('') : null;
}

type Limit = { readonly signal: AbortSignal; users: number; isOver: boolean; end(): void };

/** Requests that share a limit: removing a listener reads those before it. */
const mostOfLimit = 64;
const limits = new Map<number, Limit>();

/**
 * One timer for all that begins in one turn of the event loop: a burst of quotes is one. Unlike
 * AbortSignal.timeout nothing of it outlives the work: 100 MB at 5 000 a second.
 */
async function withTimeLimit<R>(ms: number, work: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const limit = limitOf(ms);
  limit.users += 1;
  try {
    return await work(limit.signal);
  } finally {
    limit.users -= 1;
    if (limit.users === 0 && limit.isOver) limit.end();
  }
}

function limitOf(ms: number): Limit {
  const known = limits.get(ms);
  if (known !== undefined && known.users < mostOfLimit) return known;
  if (known !== undefined) known.isOver = true;
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('out of time', 'TimeoutError'));
  const timer = setTimeout(abort, ms);
  const end = () => clearTimeout(timer);
  const limit: Limit = { signal: controller.signal, users: 0, isOver: false, end };
  limits.set(ms, limit);
  setImmediate(() => {
    if (limits.get(ms) === limit) limits.delete(ms);
    limit.isOver = true;
    if (limit.users === 0) end();
  });
  return limit;
}

function parserOf<P extends TSchema, Q extends TSchema, B extends TSchema>(
  spec: Pick<Operation, 'method' | 'params' | 'query' | 'body'>,
): (asked: Omit<Asked, 'method' | 'headers'>) => Parsed<P, Q, B> {
  const checkParams = spec.params && checkOf(spec.params, 'the path');
  const readQuery = spec.query && queryReader(spec.query);
  // Closed whether or not its author thought of it.
  const checkBody =
    spec.body && inputCheck({ ...spec.body, additionalProperties: false }, 'the body');
  return ({ params, query: given, url, body }) => {
    if (spec.method !== 'GET') refuse(bodyFault(body, checkBody));
    // PostgreSQL cannot store it, and no path or filter has a use for it.
    if (url.includes('%00')) {
      throw new HttpError('malformed_url', 'the URL holds the character U+0000');
    }
    const query = readQuery === undefined ? given : readQuery(given);
    refuse(checkParams?.(params) ?? null);
    const read = spec.body && withoutNulls(spec.body, body ?? {});
    return { params, query, body: read } as Parsed<P, Q, B>;
  };
}

/** The query with its defaults. Most requests have none: that is read once. */
function queryReader(schema: TSchema): (query: unknown) => unknown {
  const check = coercingCheckOf(schema, 'the query');
  const defaults = {};
  let fault: string | null | undefined;
  return (query) => {
    if (Object.keys(query as object).length > 0) {
      refuse(check(query));
      return query;
    }
    if (fault === undefined) {
      fault = check(defaults);
      Object.freeze(defaults);
    }
    refuse(fault);
    return defaults;
  };
}

function bodyFault(body: unknown, check: Check | undefined): string | null {
  if (body instanceof Malformed) throw new HttpError(body.code, body.sentence);
  if (check !== undefined) return check(body === undefined ? {} : body);
  if (body === undefined || body === null) return null;
  if (typeof body !== 'object' || Array.isArray(body)) return 'this takes no body';
  const [field] = Object.keys(body);
  return field === undefined ? null : `field ${JSON.stringify(field.slice(0, 80))} is not known`;
}

function refuse(sentence: string | null): void {
  if (sentence !== null) throw new HttpError('bad_field', sentence);
}

export function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply.code(status).header('content-type', jsonType).send(jsonOf(body));
}

// Bodies and frames are never coerced; a query, which can only be text, is (settings/check.ts).
const readers: Readers = new Map<string, (text: string, field: string) => unknown>([
  [amountPattern, parseBaseUnits],
  [hex32Pattern, parseHex32],
]);

/** Throws `bad_amount` and `bad_hex` by itself; the rest is for the caller to refuse. */
export function inputCheck(schema: TSchema, what: 'the body' | 'the frame'): Check {
  return checkOf(schema, what, readers);
}
