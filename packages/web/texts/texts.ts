// The words of the page in the language of its person, by key. The first screen's texts are loaded
// before it, the rest before any other screen. How to add a language: docs/web.md.

import type first from './en/first.json';
import type rest from './en/rest.json';
import { type Language, languages, localeOf } from './languages.ts';

/** One sentence, or one for each plural form of `{count}`. */
export type Text = string | (Partial<Record<Intl.LDMLPluralRule, string>> & { other: string });

export type TextKey = keyof typeof first | keyof typeof rest;
export type Values = Readonly<Record<string, string | number>>;

type Catalogue = Readonly<Record<string, Text | undefined>>;

type Spoken = {
  readonly language: Language;
  /** The language with the country that the browser names; undefined: the machine's. */
  readonly locale: string | undefined;
  readonly first: Catalogue;
  readonly rest: Catalogue | null;
};

let spoken: Spoken = { language: 'en', locale: undefined, first: {}, rest: null };
const listeners = new Set<() => void>();

/** As people of this language write amounts and times: a BCP 47 tag. */
export const locale = () => spoken.locale;
export const language = () => spoken.language;

/** Hears of each change of the language; answers how to stop. */
export function onLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Catalogues that are there already, as tests in Node have them. */
export function speakBy(words: Spoken): void {
  spoken = words;
  for (const each of listeners) each();
}

/**
 * Loads a language, then speaks it. `isWhole`: with the words of every screen. Rejects where it
 * cannot be loaded, and the language is the former one.
 */
export async function speak(to: Language, { isWhole }: { readonly isWhole: boolean }) {
  const load = languages[to];
  const [first, rest] = await Promise.all([load.first(), isWhole ? load.rest() : null]);
  speakBy({
    language: to,
    locale: localeOf(to, navigator.languages),
    first: first.default,
    rest: rest?.default ?? null,
  });
}

/** undefined where the words of every screen are there. */
export function restOfWords(): Promise<void> | undefined {
  const before = spoken;
  if (before.rest !== null) return undefined;
  return languages[before.language].rest().then(({ default: rest }) => {
    // A language that was chosen meanwhile has come with its own.
    if (spoken === before) spoken = { ...before, rest };
  });
}

/**
 * `{name}` is replaced by the value of that name; `count` chooses the plural form. Not for the top
 * of a module, which runs before the words are there and once for all languages.
 */
export function text(key: TextKey, values: Values = {}): string {
  // A key on the screen is seen and harms nobody; a screen that fails could cost a deadline.
  const found = spoken.first[key] ?? spoken.rest?.[key] ?? key;
  return formOf(found, values).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

function formOf(found: Text, { count }: Values): string {
  if (typeof found === 'string') return found;
  const form = new Intl.PluralRules(spoken.language).select(Number(count));
  return found[form] ?? found.other;
}
