// The language that a person chose, kept in this browser.

import { allLanguages, type Language } from './languages.ts';

const name = 'parley.language';

/** null where nobody chose, or the browser keeps nothing. */
export function keptLanguage(): Language | null {
  try {
    const kept = localStorage.getItem(name);
    return allLanguages.find((each) => each === kept) ?? null;
  } catch {
    return null;
  }
}

/** null: as the browser is. */
export function keepLanguage(chosen: Language | null): void {
  try {
    if (chosen === null) localStorage.removeItem(name);
    else localStorage.setItem(name, chosen);
  } catch {
    // It holds until the tab is closed.
  }
}
