// The words of the app, by key. A second language is one more catalogue.

import { book } from './en/book.ts';
import { common } from './en/common.ts';
import { help } from './en/help.ts';
import { phrase } from './en/phrase.ts';
import { session } from './en/session.ts';
import { settlement } from './en/settlement.ts';
import { status } from './en/status.ts';

const english = { ...common, ...book, ...help, ...phrase, ...session, ...settlement, ...status };

export type TextKey = keyof typeof english;
export type Values = Readonly<Record<string, string | number>>;

/** `{name}` in a text is replaced by the value of that name. */
export function text(key: TextKey, values: Values = {}): string {
  return english[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
