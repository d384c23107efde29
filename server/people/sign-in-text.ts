// The text that a wallet signs in the browser, written and read: EIP-4361 for EVM, Sign In With
// Solana's layout for Solana, and the same layout for TRON and Bitcoin. Eleven lines, each in its
// place, and nothing around them: what is read is what was written, or nothing.

import { ParleyError } from '../../core/errors.ts';
import type { Family } from '../../core/families.ts';

export type SignInText = {
  readonly family: Family;
  /** The site's host, with its port where it has one. */
  readonly domain: string;
  /** In canonical form. */
  readonly address: string;
  /** What signing does, in a sentence. */
  readonly statement: string;
  /** The site's origin. */
  readonly uri: string;
  readonly chain: string;
  readonly nonce: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
};

/** Of EIP-4361 and Sign In With Solana; the others have no layout of their own. */
const accounts: Readonly<Record<Family, string>> = {
  evm: 'Ethereum',
  tron: 'TRON',
  bitcoin: 'Bitcoin',
  solana: 'Solana',
};

/** Twice what the longest statement, address and host make. */
const longestText = 2_048;

/** What EIP-4361 lets a statement have: ASCII, without quotes, backslashes, braces and the like. */
const plain = "[A-Za-z0-9 \\-._~:/?#[\\]@!$&'()*+,;=]";
const instant = '(\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z)';
const layout: readonly { readonly words: string; readonly form: RegExp }[] = [
  {
    words: '<host> wants you to sign in with your <family> account:',
    form: /^(\S{1,255}) wants you to sign in with your (Ethereum|TRON|Bitcoin|Solana) account:$/,
  },
  { words: '<address>', form: /^([0-9A-Za-z]{1,128})$/ },
  { words: '', form: /^$/ },
  { words: '<what signing does>', form: new RegExp(`^(${plain}{1,400})$`) },
  { words: '', form: /^$/ },
  { words: 'URI: <origin>', form: /^URI: (\S{1,300})$/ },
  { words: 'Version: 1', form: /^Version: 1$/ },
  { words: 'Chain ID: <chain>', form: /^Chain ID: ([0-9A-Za-z-]{1,64})$/ },
  { words: 'Nonce: <letters and digits>', form: /^Nonce: ([0-9A-Za-z]{8,128})$/ },
  { words: 'Issued At: <RFC 3339, UTC>', form: new RegExp(`^Issued At: ${instant}$`) },
  { words: 'Expiration Time: <RFC 3339, UTC>', form: new RegExp(`^Expiration Time: ${instant}$`) },
];

/** Whether a statement can have it: what else a wallet takes no longer for a sign-in. */
export function isPlain(text: string): boolean {
  return new RegExp(`^${plain}+$`).test(text);
}

export function writeSignInText(text: SignInText): string {
  return [
    `${text.domain} wants you to sign in with your ${accounts[text.family]} account:`,
    text.address,
    '',
    text.statement,
    '',
    `URI: ${text.uri}`,
    'Version: 1',
    `Chain ID: ${text.chain}`,
    `Nonce: ${text.nonce}`,
    `Issued At: ${text.issuedAt.toISOString()}`,
    `Expiration Time: ${text.expiresAt.toISOString()}`,
  ].join('\n');
}

/** Throws `bad_message` for what `writeSignInText` has not written. */
export function parseSignInText(message: string): SignInText {
  if (message.length > longestText) refuse(`it is longer than ${longestText} characters`);
  if (message.includes('\r')) refuse('its lines must end with LF alone, without CR');
  const lines = message.split('\n');
  const values = layout.map(({ words, form }, at) => {
    const found = form.exec(lines[at] ?? '');
    if (found !== null && lines[at] !== undefined) return found;
    return refuse(`line ${at + 1} must be ${words === '' ? 'empty' : `"${words}"`}`);
  });
  const more = lines[layout.length];
  if (more !== undefined) {
    refuse(`nothing may follow its expiration time, but line ${layout.length + 1} does`);
  }
  const value = (line: number) => values[line]?.[1] as string;
  const account = values[0]?.[2];
  return {
    family: (Object.keys(accounts) as Family[]).find(
      (each) => accounts[each] === account,
    ) as Family,
    domain: value(0),
    address: value(1),
    statement: value(3),
    uri: value(5),
    chain: value(7),
    nonce: value(8),
    issuedAt: instantOf(value(9)),
    expiresAt: instantOf(value(10)),
  };
}

/** Of the 30th of February there is none. */
function instantOf(text: string): Date {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()) || at.toISOString() !== text) refuse(`${text} is no time`);
  return at;
}

/** Two processes of one market need not agree on the time to the second. */
export const clockToleranceMs = 120_000;

/** Throws `bad_message` where a text is not the `wanted` one, or not of this time. */
export function mustBeWanted(given: SignInText, wanted: SignInText, nowMs: number): void {
  if (given.domain !== wanted.domain) {
    refuse(`it is for ${shown(given.domain)}, and this is ${wanted.domain}`);
  }
  if (given.uri !== wanted.uri) refuse(`its URI is ${shown(given.uri)}, not ${wanted.uri}`);
  if (given.statement !== wanted.statement) {
    refuse(`it says ${shown(given.statement)}, and this was begun for "${wanted.statement}"`);
  }
  if (given.family !== wanted.family) {
    refuse(`it is for ${accounts[given.family]} accounts, not ${accounts[wanted.family]} ones`);
  }
  if (given.address !== wanted.address) {
    refuse(`its address is ${given.address}, and this was begun with ${wanted.address}`);
  }
  if (given.chain !== wanted.chain) refuse(`its chain is ${given.chain}, not ${wanted.chain}`);
  if (given.nonce !== wanted.nonce) refuse('its nonce is another one');
  if (given.expiresAt.getTime() <= nowMs) refuse(`it expired at ${given.expiresAt.toISOString()}`);
  if (given.issuedAt.getTime() > nowMs + clockToleranceMs) {
    refuse(`it is not valid yet: it was issued at ${given.issuedAt.toISOString()}`);
  }
  for (const [time, words] of [
    ['issuedAt', 'was issued'],
    ['expiresAt', 'expires'],
  ] as const) {
    if (given[time].getTime() === wanted[time].getTime()) continue;
    const [own, ours] = [given[time].toISOString(), wanted[time].toISOString()];
    refuse(`it says that it ${words} at ${own}, not at ${ours}`);
  }
}

/** Of a stranger's text: quoted, so that nobody takes it for the refusal's own words. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function refuse(why: string): never {
  throw new ParleyError('bad_message', `this is no text that was asked to be signed: ${why}`);
}
