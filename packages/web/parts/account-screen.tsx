// The frame of every screen of an account: heading, navigation, and the way in.

import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { SignedInAccount } from '../market/session.ts';
import { type TextKey, text } from '../texts/texts.ts';
import { Icon } from './icons.tsx';
import { Screen } from './page.tsx';
import { SignedIn } from './signed-in.tsx';
import './account-screen.css';

const groups = [
  {
    name: 'account.nav.you',
    places: [
      ['/account', 'account', 'account.nav.account'],
      ['/wallets', 'wallet', 'account.nav.wallets'],
      ['/notifications', 'bell', 'account.nav.notifications'],
      ['/settings', 'settings', 'account.nav.settings'],
    ],
  },
  {
    name: 'account.nav.programs',
    places: [
      ['/console', 'makers', 'console.title'],
      ['/keys', 'key', 'account.nav.keys'],
      ['/webhooks', 'code', 'account.nav.webhooks'],
      ['/assets', 'file', 'account.nav.assets'],
    ],
  },
] as const;

type AccountScreenProps = {
  title: string;
  children: (account: SignedInAccount) => ReactNode;
};

export function AccountScreen({ title, children }: AccountScreenProps) {
  return (
    <Screen title={title}>
      <AccountNav />
      <SignedIn>{children}</SignedIn>
    </Screen>
  );
}

export function AccountNav() {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone it is a row that is longer than the screen.
    const show = () => {
      const here = nav.current?.querySelector('[aria-current="page"]');
      here?.scrollIntoView({ block: 'nearest', inline: 'center' });
    };
    // The type of the app makes it longer.
    void document.fonts.ready.then(show);
  }, []);
  return (
    <nav ref={nav} className="account-nav" aria-label={text('account.nav')}>
      {groups.map(({ name, places }) => (
        <div key={name}>
          <p>{text(name)}</p>
          <ul>
            {places.map(([to, icon, label]) => (
              <li key={to}>
                <Link to={to}>
                  <Icon name={icon} />
                  {text(label)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
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
