// The language that a person chose, kept in this browser.

import { allLanguages, type Language } from './languages.ts';
import { recalled, remember } from './remembered.ts';

const name = 'parley.language';

/** null where nobody chose, or the browser keeps nothing. */
export function keptLanguage(): Language | null {
  const kept = recalled('localStorage', name);
  return allLanguages.find((each) => each === kept) ?? null;
}

/** null: as the browser is. */
export function keepLanguage(chosen: Language | null): void {
  remember('localStorage', name, chosen);
}
