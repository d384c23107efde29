// The caller's account.

import type { FastifyInstance } from 'fastify';
import { walletsByFamily } from '../../market/wallets.ts';
import type { Deps } from '../../ports/deps.ts';
import { read } from '../command.ts';
import { me } from '../schemas/identity.ts';

export function registerMe(app: FastifyInstance, deps: Deps): void {
  read(app, deps, {
    url: '/v1/me',
    operationId: 'getMe',
    summary: 'The account of this key and its wallets',
    tags: ['account'],
    replies: { 200: me },
    handle: async ({ caller }) => ({
      userId: caller.accountId,
      scopes: caller.scopes,
      wallets: await walletsByFamily(deps.db, caller.accountId, new Date(deps.now())),
    }),
  });
}
