// The code of a sign-in by e-mail, which leaves at once and is worth nothing after its time.

import { ParleyError } from '@parley/core/errors.ts';
import type { Tx } from '../db/database.ts';
import { addJobs, countJobs } from '../db/jobs.ts';
import type { Making } from '../ports/deps.ts';
import { mostCodes } from './bounds.ts';
import { newMessage } from './sealed.ts';

export type Code = {
  readonly address: string;
  readonly code: string;
  readonly expiresAt: Date;
  readonly purpose: 'sign-in' | 'add' | 'renew';
};

/** False where too many wait already, with nothing written: mail is not sent just now. */
export async function sendCode(
  tx: Tx,
  deps: Making,
  { address, code, expiresAt, purpose }: Code,
): Promise<boolean> {
  if ((await countJobs(tx, 'code', mostCodes)) >= mostCodes) return false;
  const at = new Date(deps.now());
  const facts = { code, expiresAt: expiresAt.toISOString(), purpose };
  const content = { to: address, facts, at: at.toISOString() };
  const to = { accountId: null, loginId: null, kind: 'code', event: 'code' } as const;
  await addJobs(tx, [newMessage(deps, { ...to, content })], at);
  return true;
}

/** Throws `mail_down` where too many wait already. */
export async function mustSendCode(
  tx: Tx,
  deps: Parameters<typeof sendCode>[1],
  code: Code,
): Promise<void> {
  if (await sendCode(tx, deps, code)) return;
  throw new ParleyError(
    'mail_down',
    `mail cannot be sent just now: ${mostCodes} codes wait for the mail server; try again in a ` +
      'few minutes, or sign in in another way',
  );
}
