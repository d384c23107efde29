// The frame of every screen of an account: heading, navigation, the account's name, and a new
// sign-in where one is needed.

import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SignedInAccount } from '../market/session.ts';
import { type TextKey, text } from '../texts/texts.ts';
import { Screen } from './page.tsx';
import { SignedIn } from './signed-in.tsx';
import { FreshGate } from './ways/fresh.tsx';
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
  title: string;
  children: (account: SignedInAccount) => ReactNode;
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

export function OfAccount({ children }: { children: (account: SignedInAccount) => ReactNode }) {
  const { href } = useLocation();
  return (
    <SignedIn>
      {(account) => (
        <FreshGate account={account} here={href}>
          {children(account)}
        </FreshGate>
      )}
    </SignedIn>
  );
}

/**
 * The result of a login method that left the page: `?problem=` the code of a refusal, `?done=` the
 * finished action. A provider's own words are never among them.
 */
type Returned = { readonly kind: 'good' | 'warn'; readonly sentence: string };

const problems: Readonly<Record<string, TextKey>> = {
  cancelled: 'returned.cancelled',
  ceremony_gone: 'returned.gone',
  provider_down: 'returned.down',
  bad_proof: 'returned.bad_proof',
  login_taken: 'returned.taken',
  unknown_login: 'returned.unknown_login',
  session_ended: 'returned.ended',
  session_stale: 'returned.stale',
  too_many_logins: 'returned.too_many',
  way_off: 'returned.off',
  unavailable: 'returned.unavailable',
};

const done: Readonly<Record<string, TextKey>> = {
  'sign-in': 'returned.signed_in',
  add: 'returned.added',
  already: 'returned.already',
  renew: 'returned.renewed',
};

/** null: it says nothing of either. */
export function returned(search: URLSearchParams): Returned | null {
  const problem = search.get('problem');
  const did = search.get('done');
  if (problem !== null) {
    const key = Object.hasOwn(problems, problem) ? problems[problem] : undefined;
    return { kind: 'warn', sentence: text(key ?? 'returned.failed') };
  }
  const key = did !== null && Object.hasOwn(done, did) ? done[did] : undefined;
  return key === undefined ? null : { kind: 'good', sentence: text(key) };
}
