// An action that needs a sign-in of the last ten minutes: asked for on the spot, and done then.
// Typed text stays where it is.

import { lazy, type ReactNode, Suspense, useCallback, useContext, useState } from 'react';
import { isRefused } from '../../market/account.ts';
import { Cancelled, Fresh, type Freshly } from '../act.tsx';
import type { Asked } from './sign-in-again.tsx';

export const useFreshly = () => useContext(Fresh);

const SignInAgain = lazy(async () => ({
  default: (await import('./sign-in-again.tsx')).SignInAgain,
}));

/** Around all screens. */
export function FreshGate({ children }: { children: ReactNode }) {
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
      <Suspense>{asked !== null && <SignInAgain asked={asked} />}</Suspense>
    </Fresh.Provider>
  );
}
