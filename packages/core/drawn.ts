// A text as one reads it who takes other letters for Latin ones: by UTS #39 and beyond.

import confusables from './confusables.json' with { type: 'json' };

/** No confusables of UTS #39, but read as these all the same: small capitals and signs. */
const beyond = `
A 1d00 40 20b3
B 0299 20bf 0e3f
C 20b5 1455 2282
D 1d05 15ea
E 1d07 20ac 039e
F a730
G 0262 20b2
H 029c
J 1d0a
K 1d0b
L 029f
M 1d0d
N 0274 20a6
O 2b55 25cb 25ef
P 1d18 20b1 20bd
Q a7af
R 0280
S a7 1515
T 1d1b 20b8 2020
U 028a 144c
X 2715 2716 274c
0 24ff 1f10b 1f10c
`;
/** The first of rows of 26 letters or nine digits in circles and squares, and of flags. */
const rows: readonly (readonly [first: number, latin: string])[] = [
  ...[0x1f150, 0x1f170, 0x1f1e6].map((first) => [first, 'A'] as const),
  ...[0x24f5, 0x2776, 0x2780, 0x278a].map((first) => [first, '1'] as const),
];

const latinOf = new Map([
  ...[...confusables.lines, ...beyond.trim().split('\n')].flatMap((line) => {
    const [latin = '', ...codes] = line.split(' ');
    return codes.map((code) => [String.fromCodePoint(Number.parseInt(code, 16)), latin] as const);
  }),
  ...rows.flatMap(([first, latin]) =>
    Array.from({ length: latin === 'A' ? 26 : 9 }, (_, at) => {
      const letter = String.fromCodePoint((latin.codePointAt(0) as number) + at);
      return [String.fromCodePoint(first + at), letter] as const;
    }),
  ),
]);

/** More rounds than any text was seen to need: the result for a letter may stand for another. */
const mostRounds = 4;

/** In the case they have, without marks. `wanted`: whether a Latin text replaces a character. */
export function drawn(
  text: string,
  wanted: (latin: string, character: string) => boolean = () => true,
): string {
  // Each character by itself, and once: a text may be thousands of one that stands for a phrase.
  const known = new Map<string, string>();
  const drawAll = (characters: string, round: number): string => {
    let all = '';
    for (const character of characters) {
      let each = known.get(character);
      if (each === undefined) {
        const latin = latinIn(character);
        const now = latin !== undefined && wanted(latin, character) ? latin : character;
        // NFKD takes accents and styles off; a few look-alikes would not outlive it.
        const next = now.normalize('NFKD').replace(unseen, '');
        each = next === character || round === mostRounds ? next : drawAll(next, round + 1);
        known.set(character, each);
      }
      all += each;
    }
    return all;
  };
  return drawAll(text, 1);
}

const unseen = /[\p{M}\p{Default_Ignorable_Code_Point}]/gu;

function latinIn(character: string): string | undefined {
  const found = latinOf.get(character);
  if (found !== undefined || character < '\x80') return found;
  // Small letters of other alphabets are often their capitals in small.
  return latinOf.get(character.toUpperCase());
}
