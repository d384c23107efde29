// The texts that wallets sign: what must stand in them, read strictly. The lines of a message are
// read only from what was signed, and every separator that a wallet might draw as a line break
// counts as one, so that no line can hide from the person who signs.

import { ParleyError } from '../../core/errors.ts';
import type { Family } from '../../core/families.ts';
import { type Scope, scopes } from '../scopes.ts';

export const longestMessage = 4_096;
const longestName = 80;
const separators = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

export type Purpose = 'create an API key' | 'link this wallet' | 'authorise this wallet';

/** Throws `bad_message` unless the text is for this product and purpose and names each address. */
export function checkMessage(
  message: string,
  expected: { productName: string; purpose: Purpose; addresses: readonly string[] },
): void {
  if (message.length > longestMessage) {
    refuse(`the message is longer than ${longestMessage} characters`);
  }
  if (!message.includes(expected.productName)) {
    refuse(`the message does not contain "${expected.productName}"`);
  }
  const lower = message.toLowerCase();
  if (!lower.includes(expected.purpose.toLowerCase())) {
    refuse(`the message does not contain the words "${expected.purpose}"`);
  }
  for (const address of expected.addresses) {
    if (!lower.includes(address.toLowerCase())) {
      refuse(`the message does not contain the address ${address}`);
    }
  }
}

/** The addresses that a message must name: Bitcoin's may be left out. */
export function mustName(family: Family, address: string): string[] {
  return family === 'bitcoin' ? [] : [address];
}

/** The nonce of the one `Nonce:` line. */
export function nonceOf(message: string): string {
  if (occurrences(message, 'nonce:') !== 1) {
    refuse('the message must have exactly one "Nonce:"');
  }
  const line = linesOf(message).find((each) => /^Nonce:/.test(each));
  const value = line === undefined ? null : /^Nonce: ?([A-Za-z0-9]{1,128})$/.exec(line);
  if (value === null) {
    return refuse('the message must have one whole line "Nonce: <letters and digits>"');
  }
  return value[1] as string;
}

/** Name and scopes of the key that the message asks for. */
export function keyTermsOf(message: string): { name: string | null; scopes: Scope[] } {
  const name = optionalLine(message, 'Key name:');
  if (name !== null && [...name].length > longestName) {
    refuse(`the key name is longer than ${longestName} characters`);
  }
  if (name === '') refuse('"Key name:" is empty');
  const list = optionalLine(message, 'Scopes:');
  return { name, scopes: list === null ? [...scopes] : parseScopes(list) };
}

function parseScopes(list: string): Scope[] {
  const given = list.split(/[\s,]+/).filter((word) => word !== '');
  if (given.length === 0) refuse('"Scopes:" is empty');
  for (const word of given) {
    if (!(scopes as readonly string[]).includes(word)) {
      refuse('"Scopes:" takes read, taker and maker, separated by commas or spaces');
    }
  }
  return scopes.filter((scope) => given.includes(scope));
}

/** What follows `label` on the one whole line that starts with it; null without such a line. */
function optionalLine(message: string, label: string): string | null {
  const found = occurrences(message, label.toLowerCase());
  if (found === 0) return null;
  const lines = linesOf(message).filter((line) => line.startsWith(label));
  if (found !== 1 || lines.length !== 1) {
    refuse(`the message may have one "${label}", as a whole line`);
  }
  return (lines[0] as string).slice(label.length).trim();
}

// Counted anywhere and in any case, not only at the start of lines: a second one that is not a line
// of its own is somebody's attempt to be read differently by a person and by us.
function occurrences(message: string, label: string): number {
  return message.toLowerCase().split(label).length - 1;
}

function linesOf(message: string): string[] {
  return message.split(separators);
}

function refuse(sentence: string): never {
  throw new ParleyError('bad_message', sentence);
}
