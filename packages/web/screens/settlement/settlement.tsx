// One swap: its current step, the next one, until when one may be away, and one thing to do.

import { useParams } from '@tanstack/react-router';
import { use, useEffect } from 'react';
import { pageEngine } from '../../engine/page.ts';
import { handOver } from '../../parts/page-wallets.ts';
import { TellMe } from '../../parts/tell-me.tsx';
import { SwapPage } from './swap-page.tsx';

export function Settlement() {
  const { id } = useParams({ from: '/swaps/$id' });
  const engine = use(pageEngine());
  useEffect(() => handOver(engine.use), [engine]);
  const tell = <TellMe path={`/swaps/${id}`} />;
  return <SwapPage engine={engine} id={id} key={id} tell={tell} />;
}
