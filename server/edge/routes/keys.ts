// Keys by wallet signature: the nonce to sign, and the mint.

import type { FastifyInstance } from 'fastify';
import { mintKey } from '../../market/keys.ts';
import { issueNonce, minting } from '../../market/nonces.ts';
import type { Deps } from '../../ports/deps.ts';
import { open } from '../command.ts';
import { mintBody, mintedKey, nonceReply } from '../schemas/identity.ts';

export function registerKeys(app: FastifyInstance, deps: Deps): void {
  open(app, deps, {
    method: 'GET',
    url: '/v1/keys/nonce',
    operationId: 'getKeyNonce',
    summary: 'A nonce for minting a key: single-use, 5 minutes',
    tags: ['keys'],
    replies: { 200: nonceReply },
    handle: async () => ({ nonce: await issueNonce(deps, minting) }),
  });

  open(app, deps, {
    method: 'POST',
    url: '/v1/keys',
    operationId: 'mintKey',
    summary:
      'Mint an API key by wallet signature; whatever its scopes, a key reads all of its account,' +
      ' registers webhooks and broadcasts',
    tags: ['keys'],
    mint: true,
    body: mintBody,
    replies: { 200: mintedKey },
    handle: async ({ body }) => {
      const signal = AbortSignal.timeout(deps.settings.chainTimeoutMs);
      const { accountId, ...minted } = await mintKey(deps, body, signal);
      // The key that this one replaced works nowhere any more when the new one is given out.
      if (minted.replaced) await app.edge.keys.revoked(accountId, minted.id);
      return { ...minted, expiresAt: minted.expiresAt.toISOString() };
    },
  });
}
