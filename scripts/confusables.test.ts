// Which lines of Unicode's list become lines of the table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latinLookAlikes } from './confusables.ts';

const list = `\ufeff# confusables.txt
# Version: 16.0.0
0405 ;\t0053 ;\tMA\t# ( Ѕ → S )
A4E2 ;\t0053 ;\tMA\t# ( ꓢ → S )
00F8 ;\t006F 0338 ;\tMA\t# ( ø → o̸ )
0181 ;\t0027 0042 ;\tMA\t# ( Ɓ → 'B )
118E3 ;\t0072 006E ;\tMA\t# ( → rn )
1D5E6 ;\t0053 ;\tMA\t# ( 𝗦 → S ), given by its decomposition
1D7CE ;\t004F ;\tMA\t# ( 𝟎 → O ), a zero all the same
0049 ;\t006C ;\tMA\t# ( I → l ), plain ASCII
2236 ;\t003A ;\tMA\t# ( ∶ → : )
2010 ;\t002D ;\tMA\t# ( ‐ → - ), no letter
05AD ;\t0596 ;\tMA\t# not Latin

`;

test('characters that are drawn like Latin ones, without marks, and no others', () => {
  assert.deepEqual(Object.fromEntries(latinLookAlikes(list)), {
    ':': ['2236'],
    B: ['0181'],
    S: ['0405', 'a4e2'],
    m: ['118e3'],
    o: ['00f8'],
  });
});
