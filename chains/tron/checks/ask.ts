// Questions to a token on a fork, and the same of the node, to see that both are of one token.

import type { Flag } from '../../tokens/powers.ts';
import { bytesOf, dataOf, decodeNumber } from '../../tokens/words.ts';
import { tronAddressOf } from '../address.ts';
import { type Fork, ForkLimit, type Forks, mostEnergy, type Word } from '../fork/fork.ts';
import { TronRefusal } from '../http.ts';
import { type Trial, tryCall } from '../node.ts';
import type { Watch } from '../watch.ts';

export type Look = {
  readonly watch: Watch;
  readonly token: string;
  readonly forks: Forks;
  readonly signal: AbortSignal;
};

export function shown(address: string): string {
  return tronAddressOf(bytesOf(address));
}

export function view(fork: Fork, to: string, data: string): Promise<Trial> {
  return fork.look({ from: shown(fork.stranger()), to, data });
}

export function numberOf({ failure, output }: Trial): bigint | null {
  return failure === null ? decodeNumber(bytesOf(output.slice(0, 64))) : null;
}

export function ranOut({ failure }: Trial): boolean {
  return failure === 'out of energy';
}

export const tooDear = `takes more than the ${mostEnergy} energy of a trial`;

export async function nodeSays(
  { watch, token, signal }: Pick<Look, 'watch' | 'token' | 'signal'>,
  data: string,
): Promise<bigint | null> {
  const call = { from: token, to: token, data, value: 0n };
  try {
    return numberOf(await tryCall(watch.http, 'head', call, signal));
  } catch (error) {
    if (error instanceof TronRefusal) return null;
    throw error;
  }
}

// Some java-tron versions answer storage of CREATE2 contracts with zeros: such a fork shows no
// token.
export function otherStorage(chain: string): ForkLimit {
  return new ForkLimit(`the ${chain} node does not show this contract's storage as it is`);
}

export const flagOf =
  (fork: Fork, token: string): Flag =>
  async (name) => {
    const answer = numberOf(await view(fork, token, dataOf(name)));
    return answer === 1n ? true : answer === 0n ? false : null;
  };

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
