// The languages of the app, and the choice of one for a person.

import { recalled, remember } from './remembered.ts';

export const languages = {
  en: {
    name: 'English',
    first: () => import('./en/first.json', { with: { type: 'json' } }),
    rest: () => import('./en/rest.json', { with: { type: 'json' } }),
  },
  de: {
    name: 'Deutsch',
    first: () => import('./de/first.json', { with: { type: 'json' } }),
    rest: () => import('./de/rest.json', { with: { type: 'json' } }),
  },
};

export type Language = keyof typeof languages;

export const allLanguages = Object.keys(languages) as readonly Language[];

const languageIn = (tag: string | null) =>
  allLanguages.find((each) => each === tag?.toLowerCase().split('-')[0]);

/** `chosen`: by the person, null for none. `wanted`: tags of the browser, the best one first. */
export function languageFor(chosen: string | null, wanted: readonly string[]): Language {
  const tags = [chosen, ...wanted];
  return tags.map(languageIn).find((each) => each !== undefined) ?? 'en';
}

/** The language with the country that the browser names for it: `de-CH` and `de-DE` differ. */
export function localeOf(language: Language, wanted: readonly string[]): string {
  return wanted.find((tag) => languageIn(tag) === language) ?? language;
}

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
