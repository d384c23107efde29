// How a shortage names what a wallet has to send.

import type { Owed } from './adapter.ts';

/** Of one claim `one`; else how many claims, and after how many fundings. */
export function owedWords({ claims, fundings }: Owed, one: string): string {
  if (claims.length === 1 && fundings.length === 0) return one;
  const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
  const before = fundings.length === 0 ? '' : ` after ${counted(fundings.length, 'funding')}`;
  return `send ${counted(claims.length, 'claim')}${before}`;
}
