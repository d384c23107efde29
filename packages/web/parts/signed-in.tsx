// Around what only an account sees: the states before, and the way in, which leads back here.

import { Link, useLocation } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { type SignedInAccount, useSession } from '../market/session.ts';
import { text } from '../texts/texts.ts';
import { Notice } from './controls.tsx';
import { Failed, Loading } from './page.tsx';
import { signInPath } from './ways/back.ts';

/** The content begins anew for another account: its state keeps no data of the former one. */
type SignedInProps = {
  children: (account: SignedInAccount) => ReactNode;
  /** The sentence for a stranger who has the link; default that the page is of an account. */
  why?: string;
};

export function SignedIn({ children, why = text('session.none.why') }: SignedInProps) {
  const session = useSession();
  const { href } = useLocation();
  if (session.status === 'loading') return <Loading />;
  if (session.status === 'failed') return <Failed error={session.error} again={session.again} />;
  if (session.status === 'none') {
    const way = (
      <Link className="button" to={signInPath(href)}>
        {text('session.sign-in')}
      </Link>
    );
    return (
      <Notice kind="info" title={text('session.none')} action={way}>
        {why}
      </Notice>
    );
  }
  return <Fragment key={session.account.id}>{children(session.account)}</Fragment>;
}
