// The code of a sign-in by e-mail, which leaves at once and is worth nothing after its time.

import { ParleyError } from '@parley/core/errors.ts';
import type { Tx } from '../db/database.ts';
import { addJobs, countJobs } from '../db/jobs.ts';
import type { CodeMail, Making } from '../ports/deps.ts';
import { mostCodes } from './bounds.ts';
import { newMessage } from './sealed.ts';

/** Throws `mail_down` where too many wait already, with nothing written. */
export async function sendCode(
  tx: Tx,
  deps: Making,
  { address, code, expiresAt, purpose }: CodeMail,
): Promise<void> {
  if ((await countJobs(tx, 'code', mostCodes)) >= mostCodes) {
    throw new ParleyError(
      'mail_down',
      `mail cannot be sent just now: ${mostCodes} codes wait for the mail server; try again in a ` +
        'few minutes, or sign in in another way',
    );
  }
  const at = new Date(deps.now());
  const facts = { code, expiresAt: expiresAt.toISOString(), purpose };
  const content = { to: address, facts, at: at.toISOString() };
  const to = { accountId: null, loginId: null, kind: 'code', event: 'code' } as const;
  await addJobs(tx, [newMessage(deps, { ...to, content })], at);
}
