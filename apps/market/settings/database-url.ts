// The form of a database's URL, checked in its text alone: where a character of a password ends the
// authority, the driver would read the rest of the password as host, port or name, and show it.

import { isUrlEncoded } from './networks.ts';

const databaseForm = 'postgres://user:password@host:5432/name';

/** In a password of a URL; others may stand there as well. */
export const percentEncoding =
  'in a user or password % / ? # @ : are written %25 %2F %3F %23 %40 %3A';

const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** An @ outside of the user's part, or a # anywhere, is a piece of a password. */
const shape =
  /^postgres(?:ql)?:\/\/(?:[^\s/?#@]*@)?(?:\[[\da-f:.]+\]|[^\s,:/?#@[\]]*)(?::\d{1,5})?(?:\/[^\s/?#@]*)?(?:\?[^\s#@]*)?$/i;

/** A sentence without any of it; null: the form is right. */
export function databaseUrlFault(text: string): string | null {
  if (!shape.test(text) || !isUrlEncoded(text)) {
    return `it must be of the form ${databaseForm}; ${percentEncoding}`;
  }
  const mode = new URLSearchParams(text.split('?')[1]).get('sslmode');
  if (mode === null || modes.includes(mode)) return null;
  return `its sslmode must be one of ${modes.join(', ')}`;
}
