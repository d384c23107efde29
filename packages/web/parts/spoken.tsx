// The page in the language of its person. A change begins every screen anew, at its heading.

import { type ReactNode, useEffect, useRef } from 'react';
import { I18nProvider } from 'react-aria-components';
import { useLive } from '../market/use-live.ts';
import { spoken } from '../texts/texts.ts';

export function Spoken({ children }: { children: ReactNode }) {
  const { language: now, locale } = useLive(spoken);
  const former = useRef(now);
  useEffect(() => {
    document.documentElement.lang = now;
    if (former.current === now) return;
    former.current = now;
    document.querySelector<HTMLElement>('#screen h1')?.focus();
  }, [now]);
  return (
    <I18nProvider key={now} locale={locale ?? now}>
      {children}
    </I18nProvider>
  );
}
