// API keys of the account that is signed in.

import type { FastifyInstance } from 'fastify';
import { endKey, keysOf, makeKey } from '../../../people/keys.ts';
import type { Deps } from '../../../ports/deps.ts';
import { idParams } from '../../schemas/common.ts';
import { mintedKey } from '../../schemas/identity.ts';
import { signedIn } from '../declare.ts';
import { ok } from '../schemas.ts';
import { keysShown, makeKeyBody } from '../schemas-keys.ts';

export function registerAccountKeys(app: FastifyInstance, deps: Deps): void {
  signedIn(app, deps, {
    method: 'GET',
    url: '/account/keys',
    operationId: 'listKeys',
    summary: 'The live API keys of the account, newest first',
    tags: ['keys'],
    replies: { 200: keysShown },
    handle: async ({ session }) => {
      const keys = await keysOf(deps, session.accountId);
      const shown = keys.map(({ createdAt, expiresAt, ...key }) => ({
        ...key,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      }));
      return { body: { keys: shown } };
    },
  });

  signedIn(app, deps, {
    method: 'POST',
    url: '/account/keys',
    operationId: 'makeKey',
    summary:
      'Make an API key: a browser account holds ten; of a wallet-only account it replaces the one',
    tags: ['keys'],
    fresh: true,
    mint: true,
    body: makeKeyBody,
    replies: { 201: mintedKey },
    handle: async ({ body, session }) => {
      const { name = null, scopes, lifeDays } = body;
      const wanted = { name, scopes, lifeDays };
      const { accountId, ...made } = await makeKey(deps, session, wanted);
      // The key that this one replaced works nowhere any more when the new one is given out.
      if (made.replaced) await app.edge.keys.revoked(accountId, made.id);
      return { status: 201, body: { ...made, expiresAt: made.expiresAt.toISOString() } };
    },
  });

  signedIn(app, deps, {
    method: 'DELETE',
    url: '/account/keys/:id',
    operationId: 'revokeKey',
    summary: 'Revoke an API key: it works nowhere any more when this is answered',
    tags: ['keys'],
    fresh: true,
    params: idParams,
    replies: { 200: ok },
    handle: async ({ params, session }) => {
      const { id } = await endKey(deps, session, params.id);
      await app.edge.keys.revoked(session.accountId, id);
      return { body: { ok: true } };
    },
  });
}
