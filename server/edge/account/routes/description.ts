// The description of `/account`. Nobody has to be signed in for it.

import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../../ports/deps.ts';
import type { Access } from '../../access.ts';
import { describeAccount } from '../openapi.ts';

export function registerDescription(app: FastifyInstance, deps: Deps): void {
  let description: string | undefined;
  const config = { access: { kind: 'open' } satisfies Access };
  app.get('/account/openapi.json', { config }, (_request, reply) => {
    description ??= JSON.stringify(describeAccount(app.edge.accountOperations, deps.settings));
    return reply.type('application/json; charset=utf-8').send(description);
  });
}
