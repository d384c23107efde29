// Check `contract` of EVM-like chains: whether what a token says of itself can be traded. Pure.

import { type Finding, found, passed } from './inspection.ts';

const check = 'contract';

/** The sentence for a symbol that looks like another and is not. */
export function hiddenSentence(character: string): string {
  return `its symbol has the character ${character}, which nobody sees`;
}

/** More decimals than this leave a number of 256 bits no room for whole units. */
export const mostDecimals = 36;

/** A token's own words; texts are '' where they cannot be read. */
export type Said = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly supply: bigint;
};

/** `balance`: that of an address never used; `hidden`: its symbol's first invisible character. */
export function judgeFace(
  { symbol, name, decimals, supply }: Said,
  balance: bigint,
  hidden: string | null,
): Finding {
  if (hidden !== null) return found(check, 'reject', hiddenSentence(hidden));
  if (decimals > mostDecimals) {
    return found(check, 'reject', `it has ${decimals} decimals; the most is ${mostDecimals}`);
  }
  if (balance !== 0n) {
    const sentence = `it shows a balance of ${balance} for an address that nobody ever used`;
    return found(check, 'reject', sentence);
  }
  if (supply === 0n) return found(check, 'wait', 'its total supply is 0: there is none of it yet');
  if (symbol === '') return found(check, 'wait', 'its symbol() gives no readable text');
  if (name === '') return found(check, 'wait', 'its name() gives no readable text');
  return passed(check);
}
