// What every request passes before its operation: not shutting down, route, key, budget, scope, in
// this order. Sets the headers that every /v1 answer carries. Nothing here waits unless a key has to
// be looked up.

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Deps } from '../deps.ts';
import type { Scope } from '../market/messages.ts';
import { type Caller, type Keys, keyOf } from './auth.ts';
import { type Budgets, type Spent, windowSeconds } from './budgets.ts';
import { type HttpCode, HttpError, httpRefusal, sendRefusal } from './errors.ts';
import type { RouteTable } from './routeTable.ts';

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

export function createGate(deps: Deps, state: GateState): Gate {
  const { shortName } = deps.settings;
  const { keys, budgets, routes } = state;

  function refuse(
    reply: FastifyReply,
    code: HttpCode,
    sentence: string,
    headers: Record<string, string> = {},
  ) {
    sendRefusal(reply, { ...httpRefusal(code, sentence), headers }, shortName);
  }

  /** Sets the headers; false = over the budget, and answered. */
  function within(reply: FastifyReply, spent: Spent, who: 'account' | 'client'): boolean {
    setBudgetHeaders(reply, spent);
    if (spent.allowed) return true;
    const { limit, resetSeconds } = spent;
    const sentence =
      `too many requests for this ${who === 'account' ? 'account' : 'address'}` +
      ` (${limit} in ${windowSeconds} s); try again in ${resetSeconds} s`;
    const code = who === 'account' ? 'account_rate_limited' : 'rate_limited';
    refuse(reply, code, sentence, { 'retry-after': String(resetSeconds) });
    return false;
  }

  function anonymous(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    access: Access,
  ) {
    if (!within(reply, budgets.spendClient(request.ip), 'client')) return;
    if (access.mint === true) {
      const spent = budgets.spendMint(request.ip);
      if (!spent.allowed) {
        const { limit, resetSeconds } = spent;
        const sentence =
          `too many keys asked for from this address (${limit} an hour);` +
          ` try again in ${resetSeconds} s`;
        const headers = { 'retry-after': String(resetSeconds) };
        return refuse(reply, 'mint_rate_limited', sentence, headers);
      }
    }
    done();
  }

  function withoutKey(request: FastifyRequest, reply: FastifyReply, given: boolean) {
    if (!within(reply, budgets.spendClient(request.ip), 'client')) return;
    const headers = { 'www-authenticate': 'Bearer' };
    if (given) {
      return refuse(reply, 'key_invalid', 'the API key is invalid, revoked or expired', headers);
    }
    const sentence = 'an API key is needed: Authorization: Bearer <key>, or X-Api-Key: <key>';
    refuse(reply, 'key_missing', sentence, headers);
  }

  function withKey(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    access: Access,
    caller: Caller | null,
  ) {
    if (caller === null) return withoutKey(request, reply, true);
    request.caller = caller;
    if (!within(reply, budgets.spendCaller(caller), 'account')) return;
    if (access.scope !== undefined && !caller.scopes.includes(access.scope)) {
      const sentence = `this needs a key with the scope "${access.scope}"; this key has ${
        caller.scopes.join(', ') || 'none'
      }`;
      return refuse(reply, 'scope_missing', sentence);
    }
    done();
  }

  function unknownRoute(request: FastifyRequest, reply: FastifyReply, isV1: boolean) {
    if (isV1) {
      const key = keyOf(request.headers);
      const caller = key === null ? null : (keys.known(key) ?? null);
      setBudgetHeaders(
        reply,
        caller === null ? budgets.spendClient(request.ip) : budgets.spendCaller(caller),
      );
    }
    const path = request.url.split('?')[0] ?? '';
    const allowed = routes.methodsOf(path);
    if (allowed.length === 0 || allowed.includes(request.method)) {
      return refuse(reply, 'not_found', 'there is nothing at this path');
    }
    const allow = allowed.join(', ');
    const sentence = `this path takes ${allow}, not ${request.method}`;
    refuse(reply, 'method_not_allowed', sentence, { allow });
  }

  return (request, reply, done) => {
    reply.headers(baseHeaders);
    const isV1 = request.url.startsWith('/v1');
    if (state.closing) {
      if (isV1) setBudgetHeaders(reply, budgets.spendClient(request.ip));
      const headers = { 'retry-after': '5', connection: 'close' };
      return refuse(reply, 'shutting_down', 'the server is shutting down', headers);
    }
    if (request.is404) return unknownRoute(request, reply, isV1);
    const { access } = request.routeOptions.config;
    if (access === undefined) return done();
    if (access.kind === 'open') return anonymous(request, reply, done, access);
    const key = keyOf(request.headers);
    if (key === null) return withoutKey(request, reply, false);
    const known = keys.known(key);
    if (known !== undefined) return withKey(request, reply, done, access, known);
    keys.find(key).then(
      (caller) => withKey(request, reply, done, access, caller),
      (error: Error) => {
        setBudgetHeaders(reply, budgets.spendClient(request.ip));
        done(error);
      },
    );
  };
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
