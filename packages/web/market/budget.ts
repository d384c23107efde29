// The account's remaining requests, as each answer tells. All keys and pages of the account spend
// it together.

import { held } from '../live.ts';

type Budget = {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is back. */
  readonly resetSeconds: number;
};

export const budget = held<Budget | null>(null);

/** Answers without the numbers, such as those of screens and files, change nothing. */
export function count(headers: Headers): void {
  const told = (name: string) => Number(headers.get(`ratelimit-${name}`) ?? Number.NaN);
  const next = {
    limit: told('limit'),
    remaining: told('remaining'),
    resetSeconds: told('reset'),
  };
  if (Object.values(next).every(Number.isFinite)) budget.set(next);
}

/** A fifth: the rest is for quotes and acceptances. */
export function isLow({ limit, remaining }: Budget): boolean {
  return remaining * 5 < limit;
}
