// The login methods of this market.

import { isIP } from 'node:net';
import { type Family, families } from '@parley/core/families.ts';
import type { Deps } from '../ports/deps.ts';
import type { Site } from './site.ts';

export type Ways = {
  readonly email: boolean;
  readonly mailIsDown: boolean;
  readonly providers: readonly { id: string; label: string; messages: boolean }[];
  readonly passkeys: boolean;
  readonly wallets: readonly Family[];
};

export type WaysDeps = Pick<Deps, 'settings' | 'messaging'>;

export function waysAt({ settings, messaging }: WaysDeps, { hostname }: Site): Ways {
  const { providers, bot } = settings.people;
  return {
    email: messaging?.sendCode != null,
    mailIsDown: messaging?.sendCode != null && messaging.mailIsDown(),
    providers: providers.map(({ id, label, messages }) => ({
      id,
      label,
      messages: messages && bot !== null,
    })),
    // A passkey is bound to a name, and an address is none (WebAuthn, relying party identifier).
    passkeys: isIP(hostname.replace(/^\[|\]$/g, '')) === 0,
    wallets: families,
  };
}

/** Such as `by e-mail, with Acme, with a passkey or with a wallet`, all but one provider. */
export function otherWays(deps: WaysDeps, site: Site, but: string): string {
  const { email, mailIsDown, providers, passkeys } = waysAt(deps, site);
  const others = [
    ...(email && !mailIsDown ? ['by e-mail'] : []),
    ...providers.filter(({ id }) => id !== but).map(({ label }) => `with ${label}`),
    ...(passkeys ? ['with a passkey'] : []),
  ];
  const rest = 'with a wallet';
  return others.length === 0 ? rest : `${others.join(', ')} or ${rest}`;
}
