// Whether anybody could use the powers in a token's code, on EVM-like chains. Pure.

import { accessSignals, namesIn } from './signals.ts';
import { addressIn } from './words.ts';

export type Owner = {
  readonly gone: boolean;
  /** In words, for the beginning of a sentence. */
  readonly who: string;
};

/** Addresses without a known key. TRON writes the first T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb. */
const dead: ReadonlySet<string> = new Set([
  '0x0000000000000000000000000000000000000000',
  '0x0000000000000000000000000000000000000001',
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000000000000000000000000',
  '0xdead000000000000000042069420694206942069',
]);

export function isDead(address: string): boolean {
  return dead.has(address.toLowerCase());
}

type Asked = {
  /** The answers of the getters. */
  readonly named: readonly string[];
  readonly heir: string | null;
  /** The selectors of all code that runs. */
  readonly selectors: ReadonlySet<string>;
  /** Whether that code may be replaced: then nothing is given up. */
  readonly changes: boolean;
};

/** `shown`: an address as its chain writes it. */
export function judgeOwner(asked: Asked, shown: (address: string) => string): Owner {
  const { named, heir, selectors, changes } = asked;
  const living = [...named, ...(heir === null ? [] : [heir])].find((each) => !isDead(each));
  if (living !== undefined) return { gone: false, who: `its owner ${shown(living)}` };
  const [access] = namesIn(accessSignals, selectors);
  if (access !== undefined) return { gone: false, who: `a holder of a right by ${access}` };
  return { gone: named.length > 0 && !changes, who: 'somebody' };
}

/** Smaller ones are amounts, counters and flags; no address is so small by chance. */
const largestNumber = 2n ** 128n;
/** An allowance or a limit without an end. */
const all = 2n ** 256n - 1n;

/** Somebody in a word of storage, beside whom flags may be kept: no number, and with a key. */
export function keeperIn(word: bigint): string | null {
  const low = word & (2n ** 160n - 1n);
  const address = addressIn(low);
  if (address === null || low <= largestNumber || word === all || isDead(address)) return null;
  return address;
}
