// The engine of the page, for screens: opened when the first one asks for it.

import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { Live } from '../engine/types.ts';

export function useEngine() {
  return useQuery({
    queryKey: ['engine'],
    queryFn: async () => (await import('../engine/page.ts')).pageEngine(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
}

export function useLive<T>(live: Live<T>): T {
  return useSyncExternalStore(live.subscribe, live.now);
}
