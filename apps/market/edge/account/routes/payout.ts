// Where the account is paid: read, chosen in a wallet session, and stopped while it waits.

import * as people from '../../../people/payouts.ts';
import type { Place } from '../../command.ts';
import { signedIn } from '../declare.ts';
import * as shapes from '../schemas.ts';
import { stop } from './account.ts';

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
