// Sign-in by a code that is sent to an e-mail address. An address that nobody signs in with gets
// one just the same, and an account with it: whether one exists cannot be seen.

import { createHash, timingSafeEqual } from 'node:crypto';
import { ParleyError } from '@parley/core/errors.ts';
import { waitForLock } from '../db/accounts.ts';
import {
  type CodesOf,
  countCodes,
  endCodes,
  endLongCode,
  longCodeOf,
  tryCeremony,
} from '../db/ceremonies.ts';
import type { Tx } from '../db/database.ts';
import { findLoginOf, isKnownBrowser } from '../db/logins.ts';
import type { Deps, Making, Messaging } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { keyringOf } from '../ports/keyring.ts';
import {
  ceremonyMs,
  codeLimits,
  codeTries,
  longCodeMs,
  longCodePauseMs,
  longestAddress,
} from './bounds.ts';
import { type Begun, begin, gone, intentOf, take } from './ceremonies.ts';
import type { Browser, Session } from './sessions.ts';
import { type Proven, type TakenUp, takeUp } from './sign-in.ts';

/** NFC, the domain in punycode, small letters. Throws `bad_email`; no mail server is asked. */
export function parseEmail(text: string): string {
  const given = text.normalize('NFC').trim();
  const at = given.lastIndexOf('@');
  const local = given.slice(0, at);
  const domain = given.slice(at + 1);
  // The characters exclude those that would end a host in a URL.
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

/** Where codes for the address are found and counted; the address cannot be read from it. */
function subjectOf(deps: Pick<Deps, 'settings'>, address: string): string {
  const [subject = ''] = keyringOf(deps.settings).marks(`mailbox ${mailboxOf(address)}`);
  return subject;
}

type CodeRequest = Begun & { readonly address: string };

type SendCode = NonNullable<Messaging['sendCode']>;

/**
 * A stranger who asks for codes keeps nobody out: each browser's code is its own, and beyond the
 * limits of short ones a long one is sent, which all browsers share.
 */
export async function askForCode(
  tx: Tx,
  deps: Making,
  asked: CodeRequest,
  send: SendCode,
): Promise<{ expiresAt: Date }> {
  const { address, browser } = asked;
  const subject = subjectOf(deps, address);
  // The lock makes each of many at once count those before it.
  await waitForLock(tx, lockOf(subject));
  await endCodes(tx, subject, browser.hash, new Date(deps.now()));
  const [network = ''] = keyringOf(deps.settings).marks(`network ${browser.place}`);
  const known = await isKnownBrowser(tx, address, browser.hash);
  const codes = { subject, known: known ? browser.hash : null };
  if (!(await hasRoom(tx, codes, network, deps.now()))) return shareLong(tx, deps, asked, send);
  const expiresAt = new Date(deps.now() + ceremonyMs);
  const facts = { network, known };
  await sendNew(tx, deps, asked, { code: digitsOf(deps, 6), facts, expiresAt }, send);
  return { expiresAt };
}

type Drawn = {
  readonly code: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date;
};

async function sendNew(
  tx: Tx,
  deps: Making,
  asked: CodeRequest,
  { code, facts, expiresAt }: Drawn,
  send: SendCode,
): Promise<void> {
  const { address, purpose } = asked;
  const id = uuidv7(deps.now(), deps.randomBytes);
  const [mark] = keyringOf(deps.settings).marks(`code ${id} ${address} ${code}`);
  const subject = subjectOf(deps, address);
  await begin(tx, deps, asked, {
    way: 'email',
    subject,
    id,
    facts: { ...facts, of: id, mark },
    expiresAt,
  });
  await send(tx, { address, code, expiresAt, purpose });
}

/** The long code that is under way, or a new one. */
async function shareLong(
  tx: Tx,
  deps: Making,
  asked: CodeRequest,
  send: SendCode,
): Promise<{ expiresAt: Date }> {
  const { address } = asked;
  const subject = subjectOf(deps, address);
  const slot = await slotOf(tx, address);
  const until = new Date(deps.now() + longCodeMs - longCodePauseMs);
  const sent = await longCodeOf(tx, { subject, slot, until });
  if (sent !== null) {
    const { facts, expiresAt } = sent;
    return begin(tx, deps, asked, { way: 'email', subject, facts, expiresAt });
  }
  const expiresAt = new Date(deps.now() + longCodeMs);
  await sendNew(tx, deps, asked, { code: digitsOf(deps, 20), facts: { slot }, expiresAt }, send);
  return { expiresAt };
}

/**
 * The mailbox itself and each login have codes of their own. All other tags behind a `+` share
 * one, or else each would be one more mail.
 */
async function slotOf(tx: Tx, address: string): Promise<string> {
  if (address === mailboxOf(address)) return 'mailbox';
  const login = await findLoginOf(tx, { way: 'email', issuer: '', subject: address });
  return login === null ? 'others' : login.id;
}

function lockOf(subject: string): bigint {
  return createHash('sha256').update(`codes ${subject}`).digest().readBigInt64BE(0);
}

/** They are of 192 random bits: no code is likelier than another by more than 10^-37. */
function digitsOf({ randomBytes }: Making, count: 6 | 20): string {
  const drawn = BigInt(`0x${Buffer.from(randomBytes(24)).toString('hex')}`);
  return String(drawn % 10n ** BigInt(count)).padStart(count, '0');
}

async function hasRoom(tx: Tx, codes: CodesOf, network: string, now: number): Promise<boolean> {
  for (const { most, ofNetwork, ms } of codeLimits) {
    const sent = await countCodes(tx, codes, network, new Date(now - ms));
    if (sent.all >= most || sent.network >= ofNetwork) return false;
  }
  return true;
}

type CodeGiven = {
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
    .marks(`code ${ceremony.facts.of ?? ceremony.id} ${address} ${code}`)
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

/** After `checkCode`: uses the code up and signs in by it. Two at once: one does. */
export async function takeCode(
  tx: Tx,
  deps: Making,
  { address, browser, session }: CodeGiven,
): Promise<TakenUp> {
  const subject = subjectOf(deps, address);
  const ceremony = await take(tx, deps, browser, { way: 'email', subject });
  const { slot } = ceremony.facts;
  if (typeof slot === 'string') {
    await endLongCode(tx, { subject, slot, now: new Date(deps.now()) });
  }
  const proven: Proven = { way: 'email', address };
  return takeUp(tx, deps, proven, intentOf(ceremony, session), browser);
}

function isSame(one: string, other: string): boolean {
  const a = Buffer.from(one);
  const b = Buffer.from(other);
  return a.length === b.length && timingSafeEqual(a, b);
}
