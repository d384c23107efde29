// Asks for an owner, and looks for one whom `owner()` does not name.

import { scanCode } from '../../tokens/code.ts';
import {
  askOwner,
  isDead,
  keeperIn,
  mostTried,
  mostWordsRead,
  type Owner,
} from '../../tokens/owner.ts';
import { addressIn, dataOf, selectorOf, word } from '../../tokens/words.ts';
import type { Fork } from '../fork/fork.ts';
import { type Look, nodeSays, numberOf, otherStorage, shown, view } from './ask.ts';

type Ruled = {
  readonly selectors: ReadonlySet<string>;
  readonly changes: boolean;
};

export async function controlOf(
  look: Look,
  fork: Fork,
  { selectors, changes }: Ruled,
): Promise<Owner> {
  const ask = async (getter: string) => {
    const data = dataOf(getter);
    const answer = numberOf(await view(fork, look.token, data));
    if (answer === null && !selectors.has(selectorOf(getter))) return null;
    if (answer !== (await nodeSays(look, data))) throw otherStorage(look.watch.chain);
    return addressIn(answer);
  };
  return askOwner(ask, { selectors, changes }, shown);
}

/** Whether nobody can use an address: it has no key, or is a contract that nobody rules. */
export async function isNobodys(look: Look, fork: Fork, address: string): Promise<boolean> {
  if (isDead(address)) return true;
  const code = await look.forks.source.code(address.slice(2));
  if (code === undefined) return false;
  const { selectors, delegates } = scanCode(`0x${code}`);
  const ruled = { selectors, changes: delegates };
  return (await controlOf({ ...look, token: shown(address) }, fork, ruled)).gone;
}

/** Storage that a refused function reads may name an owner whom owner() does not. */
export async function hiddenKeeper(
  fork: Fork,
  token: string,
  selectors: readonly string[],
): Promise<string | null> {
  for (const selector of selectors.slice(0, mostTried)) {
    const data = selector + [fork.stranger(), 1n, 1n].map(word).join('');
    const { words } = await fork.traced({ from: shown(fork.stranger()), to: token, data });
    for (const read of words.slice(0, mostWordsRead)) {
      const keeper = keeperIn(await fork.state.read(read));
      if (keeper !== null) return shown(keeper);
    }
  }
  return null;
}
