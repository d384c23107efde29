// How a route is declared. A command (POST, DELETE) commits its effect, its stored idempotent reply
// and its outbox rows in one transaction; a read only answers.

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Scope } from '../../core/scopes.ts';
import type { Tx } from '../db/database.ts';
import { mustBeFresh } from '../people/sessions.ts';
import type { Deps } from '../ports/deps.ts';
import { type Access, callerOf, clientOf } from './access.ts';
import type { Caller } from './auth.ts';
import { Malformed, notJson, tooLarge } from './body.ts';
import { HttpError } from './errors.ts';
import {
  type Answer,
  type Asked,
  type Reply,
  runOnce,
  type Stored,
  type WithoutRoom,
} from './idempotency/once.ts';
import type { Method, Operation } from './operations.ts';
import { bodyCheck, paramsCheck, queryCheck } from './validate.ts';

export type { Caller };

export type Input<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly caller: Caller;
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
};

type Declared<P extends TSchema, Q extends TSchema> = {
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly params?: P;
  readonly query?: Q;
};

export type CommandSpec<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  Prepared,
> = Declared<P, Q> & {
  readonly method: 'POST' | 'DELETE';
  readonly scope?: 'taker' | 'maker';
  /** A session does it only with a sign-in of the last 10 minutes; keys have no sign-in. */
  readonly fresh?: true;
  readonly body?: B;
  readonly replies: Readonly<Record<number, TSchema>>;
  /** What each of several answers means. */
  readonly outcomes?: Readonly<Record<number, string>>;
  /** Carries a secret, in or out: whatever is stored of its answers is encrypted. */
  readonly secret?: true;
  /** Of a reply for which the account's day has no room left (once.ts); `refuse` unless told. */
  readonly withoutRoom?: WithoutRoom;
  /**
   * Slow reads of chains, before and outside the transaction. `signal` ends at
   * settings.chainTimeoutMs; what it ends is answered as `chain_timeout`. `attempt` is the same
   * for the same request under the same Idempotency-Key; null without one. `client`: its address.
   */
  readonly before?: (
    input: Input<P, Q, B> & {
      signal: AbortSignal;
      attempt: Uint8Array | null;
      client: string;
    },
  ) => Promise<Prepared>;
  /** The effect. What it throws is rolled back; a refusal is stored as the reply. */
  readonly run: (tx: Tx, input: Input<P, Q, B> & { prepared: Prepared }) => Promise<Reply>;
  /** Instead of `run` without an Idempotency-Key: commits by itself, with others' effects. */
  readonly grouped?: (input: Input<P, Q, B> & { prepared: Prepared }) => Promise<Reply>;
  /** Gives back what `before` has taken, whatever became of it; what it throws is let go. */
  readonly release?: (prepared: Prepared) => Promise<void>;
  /** Once a reply is stored or given again; what it throws is nobody's trouble. */
  readonly after?: (input: Input<P, Q, B>) => Promise<void>;
  /** Asked before a stored reply is given again; throws where it must not be. */
  readonly replay?: (tx: Tx, input: Input<P, Q, B> & { reply: Stored }) => Promise<void>;
};

/** The command as it is run for a caller who has passed the gate, whatever way it came. */
export type Run = (asked: Asked, caller: Caller) => Promise<Answer>;

export function command<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  Prepared = undefined,
>(app: FastifyInstance, deps: Deps, spec: CommandSpec<P, Q, B, Prepared>): Run {
  const { method, url, scope, before, run, grouped, replay, after, secret = false } = spec;
  const { withoutRoom = 'refuse' } = spec;
  const parse = parserOf<P, Q, B>(spec);
  declare(app, { ...spec, access: 'key' });
  const runFor: Run = async (asked, caller) => {
    const { signedInAt } = caller;
    if (spec.fresh && signedInAt !== null) mustBeFresh({ signedInAt }, deps.now());
    const taken: Prepared[] = [];
    const client = clientOf(asked);
    const steps = runOnce(deps, app.edge.underway, asked, caller, {
      parse: () => ({ caller, ...parse(asked) }),
      before:
        before === undefined
          ? undefined
          : (input, attempt) =>
              withTimeLimit(deps.settings.chainTimeoutMs, async (signal) => {
                const prepared = await before({ ...input, signal, attempt, client });
                taken.push(prepared);
                return prepared;
              }),
      run: (tx, input, prepared) => run(tx, { ...input, prepared: prepared as Prepared }),
      grouped:
        grouped === undefined
          ? undefined
          : (input, prepared) => grouped({ ...input, prepared: prepared as Prepared }),
      replay:
        replay === undefined
          ? undefined
          : (tx, input, stored) => replay(tx, { ...input, reply: stored }),
      secret,
      withoutRoom,
    });
    try {
      return await steps;
    } finally {
      for (const each of taken) await spec.release?.(each).catch(() => {});
    }
  };
  const answerTo = async (asked: Asked, caller: Caller, reply: FastifyReply) => {
    const answer = await runFor(asked, caller);
    if (after !== undefined && answer.status < 300) {
      await after({ caller, ...parse(asked) }).catch(() => {});
    }
    if (answer.replayed) reply.header('idempotency-replayed', 'true');
    if (answer.code !== null) reply.header(`x-${deps.settings.shortName}-error`, answer.code);
    app.edge.checkReply?.(spec, answer.status, answer.body);
    return sendJson(reply, answer.status, answer.body);
  };
  app.route({
    method,
    url,
    config: { access: { kind: 'key', scope } satisfies Access },
    handler: (request, reply) => answerTo(request, callerOf(request), reply),
    // oxlint-disable-next-line typescript/no-misused-promises -- Fastify awaits what it returns
    errorHandler: (error, request, reply) => {
      const body = unread(error);
      if (body === null) throw error;
      const { headers, params, query } = request;
      const asked = { method, url: request.url, headers, params, query, body };
      return answerTo(asked, callerOf(request), reply);
    },
  });
  return runFor;
}

/** The body that fastify refused before it was read; null of another error. */
function unread(error: unknown): Malformed | null {
  const { code } = error as { code?: string };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge();
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ? notJson('') : null;
}

/** Unlike AbortSignal.timeout nothing of it outlives the work: 100 MB at 5 000 a second. */
async function withTimeLimit<R>(ms: number, work: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('out of time', 'TimeoutError'));
  const timer = setTimeout(end, ms);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

export type ReadSpec<P extends TSchema, Q extends TSchema> = Declared<P, Q> & {
  readonly replies: Readonly<Record<number, TSchema>>;
  /** A string answers as it is: JSON that the handler has made or kept. */
  readonly handle: (input: Omit<Input<P, Q, TSchema>, 'body'>) => Promise<unknown>;
};

/** A GET with a key. */
export function read<P extends TSchema, Q extends TSchema>(
  app: FastifyInstance,
  _deps: Deps,
  spec: ReadSpec<P, Q>,
): void {
  const { url, handle } = spec;
  const parse = parserOf<P, Q, TSchema>({ ...spec, method: 'GET' });
  declare(app, { ...spec, method: 'GET', access: 'key' });
  app.route({
    method: 'GET',
    url,
    config: { access: { kind: 'key' } satisfies Access },
    handler: async (request, reply) => {
      const { params, query } = parse(request);
      const body = await handle({ caller: callerOf(request), params, query });
      app.edge.checkReply?.(spec, 200, body);
      return sendJson(reply, 200, body);
    },
  });
}

export type OpenSpec<P extends TSchema, Q extends TSchema, B extends TSchema> = Declared<P, Q> & {
  readonly method: Method;
  readonly body?: B;
  readonly replies: Readonly<Record<number, TSchema>>;
  /** Counts against the mints of the client's address. */
  readonly mint?: boolean;
  readonly handle: (input: Omit<Input<P, Q, B>, 'caller'>) => Promise<unknown>;
};

/** An operation that needs no key and keeps no idempotent reply. */
export function open<P extends TSchema, Q extends TSchema, B extends TSchema>(
  app: FastifyInstance,
  _deps: Deps,
  spec: OpenSpec<P, Q, B>,
): void {
  const { method, url, mint, handle } = spec;
  const parse = parserOf<P, Q, B>(spec);
  declare(app, { ...spec, access: 'open' });
  app.route({
    method,
    url,
    config: { access: { kind: 'open', mint } satisfies Access },
    handler: async (request, reply) => {
      const body = await handle(parse(request));
      app.edge.checkReply?.(spec, 200, body);
      return sendJson(reply, 200, body);
    },
  });
}

function declare(
  app: FastifyInstance,
  spec: Omit<Operation, 'scope'> & { readonly scope?: Scope },
): void {
  const { method, url, operationId, summary, tags, access, scope, params, query, body } = spec;
  app.edge.operations.push({
    method,
    url,
    operationId,
    summary,
    tags,
    access,
    scope,
    params,
    query,
    body,
    replies: spec.replies,
    outcomes: spec.outcomes,
  });
}

export function parserOf<P extends TSchema, Q extends TSchema, B extends TSchema>(spec: {
  readonly method: Method;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
}): (asked: Omit<Asked, 'method' | 'headers'>) => Omit<Input<P, Q, B>, 'caller'> {
  const checks = {
    params: spec.params === undefined ? null : paramsCheck(spec.params),
    query: spec.query === undefined ? null : queryCheck(spec.query),
    // Closed whether or not its author thought of it.
    body: spec.body === undefined ? null : bodyCheck({ ...spec.body, additionalProperties: false }),
  };
  return (request) => {
    const { params, query } = request;
    if (spec.method !== 'GET') refuse(bodyFault(request.body, checks.body));
    // PostgreSQL cannot store it, and no path or filter has a use for it.
    if (request.url.includes('%00')) {
      throw new HttpError('malformed_url', 'the URL holds the character U+0000');
    }
    refuse(checks.query?.(query) ?? null);
    refuse(checks.params?.(params) ?? null);
    const body = checks.body === null ? undefined : (request.body ?? {});
    return { params: params as Static<P>, query: query as Static<Q>, body: body as Static<B> };
  };
}

function bodyFault(body: unknown, check: ReturnType<typeof bodyCheck> | null): string | null {
  if (body instanceof Malformed) throw new HttpError(body.code, body.sentence);
  if (check !== null) return check(body === undefined ? {} : body);
  if (body === undefined || body === null) return null;
  if (typeof body !== 'object' || Array.isArray(body)) return 'this takes no body';
  const [field] = Object.keys(body);
  return field === undefined ? null : `field ${JSON.stringify(field.slice(0, 80))} is not known`;
}

function refuse(sentence: string | null): void {
  if (sentence !== null) throw new HttpError('bad_field', sentence);
}

export function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}
