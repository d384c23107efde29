// A value that changes, for React.

import { useSyncExternalStore } from 'react';
import type { Live } from '../live.ts';

export function useLive<T>({ subscribe, now }: Live<T>): T {
  return useSyncExternalStore(subscribe, now);
}
