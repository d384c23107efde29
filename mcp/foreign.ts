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

/** Ids, addresses and words of a wire format: what has another shape is no such thing. */
const shape = /^[\w:./+-]{1,200}$/;

export function word(text: string): string {
  return shape.test(text) ? text : '(malformed)';
}

export const wordOrNull = (text: string | null | undefined): string | null =>
  text == null ? null : word(text);

/** Where a page goes on: base64url. It is handed back, so what it holds must be no words. */
export function cursorOrNull(text: string | null): string | null {
  return text === null || /^[\w-]{1,500}$/.test(text) ? text : '(malformed)';
}
