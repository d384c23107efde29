// The text that a wallet signs in the browser: EIP-4361 for EVM, Sign In With Solana's layout for
// Solana, and a short layout for TRON and Bitcoin, which have none of their own. The signed text is
// the written one, to the character, or the proof fails.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, has } from '@parley/core/families.ts';

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

/** The account line of EIP-4361 and Sign In With Solana; the others have no layout of their own. */
const accounts: Readonly<Record<Family, string>> = {
  evm: 'Ethereum',
  tron: 'TRON',
  bitcoin: 'Bitcoin',
  solana: 'Solana',
};

/**
 * The characters that EIP-4361 allows in a statement: ASCII, without quotes, backslashes, braces
 * and the like.
 */
const plain = /^[A-Za-z0-9 \-._~:/?#[\]@!$&'()*+,;=]+$/;

/** Whether a statement can have it: a wallet takes a text with others no longer for a sign-in. */
export function isPlain(text: string): boolean {
  return plain.test(text);
}

/**
 * A Ledger takes at most 255 bytes of TRON, and the longest statement names a Taproot address: the
 * short layout says site, account, statement, nonce and end alone.
 */
export function writeSignInText(text: SignInText): string {
  const { family, uri, chain, nonce, issuedAt, expiresAt } = text;
  const hasOwnLayout = has(family, 'signInLayout');
  const facts = hasOwnLayout
    ? [
        `URI: ${uri}`,
        'Version: 1',
        `Chain ID: ${chain}`,
        `Nonce: ${nonce}`,
        `Issued At: ${issuedAt.toISOString()}`,
        `Expiration Time: ${expiresAt.toISOString()}`,
      ]
    : [`Nonce: ${nonce}`, `Expires: ${expiresAt.toISOString().replace(/\.\d+/, '')}`];
  const first = `${text.domain} wants you to sign in with your ${accounts[family]} account:`;
  return [first, text.address, '', text.statement, '', ...facts].join('\n');
}

/** Lines of a layout, and among them the place of its nonce from 0. */
const nonceLines: ReadonlyMap<number, number> = new Map([
  [11, 8],
  [7, 5],
]);

/** By which the text that was written is found. Another layout uses no nonce up: `bad_message`. */
export function nonceIn(message: string): string {
  const lines = message.split('\n');
  const at = nonceLines.get(lines.length);
  if (at === undefined) {
    refuse(`it has ${lines.length} lines instead of ${[...nonceLines.keys()].join(' or ')}`);
  }
  if (message.includes('\r')) refuse('its lines must end without CR');
  const [, nonce] = /^Nonce: ([0-9A-Za-z]{8,128})$/.exec(lines[at] ?? '') ?? [];
  return nonce ?? refuse(`line ${at + 1} must be "Nonce: <letters and digits>"`);
}

/** Throws `bad_message`, with the first line that is another, where it is not what was written. */
export function mustBeWritten(message: string, wanted: SignInText): void {
  const written = writeSignInText(wanted);
  if (message === written) return;
  const given = message.split('\n');
  const lines = written.split('\n');
  const other = lines.findIndex((line, at) => line !== given[at]);
  if (other === -1) {
    refuse(`no line may follow its last one, but line ${lines.length + 1} does`);
  }
  refuse(`line ${other + 1} must be "${lines[other]}", and is ${shown(given[other] ?? '')}`);
}

/** A stranger's text is shown so: quoted, so that nobody takes it for the refusal's own words. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function refuse(why: string): never {
  throw new ParleyError('bad_message', `this is no text that was asked to be signed: ${why}`);
}
