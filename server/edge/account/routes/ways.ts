// What one may sign in with here.

import type { FastifyInstance } from 'fastify';
import { waysAt } from '../../../people/ways.ts';
import type { Deps } from '../../../ports/deps.ts';
import { anyBrowser } from '../declare.ts';
import { ways } from '../schemas.ts';

export function registerWays(app: FastifyInstance, deps: Deps): void {
  anyBrowser(app, deps, {
    method: 'GET',
    url: '/account/ways',
    operationId: 'getWays',
    summary: 'What one may sign in with here, and whether mail can be sent just now',
    tags: ['sign-in'],
    replies: { 200: ways },
    handle: async ({ site }) => ({ body: waysAt(deps, site) }),
  });
}
