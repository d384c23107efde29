// Sentences for the live region of the layout: changes without a place on the screen.

import { useSyncExternalStore } from 'react';

let said = '';
const listeners = new Set<() => void>();

export function announce(sentence: string): void {
  // The same sentence again is heard again: a space makes it another text.
  said = said === sentence ? `${sentence}\u00a0` : sentence;
  for (const each of listeners) each();
}

export function useAnnounced(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
}
