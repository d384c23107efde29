// Words of others: token symbols, sentences of the market and of nodes. They are data. A model must
// be able to tell them from the words of this server, so each stands in an object of its own.

export type Foreign = { readonly untrusted: string };

const mostLength = 200;
/** Controls, marks that turn or hide writing, what ends a line, and tags that nobody sees. */
const acting = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

/** A node's address may hold a password or a key, and a link is nothing to follow. */
const address = /\b([a-z][a-z\d+.-]{1,20}):\/\/(?:[^\s/@]*@)?([^\s/?#"'<>]*)[^\s"'<>]*/gi;

/** One line of at most so many characters, in which nothing acts. */
export function foreign(text: string, most = mostLength): Foreign {
  const clean = String(text)
    .replace(address, '$1://$2')
    .replace(acting, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const letters = [...clean];
  return { untrusted: letters.length > most ? `${letters.slice(0, most).join('')}…` : clean };
}

/** A value with another shape than its kind is not of that kind. Each is as long as the kind can
 * be. */
const shapes = {
  /** The limit of a list: a status, an action, a chain, a scope. */
  word: /^[\w.-]{1,60}$/,
  id: /^[\dA-Za-z-]{1,64}$/,
  /** RFC 3339. */
  instant: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
  /** An address, escrow or transaction: the longest are a contract with an id after a colon. */
  place: /^[\dA-Za-z:]{1,110}$/,
  /** `CHAIN:CONTRACT` or `CHAIN:SYMBOL`, as the tools take it. */
  asset: /^[\w.-]{1,60}(?::[\w.-]{1,100})?$/,
  /** Where a page goes on: base64url. It is handed back, so what it holds must be no words. */
  cursor: /^[\w-]{1,500}$/,
} as const;

const shaped = (kind: keyof typeof shapes) => (text: string) =>
  shapes[kind].test(text) ? text : '(malformed)';

export const word = shaped('word');
export const idIn = shaped('id');
export const instantIn = shaped('instant');
export const placeIn = shaped('place');
export const assetIn = shaped('asset');
export const cursorIn = shaped('cursor');

/** The same of what may be absent. */
export const orNull = (read: (text: string) => string, text: string | null | undefined) =>
  text == null ? null : read(text);
