// A ticket by which a page of ours opens a socket of the maker feed.

import type { FastifyInstance } from 'fastify';
import { issueTicket } from '../../../people/feed-tickets.ts';
import type { Deps } from '../../../ports/deps.ts';
import { signedIn } from '../declare.ts';
import { feedTicket } from '../schemas-keys.ts';

export function registerFeedTicket(app: FastifyInstance, deps: Deps): void {
  signedIn(app, deps, {
    method: 'POST',
    url: '/account/feed-ticket',
    operationId: 'makeFeedTicket',
    summary: 'A ticket for the maker feed: `apiKey` of the first frame, once, within 30 s',
    tags: ['keys'],
    replies: { 201: feedTicket },
    handle: async ({ session }) => {
      const { ticket, expiresAt } = await issueTicket(deps, session);
      return { status: 201, body: { ticket, expiresAt: expiresAt.toISOString() } };
    },
  });
}
