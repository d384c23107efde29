// The words of the page in the language of its person, by key. The first screen's texts are loaded
// before it, the rest before any other screen. How to add a language: docs/web.md.

import { pluralRules } from '@parley/sdk/formats.ts';
import { held } from '../live.ts';
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

/** Tests in Node set catalogues that are there already. */
export const spoken = held<Spoken>({ language: 'en', locale: undefined, first: {}, rest: null });

/** As people of this language write amounts and times: a BCP 47 tag. */
export const locale = () => spoken.now().locale;
export const language = () => spoken.now().language;

/**
 * Loads a language, then speaks it. `isWhole`: with the words of every screen. Rejects where it
 * cannot be loaded, and the language is the former one.
 */
export async function speak(to: Language, { isWhole }: { readonly isWhole: boolean }) {
  const load = languages[to];
  const [first, rest] = await Promise.all([load.first(), isWhole ? load.rest() : null]);
  spoken.set({
    language: to,
    locale: localeOf(to, navigator.languages),
    first: first.default,
    rest: rest?.default ?? null,
  });
}

/** undefined where the words of every screen are there. */
export function restOfWords(): Promise<void> | undefined {
  const before = spoken.now();
  if (before.rest !== null) return undefined;
  return languages[before.language].rest().then(({ default: rest }) => {
    // A language that was chosen meanwhile has come with its own.
    if (spoken.now() === before) spoken.set({ ...before, rest });
  });
}

/**
 * `{name}` is replaced by the value of that name; `count` chooses the plural form. Not for the top
 * of a module, which runs before the words are there and once for all languages.
 */
export function text(key: TextKey, values: Values = {}): string {
  // A key on the screen is seen and harms nobody; a screen that fails could cost a deadline.
  const { first, rest } = spoken.now();
  const found = first[key] ?? rest?.[key] ?? key;
  return formOf(found, values).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

function formOf(found: Text, { count }: Values): string {
  if (typeof found === 'string') return found;
  const form = pluralRules(language(), {}).select(Number(count));
  return found[form] ?? found.other;
}
