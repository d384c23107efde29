// Who has powers over a mint besides its holders.

import {
  type Finding,
  found,
  type Outcome,
  type PowerRules,
  passed,
} from '../../tokens/inspection.ts';
import type { Mint } from './mint.ts';

export function checkAuthorities(mint: Mint, rules: PowerRules): Finding[] {
  const { mintAuthority, freezeAuthority } = mint;
  return [
    power('mintable', rules.mintable, mintAuthority, 'can make more of it'),
    power('blacklist', rules.blacklist, freezeAuthority, 'can freeze any holding, an escrow’s too'),
    // Whoever may close a mint can do so when nobody holds any of it, and then no escrow does.
    passed('closable'),
  ];
}

function power(check: string, rule: Outcome, who: string | null, what: string): Finding {
  return who === null || rule === 'pass' ? passed(check) : found(check, rule, `${who} ${what}`);
}
