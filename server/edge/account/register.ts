// Every route of `/account`, by file.

import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../ports/deps.ts';
import { registerAccountItself } from './routes/account.ts';
import { registerDescription } from './routes/description.ts';
import { registerEmail } from './routes/email.ts';
import { registerFeedTicket } from './routes/feed-ticket.ts';
import { registerAccountKeys } from './routes/keys.ts';
import { registerPage } from './routes/page.ts';
import { registerPasskey } from './routes/passkey.ts';
import { registerPayout } from './routes/payout.ts';
import { registerProvider } from './routes/provider.ts';
import { registerWallet } from './routes/wallet.ts';
import { registerWays } from './routes/ways.ts';

export function registerAccount(app: FastifyInstance, deps: Deps): void {
  registerWays(app, deps);
  registerEmail(app, deps);
  registerAccountItself(app, deps);
  registerWallet(app, deps);
  registerPage(app, deps);
  registerPayout(app, deps);
  registerProvider(app, deps);
  registerAccountKeys(app, deps);
  registerFeedTicket(app, deps);
  registerDescription(app, deps);
  registerPasskey(app, deps);
}
