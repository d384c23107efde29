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

type WaysDeps = Pick<Deps, 'settings' | 'messaging'>;

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
