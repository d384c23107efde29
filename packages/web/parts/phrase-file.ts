// The rescue phrase as a text file: written for its person, and found again in whatever was chosen.

import { checkPhrase } from '@parley/sdk/rescue/phrase.ts';
import { text } from '../texts/texts.ts';

/** The file is under 1 KiB; a person who chose another one hears so at once. */
export const mostPhraseBytes = 10_000;

type Facts = { readonly words: readonly string[]; readonly market: string; readonly day: string };

export function phraseFile({ words, market, day }: Facts): string {
  const head = text('phrase.file.head', { market, day });
  return [head, '', words.join(' '), '', text('phrase.file.care'), ''].join('\r\n');
}

/** The first line that is a phrase; null without one. */
export function phraseIn(content: string): string | null {
  for (const line of content.slice(0, mostPhraseBytes).split(/\r\n|\r|\n/)) {
    const checked = checkPhrase(line);
    if (checked.ok) return checked.phrase;
  }
  return null;
}
