// What every request passes before its operation: not shutting down, route, key, budget, scope, in
// this order. Sets the headers that every answer carries. Nothing here waits unless a key has
// to be looked up or budgets are shared.

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Scope } from '../../core/scopes.ts';
import { cookieName, cookieOf } from './account/cookies.ts';
import { isWrite, otherAccount, ownSite, type SiteSettings } from './account/same-origin.ts';
import { type Caller, type Credential, type Keys, keyOf } from './auth.ts';
import {
  type Budgets,
  type Soon,
  type Spent,
  type Whose,
  whenKnown,
  windowSeconds,
} from './budgets.ts';
import type { Cors } from './cors.ts';
import { type HttpCode, HttpError, httpRefusal, sendRefusal } from './errors.ts';
import type { LastUses } from './last-uses.ts';
import { type Reserve, reservedPart } from './reserve.ts';
import type { RouteTable } from './route-table.ts';

/** Declared by a route in its config. */
export type Access = {
  /** `session`: the cookie of a signed-in browser; `browser`: any browser on our own pages. */
  readonly kind: 'key' | 'open' | 'session' | 'browser';
  readonly scope?: Scope | undefined;
  /** Counts against the mints of the client's address. */
  readonly mint?: boolean | undefined;
  /** Counts against the sign-ins of the client's network. */
  readonly signIn?: boolean | undefined;
  /** Counts against what the account adds, of which its person is told. */
  readonly change?: boolean | undefined;
  /** Counts against the sockets that the client's address opens, not against its requests. */
  readonly socket?: boolean | undefined;
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
};

export const baseHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  // Of browsers that know no frame-ancestors.
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/** A request at the gate. */
type Visit = {
  readonly state: GateState;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly done: HookHandlerDoneFunction;
  /** The client's address, where it was asked for before something was waited for. */
  readonly client?: string;
};

export function createGate(state: GateState): Gate {
  const { keys, cors } = state;
  return (request, reply, done) => {
    reply.headers(baseHeaders);
    if (cors !== null) reply.headers(cors.headers(request));
    const visit = { state, request, reply, done };
    if (state.closing) return shuttingDown(visit);
    if (breaksHttp(request)) return broken(visit);
    const preflight = cors === null ? null : cors.preflight(request);
    if (preflight !== null) return answerPreflight(visit, preflight);
    if (request.is404) return unknownRoute(visit);
    const { access } = request.routeOptions.config;
    if (access === undefined) return done();
    if (access.kind === 'open') return anonymous(visit, access);
    const shown = shownBy(state.settings, request, access);
    if (shown instanceof HttpError) return notFromHere(visit, shown);
    if (access.kind === 'browser') return anonymous(visit, access);
    if (shown === null) return withoutKey(visit, access, null);
    const known = keys.known(shown);
    if (known !== undefined) return withKey(visit, access, shown, known);
    const looked = clientKnown(visit);
    keys
      .find(shown)
      .then(
        (caller) => withKey(looked, access, shown, caller),
        (error: Error) => spendClient(looked, () => done(error)),
      )
      .catch(done);
  };
}

/**
 * Once more when the whole request is there: a body may take half a minute, and a key that
 * was revoked meanwhile does nothing any more. Nothing is spent again.
 */
export function createSecondLook({ keys, shortName, settings }: GateState): Gate {
  return (request, reply, done) => {
    const { caller } = request;
    const { access = { kind: 'open' } } = request.routeOptions.config;
    const shown = caller === null ? null : shownBy(settings, request, access);
    if (shown === null || shown instanceof HttpError) return done();
    const judge = (found: Caller | null) => {
      if (found !== null) return done();
      const isKey = typeof shown === 'string';
      if (isKey) reply.header('www-authenticate', 'Bearer');
      const what = isKey ? 'API key was revoked or expired' : 'session ended';
      const sentence = `the ${what} while the request arrived`;
      const code = isKey ? 'key_invalid' : 'session_missing';
      sendRefusal(reply, httpRefusal(code, sentence), shortName);
    };
    const known = keys.known(shown);
    if (known !== undefined) return judge(known);
    keys.find(shown).then(judge).catch(done);
  };
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

function notFromHere(visit: Visit, { code, message, headers }: HttpError) {
  spendClient(visit, () => refuse(visit, code, message, headers));
}

function answerPreflight(visit: Visit, headers: Readonly<Record<string, string>>) {
  spendClient(visit, (spent) => {
    if (!spent.allowed) return overBudget(visit, spent);
    visit.reply.code(204).headers(headers).send();
  });
}

/** While the socket is there: one that is gone after a wait has no address. */
function clientKnown(visit: Visit): Visit {
  return visit.client === undefined ? { ...visit, client: clientOf(visit.request) } : visit;
}

/** The client's address; `unknown` of a connection that is gone, and where there is none. */
export function clientOf(request: { readonly ip?: string }): string {
  try {
    return request.ip ?? 'unknown';
  } catch {
    // proxy-addr, of no address.
    return 'unknown';
  }
}

/** Sets the headers of what is spent, then goes on: at once where nothing has to be waited for. */
function spend(visit: Visit, spent: Soon<Spent>, next: (spent: Spent) => void): void {
  const going = whenKnown(spent, (known) => {
    setBudgetHeaders(visit.reply, known);
    next(known);
  });
  // Unheard, what fails after a wait would end the process.
  if (going instanceof Promise) going.catch(visit.done);
}

/** The same, of the client's address. */
function spendClient(visit: Visit, next: (spent: Spent) => void): void {
  const { client = clientOf(visit.request), state } = visit;
  spend(visit, state.budgets.spendClient(client), next);
}

function shuttingDown(visit: Visit) {
  const headers = { 'retry-after': '5', connection: 'close' };
  spendClient(visit, () => refuse(visit, 'shutting_down', 'the server is shutting down', headers));
}

/**
 * What node would refuse without a body, or would not refuse: left to us, so that the answer is
 * like all others. Two Host headers are read one way here and another way by a proxy (RFC 9112,
 * 3.2).
 */
function breaksHttp({ raw, headers }: FastifyRequest): boolean {
  const { httpVersion, rawHeaders } = raw;
  return (
    (httpVersion === '1.1' && headers.host === undefined) ||
    expectsMore(headers.expect) ||
    hostsIn(rawHeaders) > 1
  );
}

/** Names and values in turn. */
function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

function expectsMore(expect: string | undefined): boolean {
  return expect !== undefined && !/^100-continue$/i.test(expect);
}

function broken(visit: Visit) {
  spendClient(visit, () => {
    if (expectsMore(visit.request.headers.expect)) {
      return refuse(visit, 'expectation_failed', 'the header Expect may only be 100-continue');
    }
    const hosts = hostsIn(visit.request.raw.rawHeaders);
    const sentence =
      hosts === 0 ? 'the header Host is missing' : `there are ${hosts} Host headers, not one`;
    refuse(visit, 'bad_header', sentence);
  });
}

function unknownRoute(visit: Visit) {
  const { state, request } = visit;
  const { budgets, keys } = state;
  const looked = clientKnown(visit);
  const of = (caller: Caller | null) => {
    if (caller === null) return spendClient(looked, () => refuseRoute(visit));
    const { client = clientOf(request) } = looked;
    spend(visit, budgets.spendCaller(caller, client), () => refuseRoute(visit));
  };
  const key = keyOf(request.headers);
  const known = key === null ? null : keys.known(key);
  if (key === null || known !== undefined) return of(known ?? null);
  keys
    .find(key)
    .then(of, () => of(null))
    .catch(visit.done);
}

function refuseRoute(visit: Visit) {
  const { state, request } = visit;
  const path = request.url.split('?')[0] ?? '';
  const allowed = state.routes.methodsOf(path);
  if (allowed.length === 0 || allowed.includes(request.method)) {
    return refuse(visit, 'not_found', 'there is nothing at this path');
  }
  const allow = allowed.join(', ');
  const besides = state.routes.besides(request.method, path);
  const elsewhere = besides.length === 0 ? '' : `; ${request.method} is for ${besides.join(', ')}`;
  const sentence = `this path takes ${allow}, not ${request.method}${elsewhere}`;
  refuse(visit, 'method_not_allowed', sentence, { allow });
}

function anonymous(arrived: Visit, access: Access) {
  const visit = clientKnown(arrived);
  const { state, done, client = '' } = visit;
  const { budgets } = state;
  const own = access.socket ? budgets.spendSocket(client) : budgets.spendClient(client);
  spend(visit, own, (spent) => {
    if (!spent.allowed) return overBudget(visit, spent);
    if (access.signIn === true) return signingIn(visit);
    if (access.mint === true) return minting(visit);
    done();
  });
}

function minting({ client = '', ...visit }: Visit) {
  const asked = whenKnown(visit.state.budgets.spendMint(client), (minted) => {
    if (minted.allowed) return visit.done();
    const { limit, resetSeconds } = minted;
    const sentence =
      `too many keys asked for from this client network (${limit} an hour);` +
      ` try again in ${resetSeconds} s`;
    refuse(visit, 'mint_rate_limited', sentence, { 'retry-after': String(resetSeconds) });
  });
  if (asked instanceof Promise) asked.catch(visit.done);
}

function signingIn(visit: Visit) {
  const { state, done, client = '' } = visit;
  const asked = whenKnown(state.budgets.spendSignIn(client), ({ allowed, limit, resetSeconds }) => {
    if (allowed) return done();
    const sentence =
      `too many tries to sign in from this client network (${limit} an hour);` +
      ` try again in ${resetSeconds} s`;
    refuse(visit, 'sign_in_rate_limited', sentence, { 'retry-after': String(resetSeconds) });
  });
  if (asked instanceof Promise) asked.catch(done);
}

function changing(visit: Visit, { accountId }: Caller) {
  const { state, done } = visit;
  const asked = whenKnown(state.budgets.spendChange(accountId), (spent) => {
    if (spent.allowed) return done();
    const { limit, resetSeconds } = spent;
    const sentence =
      `${limit} passkeys and payout wallets were added to this account within an hour;` +
      ` try again in ${resetSeconds} s`;
    refuse(visit, 'change_rate_limited', sentence, { 'retry-after': String(resetSeconds) });
  });
  if (asked instanceof Promise) asked.catch(done);
}

/** `shown`: what was shown in vain; null = nothing was. */
function withoutKey(visit: Visit, { kind }: Access, shown: Credential | null) {
  spendClient(visit, (spent) => {
    if (!spent.allowed) return overBudget(visit, spent);
    const isKey = kind === 'key' && (shown === null || typeof shown === 'string');
    if (!isKey) {
      return refuse(visit, 'session_missing', 'nobody is signed in here, or the session has ended');
    }
    const headers = { 'www-authenticate': 'Bearer' };
    if (shown !== null) {
      return refuse(visit, 'key_invalid', 'the API key is invalid, revoked or expired', headers);
    }
    const sentence = 'an API key is needed: Authorization: Bearer <key>, or X-Api-Key: <key>';
    refuse(visit, 'key_missing', sentence, headers);
  });
}

function withKey(visit: Visit, access: Access, shown: Credential, caller: Caller | null) {
  if (caller === null) return withoutKey(visit, access, shown);
  const { state, request, done, client = clientOf(request) } = visit;
  request.caller = caller;
  state.uses.note(caller, client);
  const go = () => {
    if (access.scope !== undefined && !caller.scopes.includes(access.scope)) {
      const held = caller.scopes.join(', ');
      const sentence = `this needs a key with the scope "${access.scope}"; this key has ${held}`;
      return refuse(visit, 'scope_missing', sentence);
    }
    const other =
      caller.by === 'key'
        ? null
        : otherAccount(state, request.headers, caller.accountId, isWrite(request.method));
    if (other !== null) return refuse(visit, other.code, other.message);
    if (access.mint === true) return minting({ ...visit, client });
    if (access.change === true) return changing(visit, caller);
    done();
  };
  spend(visit, state.budgets.spendCaller(caller, client), (spent) => {
    if (spent.allowed) return go();
    // Whosever budget is out: neighbours must not stop a party's claims either.
    const part = reservedPart(request);
    if (part === null) return overBudget(visit, spent);
    state.reserve(caller.accountId, part).then((kept) => {
      if (kept) go();
      else overBudget(visit, spent);
    }, done);
  });
}

const overCodes = {
  account: 'account_rate_limited',
  key: 'key_rate_limited',
  address: 'rate_limited',
  network: 'rate_limited',
} as const satisfies Record<Whose, HttpCode>;

function overBudget(visit: Visit, spent: Spent) {
  const { code, sentence } = overBudgetOf(spent);
  refuse(visit, code, sentence, { 'retry-after': String(spent.resetSeconds) });
}

/** What is said to whoever is over a budget. */
export function overBudgetOf({ whose, limit, resetSeconds }: Spent) {
  const sentence =
    `too many requests for this ${whose} (${limit} in ${windowSeconds} s);` +
    ` try again in ${resetSeconds} s`;
  return { code: overCodes[whose], sentence };
}

function refuse(
  { state, reply }: Visit,
  code: HttpCode,
  sentence: string,
  headers: Record<string, string> = {},
): void {
  sendRefusal(reply, { ...httpRefusal(code, sentence), headers }, state.shortName);
}

function setBudgetHeaders(reply: FastifyReply, spent: Spent): void {
  reply.headers(budgetHeaders(spent));
}

/** On every answer. */
export function budgetHeaders(spent: Spent): Record<string, string> {
  const limit = String(spent.limit);
  const remaining = String(spent.remaining);
  return {
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': String(spent.resetSeconds),
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
  };
}

/** The caller of an operation that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new HttpError('key_missing', 'an API key is needed');
  return request.caller;
}
