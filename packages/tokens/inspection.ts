// The findings about a token, one a check. The server adds its own and decides.

import { ParleyError } from '@parley/core/errors.ts';

/** `wait`: not now, look again later. `reject`: never, whatever happens later. */
export type Outcome = 'pass' | 'wait' | 'reject';

export type Finding = {
  /** Which check, in one word such as `transfer`: the same for as long as the check exists. */
  readonly check: string;
  readonly outcome: Outcome;
  /** A sentence for customers, with the numbers in it; null for a pass. */
  readonly reason: string | null;
};

export type Inspection = {
  readonly address: string;
  /** Trimmed, at most `mostNameLength` characters; '' = none, null = could not be asked. */
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  /** One of every check that could be made, passes too, in the order in which they were made. */
  readonly findings: readonly Finding[];
};

/** Powers over a token that somebody may have besides its holders. */
export const powers = ['pausable', 'blacklist', 'mintable', 'upgradeable'] as const;
export type Power = (typeof powers)[number];

/** The outcome for a token over which somebody has such a power. */
export type PowerRules = Readonly<Record<Power, Outcome>>;

/** A power can be given up, so it is checked again; replaceable code can become anything. */
export const defaultPowerRules: PowerRules = {
  pausable: 'wait',
  blacklist: 'wait',
  mintable: 'wait',
  upgradeable: 'reject',
};

/** Characters of a symbol or a name that are kept: the text of a stranger's contract is bounded. */
export const mostNameLength = 64;

export function passed(check: string): Finding {
  return { check, outcome: 'pass', reason: null };
}

export function found(check: string, outcome: Exclude<Outcome, 'pass'>, reason: string): Finding {
  return { check, outcome, reason };
}

/** There is nothing at the address that could be a token: no listing begins. */
export function notAToken(chain: string, address: string, why: string): ParleyError {
  return new ParleyError('not_a_token', `${address} on ${chain} is no token: ${why}`, {
    chain,
    address,
  });
}
