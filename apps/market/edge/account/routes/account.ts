// The account that is signed in: its facts, its logins, its sessions, and its end.

import { ParleyError } from '@parley/core/errors.ts';
import { findAccount } from '../../../db/accounts.ts';
import { liveSessionsOf, revokeSession, revokeSessions } from '../../../db/sessions.ts';
import { freshMs } from '../../../people/bounds.ts';
import { askDeletion } from '../../../people/delete.ts';
import { recoveryOf, removeLogin, shownLogins } from '../../../people/logins.ts';
import { isWalletSession, lockLive, type Session, windowAt } from '../../../people/sessions.ts';
import { type Stop, stopWaiting } from '../../../people/stopping.ts';
import { isUuid } from '../../../ports/ids.ts';
import { noSession } from '../../access.ts';
import type { Place } from '../../command.ts';
import { signedIn } from '../declare.ts';
import {
  account,
  accountLeaves,
  loginParams,
  loginRemoved,
  ok,
  sessionParams,
  sessions,
} from '../schemas.ts';

export function registerAccountItself(place: Place): void {
  const { app, deps } = place;
  signedIn(place, 'GET /account/me', 'getAccount', {
    about: 'The account that is signed in, its logins and this session.',
    replies: { 200: account },
    handle: async ({ session }) => {
      const now = deps.now();
      const found = await findAccount(deps.db, session.accountId);
      // Deleted since the session was found.
      if (found === null) throw noSession();
      const logins = await shownLogins(deps.db, session.accountId, now);
      return {
        body: {
          accountId: session.accountId,
          kind: found.kind,
          createdAt: found.createdAt,
          leavesAt: found.leavesAt,
          session: shown(session, session.id),
          freshUntil: new Date(session.signedInAt.getTime() + freshMs),
          walletSession: await isWalletSession(deps.db, session, now),
          logins,
          recovery: recoveryOf(logins),
        },
      };
    },
  });

  signedIn(place, 'DELETE /account/logins/:id', 'removeLogin', {
    about:
      'Remove a login, never the last. It leaves after the hold. At once leaves alone what was ' +
      'signed in with, where an older login stays, or what was added within the hold.',
    fresh: true,
    params: loginParams,
    replies: { 200: loginRemoved },
    handle: async ({ session, params }) => {
      const work = deps.db.transaction((tx) => removeLogin(tx, deps, session, params.id));
      const { leavesAt } = await work;
      if (leavesAt === null) await app.edge.keys.revoked(session.accountId, session.id);
      return { body: { ok: true, leavesAt } };
    },
  });

  signedIn(place, 'DELETE /account/me', 'deleteAccount', {
    about:
      'Delete the account after the hold, unless it is stopped. It is refused while swaps, orders ' +
      'or quotes are open.',
    fresh: true,
    replies: { 200: accountLeaves },
    handle: async ({ session }) => {
      const work = deps.db.transaction((tx) => askDeletion(tx, deps, session));
      return { body: { ok: true, leavesAt: (await work).leavesAt } };
    },
  });

  signedIn(place, 'POST /account/logins/:id/stay', 'keepLogin', {
    about: 'Stop the removal of a login. Every other session ends, with the keys that it made.',
    fresh: true,
    params: loginParams,
    replies: { 200: ok },
    handle: ({ session, params }) => stop(place, session, { login: params.id }),
  });

  signedIn(place, 'POST /account/me/stay', 'keepAccount', {
    about: 'Stop the deletion. Every other session ends, with the keys that it made.',
    fresh: true,
    replies: { 200: ok },
    handle: ({ session }) => stop(place, session, 'account'),
  });
  registerSessions(place);
}

/** Ends every other session too, in every process before the answer. */
export async function stop({ app, deps }: Place, session: Session, what: Stop) {
  await deps.db.transaction((tx) => stopWaiting(tx, deps, session, what));
  await app.edge.keys.revoked(session.accountId, session.id);
  return { body: { ok: true } };
}

function registerSessions(place: Place): void {
  const { app, deps } = place;
  signedIn(place, 'GET /account/sessions', 'listSessions', {
    about: 'The live sessions of the account, the one used last first. There are at most 50.',
    replies: { 200: sessions },
    handle: async ({ session }) => {
      const live = await liveSessionsOf(deps.db, session.accountId, windowAt(deps.now()));
      return { body: { sessions: live.map((each) => shown(each, session.id)) } };
    },
  });

  signedIn(place, 'DELETE /account/sessions/:id', 'endSession', {
    about: 'End one session. It has ended in every process before the answer.',
    params: sessionParams,
    replies: { 200: ok },
    handle: async ({ session, params: { id } }) => {
      const { accountId } = session;
      const isEnded = await deps.db.transaction(async (tx) => {
        await lockLive(tx, deps, session);
        return isUuid(id) && revokeSession(tx, accountId, id, id, new Date(deps.now()));
      });
      if (!isEnded) throw new ParleyError('unknown_session', 'the account has no such session');
      await app.edge.keys.revoked(accountId, id);
      return { body: { ok: true }, ...(id === session.id ? { token: null } : {}) };
    },
  });

  signedIn(place, 'DELETE /account/sessions', 'endOtherSessions', {
    about: 'End every session but this one. They have ended in every process before the answer.',
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

  signedIn(place, 'POST /account/sign-out', 'signOut', {
    about: 'End this session. It has ended in every process before the answer.',
    replies: { 200: ok },
    handle: async ({ session }) => {
      const { accountId, id } = session;
      await revokeSession(deps.db, accountId, id, id, new Date(deps.now()));
      await app.edge.keys.revoked(accountId, id);
      return { body: { ok: true }, token: null };
    },
  });
}

function shown(session: Session, current: string) {
  const { id, signedInBy, signedInAt, madeAt, lastUsedAt, expiresAt, device, place } = session;
  const times = { signedInAt, madeAt, lastUsedAt, expiresAt };
  return { id, current: id === current, signedInBy, ...times, device, place };
}
