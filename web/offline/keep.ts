// Keeps the app on this device, and hears of a newer build. Nothing is replaced under a person's
// hands: the newer build is there after a reload that somebody asked for.

import { useSyncExternalStore } from 'react';

let waiting: ServiceWorker | null = null;
const listeners = new Set<() => void>();

/** Does nothing where a browser has no service workers, as in some private windows. */
export async function keepApp(): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  try {
    const how = { scope: '/', updateViaCache: 'none' } as const;
    const registration = await navigator.serviceWorker.register('/app/worker.js', how);
    look(registration);
    registration.addEventListener('updatefound', () => {
      registration.installing?.addEventListener('statechange', () => look(registration));
    });
  } catch {
    // The app works without: it is asked for anew each time.
  }
}

/** The first one replaces nothing. */
function look(registration: ServiceWorkerRegistration): void {
  if (navigator.serviceWorker.controller === null) return;
  waiting = registration.waiting;
  for (const each of listeners) each();
}

/** Whether a newer build is kept beside this one. */
export function useNewer(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => waiting !== null,
  );
}

/** Reloads every tab of the app into the newer build. */
export function takeNewer(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => window.location.reload());
  waiting?.postMessage('take over');
}
