// One action at a time behind a form or a button: whether it runs, and what went wrong.

import { useCallback, useEffect, useRef, useState } from 'react';

/** The person did not want it after all: the screen stays silent. */
export class Cancelled extends Error {}

/**
 * Does `work`; where the sign-in is too long ago, once more after a new one. Throws Cancelled where
 * the person does not sign in. `walletsOnly`: any other way would end the wallet session.
 */
export type Freshly = <T>(
  work: () => Promise<T>,
  how?: { readonly walletsOnly?: boolean },
) => Promise<T>;

export type Act = {
  readonly busy: boolean;
  /** null: it went well, or the error was dismissed. */
  readonly error: unknown;
  /** A press while another one runs has no effect. */
  readonly run: (work: () => Promise<void>) => void;
  readonly forget: () => void;
};

export function useAct(): Act {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef(false);
  const there = useRef(true);
  useEffect(() => {
    there.current = true;
    return () => {
      there.current = false;
    };
  }, []);
  const run = useCallback((work: () => Promise<void>) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setError(null);
    const ended = (failure: unknown) => {
      running.current = false;
      if (!there.current) return;
      setBusy(false);
      setError(failure instanceof Cancelled ? null : failure);
    };
    work().then(() => ended(null), ended);
  }, []);
  const forget = useCallback(() => setError(null), []);
  return { busy, error, run, forget };
}
