// What a text looks like to a person, as far as the labels "Nonce:", "Key name:" and "Scopes:" go:
// letters of other alphabets that are drawn alike, and characters that are not drawn at all.

// Code points in hex: the confusables of Unicode (UTS #39, version 15) whose prototype is a letter
// of the three labels or a colon, the small capitals, which UTS #39 leaves out, and zero.
const drawnAlike: Readonly<Record<string, string>> = {
  a: '0251 0391 03b1 0410 0430 13aa 15c5 1d00 237a a4ee 102a0 16f40',
  c: '0421 0441 13df 1d04 2ca4 2ca5 a4da abaf 102a2 10302 10415 1043d 1051c 118e9 118f2 1f74c',
  e: '0395 0415 0435 04bd 13ac 1d07 212e 22ff 2d39 a4f0 ab32 10286 118a6 118ae',
  k: '039a 041a 13e6 16d5 1d0b 2c94 a4d7 10518',
  m: '039c 03fa 041c 13b7 15f0 16d6 1d0d 2c98 a4df 102b0 10311 11700 118e3',
  n: '0274 039d 0578 057c 2c9a a4e0 10513',
  o:
    '0030 039f 03bf 03c3 041e 043e 0555 0585 05e1 0647 0665 06be 06c1 06d5 06f5 07c0 0966 ' +
    '09e6 0a66 0ae6 0b20 0b66 0be6 0c02 0c66 0c82 0ce6 0d02 0d20 0d66 0d82 0e50 0ed0 101d ' +
    '1040 10ff 12d0 1d0f 1d11 2c9e 2c9f 2d54 3007 a4f3 ab3d 10292 102ab 10404 1042c 104c2 ' +
    '104ea 10516 114d0 118b5 118c8 118d7 118e0',
  p: '03a1 03c1 0420 0440 13e2 146d 1d18 2374 2ca2 2ca3 a4d1 10295',
  s: '01bd 0405 0455 054f 13d5 13da a4e2 a731 abaa 10296 10420 10448 118c1 16f3a',
  y:
    '0263 028f 03a5 03b3 0423 0443 04ae 04af 10e7 13a9 13bd 1d8c 1eff 2ca8 a4ec ab5a 102b2 ' +
    '118a4 118dc 16f43',
  // The last five are no confusables of Unicode, but drawn as two dots all the same.
  ':':
    '02d0 02f8 0589 05c3 0703 0704 0903 0a83 16ec 1803 1809 205a 2236 a4fd a789 fe30 ' +
    '0705 1361 1365 1804 2024',
};
/** Where "a" would stand in the rows of letters in circles, squares and flags. */
const lettersFrom = [0x1f150, 0x1f170, 0x1f1e6];
const thinSpaces = /[\u2006-\u200a\u202f\u205f]/g;

const letters = new Map(
  Object.entries(drawnAlike).flatMap(([letter, codes]) =>
    codes.split(' ').map((code) => [String.fromCodePoint(Number.parseInt(code, 16)), letter]),
  ),
);

/** The text in small Latin letters without marks, thin spaces and what is not drawn. */
export function asDrawn(text: string): string {
  // NFKD takes accents and styles off; a few look-alikes would not outlive it, others come of it.
  return inLatin(inLatin(text.replace(thinSpaces, '')).normalize('NFKD'))
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase();
}

function inLatin(text: string): string {
  return [...text].map((each) => letters.get(each) ?? inFrame(each) ?? each).join('');
}

function inFrame(character: string): string | undefined {
  const code = character.codePointAt(0) as number;
  const first = lettersFrom.find((each) => code >= each && code < each + 26);
  return first === undefined ? undefined : String.fromCharCode(0x61 + code - first);
}
