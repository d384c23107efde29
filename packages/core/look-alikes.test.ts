// Symbols that a person would take for a curated one, and symbols that nobody would.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import confusables from './confusables.json' with { type: 'json' };
import { looksLike, skeleton } from './look-alikes.ts';

const curated = (
  'BTC ETH SOL TRX BNB USDT USDC DAI USDe wstETH LINK UNI AAVE LDO ARB OP PEPE AVAX MATIC DOGE ' +
  'SHIB TON NEAR APT SUI JUP BONK PYTH JTO TUSD FDUSD PYUSD'
).split(' ');

/** By what they are taken for; `|` between them. */
const found: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'case, width, style, circles, squares, flags and small capitals': {
    USDC: 'USDC|usdc|ＵＳＤＣ|𝐔𝐒𝐃𝐂|ⓊⓈⒹⒸ|🆄🆂🅳🅲|🇺🇸🇩🇨|ᴜꜱᴅᴄ',
    USDe: 'USDE',
    AVAX: 'AVAＸ',
  },
  'accents, marks, tags, and what is not seen or turns the writing': {
    USDC:
      'UŚDĈ|U\u0336S\u0336D\u0336C|US\u200bDC|USDC\u00ad|US\u{e0041}DC|\u202eCDSU|' +
      '\u202dUSDC\u202c',
  },
  'letters of other alphabets': {
    USDC: 'UЅDС|ꓴꓢꓓꓚ|usԁс|ᑌᔕᗪᑕ|ʊsᴅᴄ',
    BTC: 'ΒΤС|ВТС|втс',
    ETH: 'ΞTH',
  },
  'signs and digits for letters, and letters for others': {
    USDC: 'U$DC|U5DC|U§DC|USD⊂',
    USDT: 'USD₮|USD₸|USD†|US0T|USOT',
    BTC: '₿TC',
    SOL: 'S0L|so1',
    BONK: '80NK',
    LINK: 'L1NK|LlNK|IINK',
    UNI: 'UN|',
    DAI: 'DAl',
    MATIC: 'rnATIC',
  },
  'signs, spaces and pictures around it or between': {
    USDC: '$USDC|USDC_|__USDC__|U--S--D--C|U S D C|U\u3000SDC|USDC💵',
  },
  'bridges, wrappers, networks and versions': {
    USDC:
      'USDC.e|USDC․e|USDC-e|USDCe|USDCE|USDC.axl|axlUSDC|axUSDC|ceUSDC|m.USDC|aUSDC|anyUSDC|' +
      'wUSDC0|USDC (PoS)|(PoS) USDC|soUSDC|xUSDC|USDCSOL|USDC 2.0|USDC2|USDCv2|USDCC',
    BTC: 'BTC.b|BTCB|WBTC|wΒТС',
    ETH: 'WETH.e',
    TON: 'TONe',
    USDT: 'USDT0|USDT𝟎',
    wstETH: 'wwstETH',
  },
  'words around it, its issuer or its name': {
    USDC: 'USDC token|USDCtoken|Wrapped USDC|NativeUSDC|CircleUSDC|USD Coin',
    USDT: 'TetherUSD|Tether USD',
    BTC: 'Bitcoin',
  },
};

const passed =
  'ETHFI SOLO TRXC BTCST USDD TONE DAL SOLV XAUT CRV MKR SNX COMP GRT RNDR INJ SEI TIA STRK ZRO ' +
  'WIF BOME POPCAT MEW W ENA ETHENA EIGEN PENDLE GMX DYDX IMX SAND MANA AXS APE GALA CHZ ENS BLUR ' +
  'FLOKI MOG BRETT TURBO SPX GIGA RAY ORCA MPLX HNT MOBILE RENDER KMNO DRIFT TNSR BSV BCH LTC XRP ' +
  'XLM ADA DOT ATOM FIL ICP HBAR VET ALGO FTM OPUS ARBI SUIA BONKY LINKED UNIBOT PEPECAT SOLAMA ' +
  'BTT SUN JST WIN NFT STX RUNE CAKE FRAX LUSD GUSD USDP USDB USDX EURC EURT AUDD XSGD MXNT SUSD ' +
  'CRVUSD GHO RLUSD USDS SKY JUPSOL'.replace('JUPSOL', 'MSOL JITOSOL');

for (const [how, by] of Object.entries(found)) {
  test(`a stranger’s symbol is taken for a curated one by ${how}`, () => {
    for (const [as, symbols] of Object.entries(by)) {
      // A bar may stand for a letter.
      for (const symbol of as === 'UNI' ? [symbols] : symbols.split('|')) {
        assert.equal(looksLike(symbol, curated), as, symbol);
      }
    }
  });
}

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

test('an empty text, signs only and a text of any length are taken for none', () => {
  for (const each of ['', '   ', '$$$', '\u200b', '🚀', 'x'.repeat(1_000_000)]) {
    assert.equal(looksLike(each, curated), null);
    assert.equal(looksLike(each, []), null);
  }
  assert.equal(looksLike('USDC', ['', '$']), null);
});

test('a curated symbol of one or two letters is looked for only as a whole', () => {
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
  fc.assert(check, { numRuns: runs(500) });
});

test('less than one in five hundred random capitals is taken for a curated symbol', () => {
  const capitals = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  for (const length of [3, 4, 5]) {
    const ticker = fc.string({ unit: capitals, minLength: length, maxLength: length });
    const tried = fc.sample(ticker, { numRuns: runs(500), seed: 7 });
    const taken = tried.filter((each) => looksLike(each, curated) !== null);
    assert.ok(
      taken.length * 500 < tried.length,
      `${taken.length} of ${length} letters: ${taken.slice(0, 9)}`,
    );
  }
});
