// The look of a text to a person, as far as the labels "Nonce:", "Key name:" and "Scopes:" go:
// letters of other alphabets that are drawn alike, and characters that are not drawn at all.

import { drawn } from '@parley/core/drawn.ts';

/** In any label, an r and an n for an m too; no other letter is put in place of anything. */
const ofLabels = /^(?:[aceknmoprsy0]+|:)$/i;
/**
 * The characters that count as a letter of a label. Signs do not, so that one between a label and
 * its colon hides neither; but a few are drawn just as letters are.
 */
const canBeLetter = new RegExp(
  String.raw`[\p{L}\p{M}\p{N}\u212e\u22ff\u2374\u237a\u{1f74c}` +
    String.raw`\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]`,
  'u',
);
/** No confusables of Unicode, but drawn as two dots all the same. */
const colons = /[\u0705\u1361\u1365\u1804\u2024]/g;
const thinSpaces = /[\u2006-\u200a\u202f\u205f]/g;

/** The text in small Latin letters without marks, thin spaces and what is not drawn. */
export function asDrawn(text: string): string {
  const spaced = text.replace(thinSpaces, '').replace(colons, ':');
  const latin = drawn(
    spaced,
    (to, from) => ofLabels.test(to) && (to === ':' || canBeLetter.test(from)),
  );
  return latin.replaceAll('0', 'o').toLowerCase();
}
