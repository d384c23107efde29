// Switches that stop all transfers, and what they show now.

import { openingFlags, stoppingFlags } from '../../tokens/powers.ts';
import { dataOf } from '../../tokens/words.ts';
import type { Fork } from '../fork/fork.ts';
import { numberOf, view } from './ask.ts';

/** Part of a sentence; null: nothing says that they are stopped. */
export async function stoppedNow(fork: Fork, token: string): Promise<string | null> {
  for (const name of stoppingFlags) {
    if ((await flag(fork, token, name)) === 1n) return `${name} answers true`;
  }
  return null;
}

/** The same of a market that has not begun. */
export async function closedNow(fork: Fork, token: string): Promise<string | null> {
  for (const name of openingFlags) {
    if ((await flag(fork, token, name)) === 0n) return `${name} answers false`;
  }
  return null;
}

async function flag(fork: Fork, token: string, name: string): Promise<bigint | null> {
  return numberOf(await view(fork, token, dataOf(name)));
}
