// The common part of all login methods: a sign-in is begun in one browser for one purpose, and its
// proof is taken up for that purpose alone.

import { ParleyError } from '@parley/core/errors.ts';
import {
  type Ceremony,
  type CeremonyWay,
  insertCeremony,
  type Purpose,
  takeCeremony,
} from '../db/ceremonies.ts';
import type { Tx } from '../db/database.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { ceremonyMs } from './bounds.ts';
import { type Browser, mustBeFresh, type Session } from './sessions.ts';
import type { Intent } from './sign-in.ts';

export type Begun = {
  readonly browser: Browser;
  readonly purpose: Purpose;
  /** That adds a login or is renewed; null to sign in. */
  readonly session: Session | null;
};

/** Throws `session_ended`, and `session_stale` before a login is added in vain. */
export function begun(
  { now }: Pick<Deps, 'now'>,
  purpose: Purpose,
  browser: Browser,
  session: Session | null,
): Begun {
  if (purpose === 'add' && session !== null) mustBeFresh(session, now());
  if (purpose === 'sign-in') return { browser, purpose, session: null };
  if (session !== null) return { browser, purpose, session };
  throw new ParleyError('session_ended', 'no account is signed in here; sign in first');
}

type Kept = {
  readonly way: CeremonyWay;
  /** By which the proof finds it. */
  readonly subject: string;
  readonly facts?: Ceremony['facts'];
  readonly id?: string;
  /** Ten minutes from now unless given. */
  readonly expiresAt?: Date;
};

/** From now on it waits for its proof. */
export async function begin(
  tx: Tx,
  deps: Making,
  { browser, purpose, session }: Begun,
  { way, subject, facts = {}, ...kept }: Kept,
): Promise<{ readonly madeAt: Date; readonly expiresAt: Date }> {
  const madeAt = new Date(deps.now());
  const { id = uuidv7(deps.now(), deps.randomBytes) } = kept;
  const { expiresAt = new Date(madeAt.getTime() + ceremonyMs) } = kept;
  const sessionId = session?.id ?? null;
  const times = { madeAt, expiresAt };
  await insertCeremony(tx, {
    id,
    browser: browser.hash,
    way,
    purpose,
    sessionId,
    subject,
    facts,
    ...times,
  });
  return times;
}

/** Ends it, whatever becomes of its proof. Throws `ceremony_gone`. */
export async function take(
  tx: Tx,
  { now }: Pick<Deps, 'now'>,
  browser: Browser,
  { way, subject }: Pick<Kept, 'way' | 'subject'>,
): Promise<Ceremony> {
  const place = { browser: browser.hash, way, subject };
  const ceremony = await takeCeremony(tx, place, new Date(now()));
  if (ceremony !== null) return ceremony;
  throw gone(way);
}

const minutes = `${ceremonyMs / 60_000} minutes`;
const elsewhere = `it was used, is older than ${minutes}, or was asked for in another browser`;
const whyGone: Readonly<Record<CeremonyWay, string>> = {
  email:
    'no code for this address waits in this browser: it was used, its time is over, ' +
    'a newer one was sent, or its tries are used up',
  provider: `no sign-in through a provider waits: ${elsewhere}; begin again`,
  passkey: `this answer of a passkey is good for nothing here: ${elsewhere}`,
  wallet: `this text is good for nothing here: ${elsewhere} or for something else`,
  payout: `this text is good for nothing here: ${elsewhere} or for something else`,
};

export function gone(way: CeremonyWay): ParleyError {
  return new ParleyError('ceremony_gone', whyGone[way]);
}

/** The purpose of the ceremony. Throws `session_ended` where its session is gone. */
export function intentOf({ purpose, sessionId }: Ceremony, session: Session | null): Intent {
  if (purpose === 'sign-in') return { purpose };
  if (session !== null && session.id === sessionId) return { purpose, session };
  throw new ParleyError(
    'session_ended',
    'the session that this was begun in has ended; sign in and begin again',
  );
}
