// Secrets in calldata of any form, searched at every byte; the cost does not grow with the watched.

import { hash, randomInt } from 'node:crypto';

/** How far into calldata names and secrets are looked for. */
export const mostSearchedBytes = 16_384;

/** Addresses and hashlocks in hex, and how many of them have each print. */
export type Names = { readonly all: Set<string>; readonly prints: Map<number, number> };

export function newNames(): Names {
  return { all: new Set(), prints: new Map() };
}

const wordBytes = 32;
const addressBytes = 20;

/** A rolling polynomial of a secret base: nobody can make two prints alike on purpose. */
const base = 2 * randomInt(2 ** 30) + 1;

function power(exponent: number): number {
  return Array.from({ length: exponent }).reduce<number>((all) => Math.imul(all, base), 1);
}

function printOf(bytes: Uint8Array): number {
  return bytes.reduce((print, byte) => (Math.imul(print, base) + byte + 1) | 0, 0);
}

/** Hex without `0x`, in lower case. */
function plain(name: string): string {
  return (name.startsWith('0x') ? name.slice(2) : name).toLowerCase();
}

export function addName({ all, prints }: Names, name: string): void {
  const hex = plain(name);
  if (all.has(hex)) return;
  all.add(hex);
  const print = printOf(Buffer.from(hex, 'hex'));
  prints.set(print, (prints.get(print) ?? 0) + 1);
}

export function removeName({ all, prints }: Names, name: string): void {
  const hex = plain(name);
  if (!all.delete(hex)) return;
  const print = printOf(Buffer.from(hex, 'hex'));
  const left = (prints.get(print) ?? 0) - 1;
  if (left > 0) prints.set(print, left);
  else prints.delete(print);
}

const powers = { [addressBytes]: power(addressBytes), [wordBytes]: power(wordBytes) } as const;

/** Whether a name of this length stands anywhere in these bytes. */
function namesAny(
  { all, prints }: Names,
  bytes: Buffer,
  length: typeof addressBytes | typeof wordBytes,
): boolean {
  const first = powers[length];
  let print = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    print = (Math.imul(print, base) + (bytes[at] ?? 0) + 1) | 0;
    if (at >= length) print = (print - Math.imul(first, (bytes[at - length] ?? 0) + 1)) | 0;
    if (at + 1 < length || !prints.has(print)) continue;
    if (all.has(bytes.toString('hex', at + 1 - length, at + 1))) return true;
  }
  return false;
}

type Searching = {
  readonly names: Names;
  readonly byHashlock: ReadonlyMap<string, unknown>;
  readonly secrets: ReadonlyMap<string, string>;
};

/** `direct`: sent to an escrow. Else the calldata must name a watched escrow or hashlock. */
export function secretsIn(
  { names, byHashlock, secrets }: Searching,
  input: string,
  direct: boolean,
): string[] {
  const bytes = Buffer.from(input.slice(2, 2 + 2 * mostSearchedBytes), 'hex');
  if (bytes.length < wordBytes) return [];
  const named = direct || namesAny(names, bytes, addressBytes) || namesAny(names, bytes, wordBytes);
  if (!named) return [];
  const found: string[] = [];
  for (let at = 0; at + wordBytes <= bytes.length; at += 1) {
    const hashlock = hash('sha256', bytes.subarray(at, at + wordBytes), 'hex');
    if (!byHashlock.has(hashlock) || secrets.has(hashlock)) continue;
    found.push(bytes.toString('hex', at, at + wordBytes));
  }
  return found;
}
