// How a route of accounts is declared: for the browser of a signed-in person, or for any browser on
// our own pages. The gate (access.ts) has checked origin, cookie and budget before.

import { ParleyError } from '@parley/core/errors.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Tx } from '../../db/database.ts';
import { findLiveSession, revokeSession } from '../../db/sessions.ts';
import { base62 } from '../../market/keys.ts';
import {
  type Browser,
  hashOf,
  mustBeFresh,
  type Session,
  windowAt,
} from '../../people/sessions.ts';
import type { TakenUp } from '../../people/sign-in.ts';
import type { Site } from '../../people/site.ts';
import type { Deps } from '../../ports/deps.ts';
import { type Access, noSession } from '../access.ts';
import { clientNetwork } from '../budgets.ts';
import { type Declared, type Parsed, type Place, serve } from '../command.ts';
import { HttpError } from '../errors.ts';
import { clientOf } from '../forwarded.ts';
import { cookieName, cookieOf, deviceOf, setCookie } from './cookies.ts';
import { otherAccount, ownSite } from './same-origin.ts';

type Input<P extends TSchema, Q extends TSchema, B extends TSchema> = Parsed<P, Q, B> & {
  readonly site: Site;
  readonly browser: Browser;
  /** Ends at settings.chainTimeoutMs: for what asks nodes, providers or mail. */
  readonly signal: AbortSignal;
};

type Answer = {
  readonly body: unknown;
  /** 200 unless given. */
  readonly status?: number;
  /** The session's cookie: a token, or null to take it away. */
  readonly token?: string | null;
};

/** For whoever is signed in. */
export function signedIn<P extends TSchema, Q extends TSchema, B extends TSchema>(
  place: Place,
  at: string,
  operationId: string,
  spec: Declared<P, Q, B> & {
    /** Only with a sign-in of the last 10 minutes. */
    readonly fresh?: true;
    /** Counts against the key mints of the client's network. */
    readonly mint?: true;
    /** Adds something to the account that its person hears of: at most 30 an hour. */
    readonly change?: true;
    readonly handle: (input: Input<P, Q, B> & { readonly session: Session }) => Promise<Answer>;
  },
): void {
  const access = { kind: 'session', mint: spec.mint, change: spec.change } as const;
  const { deps } = place;
  route<P, Q, B>(place, at, operationId, spec, access, async (input, request) => {
    const session = await sessionOf(deps, request);
    if (session === null) throw noSession();
    if (spec.fresh) mustBeFresh(session, deps.now());
    return spec.handle({ ...input, session });
  });
}

/** For any browser on our own pages; its cookie is made where it has none. */
export function anyBrowser<P extends TSchema, Q extends TSchema, B extends TSchema>(
  place: Place,
  at: string,
  operationId: string,
  spec: Declared<P, Q, B> & {
    /** Counts against the sign-ins of the client's network. */
    readonly signIn?: true;
    /** `session`: the session of the browser, where it is signed in. */
    readonly handle: (
      input: Input<P, Q, B> & { readonly session: Session | null },
    ) => Promise<Answer>;
  },
): void {
  const { deps } = place;
  const access = { kind: 'browser', signIn: spec.signIn } as const;
  route<P, Q, B>(place, at, operationId, spec, access, async (input, request) => {
    const session = await sessionOf(deps, request);
    // A ceremony that adds a login or makes a session fresh again: its proof is bound to the
    // session then.
    const { purpose = 'sign-in' } = (input.body ?? {}) as { readonly purpose?: string };
    const mustName = session !== null && purpose !== 'sign-in';
    const { accountId = null } = session ?? {};
    const other = otherAccount(deps.settings, request.headers, accountId, mustName);
    if (other !== null) throw other;
    return spec.handle({ ...input, session });
  });
}

function route<P extends TSchema, Q extends TSchema, B extends TSchema>(
  place: Place,
  at: string,
  operationId: string,
  spec: Declared<P, Q, B>,
  access: Access,
  answer: (input: Input<P, Q, B>, request: FastifyRequest) => Promise<Answer>,
): void {
  const { deps } = place;
  serve<P, Q, B>(place, at, operationId, spec, access, async (parsed, request, reply) => {
    const site = siteFor(deps, request);
    const browser = browserFor(deps, site, request, reply);
    const signal = AbortSignal.timeout(deps.settings.chainTimeoutMs);
    const answered = answer({ ...parsed, site, browser, signal }, request);
    if (access.signIn) answered.catch((error: unknown) => countRefused(deps, at, error));
    const { token, ...rest } = await answered;
    if (token !== undefined) setCookie(reply, deps.settings.shortName, site, 'session', token);
    return rest;
  });
}

/** The login method is the one whose address it is: `/account/<way>…`. */
export function countRefused({ metrics }: Deps, url: string, error: unknown): void {
  const [, way] = /\/account\/(email|provider|passkey|wallet)\b/.exec(url) ?? [];
  if (way === undefined || !(error instanceof ParleyError)) return;
  metrics.signIns.inc({ way, outcome: 'refused' });
}

/** The gate has let it pass. */
function siteFor({ settings }: Deps, { method, headers }: FastifyRequest): Site {
  const site = ownSite(settings, { method, headers }, false);
  if (site instanceof HttpError) throw site;
  return site;
}

const browserBytes = 32;

/** Its cookie, made anew where there is none of the right form. */
export function browserFor(
  deps: Deps,
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
): Browser {
  const { shortName, clientPrefixes } = deps.settings;
  let own = cookieOf(request.headers, cookieName(shortName, 'browser', site));
  if (own === null || !/^[0-9A-Za-z]{43}$/.test(own)) {
    own = base62(deps.randomBytes(browserBytes));
    setCookie(reply, shortName, site, 'browser', own);
  }
  return {
    hash: hashOf(own),
    device: deviceOf(request.headers['user-agent']),
    place: clientNetwork(clientOf(request), clientPrefixes),
  };
}

/** As it is stored now: a process remembers too little of it. */
export async function sessionOf(
  deps: Deps,
  request: FastifyRequest,
  site = siteFor(deps, request),
): Promise<Session | null> {
  const token = cookieOf(request.headers, cookieName(deps.settings.shortName, 'session', site));
  return token === null ? null : findLiveSession(deps.db, hashOf(token), windowAt(deps.now()));
}

/**
 * The end of every login method: the proof is taken up in one transaction, whatever session it ends
 * or replaces has ended in every process, and the browser learns of it. `former`: its session
 * before. Signing in anew ends it: this prevents session fixation.
 */
export async function answerOf(
  { app, deps }: Place,
  former: Session | null,
  work: (tx: Tx) => Promise<TakenUp>,
): Promise<Answer & { readonly body: Pick<TakenUp, 'outcome'> }> {
  const taken = await deps.db.transaction(async (tx) => {
    const done = await work(tx);
    if (former !== null && former.id !== done.session.id) {
      const at = new Date(deps.now());
      await revokeSession(tx, former.accountId, former.id, at);
    }
    return done;
  });
  const { token, session, isNew, way, outcome } = taken;
  deps.metrics.signIns.inc({ way, outcome });
  if (isNew) deps.metrics.accountsMade.inc({ by: 'browser' });
  if (former !== null && token !== null) {
    await app.edge.keys.revoked(former.accountId);
  }
  const body = { accountId: session.accountId, isNew, outcome };
  return { body, ...(token === null ? {} : { token }) };
}
