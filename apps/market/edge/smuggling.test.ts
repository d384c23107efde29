// No line is smuggled past the person who signs: the server takes from a message of hostile pieces
// only the lines that a person reads, however the signer's screen draws the unclear ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { clearText, keyTermsOf, nonceOf } from '../market/messages.ts';

type Label = 'nonce' | 'name' | 'scopes';
/** `break`: drawn as a line break for sure; `perhaps`: here and not there; `hidden`: not drawn. */
type Piece =
  | { readonly kind: 'label'; readonly label: Label; readonly text: string }
  | { readonly kind: 'text' | 'break' | 'perhaps' | 'hidden'; readonly text: string };

const nonce = 'abc123';
// The first two of each are as they should be.
const spellings: Record<Label, readonly string[]> = {
  nonce: [
    'Nonce:',
    'Nonce: ',
    'Nоnce: ',
    'NONCE: ',
    'Ｎｏｎｃｅ：',
    'Nonce : ',
    'ɴᴏɴᴄᴇ: ',
    'Nónce: ',
  ],
  name: ['Key name:', 'Key name: ', 'Кey name: ', 'Key narne: ', 'key name: ', 'Key\u00a0name: '],
  scopes: ['Scopes:', 'Scopes: ', 'Ѕсореѕ: ', 'Scopes∶ ', 'SCOPES: ', 'Sc0pes: ', '𝐒𝐜𝐨𝐩𝐞𝐬: '],
};
const labelled = (label: Label) =>
  fc
    .oneof({ weight: 9, arbitrary: fc.nat(1) }, fc.nat(spellings[label].length - 1))
    .map((at): Piece => ({ kind: 'label', label, text: spellings[label][at] as string }));
const some = (kind: Exclude<Piece['kind'], 'label'>, texts: readonly string[]) =>
  fc.constantFrom(...texts).map((text): Piece => ({ kind, text }));

const separators = [...'\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029'];
const unseen = [...'\u200b\u200d\u2060\ufeff\u00ad\u202e\u2067\u200f\0'];
const values = ['read', 'maker', 'read, taker', 'desk', 'a b', 'שולחן', '👩‍💻', ''];
const seldom = (arbitrary: fc.Arbitrary<Piece>) =>
  fc.oneof({ weight: 14, arbitrary: fc.constant(null) }, arbitrary);
const line = fc
  .tuple(
    seldom(some('hidden', unseen)),
    fc.oneof(labelled('name'), labelled('scopes'), some('text', ['hello', ' ', 'my '])),
    seldom(some('hidden', unseen)),
    some('text', values),
    fc.oneof(
      { weight: 12, arbitrary: some('break', ['\n', '\r\n', '\n\n']) },
      some('perhaps', separators),
    ),
  )
  .map((pieces) => pieces.filter((each) => each !== null));
const nonceLine = fc.tuple(
  labelled('nonce'),
  some('text', [nonce]),
  fc.oneof({ weight: 9, arbitrary: some('break', ['\n', '\r\n']) }, some('perhaps', separators)),
);
const lines = fc
  .tuple(
    fc.array(line, { maxLength: 4 }),
    fc
      .oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2))
      .chain((count) => fc.array(nonceLine, { minLength: count, maxLength: count })),
  )
  .chain(([some, nonces]) =>
    fc.shuffledSubarray([...some, ...nonces], { minLength: some.length + nonces.length }),
  )
  .map((all) => all.flat());

const textOf = (pieces: readonly Piece[]) => pieces.map((each) => each.text).join('');

/** Every way in which screens may draw the message, as lines of pieces. */
function drawings(pieces: readonly Piece[]): Piece[][][] {
  const unclear = pieces.filter((each) => each.kind === 'perhaps').length;
  return Array.from({ length: 2 ** unclear }, (_, way) => {
    const drawn: Piece[][] = [[]];
    let at = 0;
    for (const piece of pieces) {
      const breaks =
        piece.kind === 'break' || (piece.kind === 'perhaps' && (way >> at++) % 2 === 1);
      if (breaks) drawn.push([]);
      else if (piece.kind !== 'hidden' && piece.kind !== 'perhaps') drawn.at(-1)?.push(piece);
    }
    return drawn;
  });
}

type Terms = { name: string | null; scopes: string[]; nonce: string };

/** The terms that a person reads from one drawing; null where it is not one clear thing. */
function readBy(drawn: Piece[][]): Terms | null {
  const found = (label: Label) =>
    drawn
      .filter(([first]) => first?.kind === 'label' && first.label === label)
      .map(([, ...rest]) => textOf(rest).trim());
  const nonces = found('nonce');
  const names = found('name');
  const lists = found('scopes');
  if (nonces.length !== 1 || names.length > 1 || lists.length > 1) return null;
  const [list] = lists;
  const all = ['read', 'taker', 'maker'];
  const scopes = list === undefined ? all : all.filter((each) => list.includes(each));
  return { name: names[0] ?? null, scopes, nonce: nonces[0] as string };
}

function takenBy(message: string): Terms | null {
  try {
    const text = clearText(message);
    return { ...keyTermsOf(text), nonce: nonceOf(text) };
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'bad_message') return null;
    throw error;
  }
}

test('the server takes from a hostile message what a person reads, or nothing', () => {
  let taken = 0;
  let refused = 0;
  fc.assert(
    fc.property(lines, (pieces) => {
      const terms = takenBy(textOf(pieces));
      if (terms === null) {
        refused += 1;
        return;
      }
      taken += 1;
      for (const drawn of drawings(pieces)) assert.deepEqual(readBy(drawn), terms);
    }),
    { numRuns: runs(2_000) },
  );
  assert.ok(taken > 200 && refused > 200, `${taken} taken, ${refused} refused`);
});
