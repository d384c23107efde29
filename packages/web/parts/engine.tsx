// The engine of the page, for screens: opened when the first one asks for it.

import { useQuery } from '@tanstack/react-query';

export function useEngine() {
  return useQuery({
    queryKey: ['engine'],
    queryFn: async () => (await import('../engine/page.ts')).pageEngine(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
}
