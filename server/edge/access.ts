// What every request passes before its operation: not shutting down, route, key, budget, scope, in
// this order. Sets the headers that every /v1 answer carries. Nothing here waits unless a key has
// to be looked up.

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Scope } from '../scopes.ts';
import { type Caller, type Keys, keyOf } from './auth.ts';
import { type Budgets, type Spent, windowSeconds } from './budgets.ts';
import { type HttpCode, HttpError, httpRefusal, sendRefusal } from './errors.ts';
import type { RouteTable } from './route-table.ts';

/** Declared by a route in its config. */
export type Access = {
  readonly kind: 'key' | 'open';
  readonly scope?: Scope | undefined;
  /** Counts against the mints of the client's address. */
  readonly mint?: boolean | undefined;
};

export type Gate = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
) => void;

export type GateState = {
  readonly shortName: string;
  readonly keys: Keys;
  readonly budgets: Budgets;
  readonly routes: RouteTable;
  closing: boolean;
};

export const baseHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/** A request at the gate. */
type Visit = {
  readonly state: GateState;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly done: HookHandlerDoneFunction;
};

export function createGate(state: GateState): Gate {
  const { budgets, keys } = state;
  return (request, reply, done) => {
    reply.headers(baseHeaders);
    const visit = { state, request, reply, done };
    if (state.closing) return shuttingDown(visit);
    if (breaksHttp(request)) return broken(visit);
    if (request.is404) return unknownRoute(visit);
    const { access } = request.routeOptions.config;
    if (access === undefined) return done();
    if (access.kind === 'open') return anonymous(visit, access);
    const key = keyOf(request.headers);
    if (key === null) return withoutKey(visit, false);
    const known = keys.known(key);
    if (known !== undefined) return withKey(visit, access, known);
    keys.find(key).then(
      (caller) => withKey(visit, access, caller),
      (error: Error) => {
        setBudgetHeaders(reply, budgets.spendClient(request.ip));
        done(error);
      },
    );
  };
}

function shuttingDown(visit: Visit) {
  const { state, request, reply } = visit;
  if (isV1(request)) setBudgetHeaders(reply, state.budgets.spendClient(request.ip));
  const headers = { 'retry-after': '5', connection: 'close' };
  refuse(visit, 'shutting_down', 'the server is shutting down', headers);
}

/** What node would refuse without a body: left to us, so that the answer is like all others. */
function breaksHttp({ raw, headers }: FastifyRequest): boolean {
  return (raw.httpVersion === '1.1' && headers.host === undefined) || expectsMore(headers.expect);
}

function expectsMore(expect: string | undefined): boolean {
  return expect !== undefined && !/^100-continue$/i.test(expect);
}

function broken(visit: Visit) {
  const { state, request, reply } = visit;
  setBudgetHeaders(reply, state.budgets.spendClient(request.ip));
  if (expectsMore(request.headers.expect)) {
    return refuse(visit, 'expectation_failed', 'the header Expect may only be 100-continue');
  }
  refuse(visit, 'bad_header', 'the header Host is missing');
}

function unknownRoute(visit: Visit) {
  const { state, request, reply } = visit;
  const { budgets, keys, routes } = state;
  if (isV1(request)) {
    const key = keyOf(request.headers);
    const caller = key === null ? null : (keys.known(key) ?? null);
    setBudgetHeaders(
      reply,
      caller === null ? budgets.spendClient(request.ip) : budgets.spendCaller(caller),
    );
  }
  const allowed = routes.methodsOf(request.url.split('?')[0] ?? '');
  if (allowed.length === 0 || allowed.includes(request.method)) {
    return refuse(visit, 'not_found', 'there is nothing at this path');
  }
  const allow = allowed.join(', ');
  const sentence = `this path takes ${allow}, not ${request.method}`;
  refuse(visit, 'method_not_allowed', sentence, { allow });
}

function anonymous(visit: Visit, access: Access) {
  const { state, request, done } = visit;
  if (!within(visit, state.budgets.spendClient(request.ip), 'address')) return;
  if (access.mint === true) {
    const { allowed, limit, resetSeconds } = state.budgets.spendMint(request.ip);
    if (!allowed) {
      const sentence =
        `too many keys asked for from this address (${limit} an hour);` +
        ` try again in ${resetSeconds} s`;
      const headers = { 'retry-after': String(resetSeconds) };
      return refuse(visit, 'mint_rate_limited', sentence, headers);
    }
  }
  done();
}

function withoutKey(visit: Visit, given: boolean) {
  const { state, request } = visit;
  if (!within(visit, state.budgets.spendClient(request.ip), 'address')) return;
  const headers = { 'www-authenticate': 'Bearer' };
  if (given) {
    return refuse(visit, 'key_invalid', 'the API key is invalid, revoked or expired', headers);
  }
  const sentence = 'an API key is needed: Authorization: Bearer <key>, or X-Api-Key: <key>';
  refuse(visit, 'key_missing', sentence, headers);
}

function withKey(visit: Visit, access: Access, caller: Caller | null) {
  if (caller === null) return withoutKey(visit, true);
  const { state, request, done } = visit;
  request.caller = caller;
  if (!within(visit, state.budgets.spendCaller(caller), 'account')) return;
  if (access.scope !== undefined && !caller.scopes.includes(access.scope)) {
    const held = caller.scopes.join(', ');
    const sentence = `this needs a key with the scope "${access.scope}"; this key has ${held}`;
    return refuse(visit, 'scope_missing', sentence);
  }
  done();
}

/** Sets the headers; false = over the budget, and answered. */
function within(visit: Visit, spent: Spent, whose: 'account' | 'address'): boolean {
  setBudgetHeaders(visit.reply, spent);
  if (spent.allowed) return true;
  const { limit, resetSeconds } = spent;
  const sentence =
    `too many requests for this ${whose} (${limit} in ${windowSeconds} s);` +
    ` try again in ${resetSeconds} s`;
  const code = whose === 'account' ? 'account_rate_limited' : 'rate_limited';
  refuse(visit, code, sentence, { 'retry-after': String(resetSeconds) });
  return false;
}

function isV1(request: FastifyRequest): boolean {
  return request.url.startsWith('/v1');
}

function refuse(
  { state, reply }: Visit,
  code: HttpCode,
  sentence: string,
  headers: Record<string, string> = {},
): void {
  sendRefusal(reply, { ...httpRefusal(code, sentence), headers }, state.shortName);
}

export function setBudgetHeaders(reply: FastifyReply, spent: Spent): void {
  const limit = String(spent.limit);
  const remaining = String(spent.remaining);
  reply.headers({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': String(spent.resetSeconds),
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
  });
}

/** The caller of an operation that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new HttpError('key_missing', 'an API key is needed');
  return request.caller;
}
