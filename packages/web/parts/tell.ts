// Notifications of the page: asked for by a click alone, and one for each event whatever the tabs.
// They hold no amount, key or secret.

import { held } from '../live.ts';
import { useLive } from '../market/use-live.ts';
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
  /** One for each event: the browser shows a second one of a key in the place of the first. */
  readonly key: string;
  readonly title: string;
  readonly body: string;
  /** Where a click leads, a path of the app. */
  readonly path: string;
};

const wantedKey = 'parley tells';

function tellState(): TellState {
  const wanted = recalled('localStorage', wantedKey);
  if (!('Notification' in globalThis) || wanted === 'unsupported') return 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  if (Notification.permission === 'default') return 'unasked';
  return wanted === 'on' ? 'on' : 'off';
}

const state = held<TellState>(tellState());
const look = () => state.set(tellState());
// Another tab, or the browser's own settings.
window.addEventListener('focus', look);

export function useTellState(): TellState {
  return useLive(state);
}

/** By a click alone: browsers refuse a page that asks by itself. `first`: shown at once. */
export async function startTelling(first: Omit<News, 'key'>): Promise<void> {
  if ((await Notification.requestPermission()) === 'granted') {
    // Phones have the word and refuse the thing.
    const isShown = shows({ ...first, key: wantedKey });
    remember('localStorage', wantedKey, isShown ? 'on' : 'unsupported');
  }
  look();
}

export function stopTelling(): void {
  remember('localStorage', wantedKey, 'off');
  look();
}

let open = (_path: string): void => {};

/** How a click on a notification leads to a screen. */
export function opensBy(opening: (path: string) => void): void {
  open = opening;
}

/** The events that this page has told. */
const told = new Set<string>();

/** Once for its key. A page that is looked at shows it on the screen instead. */
export function tell(news: News): void {
  if (told.has(news.key) || tellState() !== 'on') return;
  told.add(news.key);
  if (document.visibilityState !== 'visible') shows(news);
}

function shows({ key, title, body, path }: News): boolean {
  try {
    const shown = new Notification(title, { body, tag: key, icon: '/app/icon.svg' });
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
