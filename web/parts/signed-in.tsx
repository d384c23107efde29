// Around what only an account sees: the states before, and the way in, which leads back here.

import { Link, useLocation } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { type SignedInAccount, useSession } from '../market/session.ts';
import { text } from '../texts/texts.ts';

/** What is shown for another account begins anew: nothing of the former one stays in its state. */
export function SignedIn({ children }: { children: (account: SignedInAccount) => ReactNode }) {
  const session = useSession();
  const { href } = useLocation();
  if (session.status === 'loading') return <p role="status">{text('common.loading')}</p>;
  if (session.status === 'failed') {
    return (
      <div role="alert">
        <p>{text('session.unknown', { why: session.error.message })}</p>
        <button type="button" onClick={session.again}>
          {text('session.again')}
        </button>
      </div>
    );
  }
  if (session.status === 'none') {
    return (
      <p>
        {text('session.none')}{' '}
        <Link to="/sign-in" search={{ back: href }}>
          {text('session.sign-in')}
        </Link>
      </p>
    );
  }
  return <Fragment key={session.account.id}>{children(session.account)}</Fragment>;
}
