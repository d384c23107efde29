// API keys of the account that is signed in, and tickets by which a page of ours opens a socket of
// the maker feed.

import { issueTicket } from '../../../people/feed-tickets.ts';
import { endKey, keysOf, makeKey } from '../../../people/keys.ts';
import type { Place } from '../../command.ts';
import { idParams, keyId } from '../../schemas/common.ts';
import { mintedKey } from '../../schemas/identity.ts';
import { signedIn } from '../declare.ts';
import { feedTicket, keysShown, makeKeyBody, ok } from '../schemas.ts';

export function registerAccountKeys(place: Place): void {
  const { app, deps } = place;
  signedIn(place, 'GET /account/keys', 'listKeys', {
    about: 'The live API keys of the account, newest first.',
    replies: { 200: keysShown },
    handle: async ({ session }) => ({ body: { keys: await keysOf(deps, session.accountId) } }),
  });

  signedIn(place, 'POST /account/keys', 'makeKey', {
    about:
      'Make an API key. A browser account holds ten; of a wallet-only account it replaces the one.',
    fresh: true,
    mint: true,
    body: makeKeyBody,
    replies: { 201: mintedKey },
    handle: async ({ body: { name = null, scopes, lifeDays }, session }) => {
      const { accountId, ...made } = await makeKey(deps, session, { name, scopes, lifeDays });
      // The key that this one replaced works nowhere any more when the new one is given out.
      if (made.replaced) await app.edge.keys.revoked(accountId, made.id);
      return { status: 201, body: made };
    },
  });

  signedIn(place, 'DELETE /account/keys/:id', 'revokeKey', {
    about: 'Revoke an API key. It works nowhere any more when this is answered.',
    fresh: true,
    params: idParams(keyId),
    replies: { 200: ok },
    handle: async ({ params, session }) => {
      const { id } = await endKey(deps, session, params.id);
      await app.edge.keys.revoked(session.accountId, id);
      return { body: { ok: true } };
    },
  });

  signedIn(place, 'POST /account/feed-ticket', 'makeFeedTicket', {
    about: 'A ticket for the maker feed. It is `apiKey` of the first frame, once, within 30 s.',
    replies: { 201: feedTicket },
    handle: async ({ session }) => {
      const { ticket, expiresAt } = await issueTicket(deps, session);
      return { status: 201, body: { ticket, expiresAt } };
    },
  });
}
