// What all ways in share: a sign-in is begun in one browser for one purpose, and its proof is taken
// up for that purpose alone.

import { ParleyError } from '../../core/errors.ts';
import type { Ceremony, Purpose } from '../db/ceremonies.ts';
import type { Deps } from '../ports/deps.ts';
import { type Browser, mustBeFresh, type Session } from './sessions.ts';
import type { Intent } from './sign-in.ts';

export type Begun = {
  readonly browser: Browser;
  readonly purpose: Purpose;
  /** That adds a login or is renewed; null to sign in. */
  readonly session: Session | null;
};

/**
 * Throws `session_ended` where something is to be done to a session and there is none, and
 * `session_stale` where a login is to be added: before a code is sent or a text signed in vain.
 */
export function begun(
  { now }: Pick<Deps, 'now'>,
  purpose: Purpose,
  browser: Browser,
  session: Session | null,
): Begun {
  if (purpose === 'add' && session !== null) mustBeFresh(session, now());
  if (purpose === 'sign-in') return { browser, purpose, session: null };
  if (session !== null) return { browser, purpose, session };
  throw new ParleyError('session_ended', 'nobody is signed in here; sign in first');
}

/** What the ceremony was begun for. Throws `session_ended` where its session is gone. */
export function intentOf({ purpose, sessionId }: Ceremony, session: Session | null): Intent {
  if (purpose === 'sign-in') return { purpose };
  if (session !== null && session.id === sessionId) return { purpose, session };
  throw new ParleyError(
    'session_ended',
    'the session that this was begun in has ended; sign in and begin again',
  );
}
