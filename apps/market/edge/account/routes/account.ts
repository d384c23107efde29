// The account that is signed in: its facts, its logins and sessions, and its end; where it is paid,
// its API keys, and what was sent to its webhooks.

import { ParleyError } from '@parley/core/errors.ts';
import { findAccount } from '../../../db/accounts.ts';
import { sendAgain } from '../../../db/deliveries.ts';
import {
  deliveriesOf,
  isSwitchedOff,
  type LoggedDelivery,
  ownsWebhook,
  stateOfDelivery,
} from '../../../db/delivery-log.ts';
import { liveSessionsOf, revokeSession, revokeSessions } from '../../../db/sessions.ts';
import { notifyWork } from '../../../db/work.ts';
import { freshMs } from '../../../people/bounds.ts';
import { askDeletion } from '../../../people/delete.ts';
import { issueTicket } from '../../../people/feed-tickets.ts';
import { endKey, keysOf, makeKey } from '../../../people/keys.ts';
import { recoveryOf, removeLogin, shownLogins } from '../../../people/logins.ts';
import * as people from '../../../people/payouts.ts';
import { isWalletSession, lockLive, type Session, windowAt } from '../../../people/sessions.ts';
import { type Stop, stopWaiting } from '../../../people/stopping.ts';
import { isUuid } from '../../../ports/ids.ts';
import { mostWaiting } from '../../../webhooks/hand-out.ts';
import { absent } from '../../../webhooks/register.ts';
import { noSession } from '../../access.ts';
import type { Place } from '../../command.ts';
import { pageOf } from '../../cursor.ts';
import { idParams, keyId, pageQuery, webhookId } from '../../schemas/common.ts';
import { mintedKey } from '../../schemas/identity.ts';
import { signedIn } from '../declare.ts';
import * as shapes from '../schemas.ts';

export function registerAccountItself(place: Place): void {
  const { app, deps } = place;
  signedIn(place, 'GET /account/me', 'getAccount', {
    about: 'The account that is signed in, its logins and this session.',
    replies: { 200: shapes.account },
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
    params: shapes.loginParams,
    replies: { 200: shapes.loginRemoved },
    handle: async ({ session, params }) => {
      const work = deps.db.transaction((tx) => removeLogin(tx, deps, session, params.id));
      const { leavesAt } = await work;
      if (leavesAt === null) await app.edge.keys.revoked(session.accountId);
      return { body: { ok: true, leavesAt } };
    },
  });

  signedIn(place, 'DELETE /account/me', 'deleteAccount', {
    about:
      'Delete the account after the hold, unless it is stopped. It is refused while swaps, orders ' +
      'or quotes are open.',
    fresh: true,
    replies: { 200: shapes.accountLeaves },
    handle: async ({ session }) => {
      const work = deps.db.transaction((tx) => askDeletion(tx, deps, session));
      return { body: { ok: true, leavesAt: (await work).leavesAt } };
    },
  });

  signedIn(place, 'POST /account/logins/:id/stay', 'keepLogin', {
    about: 'Stop the removal of a login. Every other session ends, with the keys that it made.',
    fresh: true,
    params: shapes.loginParams,
    replies: { 200: shapes.ok },
    handle: ({ session, params }) => stop(place, session, { login: params.id }),
  });

  signedIn(place, 'POST /account/me/stay', 'keepAccount', {
    about: 'Stop the deletion. Every other session ends, with the keys that it made.',
    fresh: true,
    replies: { 200: shapes.ok },
    handle: ({ session }) => stop(place, session, 'account'),
  });
  registerSessions(place);
}

/** Ends every other session too, in every process before the answer. */
async function stop({ app, deps }: Place, session: Session, what: Stop) {
  await deps.db.transaction((tx) => stopWaiting(tx, deps, session, what));
  await app.edge.keys.revoked(session.accountId);
  return { body: { ok: true } };
}

function registerSessions(place: Place): void {
  const { app, deps } = place;
  signedIn(place, 'GET /account/sessions', 'listSessions', {
    about: 'The live sessions of the account, the one used last first. There are at most 50.',
    replies: { 200: shapes.sessions },
    handle: async ({ session }) => {
      const live = await liveSessionsOf(deps.db, session.accountId, windowAt(deps.now()));
      return { body: { sessions: live.map((each) => shown(each, session.id)) } };
    },
  });

  signedIn(place, 'DELETE /account/sessions/:id', 'endSession', {
    about: 'End one session. It has ended in every process before the answer.',
    params: shapes.sessionParams,
    replies: { 200: shapes.ok },
    handle: async ({ session, params: { id } }) => {
      const { accountId } = session;
      const isEnded = await deps.db.transaction(async (tx) => {
        await lockLive(tx, deps, session);
        return isUuid(id) && revokeSession(tx, accountId, id, new Date(deps.now()));
      });
      if (!isEnded) throw new ParleyError('unknown_session', 'the account has no such session');
      await app.edge.keys.revoked(accountId);
      return { body: { ok: true }, ...(id === session.id ? { token: null } : {}) };
    },
  });

  signedIn(place, 'DELETE /account/sessions', 'endOtherSessions', {
    about: 'End every session but this one. They have ended in every process before the answer.',
    replies: { 200: shapes.ok },
    handle: async ({ session }) => {
      const { accountId, id } = session;
      await deps.db.transaction(async (tx) => {
        await lockLive(tx, deps, session);
        await revokeSessions(tx, accountId, id, new Date(deps.now()));
      });
      await app.edge.keys.revoked(accountId);
      return { body: { ok: true } };
    },
  });

  signedIn(place, 'POST /account/sign-out', 'signOut', {
    about: 'End this session. It has ended in every process before the answer.',
    replies: { 200: shapes.ok },
    handle: async ({ session }) => {
      const { accountId, id } = session;
      await revokeSession(deps.db, accountId, id, new Date(deps.now()));
      await app.edge.keys.revoked(accountId);
      return { body: { ok: true }, token: null };
    },
  });
}

function shown(session: Session, current: string) {
  const { id, signedInBy, signedInAt, madeAt, lastUsedAt, expiresAt, device, place } = session;
  const times = { signedInAt, madeAt, lastUsedAt, expiresAt };
  return { id, current: id === current, signedInBy, ...times, device, place };
}

export function registerAccountKeys(place: Place): void {
  const { app, deps } = place;
  signedIn(place, 'GET /account/keys', 'listKeys', {
    about: 'The live API keys of the account, newest first.',
    replies: { 200: shapes.keysShown },
    handle: async ({ session }) => ({ body: { keys: await keysOf(deps, session.accountId) } }),
  });

  signedIn(place, 'POST /account/keys', 'makeKey', {
    about:
      'Make an API key. A browser account holds ten; of a wallet-only account it replaces the one.',
    fresh: true,
    mint: true,
    body: shapes.makeKeyBody,
    replies: { 201: mintedKey },
    handle: async ({ body: { name = null, scopes, lifeDays }, session }) => {
      const { accountId, ...made } = await makeKey(deps, session, { name, scopes, lifeDays });
      // The key that this one replaced works nowhere any more when the new one is given out.
      if (made.replaced) await app.edge.keys.revoked(accountId);
      return { status: 201, body: made };
    },
  });

  signedIn(place, 'DELETE /account/keys/:id', 'revokeKey', {
    about: 'Revoke an API key. It works nowhere any more when this is answered.',
    fresh: true,
    params: idParams(keyId),
    replies: { 200: shapes.ok },
    handle: async ({ params, session }) => {
      await endKey(deps, session, params.id);
      await app.edge.keys.revoked(session.accountId);
      return { body: { ok: true } };
    },
  });

  signedIn(place, 'POST /account/feed-ticket', 'makeFeedTicket', {
    about: 'A ticket for the maker feed. It is `apiKey` of the first frame, once, within 30 s.',
    replies: { 201: shapes.feedTicket },
    handle: async ({ session }) => {
      const { ticket, expiresAt } = await issueTicket(deps, session);
      return { status: 201, body: { ticket, expiresAt } };
    },
  });
}

export function registerPayout(place: Place): void {
  const { deps } = place;
  signedIn(place, 'GET /account/payout', 'getPayout', {
    about: 'Which wallet of each family is paid, which may be named as paid, and what waits.',
    replies: { 200: shapes.payouts },
    handle: async ({ session }) => ({
      body: { payouts: await people.receivingOf(deps.db, session.accountId, deps.now()) },
    }),
  });

  signedIn(place, 'POST /account/payout', 'beginPayout', {
    about:
      'The texts to sign for another wallet to be paid. One is for itself, one for the wallet of ' +
      'before.',
    fresh: true,
    body: shapes.beginPayout,
    replies: { 200: shapes.payoutBegun },
    handle: async ({ session, browser, site, body }) => {
      const asked = { session, browser, site, ...body, chainId: body.chainId ?? null };
      const { own, voucher } = await deps.db.transaction((tx) =>
        people.beginChoice(tx, deps, asked),
      );
      const { address, message, expiresAt } = own;
      const waitSeconds = voucher === null ? 0 : deps.settings.people.payoutHoldSeconds;
      return { body: { address, message, expiresAt, voucher, waitSeconds } };
    },
  });

  signedIn(place, 'POST /account/payout/proof', 'provePayout', {
    about: 'Have another wallet paid. With both signatures at once, with its own after the hold.',
    fresh: true,
    change: true,
    body: shapes.provePayout,
    replies: { 200: shapes.payoutChosen },
    handle: async ({ session, browser, site, body, signal }) => {
      const given = { session, browser, site, ...body, voucher: body.voucher ?? null };
      const choice = await people.checkChoice(deps, given, signal);
      const { fromAt } = await deps.db.transaction((tx) =>
        people.choose(tx, deps, session, choice),
      );
      const { family, address, paid } = choice;
      return { body: { family, address, paid, fromAt } };
    },
  });

  signedIn(place, 'POST /account/payout/stop', 'stopPayout', {
    about: 'Stop what waits for this wallet, its removal too. Every other session ends.',
    fresh: true,
    body: shapes.stopPayout,
    replies: { 200: shapes.ok },
    handle: ({ session, body }) => stop(place, session, body),
  });

  signedIn(place, 'POST /account/payout/stop-all', 'stopAllPayouts', {
    about: 'Stop all that waits, of wallets, logins and the account. Every other session ends.',
    fresh: true,
    replies: { 200: shapes.ok },
    handle: ({ session }) => stop(place, session, 'all'),
  });
}

export function registerAccountWebhooks(place: Place): void {
  const { deps } = place;
  const mustBeOwn = async (accountId: string, id: string) => {
    if (!isUuid(id) || !(await ownsWebhook(deps.db, accountId, id))) absent(id);
  };

  signedIn(place, 'GET /account/webhooks/:id/deliveries', 'listDeliveries', {
    about: 'What was sent to a webhook in the last 7 days, newest first, and what was answered.',
    params: idParams(webhookId),
    query: pageQuery({}),
    replies: { 200: shapes.deliveryPage },
    handle: async ({ session: { accountId }, params: { id }, query }) => {
      await mustBeOwn(accountId, id);
      const filters = { list: 'deliveries', accountId, webhookId: id };
      const { rows, nextCursor } = await pageOf(
        deps,
        query,
        filters,
        (from, limit) => {
          const [at, beforeId = null] = from ?? [];
          const beforeAt = at === undefined ? null : new Date(at);
          return deliveriesOf(deps.db, { webhookId: id, beforeAt, beforeId, limit });
        },
        (row) => [row.createdAt.toISOString(), row.id],
      );
      return { body: { deliveries: rows.map(shownDelivery), nextCursor } };
    },
  });

  signedIn(place, 'POST /account/webhooks/:id/deliveries/:deliveryId/again', 'sendAgain', {
    about: 'Send a delivery again that was delivered or dropped: the same bytes and the same id.',
    params: shapes.deliveryParams,
    replies: { 200: shapes.ok },
    handle: async ({ session: { accountId }, params: { id, deliveryId } }) => {
      await mustBeOwn(accountId, id);
      const at = new Date(deps.now());
      await deps.db.transaction(async (tx) => {
        const state = isUuid(deliveryId) ? await stateOfDelivery(tx, id, deliveryId) : null;
        if (state === null) {
          throw new ParleyError('unknown_delivery', 'this webhook has no such delivery');
        }
        if (await isSwitchedOff(tx, id)) {
          throw refused('the webhook is switched off; a ping that is answered 2xx switches it on');
        }
        if (await sendAgain(tx, { deliveryId, accountId, at, mostWaiting })) {
          await notifyWork(tx, 'webhooks');
          return;
        }
        if (state === 'waiting') throw refused('it waits to be tried, and is sent by itself');
        const { answered, never } = mostWaiting;
        throw refused(
          `as many deliveries wait for this webhook as may: ${answered}, or ${never} while it ` +
            'never answered 2xx',
        );
      });
      return { body: { ok: true } };
    },
  });
}

const refused = (sentence: string) => new ParleyError('not_sent_again', sentence);

function shownDelivery({ attempts, nextAt, state, ...row }: LoggedDelivery) {
  const made = attempts.map(({ at, ...each }) => ({ ...each, at: new Date(at) }));
  return { ...row, state, nextAt: state === 'waiting' ? nextAt : null, attempts: made };
}
