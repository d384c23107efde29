// One swap: what happens now, what next, until when one may be away, and one thing to do.

import { useParams } from '@tanstack/react-router';
import { use } from 'react';
import { pageEngine } from '../../engine/page.ts';
import { SwapPage } from './swap-page.tsx';

export function Settlement() {
  const { id } = useParams({ from: '/swaps/$id' });
  return <SwapPage engine={use(pageEngine())} id={id} key={id} />;
}
