// Lends a stranger a balance: the word that balanceOf reads for it, and for nobody else.

import { dataOf } from '../../tokens/words.ts';
import type { Fork } from '../fork/fork.ts';
import type { Word } from '../fork/state.ts';
import { numberOf, shown, view } from './ask.ts';

/** A token may keep shares, or other things in the highest bits. */
const fills = (least: bigint): readonly bigint[] => [
  least,
  2n ** 96n,
  2n ** 128n,
  2n ** 192n,
  2n ** 255n,
];
const mostWords = 32;

/** Makes `who` (20 bytes in hex) hold at least so much: what was written; null: no way is known. */
export async function lend(
  fork: Fork,
  token: string,
  who: string,
  least: bigint,
): Promise<bigint | null> {
  const words = await ownWords(fork, token, who);
  for (const word of words.slice(0, mostWords)) {
    for (const value of fills(least)) {
      await fork.state.checkpoint();
      await fork.state.overwrite(word, value);
      const held = await balanceOf(fork, token, who);
      if (held !== null && held >= least) {
        await fork.state.commit();
        return value;
      }
      await fork.state.revert();
    }
  }
  return null;
}

export async function balanceOf(fork: Fork, token: string, who: string): Promise<bigint | null> {
  return numberOf(await view(fork, token, dataOf('balanceOf(address)', who)));
}

/** Those that are read for this holder only come first; what all share changes everybody's. */
async function ownWords(fork: Fork, token: string, who: string): Promise<Word[]> {
  const readFor = async (holder: string) => {
    const data = dataOf('balanceOf(address)', holder);
    const { words } = await fork.traced({ from: shown(who), to: token, data });
    return words;
  };
  const name = ({ address, slot }: Word) => `${address}/${slot}`;
  const others = new Set((await readFor(fork.stranger())).map(name));
  return (await readFor(who)).filter((word) => !others.has(name(word)));
}
