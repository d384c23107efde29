// The code of a sign-in by e-mail, which leaves at once and is worth nothing after its time.

import { ParleyError } from '../../core/errors.ts';
import type { Tx } from '../db/database.ts';
import { countCodes, insertMessages } from '../db/messages.ts';
import type { Deps } from '../ports/deps.ts';
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
  deps: Pick<Deps, 'settings' | 'now' | 'randomBytes'>,
  { address, code, expiresAt, purpose }: Code,
): Promise<boolean> {
  if ((await countCodes(tx, mostCodes)) >= mostCodes) return false;
  const at = new Date(deps.now());
  const facts = { code, expiresAt: expiresAt.toISOString(), purpose };
  const content = { to: address, facts, at: at.toISOString() };
  const to = { accountId: null, loginId: null, channel: 'email', event: 'code' } as const;
  await insertMessages(tx, [newMessage(deps, { ...to, content })], at);
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
