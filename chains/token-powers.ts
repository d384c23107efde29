// What becomes of a token for the powers that somebody has over it: one finding a power. Pure.

import { type Finding, found, type Power, type PowerRules, passed, powers } from './inspection.ts';
import type { Powers } from './token-code.ts';

/** Who may use the powers, as far as it can be told from outside. */
export type Control = {
  /** As the chain writes it; null where the token names no owner. */
  readonly owner: string | null;
  /** The owner is an address that nobody has the key of. */
  readonly renounced: boolean;
  /** Others than an owner may have powers too. */
  readonly roles: boolean;
};

/** Nobody is left who could use what only an owner may. */
export function isMoot({ renounced, roles }: Control): boolean {
  return renounced && !roles;
}

const effects: Readonly<Record<Power, string>> = {
  pausable: 'somebody can stop all transfers, so that an escrow could neither pay nor refund',
  blacklist: 'somebody can bar single addresses, an escrow among them',
  mintable: 'somebody can make more of it',
  upgradeable: 'somebody can replace its code',
};

/** Signatures that a sentence names: a token may have all of them. */
const mostNamed = 3;

/**
 * `replaced`: a sentence's part on how its code can be replaced, where that is known by more than
 * its functions; null where it is not, or where nobody is left who could.
 */
export function powerFindings(
  seen: Powers,
  replaced: string | null,
  control: Control,
  rules: PowerRules,
): Finding[] {
  return powers.map((power) => {
    const rule = rules[power];
    const functions = isMoot(control) ? [] : (seen[power] ?? []);
    const by = functions.slice(0, mostNamed).join(', ');
    const hows = [...(by === '' ? [] : [`it has ${by}`])];
    if (power === 'upgradeable' && replaced !== null) hows.push(replaced);
    if (hows.length === 0 || rule === 'pass') return passed(power);
    return found(power, rule, `${effects[power]}: ${hows.join('; ')}${holder(control)}`);
  });
}

function holder({ owner, renounced, roles }: Control): string {
  if (roles) return '; accounts with a role may use it';
  if (owner === null || renounced) return '';
  return `; its owner is ${owner}`;
}
