// Whether anybody can use the powers that a token's code gives: nobody can once its owner is an
// address without a key, nothing shows other rights, and no function of a power looks up somebody.

import { accessSignals, namesIn } from '../../evm/checks/signals.ts';
import { selectorOf } from '../../token-code.ts';
import type { Fork } from '../fork/fork.ts';
import type { Word } from '../fork/state.ts';
import { dataOf, type Look, nodeSays, numberOf, otherStorage, shown, view, word } from './ask.ts';

export type Control = {
  /** Nobody can use a power. */
  readonly gone: boolean;
  /** In words, for the beginning of a sentence. */
  readonly who: string;
};

const ownerGetters = ['owner()', 'getOwner()'] as const;

/** Nobody has their keys. The first is T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb. */
const dead: ReadonlySet<string> = new Set([
  '0'.repeat(40),
  '1'.padStart(40, '0'),
  'dead'.padStart(40, '0'),
  'dead'.padEnd(40, '0'),
]);

/** 20 bytes in hex. */
export function isDead(address: string): boolean {
  return dead.has(address);
}

export async function controlOf(
  look: Look,
  fork: Fork,
  selectors: ReadonlySet<string>,
): Promise<Control> {
  const owners: string[] = [];
  for (const getter of ownerGetters) {
    if (!selectors.has(selectorOf(getter))) continue;
    const data = dataOf(getter);
    const owner = numberOf(await view(fork, look.token, data));
    if (owner !== (await nodeSays(look, data))) throw otherStorage(look.watch.chain);
    if (owner !== null) owners.push(word(owner).slice(24));
  }
  const living = owners.find((each) => !isDead(each));
  if (living !== undefined) return { gone: false, who: `its owner ${shown(living)}` };
  const [access] = namesIn(accessSignals, selectors);
  if (access !== undefined) return { gone: false, who: `who has a right by ${access}` };
  return { gone: owners.length > 0, who: 'somebody' };
}

/** Whether nobody can use an address: it has no key, or is a contract whose owner has none. */
export async function isNobodys(fork: Fork, address: string): Promise<boolean> {
  if (isDead(address)) return true;
  const owner = numberOf(await view(fork, shown(address), dataOf('owner()')));
  return owner !== null && isDead(word(owner).slice(24));
}

/** Of one power. */
const mostTried = 4;
const mostWords = 12;
/** Smaller ones are amounts, counters and flags; no address is so small by chance. */
const largestNumber = 2n ** 128n;
/** An allowance or a limit without an end. */
const all = 2n ** 256n - 1n;

/**
 * Somebody in the storage that a function reads before it is refused to a stranger: an owner whom
 * owner() does not name.
 */
export async function hiddenKeeper(
  fork: Fork,
  token: string,
  selectors: readonly string[],
): Promise<string | null> {
  for (const selector of selectors.slice(0, mostTried)) {
    const data = selector + [fork.stranger(), 1n, 1n].map(word).join('');
    const { words } = await fork.traced({ from: shown(fork.stranger()), to: token, data });
    for (const read of words.slice(0, mostWords)) {
      const keeper = await addressAt(fork, read);
      if (keeper !== null) return shown(keeper);
    }
  }
  return null;
}

async function addressAt(fork: Fork, read: Word): Promise<string | null> {
  const value = await fork.state.read(read);
  const low = value & (2n ** 160n - 1n);
  const address = word(low).slice(24);
  return low > largestNumber && value !== all && !isDead(address) ? address : null;
}
