// Keeps the app on this device, and hears of a newer build. A build is never replaced under a
// person's hands: the newer one comes after a reload that was asked for.

import { held } from '../live.ts';

/** A browser asks when a page is loaded; an open tab asks this often too. */
const lookEveryMs = 3_600_000;

let own: ServiceWorkerRegistration | null = null;

/** Whether a newer build is kept beside that of this page. */
export const newer = held(false);

/** Keeps nothing where there are no service workers, as in private windows. */
export function keepApp(): void {
  if ('serviceWorker' in navigator) window.addEventListener('load', () => void register());
}

async function register(): Promise<void> {
  try {
    const how = { scope: '/', updateViaCache: 'none' } as const;
    const kept = await navigator.serviceWorker.register('/app/worker.js', how);
    own = kept;
    // The first one waits beside none, for a moment.
    const look = () => newer.set(newer.now() || (kept.active !== null && kept.waiting !== null));
    const follow = () => kept.installing?.addEventListener('statechange', look);
    kept.addEventListener('updatefound', follow);
    follow();
    look();
    // The market may be away: this build is kept, and it is asked again.
    setInterval(() => void kept.update().catch(() => {}), lookEveryMs);
  } catch {
    // The app works without: it is asked for anew each time.
  }
}

/** Reloads this tab into the newer build, which another tab may have taken already. */
export function takeNewer(): void {
  const reload = () => window.location.reload();
  const next = own?.waiting ?? null;
  if (next === null) {
    reload();
    return;
  }
  navigator.serviceWorker.addEventListener('controllerchange', reload);
  next.postMessage('take over');
}
