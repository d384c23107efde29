// Keeps the app on this device, and hears of a newer build. A build is never replaced under a
// person's hands: the newer one comes after a reload that was asked for. A tab that stays open asks
// by itself whether there is one: a browser asks when a page is loaded, and this one is not.

import { useSyncExternalStore } from 'react';

/** An open tab asks this often, and when somebody comes back to it after a while. */
const lookEveryMs = 3_600_000;
const lookAtMostEveryMs = 300_000;
/** The worker before has answers to give still, such as files of a slow market. */
const takeOverMs = 10_000;

let registration: ServiceWorkerRegistration | null = null;
/** Another tab has taken the newer build: it serves here too, and this page is of the former. */
let isBehind = false;
const listeners = new Set<() => void>();

function changed(): void {
  for (const each of listeners) each();
}

/** A reload that was asked for: no screen asks once more before it is left. */
let isLeaving = false;

/** Before any screen. Keeps nothing where there are no service workers, as in private windows. */
export function keepApp(): void {
  // Listeners of the window itself are called in the order in which they came.
  window.addEventListener('beforeunload', (event) => {
    if (isLeaving) event.stopImmediatePropagation();
  });
  if ('serviceWorker' in navigator) window.addEventListener('load', () => void register());
}

async function register(): Promise<void> {
  const workers = navigator.serviceWorker;
  let served = workers.controller;
  workers.addEventListener('controllerchange', () => {
    // The first one replaces nothing.
    isBehind ||= served !== null;
    served = workers.controller;
    changed();
  });
  try {
    const how = { scope: '/', updateViaCache: 'none' } as const;
    const own = await workers.register('/app/worker.js', how);
    const follow = () => own.installing?.addEventListener('statechange', changed);
    follow();
    own.addEventListener('updatefound', follow);
    registration = own;
    changed();
    lookForNewer(own);
  } catch {
    // The app works without: it is asked for anew each time.
  }
}

function lookForNewer(own: ServiceWorkerRegistration): void {
  let lookedAt = Date.now();
  const look = () => {
    lookedAt = Date.now();
    own.update().catch(() => {
      // The market is away: this build is kept, and it is asked again.
    });
  };
  setInterval(look, lookEveryMs);
  document.addEventListener('visibilitychange', () => {
    const isDue = Date.now() - lookedAt > lookAtMostEveryMs;
    if (document.visibilityState === 'visible' && isDue) look();
  });
}

function isNewer(): boolean {
  // The first one waits beside none, for a moment.
  const waits = registration?.active != null && registration.waiting !== null;
  return isBehind || waits;
}

/** Whether a newer build is kept beside that of this page. */
export function useNewer(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, isNewer);
}

/** Reloads this tab into the newer build. Throws where it could not begin. */
export async function takeNewer(): Promise<void> {
  const next = registration?.waiting;
  if (next) {
    const begun = Promise.withResolvers<void>();
    navigator.serviceWorker.addEventListener('controllerchange', () => begun.resolve());
    const late = setTimeout(() => begun.reject(new Error('not taken over')), takeOverMs);
    next.postMessage('take over');
    await begun.promise.finally(() => clearTimeout(late));
  }
  isLeaving = true;
  window.location.reload();
}
