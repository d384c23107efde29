// Notifications of the page: asked for by a click alone, one for each event whatever the tabs, and
// none while any tab of the app is seen. They hold no amount, key or secret.

import { useSyncExternalStore } from 'react';
import { recalled, remember } from '../texts/remembered.ts';

type TellState =
  /** The browser, or this kind of page, has none. */
  | 'unsupported'
  /** The person has not been asked yet. */
  | 'unasked'
  /** The person, or the browser by itself, has said no to this site. */
  | 'denied'
  | 'on'
  | 'off';

type News = {
  /** One for each event: the first tab of this browser that tells it tells it alone. */
  readonly key: string;
  readonly title: string;
  readonly body: string;
  /** Where a click leads, a path of the app. */
  readonly path: string;
};

const wantedKey = 'parley tells';
const toldKey = 'parley told';
const seenLock = 'parley seen';
/** Tabs of other processes see later what is written, on a busy device much later. */
const firstMs = 60_000;
/** Swaps and quotes of weeks; the oldest are forgotten. */
const mostTold = 500;

const listeners = new Set<() => void>();
const changed = () => {
  for (const each of listeners) each();
};

/** Told when it may be another state. Answers how to stop. */
export function onTellState(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab, or the browser's own settings.
  window.addEventListener('storage', listener);
  window.addEventListener('focus', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
    window.removeEventListener('focus', listener);
  };
}

export function tellState(): TellState {
  const wanted = recalled('localStorage', wantedKey);
  if (!('Notification' in globalThis) || wanted === 'unsupported') return 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  if (Notification.permission === 'default') return 'unasked';
  return wanted === 'on' ? 'on' : 'off';
}

export function useTellState(): TellState {
  return useSyncExternalStore(onTellState, tellState);
}

/** By a click alone: browsers refuse a page that asks by itself. `first`: shown at once. */
export async function startTelling(first: Omit<News, 'key'>): Promise<void> {
  if ((await Notification.requestPermission()) === 'granted') {
    // Phones have the word and refuse the thing.
    remember('localStorage', wantedKey, shows(first) ? 'on' : 'unsupported');
  }
  changed();
}

export function stopTelling(): void {
  remember('localStorage', wantedKey, 'off');
  changed();
}

let open = (_path: string): void => {};

/** How a click on a notification leads to a screen. */
export function opensBy(opening: (path: string) => void): void {
  open = opening;
}

/** The events that this page has told, or found told. */
const here = new Set<string>();

/** Once for its key in this browser. A visible tab of the app keeps it back. */
export async function tell(news: News): Promise<void> {
  if (here.has(news.key) || tellState() !== 'on') return;
  here.add(news.key);
  await navigator.locks.request(toldKey, async () => {
    const told = toldKeys();
    if (told.includes(news.key) || !(await isFirst(news.key))) return;
    remember('localStorage', toldKey, JSON.stringify([...told, news.key].slice(-mostTold)));
    if (!(await isSeen())) shows(news);
  });
}

/** Whether no other tab has told it in the last minute, by a lock that all of them see at once. */
function isFirst(key: string): Promise<boolean> {
  return new Promise((resolve) => {
    void navigator.locks.request(`${toldKey} ${key}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? null : new Promise((ended) => setTimeout(ended, firstMs));
    });
  });
}

function shows({ title, body, path }: Omit<News, 'key'>): boolean {
  try {
    const shown = new Notification(title, { body, icon: '/app/icon.svg' });
    shown.onclick = () => {
      window.focus();
      open(path);
      shown.close();
    };
    return true;
  } catch {
    return false;
  }
}

function toldKeys(): readonly string[] {
  try {
    const told: unknown = JSON.parse(recalled('localStorage', toldKey) ?? '[]');
    return Array.isArray(told) ? told.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

const isVisible = () => document.visibilityState === 'visible';

async function isSeen(): Promise<boolean> {
  if (isVisible()) return true;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === seenLock);
}

/** Lets the other tabs know that the app is looked at. Once a page. */
export function showSeen(): void {
  let hide: (() => void) | null = null;
  const look = () => {
    if (!isVisible()) {
      hide?.();
      hide = null;
      return;
    }
    if (hide !== null) return;
    const hidden = Promise.withResolvers<void>();
    hide = hidden.resolve;
    void navigator.locks.request(seenLock, { mode: 'shared' }, () => hidden.promise);
  };
  document.addEventListener('visibilitychange', look);
  look();
}
