// How a route of accounts is declared: for the browser of a signed-in person, or for any browser on
// our own pages. The gate (access.ts) has looked at origin, cookie and budget before.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { ParleyError } from '../../../core/errors.ts';
import { findLiveSession } from '../../db/sessions.ts';
import { base62 } from '../../market/keys.ts';
import {
  type Browser,
  hashOf,
  mustBeFresh,
  type Session,
  windowAt,
} from '../../people/sessions.ts';
import type { Site } from '../../people/site.ts';
import type { Deps } from '../../ports/deps.ts';
import { type Access, clientOf } from '../access.ts';
import { clientNetwork } from '../budgets.ts';
import { parserOf, sendJson } from '../command.ts';
import { HttpError } from '../errors.ts';
import type { Method } from '../operations.ts';
import { cookieName, cookieOf, setCookie } from './cookies.ts';
import { deviceOf } from './device.ts';
import { otherAccount, ownSite } from './same-origin.ts';

type Declared<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly method: Method;
  /** Below `/account`. */
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly replies: Readonly<Record<number, TSchema>>;
};

export type Input<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly site: Site;
  readonly browser: Browser;
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
  /** Ends at settings.chainTimeoutMs: for what asks nodes, providers or mail. */
  readonly signal: AbortSignal;
};

export type Answer = {
  readonly body: unknown;
  /** 200 unless told. */
  readonly status?: number;
  /** The session's cookie: a token, or null to take it away. */
  readonly token?: string | null;
};

export type SignedInSpec<P extends TSchema, Q extends TSchema, B extends TSchema> = Declared<
  P,
  Q,
  B
> & {
  /** Only with a sign-in of the last 10 minutes. */
  readonly fresh?: true;
  /** Counts against the key mints of the client's network. */
  readonly mint?: true;
  /** Adds something to the account that its person is told of: at most 30 an hour. */
  readonly change?: true;
  readonly handle: (input: Input<P, Q, B> & { readonly session: Session }) => Promise<Answer>;
};

/** For whoever is signed in. */
export function signedIn<P extends TSchema, Q extends TSchema, B extends TSchema>(
  app: FastifyInstance,
  deps: Deps,
  spec: SignedInSpec<P, Q, B>,
): void {
  route(app, deps, spec, 'session', async (input, request) => {
    const session = await sessionOf(deps, request);
    if (session === null) throw ended();
    if (spec.fresh) mustBeFresh(session, deps.now());
    return spec.handle({ ...input, session });
  });
}

export type AnyBrowserSpec<P extends TSchema, Q extends TSchema, B extends TSchema> = Declared<
  P,
  Q,
  B
> & {
  /** Counts against the sign-ins of the client's network. */
  readonly signIn?: true;
  /** `session`: of the browser, where it is signed in. */
  readonly handle: (
    input: Input<P, Q, B> & { readonly session: Session | null },
  ) => Promise<Answer>;
};

/** For any browser on our own pages; its cookie is made where it has none. */
export function anyBrowser<P extends TSchema, Q extends TSchema, B extends TSchema>(
  app: FastifyInstance,
  deps: Deps,
  spec: AnyBrowserSpec<P, Q, B>,
): void {
  route(app, deps, spec, 'browser', async (input, request) => {
    const session = await sessionOf(deps, request);
    const mustName = session !== null && isOfSession(input.body);
    const { accountId = null } = session ?? {};
    const other = otherAccount(deps.settings, request.headers, accountId, mustName);
    if (other !== null) throw other;
    return spec.handle({ ...input, session });
  });
}

/** What is begun to add a login or to be fresh again; its proof is bound to the session then. */
function isOfSession(body: unknown): boolean {
  const { purpose = 'sign-in' } = (body ?? {}) as { readonly purpose?: string };
  return purpose !== 'sign-in';
}

function route<P extends TSchema, Q extends TSchema, B extends TSchema>(
  app: FastifyInstance,
  deps: Deps,
  spec: Declared<P, Q, B> & {
    readonly signIn?: true;
    readonly mint?: true;
    readonly change?: true;
  },
  kind: 'session' | 'browser',
  answer: (input: Input<P, Q, B>, request: FastifyRequest) => Promise<Answer>,
): void {
  const { method, url, operationId, summary, tags, params, query, body, replies } = spec;
  const parse = parserOf<P, Q, B>(spec);
  const declared = { method, url, operationId, summary, tags, params, query, body, replies };
  app.edge.accountOperations.push({ ...declared, access: kind });
  app.route({
    method,
    url,
    config: {
      access: { kind, signIn: spec.signIn, mint: spec.mint, change: spec.change } satisfies Access,
    },
    handler: async (request, reply) => {
      const site = siteFor(deps, request);
      const browser = browserFor(deps, site, request, reply);
      const signal = AbortSignal.timeout(deps.settings.chainTimeoutMs);
      const input = { ...parse(request), site, browser, signal };
      const answered = answer(input, request);
      if (spec.signIn) answered.catch((error: unknown) => countRefused(deps, url, error));
      const { status = 200, body: replied, token } = await answered;
      if (token !== undefined) setCookie(reply, deps.settings.shortName, site, 'session', token);
      app.edge.checkReply?.(spec, status, replied);
      return sendJson(reply, status, replied);
    },
  });
}

/** Of the way in whose address it is: `/account/<way>…`. */
export function countRefused({ metrics }: Deps, url: string, error: unknown): void {
  const [, way] = /^\/account\/(email|provider|passkey|wallet)\b/.exec(url) ?? [];
  if (way === undefined || !(error instanceof ParleyError)) return;
  metrics.signIns.inc({ way, outcome: 'refused' });
}

/** The gate has let it pass. */
export function siteFor({ settings }: Deps, { method, headers }: FastifyRequest): Site {
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

/** As it is stored now: what a process remembers says too little of it. */
export async function sessionOf(
  deps: Deps,
  request: FastifyRequest,
  site = siteFor(deps, request),
): Promise<Session | null> {
  const { settings } = deps;
  const token = cookieOf(request.headers, cookieName(settings.shortName, 'session', site));
  return token === null ? null : findLiveSession(deps.db, hashOf(token), windowAt(deps.now()));
}

/** Whoever is called here by the gate, whose session ended since. */
export function ended(): HttpError {
  return new HttpError('session_missing', 'nobody is signed in here, or the session has ended');
}
