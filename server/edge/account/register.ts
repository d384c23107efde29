// Every route of `/account`, by file.

import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { registerEmail } from './routes/email.ts';
import { registerPasskey } from './routes/passkey.ts';
import { registerWallet } from './routes/wallet.ts';

export function registerAccount(app: FastifyInstance, deps: Deps): void {
  registerEmail(app, deps);
  registerWallet(app, deps);
  registerPasskey(app, deps);
}
