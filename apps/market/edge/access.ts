// The checks of every request before its operation: not shutting down, route, key, budget, scope,
// in this order. Sets the headers that every answer carries. A request waits here only if a key has
// to be looked up or budgets are shared.

import type { IncomingHttpHeaders } from 'node:http';
import type { ParleyError } from '@parley/core/errors.ts';
import type { Scope } from '@parley/core/scopes.ts';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { blocked } from '../db/accounts.ts';
import type { Cause } from '../ports/cause.ts';
import { cookieName, cookieOf } from './account/cookies.ts';
import { isWrite, otherAccount, ownSite, type SiteSettings } from './account/same-origin.ts';
import { type Caller, type Credential, type Keys, keyOf } from './auth.ts';
import { type Budgets, overBudget, overOf, type Soon, type Spent, whenKnown } from './budgets.ts';
import type { Cors } from './cors.ts';
import { HttpError, httpRefusal, refusalOf, sendRefusal } from './errors.ts';
import { clientOf } from './forwarded.ts';
import { baseHeaders, budgetHeaders, headersOf, setHeaders } from './headers.ts';
import type { LastUses } from './last-uses.ts';
import { traceIdOf } from './request-ids.ts';
import { type Reserve, reservedPart } from './reserve.ts';
import { namesNothing, noRoute, type RouteTable } from './route-table.ts';

/** Declared by a route in its config. */
export type Access = {
  /** `session`: the cookie of a signed-in browser; `browser`: any browser on our own pages. */
  readonly kind: 'key' | 'open' | 'session' | 'browser';
  readonly scope?: Scope | undefined;
  /** Counts against the mints of the client's address. */
  readonly mint?: boolean | undefined;
  /** Counts against the sign-ins of the client's network. */
  readonly signIn?: boolean | undefined;
  /** Counts against what the account adds, which its person hears of. */
  readonly change?: boolean | undefined;
  /** Counts against the sockets that the client's address opens, not against its requests. */
  readonly socket?: boolean | undefined;
  /** New business: refused to an account that is blocked. */
  readonly isNew?: boolean | undefined;
};

export type Gate = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
) => void;

export type GateState = {
  readonly shortName: string;
  readonly settings: SiteSettings;
  readonly keys: Keys;
  readonly budgets: Budgets;
  readonly reserve: Reserve;
  readonly routes: RouteTable;
  readonly uses: LastUses;
  readonly cors: Cors | null;
  closing: boolean;
  /** Answers people who came to no screen of the app; false: the refusal is for programs. */
  missing: (request: FastifyRequest, reply: FastifyReply) => boolean;
};

/** A request at the gate. */
type Visit = {
  readonly state: GateState;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly done: HookHandlerDoneFunction;
  readonly headersWait: boolean;
  /** The client's address, read while the socket is there: one that is gone has none. */
  readonly client: string;
};

export function createGate(state: GateState): Gate {
  const { cors, settings } = state;
  return (request, reply, done) => {
    const { access, isProbe = false, headersWait = false } = request.routeOptions.config;
    if (!headersWait) setHeaders(reply, [...baseHeaders, ...headersOf(request)]);
    const visit = { state, request, reply, done, headersWait, client: clientOf(request) };
    if (state.closing && !isProbe) return refuseAny(visit, shuttingDown());
    const preflight = cors?.preflight(request) ?? null;
    if (preflight !== null) {
      return spendClient(visit, () => {
        reply.code(204).headers(preflight).send();
      });
    }
    if (request.is404 || namesNothing(request.params)) return unknownRoute(visit);
    if (access === undefined) return done();
    if (access.kind === 'open') return anonymous(visit, access);
    const shown = shownBy(settings, request, access);
    if (shown instanceof HttpError) return refuseAny(visit, shown);
    if (access.kind === 'browser') return anonymous(visit, access);
    if (shown === null) return withoutKey(visit, access, null);
    const failed = (error: Error) => spendAny(visit, () => done(error));
    lookUp(visit, shown, (caller) => withKey(visit, access, shown, caller), failed);
  };
}

/**
 * Once more when the whole request is there: a body may take half a minute, and a key that was
 * revoked meanwhile does nothing any more. The second check spends no budget.
 */
export function createSecondCheck(state: GateState): Gate {
  return (request, reply, done) => {
    const { caller } = request;
    const { access = { kind: 'open' } } = request.routeOptions.config;
    const shown = caller === null ? null : shownBy(state.settings, request, access);
    if (shown === null || shown instanceof HttpError) return done();
    lookUp({ state, request, done }, shown, (found) => {
      if (found !== null) return done();
      const isKey = typeof shown === 'string';
      if (isKey) reply.header('www-authenticate', 'Bearer');
      const what = isKey ? 'API key was revoked or expired' : 'session ended';
      const sentence = `the ${what} while the request arrived`;
      const code = isKey ? 'key_invalid' : 'session_missing';
      sendRefusal(reply, httpRefusal(code, sentence), state.shortName);
    });
  };
}

/** At once where it is remembered. */
function lookUp(
  { state: { keys }, request, done }: Pick<Visit, 'state' | 'request' | 'done'>,
  shown: Credential,
  next: (caller: Caller | null) => void,
  failed: (error: Error) => void = done,
) {
  const known = keys.known(shown, request.raw.socket);
  if (known !== undefined) return next(known);
  keys.find(shown).then(next, failed).catch(done);
}

/**
 * The API key, else the session of the cookie where the request is from a page of our own. With a
 * key the cookie does not count. A refusal where a cookie is shown from elsewhere, or is wanted.
 */
function shownBy(
  settings: SiteSettings,
  request: FastifyRequest,
  { kind }: Access,
): Credential | HttpError | null {
  const { method, headers } = request;
  const forKeys = kind === 'key';
  if (forKeys) {
    const key = keyOf(headers);
    if (key !== null) return key;
    if (headers.cookie === undefined) return null;
  }
  const site = ownSite(settings, { method, headers }, forKeys);
  if (site instanceof HttpError) return forKeys && !hasSession(settings, headers) ? null : site;
  const token = cookieOf(headers, cookieName(settings.shortName, 'session', site));
  return token === null ? null : { kind: 'session', token };
}

/** Some cookie that a session of ours could have; other programs on this host have cookies too. */
function hasSession({ shortName }: SiteSettings, { cookie = '' }: IncomingHttpHeaders): boolean {
  return cookie.includes(`${shortName}_session=`);
}

/** The cause in the lines of the log that this request makes. */
export function causeOf({ id, headers }: Pick<FastifyRequest, 'id' | 'headers'>): Cause {
  const traceId = traceIdOf(headers);
  return traceId === undefined ? { requestId: id } : { requestId: id, traceId };
}

/** Goes on at once where nothing has to be waited for. */
function after<T>({ done }: Visit, value: Soon<T>, next: (value: T) => void) {
  const going = whenKnown(value, next);
  // Unheard, what fails after a wait would end the process.
  if (going instanceof Promise) going.catch(done);
}

/** Tells of what is spent, then goes on. */
function spend(visit: Visit, spent: Soon<Spent>, next: (spent: Spent) => void) {
  const { request, reply, headersWait } = visit;
  after(visit, spent, (known) => {
    request.spent = known;
    if (!headersWait) setHeaders(reply, budgetHeaders(known));
    next(known);
  });
}

/** The spending of the client's address, whether or not there is any left. */
function spendAny(visit: Visit, next: () => void) {
  spend(visit, visit.state.budgets.spendClient(visit.client), next);
}

function spendClient(visit: Visit, next: () => void) {
  spend(visit, visit.state.budgets.spendClient(visit.client), (spent) =>
    spent.allowed ? next() : refuse(visit, overBudget(spent)),
  );
}

function refuseAny(visit: Visit, error: HttpError) {
  spendAny(visit, () => refuse(visit, error));
}

function refuse({ state, reply }: Visit, error: HttpError | ParleyError) {
  const refusal = refusalOf(error, state.shortName);
  if (refusal !== null) sendRefusal(reply, refusal, state.shortName);
}

function shuttingDown(): HttpError {
  const headers = { 'retry-after': '5', connection: 'close' };
  return new HttpError('shutting_down', 'the server is shutting down', headers);
}

/** Spends what the address has, with a key too: no account is asked what leads nowhere. */
function unknownRoute(visit: Visit) {
  const { state, request, reply } = visit;
  spendAny(visit, () => {
    if (!state.missing(request, reply)) refuse(visit, noRoute(state.routes, request));
  });
}

function anonymous(visit: Visit, access: Access) {
  const { state, client } = visit;
  const { budgets } = state;
  const own = access.socket ? budgets.spend('sockets', client) : budgets.spendClient(client);
  spend(visit, own, (spent) => {
    if (!spent.allowed) return refuse(visit, overBudget(spent));
    charge(visit, access, null);
  });
}

/** The cost of some operations beside the request, then on to the operation. */
function charge(visit: Visit, { signIn, mint, change }: Access, caller: Caller | null) {
  const { state, done, client } = visit;
  const kind = signIn ? 'sign-ins' : mint ? 'mints' : change && caller ? 'changes' : null;
  if (kind === null) return done();
  const who = kind === 'changes' && caller !== null ? caller.accountId : client;
  after(visit, state.budgets.spend(kind, who), (spent) =>
    spent.allowed ? done() : refuse(visit, overOf(kind, spent)),
  );
}

/** `shown`: the credential that was shown in vain; null = none was shown. */
function withoutKey(visit: Visit, { kind }: Access, shown: Credential | null) {
  spendClient(visit, () => {
    const isKey = kind === 'key' && (shown === null || typeof shown === 'string');
    if (!isKey) return refuse(visit, noSession());
    const [code, sentence] =
      shown === null
        ? ([
            'key_missing',
            'an API key is needed: Authorization: Bearer <key>, or X-Api-Key: <key>',
          ] as const)
        : (['key_invalid', 'the API key is invalid, revoked or expired'] as const);
    refuse(visit, new HttpError(code, sentence, { 'www-authenticate': 'Bearer' }));
  });
}

export function noSession(): HttpError {
  return new HttpError('session_missing', 'no account is signed in here, or the session has ended');
}

function withKey(visit: Visit, access: Access, shown: Credential, caller: Caller | null) {
  if (caller === null) return withoutKey(visit, access, shown);
  const { state, request, done, client } = visit;
  request.caller = caller;
  state.uses.note(caller, client);
  const go = () => {
    if (access.scope !== undefined && !caller.scopes.includes(access.scope)) {
      const held = caller.scopes.join(', ');
      const sentence = `this needs a key with the scope "${access.scope}"; this key has ${held}`;
      return refuse(visit, new HttpError('scope_missing', sentence));
    }
    if (access.isNew && caller.isBlocked) return refuse(visit, blocked());
    const other =
      caller.by === 'key'
        ? null
        : otherAccount(state, request.headers, caller.accountId, isWrite(request.method));
    if (other !== null) return refuse(visit, other);
    charge(visit, access, caller);
  };
  spend(visit, state.budgets.spendCaller(caller, client), (spent) => {
    if (spent.allowed) return go();
    const over = () => refuse(visit, overBudget(spent));
    // Whosever budget is out: neighbours must not stop a party's claims either.
    const part = reservedPart(request);
    if (part === null) return over();
    state.reserve(caller.accountId, part, client).then((kept) => (kept ? go() : over()), done);
  });
}

/** The caller of an operation that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new HttpError('key_missing', 'an API key is needed');
  return request.caller;
}
