// Keys by wallet signature: the nonce to sign, and the mint.

import type { FastifyInstance } from 'fastify';
import { ParleyError } from '../../../core/errors.ts';
import type { Deps } from '../../deps.ts';
import { mintKey } from '../../market/keys.ts';
import { issueNonce, minting } from '../../market/nonces.ts';
import { type ServedFamily, servedFamilies } from '../../market/proofs.ts';
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
    summary: 'Mint an API key by wallet signature',
    tags: ['keys'],
    mint: true,
    body: mintBody,
    replies: { 200: mintedKey },
    handle: async ({ body }) => {
      const rail = servedRail(body.rail);
      const signal = AbortSignal.timeout(deps.settings.chainTimeoutMs);
      const { accountId, ...minted } = await mintKey(deps, { ...body, rail }, signal);
      // The keys that this one replaced stop at once.
      app.edge.keys.forget(accountId);
      return { ...minted, expiresAt: minted.expiresAt.toISOString() };
    },
  });
}

function servedRail(rail: string): ServedFamily {
  const served = servedFamilies.find((family) => family === rail);
  if (served !== undefined) return served;
  throw new ParleyError(
    'bad_chain',
    `this deployment does not serve ${rail} wallets yet;` +
      ` sign in with ${servedFamilies.join(' or ')}`,
  );
}
