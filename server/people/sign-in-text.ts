// The text that a wallet signs in the browser: EIP-4361 for EVM, Sign In With Solana's layout for
// Solana, and the same layout for TRON and Bitcoin. What is signed is what was written, to the
// character, or nothing.

import { ParleyError } from '../../core/errors.ts';
import type { Family } from '../../core/families.ts';

export type SignInText = {
  readonly family: Family;
  readonly domain: string;
  readonly address: string;
  readonly statement: string;
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

/** What EIP-4361 lets a statement have: ASCII, without quotes, backslashes, braces and the like. */
const plain = /^[A-Za-z0-9 \-._~:/?#[\]@!$&'()*+,;=]+$/;

/** Whether a statement can have it: what else a wallet takes no longer for a sign-in. */
export function isPlain(text: string): boolean {
  return plain.test(text);
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

const nonceLine = 8;
const lineCount = 11;

/** By which the text that was written is found. Another layout uses no nonce up: `bad_message`. */
export function nonceIn(message: string): string {
  const lines = message.split('\n');
  if (lines.length !== lineCount) refuse(`it has ${lines.length} lines instead of ${lineCount}`);
  if (message.includes('\r')) refuse('its lines must end without CR');
  const [, nonce] = /^Nonce: ([0-9A-Za-z]{8,128})$/.exec(lines[nonceLine] ?? '') ?? [];
  return nonce ?? refuse(`line ${nonceLine + 1} must be "Nonce: <letters and digits>"`);
}

/** Throws `bad_message`, with the first line that is another, where it is not what was written. */
export function mustBeWritten(message: string, wanted: SignInText): void {
  const written = writeSignInText(wanted);
  if (message === written) return;
  const [given, lines] = [message.split('\n'), written.split('\n')];
  const other = lines.findIndex((line, at) => line !== given[at]);
  if (other === -1) {
    refuse(`nothing may follow its expiration time, but line ${lines.length + 1} does`);
  }
  refuse(`line ${other + 1} must be "${lines[other]}", and is ${shown(given[other] ?? '')}`);
}

/** Of a stranger's text: quoted, so that nobody takes it for the refusal's own words. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function refuse(why: string): never {
  throw new ParleyError('bad_message', `this is no text that was asked to be signed: ${why}`);
}
