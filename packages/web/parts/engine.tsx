// The engine of the page, for screens: opened when the first one asks for it.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Engine } from '../engine/engine.ts';
import { useLive } from '../market/use-live.ts';
import { text } from '../texts/texts.ts';
import { Notice } from './controls.tsx';

export function useEngine() {
  return useQuery({
    queryKey: ['engine'],
    queryFn: async () => (await import('../engine/page.ts')).pageEngine(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
}

type PhraseFirstProps = {
  engine: Pick<Engine, 'vault'>;
  /** Where the person goes on afterwards: a path of this app. */
  back: string;
  children: ReactNode;
};

export function PhraseFirst({ engine, back, children }: PhraseFirstProps) {
  const { kind } = useLive(engine.vault.state);
  if (kind === 'checked') return children;
  return (
    <Notice
      kind="warn"
      title={text(`phrase_first.${kind}`)}
      action={
        <Link to="/phrase" search={{ back }} className="button main">
          {text('phrase_first.action')}
        </Link>
      }
    >
      {text('phrase_first.why')}
    </Notice>
  );
}
