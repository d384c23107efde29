// Where the account is paid: shown, chosen in a wallet session, and stopped while it waits.

import type { FastifyInstance } from 'fastify';
import {
  beginChoice,
  checkChoice,
  choose,
  receivingOf,
  stopWaiting,
} from '../../../people/payouts.ts';
import type { Deps } from '../../../ports/deps.ts';
import { signedIn } from '../declare.ts';
import { ok } from '../schemas.ts';
import {
  beginPayout,
  payoutBegun,
  payoutChosen,
  payouts,
  provePayout,
  stopPayout,
} from '../schemas-payout.ts';

const tags = ['payout'] as const;

export function registerPayout(app: FastifyInstance, deps: Deps): void {
  signedIn(app, deps, {
    method: 'GET',
    url: '/account/payout',
    operationId: 'getPayout',
    summary: 'Which wallet of each family is paid, which may be named as paid, and what waits',
    tags,
    replies: { 200: payouts },
    handle: async ({ session }) => {
      const shown = await receivingOf(deps.db, session.accountId, deps.now());
      const written = shown.map(({ waiting, leaving, ...rest }) => ({
        ...rest,
        waiting: waiting.map((each) => ({ ...each, fromAt: each.fromAt.toISOString() })),
        leaving: leaving.map((each) => ({ ...each, at: each.at.toISOString() })),
      }));
      return { body: { payouts: written } };
    },
  });

  signedIn(app, deps, {
    method: 'POST',
    url: '/account/payout',
    operationId: 'beginPayout',
    summary: 'The texts to sign for another wallet to be paid: by itself, and by the one of before',
    tags,
    fresh: true,
    body: beginPayout,
    replies: { 200: payoutBegun },
    handle: async ({ session, browser, site, body }) => {
      const asked = { session, browser, site, ...body, chainId: body.chainId ?? null };
      const { own, voucher } = await deps.db.transaction((tx) => beginChoice(tx, deps, asked));
      return {
        body: {
          address: own.address,
          message: own.message,
          expiresAt: own.expiresAt.toISOString(),
          voucher,
          waitSeconds: voucher === null ? 0 : deps.settings.people.payoutHoldSeconds,
        },
      };
    },
  });

  signedIn(app, deps, {
    method: 'POST',
    url: '/account/payout/proof',
    operationId: 'provePayout',
    summary: 'Have another wallet paid: at once with both signatures, after the hold with its own',
    tags,
    fresh: true,
    change: true,
    body: provePayout,
    replies: { 200: payoutChosen },
    handle: async ({ session, browser, site, body, signal }) => {
      const given = { session, browser, site, ...body, voucher: body.voucher ?? null };
      const choice = await checkChoice(deps, given, signal);
      const { fromAt } = await deps.db.transaction((tx) => choose(tx, deps, session, choice));
      const { family, address, paid } = choice;
      return { body: { family, address, paid, fromAt: fromAt.toISOString() } };
    },
  });

  signedIn(app, deps, {
    method: 'POST',
    url: '/account/payout/stop',
    operationId: 'stopPayout',
    summary: 'Stop what waits for this wallet, its removal too; every other session ends',
    tags,
    fresh: true,
    body: stopPayout,
    replies: { 200: ok },
    handle: async ({ session, body }) => {
      await deps.db.transaction((tx) => stopWaiting(tx, deps, session, body));
      await app.edge.keys.revoked(session.accountId, session.id);
      return { body: { ok: true } };
    },
  });

  signedIn(app, deps, {
    method: 'POST',
    url: '/account/payout/stop-all',
    operationId: 'stopAllPayouts',
    summary: 'Stop all that waits, of every wallet; every other session ends',
    tags,
    fresh: true,
    replies: { 200: ok },
    handle: async ({ session }) => {
      await deps.db.transaction((tx) => stopWaiting(tx, deps, session, null));
      await app.edge.keys.revoked(session.accountId, session.id);
      return { body: { ok: true } };
    },
  });
}
