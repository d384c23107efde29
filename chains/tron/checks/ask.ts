// Questions to a token, answered on a fork; and the same asked of the node, to see that the fork is
// of the same token.

import type { Flag } from '../../tokens/powers.ts';
import { bytesOf, dataOf, decodeNumber } from '../../tokens/words.ts';
import { tronAddressOf } from '../address.ts';
import type { Fork, Forks } from '../fork/fork.ts';
import { mostEnergy } from '../fork/fork.ts';
import { ForkLimit } from '../fork/source.ts';
import { TronRefusal } from '../http.ts';
import { type Trial, tryCall } from '../node.ts';
import type { Watch } from '../watch.ts';

export type Look = {
  readonly watch: Watch;
  /** base58 */
  readonly token: string;
  readonly forks: Forks;
  readonly signal: AbortSignal;
};

export function shown(address: string): string {
  return tronAddressOf(bytesOf(address));
}

/** Asks by a stranger. */
export function view(fork: Fork, to: string, data: string): Promise<Trial> {
  return fork.look({ from: shown(fork.stranger()), to, data });
}

/** The number that a call answered; null where it failed or answered less than a word. */
export function numberOf({ failure, output }: Trial): bigint | null {
  return failure === null ? decodeNumber(bytesOf(output.slice(0, 64))) : null;
}

export function ranOut({ failure }: Trial): boolean {
  return failure === 'out of energy';
}

export const tooDear = `takes more than the ${mostEnergy} energy of a trial`;

/** What the node itself answers to a constant call; null where it fails there. */
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

/**
 * Some versions of java-tron answer eth_getStorageAt with zeros for contracts that another contract
 * made with CREATE2: their storage has the transaction in its key. What such a fork shows is of no
 * token.
 */
export function otherStorage(chain: string): ForkLimit {
  return new ForkLimit(`the ${chain} node does not show this contract's storage as it is`);
}

/** Of a token's switches. */
export const flagOf =
  (fork: Fork, token: string): Flag =>
  async (name) => {
    const answer = numberOf(await view(fork, token, dataOf(name)));
    return answer === 1n ? true : answer === 0n ? false : null;
  };
