// The texts that wallets sign: their required content, read strictly. Name, scopes and nonce are
// read only from what was signed, and only where a person reads the same lines: characters that may
// or may not be drawn as a line break, that turn the text around or are not drawn at all are
// refused, and so is a second label that only looks like one.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, has } from '@parley/core/families.ts';
import { type Scope, scopes } from '@parley/core/scopes.ts';
import { contradictionIn } from './contradictions.ts';
import { asDrawn } from './look-alikes.ts';
import { hostsIn, normal } from './named-hosts.ts';

/** A longer signed message is refused with 400. */
export const longestMessage = 4_096;
/** The limit of a key's name. */
export const longestName = 80;
const unclear = new RegExp(
  [
    // LF and CRLF break lines everywhere; other characters depend on the program that draws them.
    String.raw`(?!\r?\n)\p{Cc}|[\p{Zl}\p{Zp}\p{Cs}]`,
    // Characters that are not drawn, and those that turn the text around, which are not drawn
    // either.
    String.raw`(?![\u200c\u200d\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}`,
    // Characters without a form of their own, or a known one: a font makes anything of them.
    // Characters that are a whole sentence count too: a text of these would be ten times as long
    // once it is read.
    String.raw`[\p{Co}\p{Cn}\ufff9-\ufffc\u2800\ufdfa\ufdfb]|(?![\u200c\u200d])\p{Cf}`,
    // But scripts and emoji need joiners and variation selectors; never after a Latin letter.
    String.raw`(?<=[\0-\u02ff])[\u200c\u200d\ufe0e\ufe0f]`,
  ].join('|'),
  'u',
);

// Between its words and its colon a label may have anything that is no letter and no digit.
const labels = {
  nonce: { text: 'Nonce:', drawn: /nonce[^\p{L}\p{N}\n:]*:/gu },
  name: { text: 'Key name:', drawn: /key[^\p{L}\p{N}\n:]*na(?:m|rn)e[^\p{L}\p{N}\n:]*:/gu },
  scopes: { text: 'Scopes:', drawn: /scopes[^\p{L}\p{N}\n:]*:/gu },
} as const;
type Label = (typeof labels)[keyof typeof labels];

/** Labels that would read as scopes, and are none: `Scopes:` alone is read. */
const scopeLabels =
  /\b(scopes?|permissions?|access|rights|privileges?|roles?|grants|capabilities|resources)\b/;

/** Words that would be read as a heading. */
const longestHeading = 3;

export type Purpose = 'create an API key' | 'link this wallet' | 'authorise this wallet';

/** A text that people and programs read alike. */
export type ClearText = {
  readonly message: string;
  /** Its lines as a person reads them, made once: this costs more than all that reads them. */
  readonly drawn: string;
};

/** Throws `bad_message` where people and programs would not. */
export function clearText(message: string): ClearText {
  if (message.length > longestMessage) {
    refuse(`the message is longer than ${longestMessage} characters`);
  }
  assertClear(message);
  return { message, drawn: asDrawn(message) };
}

/** Throws `bad_message` unless product, purpose and each address are named and not denied. */
export function checkMessage(
  text: ClearText,
  expected: {
    productName: string;
    /** Hosts of this market, in small letters. */
    sites: readonly string[];
    purpose: Purpose;
    addresses: readonly string[];
  },
): void {
  const { message } = text;
  const { productName, purpose } = expected;
  // A word of its own: "NotParleyAtAll" is another product.
  const around = message.split(productName);
  const isNamed = around.some(
    (before, at) => at + 1 < around.length && isWhole(before, around[at + 1]!),
  );
  if (!isNamed) refuse(`the message does not contain "${productName}"`);
  mustBeForUs(text, expected);
  const lower = message.toLowerCase();
  if (!lower.includes(purpose.toLowerCase())) {
    refuse(`the message does not contain the words "${purpose}"`);
  }
  for (const address of expected.addresses) {
    if (!lower.includes(address.toLowerCase())) {
      refuse(`the message does not contain the address ${address}`);
    }
  }
  const terms = purpose === 'create an API key' ? keyTermsOf(text) : null;
  const meant = { productName, purpose, scopes: terms?.scopes ?? null };
  const contradiction = contradictionIn(message, meant);
  if (contradiction !== null) refuse(`the message contradicts itself: ${contradiction}`);
}

function isWhole(before: string, after: string): boolean {
  return !/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after);
}

/**
 * Another site had it signed where it names one; and what a person reads as scopes is what we read.
 * One that only looks like ours is not ours.
 */
function mustBeForUs(
  { message, drawn }: ClearText,
  { productName, sites }: { productName: string; sites: readonly string[] },
): void {
  const product = productName.toLowerCase();
  const drawnProduct = asDrawn(productName);
  const ours = [...sites, product, ...hostsIn(product)].map(normal);
  for (const line of message.toLowerCase().split('\n')) {
    const isName = line.startsWith('key name:');
    const named = hostsIn(line, isName).find((host) => !ours.includes(host));
    if (named !== undefined) {
      refuse(`the message names ${named.slice(0, 100)}, which is not a site of this market`);
    }
  }
  for (const line of drawn.replaceAll(drawnProduct, ' ').split('\n')) {
    if (!scopeLabels.test(line)) continue;
    const label = labelOf(line);
    if (line.includes(':') && label.trim() === 'scopes') continue;
    const [scopeLike] = scopeLabels.exec(label) ?? [];
    if (scopeLike !== undefined) {
      refuse(`a line reads like scopes ("${scopeLike}"); only "Scopes:" is read`);
    }
  }
}

/**
 * The label of a line: all before its colon; or what is too short for a sentence, before another
 * sign or alone.
 */
function labelOf(line: string): string {
  const hasColon = line.includes(':');
  const signs = hasColon ? ':' : /[=|>\u2192]|\s[\p{Pd}\u2212]+\s/u;
  const [label = ''] = line.trim().split(signs, 1);
  const words = label.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return hasColon || words.length <= longestHeading ? label : '';
}

/** The addresses that a message must name: Bitcoin's may be left out. */
export function mustName(family: Family, address: string): string[] {
  return has(family, 'bindsAddress') ? [] : [address];
}

/** The nonce of the one `Nonce:` line. */
export function nonceOf({ message, drawn }: ClearText): string {
  if (occurrences(drawn, labels.nonce) !== 1) {
    refuse('the message must have exactly one "Nonce:"');
  }
  const line = linesOf(message).find((each) => each.startsWith(labels.nonce.text));
  const value = line === undefined ? null : /^Nonce: ?([A-Za-z0-9]{1,128})$/.exec(line);
  if (value === null) {
    return refuse('the message must have one whole line "Nonce: <letters and digits>"');
  }
  return value[1] as string;
}

/** Name and scopes of the key that the message asks for. */
export function keyTermsOf(text: ClearText): { name: string | null; scopes: Scope[] } {
  const name = optionalLine(text, labels.name);
  if (name !== null && [...name].length > longestName) {
    refuse(`the key name is longer than ${longestName} characters`);
  }
  if (name === '') refuse('"Key name:" is empty');
  const list = optionalLine(text, labels.scopes);
  return { name, scopes: list === null ? [...scopes] : parseScopes(list) };
}

function parseScopes(list: string): Scope[] {
  const given = list.split(/[ ,]+/).filter((word) => word !== '');
  if (given.length === 0) refuse('"Scopes:" is empty');
  for (const word of given) {
    if (!(scopes as readonly string[]).includes(word)) {
      refuse('"Scopes:" takes read, taker and maker, separated by commas or spaces');
    }
  }
  return scopes.filter((scope) => given.includes(scope));
}

/** The text after the label on the one whole line that starts with it; null without such a line. */
function optionalLine({ message, drawn }: ClearText, label: Label): string | null {
  const found = occurrences(drawn, label);
  if (found === 0) return null;
  const lines = linesOf(message).filter((line) => line.startsWith(label.text));
  if (found !== 1 || lines.length !== 1) {
    refuse(`the message may have one "${label.text}", as a whole line`);
  }
  return (lines[0] as string).slice(label.text.length).trim();
}

// Counted anywhere, in any case and as drawn, not only at the start of lines: a second one that is
// not a line of its own is somebody's attempt to be read differently by a person and by us.
function occurrences(drawn: string, label: Label): number {
  return [...drawn.matchAll(label.drawn)].length;
}

function linesOf(message: string): string[] {
  return message.split(/\r?\n/);
}

function assertClear(message: string): void {
  const [found] = unclear.exec(message) ?? [];
  if (found === undefined) return;
  const code = (found.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  refuse(`the message holds the character U+${code}, which people and programs read differently`);
}

function refuse(sentence: string): never {
  throw new ParleyError('bad_message', sentence);
}
