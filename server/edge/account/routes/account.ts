// The account that is signed in: what it is, its logins, its sessions, and its end.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { ParleyError } from '../../../../core/errors.ts';
import { findAccount } from '../../../db/accounts.ts';
import { liveSessionsOf, revokeSession, revokeSessions } from '../../../db/sessions.ts';
import { freshMs } from '../../../people/bounds.ts';
import { deleteAccount } from '../../../people/delete.ts';
import { recoveryOf, removeLogin, type ShownLogin, shownLogins } from '../../../people/logins.ts';
import { isWalletSession, lockLive, type Session, windowAt } from '../../../people/sessions.ts';
import type { Deps } from '../../../ports/deps.ts';
import { isUuid } from '../../../ports/ids.ts';
import { ended, signedIn } from '../declare.ts';
import { account, loginRemoved, ok, sessions } from '../schemas.ts';

const tags = ['account'] as const;

export function registerAccountItself(app: FastifyInstance, deps: Deps): void {
  signedIn(app, deps, {
    method: 'GET',
    url: '/account/me',
    operationId: 'getAccount',
    summary: 'The account that is signed in, its logins and this session',
    tags,
    replies: { 200: account },
    handle: async ({ session }) => {
      const now = deps.now();
      const found = await findAccount(deps.db, session.accountId);
      // Deleted since the session was looked up.
      if (found === null) throw ended();
      const logins = await shownLogins(deps.db, session.accountId, now);
      return {
        body: {
          accountId: session.accountId,
          kind: found.kind,
          createdAt: found.createdAt.toISOString(),
          session: shownSession(session, session.id),
          freshUntil: new Date(session.signedInAt.getTime() + freshMs).toISOString(),
          walletSession: await isWalletSession(deps.db, session, now),
          logins: logins.map(written),
          recovery: recoveryOf(logins),
        },
      };
    },
  });

  signedIn(app, deps, {
    method: 'DELETE',
    url: '/account/logins/:id',
    operationId: 'removeLogin',
    summary: 'Remove a login, never the last; a wallet leaves after the hold; other sessions end',
    tags,
    fresh: true,
    params: Type.Object({ id: Type.String({ maxLength: 200 }) }),
    replies: { 200: loginRemoved },
    handle: async ({ session, params }) => {
      const work = deps.db.transaction((tx) => removeLogin(tx, deps, session, params.id));
      const { leavesAt } = await work;
      await app.edge.keys.revoked(session.accountId, session.id);
      return { body: { ok: true, leavesAt: leavesAt?.toISOString() ?? null } };
    },
  });

  signedIn(app, deps, {
    method: 'DELETE',
    url: '/account/me',
    operationId: 'deleteAccount',
    summary: 'Delete the account: refused while swaps, orders or quotes are open',
    tags,
    fresh: true,
    replies: { 200: ok },
    handle: async ({ session }) => {
      await deps.db.transaction((tx) => deleteAccount(tx, deps, session));
      await app.edge.keys.revoked(session.accountId, session.id);
      return { body: { ok: true }, token: null };
    },
  });
  registerSessions(app, deps);
}

function registerSessions(app: FastifyInstance, deps: Deps): void {
  signedIn(app, deps, {
    method: 'GET',
    url: '/account/sessions',
    operationId: 'listSessions',
    summary: 'The live sessions of the account, the one used last first; at most 50',
    tags,
    replies: { 200: sessions },
    handle: async ({ session }) => {
      const live = await liveSessionsOf(deps.db, session.accountId, windowAt(deps.now()));
      return { body: { sessions: live.map((each) => shownSession(each, session.id)) } };
    },
  });

  signedIn(app, deps, {
    method: 'DELETE',
    url: '/account/sessions/:id',
    operationId: 'endSession',
    summary: 'End one session, in every process before the answer',
    tags,
    params: Type.Object({ id: Type.String({ description: 'UUID' }) }),
    replies: { 200: ok },
    handle: async ({ session, params: { id } }) => {
      const { accountId } = session;
      const at = new Date(deps.now());
      const isEnded = await deps.db.transaction(async (tx) => {
        await lockLive(tx, deps, session);
        return isUuid(id) && revokeSession(tx, accountId, id, id, at);
      });
      if (!isEnded) throw new ParleyError('unknown_session', 'the account has no such session');
      await app.edge.keys.revoked(accountId, id);
      return { body: { ok: true }, ...(id === session.id ? { token: null } : {}) };
    },
  });

  signedIn(app, deps, {
    method: 'DELETE',
    url: '/account/sessions',
    operationId: 'endOtherSessions',
    summary: 'End every session but this one, in every process before the answer',
    tags,
    replies: { 200: ok },
    handle: async ({ session }) => {
      const { accountId, id } = session;
      await deps.db.transaction(async (tx) => {
        await lockLive(tx, deps, session);
        await revokeSessions(tx, accountId, id, id, new Date(deps.now()));
      });
      await app.edge.keys.revoked(accountId, id);
      return { body: { ok: true } };
    },
  });

  signedIn(app, deps, {
    method: 'POST',
    url: '/account/sign-out',
    operationId: 'signOut',
    summary: 'End this session, in every process before the answer',
    tags,
    replies: { 200: ok },
    handle: async ({ session }) => {
      const { accountId, id } = session;
      await revokeSession(deps.db, accountId, id, id, new Date(deps.now()));
      await app.edge.keys.revoked(accountId, id);
      return { body: { ok: true }, token: null };
    },
  });
}

function written(login: ShownLogin) {
  const { addedAt, lastUsedAt, waitsUntil, leavesAt } = login;
  return {
    ...login,
    addedAt: addedAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    waitsUntil: waitsUntil?.toISOString() ?? null,
    leavesAt: leavesAt?.toISOString() ?? null,
  };
}

function shownSession(session: Session, current: string) {
  return {
    id: session.id,
    current: session.id === current,
    signedInBy: session.signedInBy,
    signedInAt: session.signedInAt.toISOString(),
    madeAt: session.madeAt.toISOString(),
    lastUsedAt: session.lastUsedAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    device: session.device,
    place: session.place,
  };
}
