// Sign-in by a code that is sent to an e-mail address. An address that nobody signs in with gets
// one just the same, and an account with it: whether one exists cannot be seen.

import { createHash, timingSafeEqual } from 'node:crypto';
import { ParleyError } from '../../core/errors.ts';
import { waitForLock } from '../db/accounts.ts';
import { type CodesOf, countCodes, endCodes, type Purpose, tryCeremony } from '../db/ceremonies.ts';
import type { Tx } from '../db/database.ts';
import { isKnownBrowser } from '../db/logins.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { keyringOf } from '../ports/keyring.ts';
import { codeLimits, codeTries, longestAddress } from './bounds.ts';
import { type Begun, begin, gone, intentOf, take } from './ceremonies.ts';
import type { Browser, Session } from './sessions.ts';
import { type Proven, type TakenUp, takeUp } from './sign-in.ts';

/** NFC, the domain in punycode, small letters. Throws `bad_email`; no mail server is asked. */
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
    'this is no e-mail address that can be signed in with: before the @ letters, digits and signs ' +
      `of ASCII, behind it a domain such as example.com, at most ${longestAddress} characters`,
  );
}

/** Without what follows a `+`: `ann+1` and `ann+2` are one mailbox, whose codes count together. */
function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  const [name = ''] = address.slice(0, at).split('+');
  return name === '' ? address : name + address.slice(at);
}

/** Where codes for the address are found and counted; nobody reads the address from it. */
function subjectOf(deps: Pick<Deps, 'settings'>, address: string): string {
  const [subject = ''] = keyringOf(deps.settings).marks(`mailbox ${mailboxOf(address)}`);
  return subject;
}

export type CodeRequest = Begun & { readonly address: string };

export type SendCode = (
  tx: Tx,
  mail: {
    readonly address: string;
    readonly code: string;
    readonly expiresAt: Date;
    /** What it is for: whoever reads it decides by that whether to type it in. */
    readonly purpose: Purpose;
  },
) => Promise<void>;

/** A browser known by this address has codes that no stranger ends. Throws `too_many_codes`. */
export async function askForCode(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now' | 'randomBytes'>,
  asked: CodeRequest,
  send: SendCode,
): Promise<{ expiresAt: Date }> {
  const { address, browser, purpose } = asked;
  const now = deps.now();
  const subject = subjectOf(deps, address);
  const [network = ''] = keyringOf(deps.settings).marks(`network ${browser.place}`);
  // Of many at once, each counts those before it.
  await waitForLock(tx, lockOf(subject));
  const isKnown = await isKnownBrowser(tx, address, browser.hash);
  const codes = { subject, known: isKnown ? browser.hash : null };
  await mustHaveRoom(tx, codes, network, now);
  await endCodes(tx, codes, browser.hash, new Date(now));
  const code = sixDigits(deps.randomBytes(8));
  const id = uuidv7(now, deps.randomBytes);
  const [mark] = keyringOf(deps.settings).marks(`code ${id} ${address} ${code}`);
  const facts = { mark, network, known: isKnown };
  const { expiresAt } = await begin(tx, deps, asked, { way: 'email', subject, facts, id });
  await send(tx, { address, code, expiresAt, purpose });
  return { expiresAt };
}

function lockOf(subject: string): bigint {
  return createHash('sha256').update(`codes ${subject}`).digest().readBigInt64BE(0);
}

/** Of 64 random bits: no code is likelier than another by more than 10^-13. */
function sixDigits(bytes: Uint8Array): string {
  return String(Buffer.from(bytes).readBigUInt64BE() % 1_000_000n).padStart(6, '0');
}

async function mustHaveRoom(tx: Tx, codes: CodesOf, network: string, now: number): Promise<void> {
  for (const { most, ofNetwork, ms, words } of codeLimits) {
    const sent = await countCodes(tx, codes, network, new Date(now - ms));
    const isFull = sent.all >= most;
    if (!isFull && sent.network < ofNetwork) continue;
    const [count, where] = isFull ? [most, ''] : [ofNetwork, ' from this network'];
    const oldest = (isFull ? sent.oldest : sent.oldestHere) ?? new Date(now);
    const retryAfterSeconds = Math.ceil((oldest.getTime() + ms - now) / 1_000);
    throw new ParleyError(
      'too_many_codes',
      `${count} codes were sent to this mailbox within ${words}${where}; try again in ` +
        `${Math.ceil(retryAfterSeconds / 60)} minutes, or sign in in another way`,
      { retryAfterSeconds },
    );
  }
}

export type CodeGiven = {
  readonly address: string;
  readonly code: string;
  readonly browser: Browser;
  readonly session: Session | null;
};

/** Whether the code is right; a wrong one counts even where what follows fails. */
export async function checkCode(
  deps: Pick<Deps, 'settings' | 'db' | 'now'>,
  { address, code, browser }: CodeGiven,
): Promise<void> {
  const keyring = keyringOf(deps.settings);
  const subject = subjectOf(deps, address);
  const place = { browser: browser.hash, way: 'email', subject } as const;
  const ceremony = await tryCeremony(deps.db, place, codeTries, new Date(deps.now()));
  if (ceremony === null) throw gone('email');
  const right = keyring
    .marks(`code ${ceremony.id} ${address} ${code}`)
    .some((mark) => isSame(mark, String(ceremony.facts.mark)));
  if (right) return;
  const left = codeTries - ceremony.tries;
  throw new ParleyError(
    'bad_code',
    left > 0
      ? `this is not the code that was sent; tries left: ${left} of ${codeTries}`
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
  const place = { way: 'email', subject: subjectOf(deps, address) } as const;
  const ceremony = await take(tx, deps, browser, place);
  const proven: Proven = { way: 'email', address };
  return takeUp(tx, deps, proven, intentOf(ceremony, session), browser);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
