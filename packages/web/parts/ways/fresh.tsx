// An action that needs a sign-in of the last ten minutes: asked for on the spot, and done then.
// Typed text stays where it is.

import { type ReactNode, useCallback, useContext, useState } from 'react';
import { isRefused, type Way } from '../../market/account.ts';
import { lookAgain, type SignedInAccount } from '../../market/session.ts';
import { text } from '../../texts/texts.ts';
import { Cancelled, Fresh, type Freshly } from '../act.tsx';
import { Dialog } from '../controls.tsx';
import { WaysIn } from './ways.tsx';

export const useFreshly = () => useContext(Fresh);

type Asked = { readonly walletsOnly: boolean; readonly answer: (isDone: boolean) => void };

type FreshGateProps = {
  account: SignedInAccount;
  here: string;
  children: ReactNode;
};

export function FreshGate({ account, here, children }: FreshGateProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const freshly: Freshly = useCallback(async (work, { walletsOnly = false } = {}) => {
    try {
      return await work();
    } catch (error) {
      if (!isRefused(error, 'session_stale')) throw error;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    setAsked({ walletsOnly, answer: resolve });
    const isDone = await promise;
    setAsked(null);
    if (!isDone) throw new Cancelled();
    return work();
  }, []);
  return (
    <Fresh.Provider value={freshly}>
      {children}
      {asked !== null && <SignInAgain account={account} here={here} asked={asked} />}
    </Fresh.Provider>
  );
}

type SignInAgainProps = Omit<FreshGateProps, 'children'> & { asked: Asked };

function SignInAgain({ account, here, asked }: SignInAgainProps) {
  const only: readonly Way[] = asked.walletsOnly
    ? ['wallet']
    : [...new Set(account.logins.map(({ way }) => way))];
  const after = async () => {
    await lookAgain();
    asked.answer(true);
  };
  return (
    <Dialog
      title={text('fresh.title')}
      open
      onClose={() => asked.answer(false)}
      no={text('fresh.not_now')}
    >
      <p>{text(asked.walletsOnly ? 'fresh.wallet' : 'fresh.any')}</p>
      <WaysIn purpose="renew" only={only} here={here} after={after} />
    </Dialog>
  );
}
