// The unit of strings of any characters in properties. The `binary` of fast-check is the same, but
// each string of it first makes a table of all 1,112,064 code points: two seconds of the processor.

import fc from 'fast-check';

/** UTF-16 keeps these, from 0xd800 on, for its pairs. */
const surrogatesFrom = 0xd800;
const surrogates = 0x800;

export const codePoint: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - surrogates })
  .map(
    (n) => String.fromCodePoint(n < surrogatesFrom ? n : n + surrogates),
    // Else texts that break programs, such as `__proto__`, would be no strings of it.
    (text) => {
      const point =
        typeof text === 'string' && text.isWellFormed() ? text.codePointAt(0) : undefined;
      if (point === undefined || String.fromCodePoint(point) !== text) {
        throw new Error('not one code point');
      }
      return point < surrogatesFrom ? point : point - surrogates;
    },
  );
