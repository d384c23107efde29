// Content of the account that is signed in, with a new sign-in on the spot where one is needed.

import { useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SignedInAccount } from '../market/session.ts';
import { SignedIn } from './signed-in.tsx';
import { FreshGate } from './ways/fresh.tsx';

type OfAccountProps = { readonly children: (account: SignedInAccount) => ReactNode };

export function OfAccount({ children }: OfAccountProps) {
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
