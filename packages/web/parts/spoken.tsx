// The page in the language of its person. A change begins every screen anew, at its heading.

import { Fragment, type ReactNode, useEffect, useRef } from 'react';
import { useLive } from '../market/use-live.ts';
import { spoken } from '../texts/texts.ts';

export function Spoken({ children }: { children: ReactNode }) {
  const { language: now } = useLive(spoken);
  const former = useRef(now);
  useEffect(() => {
    document.documentElement.lang = now;
    if (former.current === now) return;
    former.current = now;
    document.querySelector<HTMLElement>('#screen h1')?.focus();
  }, [now]);
  return <Fragment key={now}>{children}</Fragment>;
}
