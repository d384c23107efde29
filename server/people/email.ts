// Sign-in by a code that is sent to an e-mail address. An address that nobody signs in with gets
// one just the same, and an account with it: whether one exists cannot be seen.

import { timingSafeEqual } from 'node:crypto';
import { ParleyError } from '../../core/errors.ts';
import {
  countCeremonies,
  endCeremonies,
  insertCeremony,
  takeCeremony,
  tryCeremony,
} from '../db/ceremonies.ts';
import type { Tx } from '../db/database.ts';
import { isKnownBrowser } from '../db/logins.ts';
import type { Deps } from '../deps.ts';
import { uuidv7 } from '../ids.ts';
import { keyringOf } from '../keyring.ts';
import { ceremonyMs, codeLimits, codeTries, longestAddress } from './bounds.ts';
import { type Begun, intentOf } from './ceremonies.ts';
import type { Browser, Session } from './sessions.ts';
import { type Proven, type TakenUp, takeUp } from './sign-in.ts';

/**
 * The address in its one form: composed characters, the domain in punycode, small letters. Throws
 * `bad_email` for what is none; what a mail server makes of it is not asked.
 */
export function parseEmail(text: string): string {
  const given = text.normalize('NFC').trim();
  const at = given.lastIndexOf('@');
  const [local, domain] = [given.slice(0, at), given.slice(at + 1)];
  // Nothing that would end a host in a URL.
  const isHost = /^[^\s/?#:@\\[\]%]+$/.test(domain) && URL.canParse(`http://${domain}/`);
  const ascii = isHost ? new URL(`http://${domain}/`).hostname : '';
  const address = `${local.toLowerCase()}@${ascii}`;
  // A letter that only looks like another one would be another person's address.
  const isLocal = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
  const isDomain = /^(?=.{4,253}$)(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+(?!\d+$)[a-z0-9-]{2,63}$/;
  const fits = address.length <= longestAddress && local.length <= 64;
  if (at > 0 && fits && isLocal.test(local.toLowerCase()) && isDomain.test(ascii)) return address;
  throw new ParleyError(
    'bad_email',
    `this is no e-mail address that can be signed in with: letters, digits and signs of ASCII ` +
      `before the @, at most ${longestAddress} characters in all`,
  );
}

export type CodeRequest = Begun & { readonly address: string };

/** Queues a code in the transaction; of an address that has one already the former ends. */
export type SendCode = (
  tx: Tx,
  mail: { readonly address: string; readonly code: string; readonly expiresAt: Date },
) => Promise<void>;

/** Throws `bad_code` with the wait where the address was sent too many. */
export async function askForCode(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now' | 'randomBytes'>,
  { address, browser, purpose, session }: CodeRequest,
  send: SendCode,
): Promise<{ expiresAt: Date }> {
  const now = deps.now();
  const at = new Date(now);
  const [subject = ''] = keyringOf(deps.settings).marks(`e-mail ${address}`);
  await mustHaveRoom(tx, { address, subject, browser }, now);
  await endCeremonies(tx, 'email', subject, at);
  const code = sixDigits(deps.randomBytes(8));
  const id = uuidv7(now, deps.randomBytes);
  const [mark] = keyringOf(deps.settings).marks(`code ${id} ${code}`);
  const expiresAt = new Date(now + ceremonyMs);
  await insertCeremony(tx, {
    id,
    browser: browser.hash,
    way: 'email',
    purpose,
    sessionId: session?.id ?? null,
    subject,
    facts: { mark },
    madeAt: at,
    expiresAt,
  });
  await send(tx, { address, code, expiresAt });
  return { expiresAt };
}

/** Of 64 random bits: no code is likelier than another by more than 10^-13. */
function sixDigits(bytes: Uint8Array): string {
  return String(Buffer.from(bytes).readBigUInt64BE() % 1_000_000n).padStart(6, '0');
}

/**
 * A stranger who asks for codes can guess at 50 of them a day, and cannot keep the address's owner
 * out: a browser that was signed in from by it has an allowance of its own.
 */
async function mustHaveRoom(
  tx: Tx,
  { address, subject, browser }: { address: string; subject: string; browser: Browser },
  now: number,
): Promise<void> {
  const isKnown = await isKnownBrowser(tx, address, browser.hash);
  const own = isKnown ? browser.hash : null;
  for (const { most, ms, words } of codeLimits) {
    const sent = await countCeremonies(tx, 'email', subject, own, new Date(now - ms));
    if (sent < most) continue;
    throw new ParleyError(
      'too_many_codes',
      `${most} codes were sent to this address within ${words}; try again later, or sign in in ` +
        'another way',
    );
  }
}

export type CodeGiven = {
  readonly address: string;
  readonly code: string;
  readonly browser: Browser;
  /** Of the browser, where it is signed in. */
  readonly session: Session | null;
};

/** Whether the code is right; a wrong one counts even where what follows fails. */
export async function checkCode(
  deps: Pick<Deps, 'settings' | 'db' | 'now'>,
  { address, code, browser }: CodeGiven,
): Promise<void> {
  const keyring = keyringOf(deps.settings);
  const [subject = ''] = keyring.marks(`e-mail ${address}`);
  const place = { browser: browser.hash, way: 'email', subject } as const;
  const ceremony = await tryCeremony(deps.db, place, codeTries, new Date(deps.now()));
  if (ceremony === null) throw goneCode();
  const right = keyring
    .marks(`code ${ceremony.id} ${code}`)
    .some((mark) => isSame(mark, String(ceremony.facts.mark)));
  if (right) return;
  const left = codeTries - ceremony.tries;
  throw new ParleyError(
    'bad_code',
    left > 0
      ? `this is not the code that was sent; ${left} of ${codeTries} tries are left`
      : 'this is not the code that was sent, and no try is left; ask for a new code',
    { left },
  );
}

/** After `checkCode`: uses the code up and signs in by it. Of two at once, one does. */
export async function takeCode(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now' | 'randomBytes'>,
  { address, browser, session }: CodeGiven,
): Promise<TakenUp> {
  const [subject = ''] = keyringOf(deps.settings).marks(`e-mail ${address}`);
  const place = { browser: browser.hash, way: 'email', subject } as const;
  const ceremony = await takeCeremony(tx, place, new Date(deps.now()));
  if (ceremony === null) throw goneCode();
  const proven: Proven = { way: 'email', address };
  return takeUp(tx, deps, proven, intentOf(ceremony, session), browser);
}

function goneCode(): ParleyError {
  return new ParleyError(
    'ceremony_gone',
    `no code for this address waits in this browser: it was used, is older than ` +
      `${ceremonyMs / 60_000} minutes, a newer one was sent, or its ${codeTries} tries are used up`,
  );
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
