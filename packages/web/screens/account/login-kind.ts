// The kind of a login, and where it is from.

import { families } from '@parley/core/families.ts';
import type { Login } from '../../market/account.ts';
import { text } from '../../texts/texts.ts';

export function kindOf({ way, issuer, id }: Pick<Login, 'way' | 'issuer' | 'id'>): string {
  if (way === 'wallet') {
    const family = families.find((each) => id.startsWith(`${each}:`)) ?? 'evm';
    return text('logins.wallet', { family: text(`family.${family}`) });
  }
  if (way !== 'provider') return text(`logins.${way}`);
  const host = issuer !== null && URL.canParse(issuer) ? new URL(issuer).host : (issuer ?? '');
  return text('logins.provider', { host });
}
