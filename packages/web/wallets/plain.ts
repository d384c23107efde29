// Names and icons of wallets, made plain: a name without marks that turn or hide text, and an icon
// that is one image. Pure.

const mostNameCharacters = 40;
/** Announced icons are a few KiB; a page keeps each as long as it is open. */
const mostIconCharacters = 131_072;
const mostWordsCharacters = 160;

/** Control, zero-width and bidirectional marks: with them one name looks like another. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]+/gu;

function plain(said: unknown, most: number): string {
  if (typeof said !== 'string') return '';
  // Cut first: the next steps take time by its length.
  const text = said
    .slice(0, most * 4)
    .replace(invisible, '')
    .replace(/\s+/g, ' ')
    .trim();
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

export function nameOf(said: unknown): string {
  return plain(said, mostNameCharacters) || 'Unnamed wallet';
}

/** Words of a wallet in a sentence of ours. */
export function wordsOf(said: unknown): string {
  return plain(said, mostWordsCharacters) || 'no reason given';
}

const rasters = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/;
const drawing = /^data:image\/svg\+xml(?:;charset=[\w-]+|;utf8)?(?:;base64)?,[\x21-\x7e ]+$/i;

/** For `<img src>` alone, where a drawing runs no script and loads nothing. */
export function iconOf(said: unknown): string | null {
  if (typeof said !== 'string' || said.length > mostIconCharacters) return null;
  const text = said.trim();
  return rasters.test(text) || drawing.test(text) ? text : null;
}
