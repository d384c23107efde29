// Symbols that a person would take for a curated one, and symbols that nobody would.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import confusables from './confusables.json' with { type: 'json' };
import { looksLike, skeleton } from './look-alikes.ts';

const curated = (
  'BTC ETH SOL TRX BNB USDT USDC DAI USDe wstETH LINK UNI AAVE LDO ARB OP PEPE AVAX MATIC DOGE ' +
  'SHIB TON NEAR APT SUI JUP BONK PYTH JTO TUSD FDUSD PYUSD'
).split(' ');

const found: readonly (readonly [symbol: string, as: string, how: string])[] = [
  ['USDC', 'USDC', 'itself'],
  ['usdc', 'USDC', 'case'],
  ['ＵＳＤＣ', 'USDC', 'width'],
  ['𝐔𝐒𝐃𝐂', 'USDC', 'style'],
  ['ⓊⓈⒹⒸ', 'USDC', 'circles'],
  ['🆄🆂🅳🅲', 'USDC', 'black squares'],
  ['🇺🇸🇩🇨', 'USDC', 'flags'],
  ['ᴜꜱᴅᴄ', 'USDC', 'small capitals'],
  ['UŚDĈ', 'USDC', 'accents'],
  ['U\u0336S\u0336D\u0336C', 'USDC', 'marks over letters'],
  ['US\u200bDC', 'USDC', 'a space of no width'],
  ['USDC\u00ad', 'USDC', 'a soft hyphen'],
  ['US\u{e0041}DC', 'USDC', 'a tag'],
  ['\u202eCDSU', 'USDC', 'writing from right to left'],
  ['\u202dUSDC\u202c', 'USDC', 'an override that changes nothing'],
  ['UЅDС', 'USDC', 'Cyrillic letters'],
  ['ΒΤС', 'BTC', 'Greek letters'],
  ['ꓴꓢꓓꓚ', 'USDC', 'Lisu letters'],
  ['usԁс', 'USDC', 'small Cyrillic letters'],
  ['ВТС', 'BTC', 'Cyrillic capitals'],
  ['втс', 'BTC', 'Cyrillic small letters'],
  ['U$DC', 'USDC', 'a sign for a letter'],
  ['₿TC', 'BTC', 'the sign of the coin'],
  ['USD₮', 'USDT', 'a letter with a bar'],
  ['U5DC', 'USDC', 'a five'],
  ['S0L', 'SOL', 'a zero'],
  ['80NK', 'BONK', 'an eight and a zero'],
  ['L1NK', 'LINK', 'a one'],
  ['LlNK', 'LINK', 'a small l'],
  ['IINK', 'LINK', 'an I for an l'],
  ['so1', 'SOL', 'a one for a small l'],
  ['UN|', 'UNI', 'a bar'],
  ['DAl', 'DAI', 'a small l for an I'],
  ['rnATIC', 'MATIC', 'r and n for m'],
  ['AVAＸ', 'AVAX', 'one wide letter'],
  ['$USDC', 'USDC', 'a dollar before'],
  ['USDC_', 'USDC', 'an underline behind'],
  ['__USDC__', 'USDC', 'underlines around'],
  ['U--S--D--C', 'USDC', 'signs between'],
  ['U S D C', 'USDC', 'spaces between'],
  ['U\u3000SDC', 'USDC', 'a wide space'],
  ['USDC💵', 'USDC', 'a picture'],
  ['USDC.e', 'USDC', 'a bridge'],
  ['USDC․e', 'USDC', 'a bridge and another dot'],
  ['BTC.b', 'BTC', 'a bridge'],
  ['BTCB', 'BTC', 'a bridge'],
  ['USDC-e', 'USDC', 'a bridge'],
  ['USDCe', 'USDC', 'a bridge'],
  ['USDCE', 'USDC', 'a bridge in capitals'],
  ['TONe', 'TON', 'a bridge'],
  ['USDC.axl', 'USDC', 'a bridge'],
  ['axlUSDC', 'USDC', 'a bridge'],
  ['axUSDC', 'USDC', 'a bridge'],
  ['ceUSDC', 'USDC', 'a bridge'],
  ['m.USDC', 'USDC', 'a bridge'],
  ['aUSDC', 'USDC', 'a wrapper'],
  ['anyUSDC', 'USDC', 'a bridge'],
  ['USDT0', 'USDT', 'a bridge'],
  ['USDT𝟎', 'USDT', 'a bridge and a style'],
  ['WBTC', 'BTC', 'a wrapper'],
  ['wΒТС', 'BTC', 'a wrapper and other letters'],
  ['WETH.e', 'ETH', 'both'],
  ['wUSDC0', 'USDC', 'both'],
  ['USDC (PoS)', 'USDC', 'a bridge in brackets'],
  ['(PoS) USDC', 'USDC', 'a bridge before'],
  ['USDC token', 'USDC', 'a word'],
  ['USDCtoken', 'USDC', 'a word without a space'],
  ['Wrapped USDC', 'USDC', 'a word before'],
  ['USDC 2.0', 'USDC', 'a version'],
  ['wwstETH', 'wstETH', 'a wrapper of a wrapper'],
  ['USDE', 'USDe', 'case of a curated one with small letters'],
  ['USD₸', 'USDT', 'the sign of another coin'],
  ['USD†', 'USDT', 'a dagger'],
  ['U§DC', 'USDC', 'a paragraph sign'],
  ['USD⊂', 'USDC', 'a sign of sets'],
  ['ᑌᔕᗪᑕ', 'USDC', 'syllables'],
  ['ΞTH', 'ETH', 'a Greek letter that Ether is written with'],
  ['ʊsᴅᴄ', 'USDC', 'a letter of phonetics'],
  ['US0T', 'USDT', 'a zero for a D'],
  ['USOT', 'USDT', 'an O for a D'],
  ['USDC2', 'USDC', 'a digit behind'],
  ['USDCv2', 'USDC', 'a version behind'],
  ['USDCC', 'USDC', 'the last letter twice'],
  ['NativeUSDC', 'USDC', 'a word'],
  ['CircleUSDC', 'USDC', 'its issuer'],
  ['TetherUSD', 'USDT', 'its name'],
  ['Tether USD', 'USDT', 'its name in words'],
  ['USD Coin', 'USDC', 'its name in words'],
  ['Bitcoin', 'BTC', 'its name'],
  ['USDCSOL', 'USDC', 'a network behind'],
  ['soUSDC', 'USDC', 'a bridge'],
  ['xUSDC', 'USDC', 'a wrapper'],
];

const passed =
  'ETHFI SOLO TRXC BTCST USDD TONE DAL SOLV XAUT CRV MKR SNX COMP GRT RNDR INJ SEI TIA STRK ZRO ' +
  'WIF BOME POPCAT MEW W ENA ETHENA EIGEN PENDLE GMX DYDX IMX SAND MANA AXS APE GALA CHZ ENS BLUR ' +
  'FLOKI MOG BRETT TURBO SPX GIGA RAY ORCA MPLX HNT MOBILE RENDER KMNO DRIFT TNSR BSV BCH LTC XRP ' +
  'XLM ADA DOT ATOM FIL ICP HBAR VET ALGO FTM OPUS ARBI SUIA BONKY LINKED UNIBOT PEPECAT SOLAMA ' +
  'BTT SUN JST WIN NFT STX RUNE CAKE FRAX LUSD GUSD USDP USDB USDX EURC EURT AUDD XSGD MXNT SUSD ' +
  'CRVUSD GHO RLUSD USDS SKY JUPSOL'.replace('JUPSOL', 'MSOL JITOSOL');

describe('a stranger’s symbol is taken for a curated one by', () => {
  for (const [symbol, as, how] of found) {
    test(`${how}: ${symbol}`, () => assert.equal(looksLike(symbol, curated), as));
  }
});

test('ordinary symbols are taken for none', () => {
  const taken = passed.split(' ').flatMap((each) => {
    const as = looksLike(each, curated);
    return as === null ? [] : [`${each} for ${as}`];
  });
  assert.deepEqual(taken, []);
});

test('a whole alphabet is read in small capitals, circles, squares and flags, and digits too', () => {
  const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const rowAt = (first: number) =>
    [...capitals].map((_, at) => String.fromCodePoint(first + at)).join('');
  const rows = [0x1f150, 0x1f170, 0x1f1e6, 0x24b6, 0x1f130, 0xff21, 0x1d400].map(rowAt);
  for (const row of ['ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ', ...rows]) {
    assert.equal(skeleton(row), capitals, row);
  }
  for (const row of ['❶❷❸❹❺❻❼❽❾⓿', '➀➁➂➃➄➅➆➇➈🄋', '⓵⓶⓷⓸⓹⓺⓻⓼⓽🄌', '①②③④⑤⑥⑦⑧⑨⓪']) {
    assert.equal(skeleton(row), skeleton('1234567890'), row);
  }
});

test('nothing, signs only and a text of any length are taken for none', () => {
  for (const each of ['', '   ', '$$$', '\u200b', '🚀', 'x'.repeat(1_000_000)]) {
    assert.equal(looksLike(each, curated), null);
    assert.equal(looksLike(each, []), null);
  }
  assert.equal(looksLike('USDC', ['', '$']), null);
});

test('of a curated symbol of one or two letters only the whole is looked for', () => {
  for (const [symbol, as] of [
    ['ΟΡ', 'OP'],
    ['0P', 'OP'],
    ['O.P.', 'OP'],
    ['WOP', null],
    ['OP CAT', null],
    ['OPe', null],
  ] as const) {
    assert.equal(looksLike(symbol, ['OP']), as, symbol);
  }
});

test('a curated symbol is no expression: signs in it are only signs', () => {
  assert.equal(looksLike('USDCxe', ['USDC.e']), null);
  assert.equal(looksLike('(', ['(']), '(');
  assert.equal(looksLike('A', ['(A|B']), null);
});

// From the table itself: which characters there are for a letter.
const alike = new Map<string, string[]>();
for (const line of confusables.lines) {
  const [latin = '', ...codes] = line.split(' ');
  const key = latin.toUpperCase();
  const characters = codes.map((code) => String.fromCodePoint(Number.parseInt(code, 16)));
  alike.set(key, [...(alike.get(key) ?? []), ...characters]);
}
const invisible = ['\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u0301', '\u034f', '\u3164'];

test('any letters of a curated symbol in place of which confusables stand are seen through', () => {
  const one = fc
    .constantFrom(...curated)
    .chain((symbol) =>
      fc
        .tuple(
          ...[...symbol].map((letter) =>
            fc.constantFrom(letter, ...(alike.get(letter.toUpperCase()) ?? [])),
          ),
        )
        .map((letters) => ({ symbol, letters })),
    );
  const noise = fc.array(fc.constantFrom('', '', '', ...invisible), { minLength: 8, maxLength: 8 });
  const check = fc.property(one, noise, ({ symbol, letters }, between) => {
    const written = letters.map((letter, at) => `${letter}${between[at]}`).join('');
    assert.equal(looksLike(written, curated), symbol, JSON.stringify(written));
  });
  fc.assert(check, { numRuns: 2_000 });
});

test('a skeleton’s skeleton is itself', () => {
  const table = [...alike.values()].flat();
  const piece = fc.oneof(
    fc.constantFrom(...table),
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.string({ maxLength: 3 }),
  );
  const check = fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
    const once = skeleton(pieces.join(''));
    assert.equal(skeleton(once), once);
  });
  fc.assert(check, { numRuns: 3_000 });
});

test('of random capitals less than one in five hundred is taken for a curated symbol', () => {
  const capitals = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  for (const length of [3, 4, 5]) {
    const ticker = fc.string({ unit: capitals, minLength: length, maxLength: length });
    const tried = fc.sample(ticker, { numRuns: 1_500, seed: 7 });
    const taken = tried.filter((each) => looksLike(each, curated) !== null);
    assert.ok(taken.length < 3, `${taken.length} of ${length} letters: ${taken.slice(0, 9)}`);
  }
});
