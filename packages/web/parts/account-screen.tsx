// The frame of every screen of an account: heading, navigation, the account's name, and a new
// sign-in where one is needed.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SignedInAccount } from '../market/session.ts';
import { text } from '../texts/texts.ts';
import { OfAccount } from './of-account.tsx';
import { Screen } from './screen.tsx';
import './account-screen.css';
import './ways/ways.css';

const places = [
  ['/account', 'account.nav.account'],
  ['/wallets', 'account.nav.wallets'],
  ['/activity', 'account.nav.activity'],
  ['/notifications', 'account.nav.notifications'],
  ['/keys', 'account.nav.keys'],
  ['/webhooks', 'account.nav.webhooks'],
  ['/assets', 'account.nav.assets'],
  ['/settings', 'account.nav.settings'],
] as const;

type AccountScreenProps = {
  readonly title: string;
  readonly children: (account: SignedInAccount) => ReactNode;
};

export function AccountScreen({ title, children }: AccountScreenProps) {
  return (
    <Screen title={title}>
      <AccountNav />
      <OfAccount>{children}</OfAccount>
    </Screen>
  );
}

export function AccountNav() {
  return (
    <nav className="account-nav" aria-label={text('account.nav')}>
      {places.map(([to, key]) => (
        <Link key={to} to={to}>
          {text(key)}
        </Link>
      ))}
    </nav>
  );
}
