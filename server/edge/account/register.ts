// Every route of `/account`, by file.

import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { registerDescription } from './routes/description.ts';
import { registerEmail } from './routes/email.ts';
import { registerFeedTicket } from './routes/feed-ticket.ts';
import { registerAccountKeys } from './routes/keys.ts';
import { registerProvider } from './routes/provider.ts';
import { registerWays } from './routes/ways.ts';

export function registerAccount(app: FastifyInstance, deps: Deps): void {
  registerWays(app, deps);
  registerEmail(app, deps);
  registerProvider(app, deps);
  registerAccountKeys(app, deps);
  registerFeedTicket(app, deps);
  registerDescription(app, deps);
}
