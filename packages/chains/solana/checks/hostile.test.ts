// Bytes that a stranger wrote: they are read within bounds, whatever they are.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import { mintExtensions, safeExtensions } from '@parley/contracts/solana/testing/tokens.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { mostNameLength } from '@parley/tokens/inspection.ts';
import fc from 'fast-check';
import { solanaAddressBytes, solanaAddressOf } from '../address.ts';
import { metadataProgram, token2022Program, tokenProgram } from '../programs.ts';
import { metaplexAccount } from '../testing/metaplex.ts';
import { checkExtensions, type Mint, readMintAt, unsafeExtensions } from './mint.ts';
import { checkName, metadataAddress, type Named, readNames } from './name.ts';

const address = solanaAddressOf(new Uint8Array(32).fill(3));
const key = solanaAddressBytes(address);
const plain: Mint = {
  address,
  program: tokenProgram,
  supply: 1n,
  decimals: 6,
  mintAuthority: null,
  freezeAuthority: null,
  extensions: [],
  isCut: false,
};
const account = (data: Uint8Array, owner: string = metadataProgram) => ({
  owner,
  executable: false,
  lamports: 1,
  data,
});
const kept = (name: string | Uint8Array, symbol: string | Uint8Array) =>
  readNames(plain, account(metaplexAccount(address, { name, symbol })));

test('the extensions that have names are those that the escrow program refuses, all of them', () => {
  const refused = Object.entries(mintExtensions)
    .filter(([name]) => !safeExtensions.includes(name))
    .map(([, { type }]) => type);
  assert.deepEqual(Object.keys(unsafeExtensions).map(Number), refused);
  for (let type = 0; type < 80; type++) {
    const extensions = [{ type, value: new Uint8Array() }];
    const { outcome } = checkExtensions({ ...plain, extensions });
    const isSafe = layout.constants.safeMintExtensions.includes(type);
    assert.equal(outcome, isSafe ? 'pass' : 'reject', `${type}`);
  }
});

describe('a name and a symbol', () => {
  const named: readonly (readonly [string, string | Uint8Array, string])[] = [
    ['are cut', 'x'.repeat(60_000), 'x'.repeat(mostNameLength)],
    ['lose what turns the text and what is not drawn', 'U\u202eS\u200bD\0C\u0007', 'USDC'],
    ['lose lines', 'A\nB\u2028C', 'A B C'],
    ['are trimmed', '  GOOD \0\0', 'GOOD'],
    ['lose bytes that are no text', Uint8Array.of(0x47, 0xff, 0xc3, 0x4f), 'GO'],
    ['lose a character that the cut went through', '€'.repeat(200), '€'.repeat(mostNameLength)],
  ];
  for (const [how, given, read] of named) {
    test(how, () => {
      const { hidden: _, ...shown } = kept(given, given) as Named;
      assert.deepEqual(shown, { name: read, symbol: read });
    });
  }

  test('a character of the symbol that nobody sees is refused, one of the name is left out', () => {
    const { outcome, reason } = checkName(kept('Good', 'U\u202eS\u200bD'));
    assert.equal(outcome, 'reject');
    assert.match(reason ?? '', /its symbol has the character U\+202E, which nobody sees/);
    assert.equal(checkName(kept('Go\u200bod', 'GOOD\0\0')).outcome, 'pass');
  });

  test('the names of Token-2022 count where the pointer points, and Metaplex’s where it points there', () => {
    const own = metaplexAccount(address, { name: 'Own', symbol: 'OWN' }).subarray(1);
    const theirs = account(metaplexAccount(address, { name: 'Theirs', symbol: 'THEIRS' }));
    const to = (where: Uint8Array): Mint => ({
      ...plain,
      program: token2022Program,
      extensions: [
        { type: 18, value: Uint8Array.from([...new Uint8Array(32), ...where]) },
        { type: 19, value: own },
      ],
    });
    const symbol = (read: Named | string) => (typeof read === 'string' ? read : read.symbol);
    assert.equal(symbol(readNames(to(key), theirs)), 'OWN');
    assert.equal(symbol(readNames(to(new Uint8Array(32)), theirs)), 'OWN');
    const pointed = to(solanaAddressBytes(metadataAddress(address)));
    assert.equal(symbol(readNames(pointed, theirs)), 'THEIRS');
    const away = to(new Uint8Array(32).fill(9));
    assert.match(symbol(readNames(away, theirs)), /^its metadata are said to be at /);
  });
});

test('no bytes at all break the reading of a mint or of its metadata', () => {
  const tail = fc.array(
    fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(Uint8Array.of(19, 0, 80, 0), key)),
    { maxLength: 12 },
  );
  const check = fc.property(tail, fc.uint8Array({ maxLength: 400 }), (parts, other) => {
    const data = new Uint8Array(Buffer.concat([new Uint8Array(166), ...parts]));
    data[45] = 1;
    data[165] = 1;
    let mint = plain;
    try {
      mint = readMintAt('solana', address, account(data, token2022Program));
    } catch (error) {
      assert.ok(error instanceof ParleyError && error.code === 'not_a_token', String(error));
    }
    checkExtensions(mint);
    const read = readNames(mint, account(other));
    checkName(read);
    if (typeof read === 'string') return;
    for (const each of [read.symbol, read.name]) {
      assert.ok([...each].length <= mostNameLength && !/[\p{C}]/u.test(each), each);
    }
  });
  fc.assert(check, { numRuns: 2_000 });
});
