// Which curated asset a stranger's symbol would be taken for: drawn like it, hidden, bridged or
// wrapped.

import { drawn } from './drawn.ts';

const mostCharacters = 64;
/** Shorter curated symbols stand in too many words: only the whole is compared with them. */
const leastLetters = 3;
/** From this length on an `E` at the end is no word's own: TONE is no TON, USDCE is USDC. */
const longLetters = 4;

/** Prefixes that bridges, wrappers and impostors put before a symbol without a sign between. */
const prefixes = (
  'W A X AX AXL CE SO ANY WH WORMHOLE WRAPPED BRIDGED MULTI NATIVE OFFICIAL REAL TRUE THE NEW ' +
  'MY CIRCLE TETHER BINANCE'
).split(' ');
/** And behind it. `E` and `0` have rules of their own. */
const suffixes =
  'B POS TOKEN COIN WORMHOLE WRAPPED BRIDGED NATIVE OFFICIAL REAL NEW ERC20 TRC20 BEP20 SPL'.split(
    ' ',
  );

/** Networks whose name behind a long symbol says that it is the coin there. */
const networks = 'SOL ETH BSC TRX TRON BASE ARB MATIC AVAX'.split(' ');

/** Names of curated assets besides their symbols. */
const names: Readonly<Record<string, string>> = {
  TETHER: 'USDT',
  TETHERUSD: 'USDT',
  USDTETHER: 'USDT',
  USDCOIN: 'USDC',
  BITCOIN: 'BTC',
  ETHER: 'ETH',
  ETHEREUM: 'ETH',
  SOLANA: 'SOL',
  TRON: 'TRX',
  TRONIX: 'TRX',
};

/** Digits that are drawn like letters; 3, 4, 6, 7 and 9 are told from any. */
const digits: Readonly<Record<string, string>> = { 0: 'O', 1: 'I', 2: 'Z', 5: 'S', 8: 'B' };

/** As drawn, in capitals: a small l and a bar are drawn like I, and these digits like letters. */
export function skeleton(text: string): string {
  return fold(drawn(cut(text)).replace(/[^\p{L}\p{N}|]/gu, ''));
}

/** The curated symbol that a stranger's would be taken for, an equal one too; null: none. */
export function looksLike(symbol: string, curated: readonly string[]): string | null {
  const said = cut(symbol);
  const equal = curated.find((each) => each.toUpperCase() === said.toUpperCase());
  if (equal !== undefined) return equal;
  const all = curated.map((name) => ({
    name,
    is: matcherOf(name),
    letters: skeleton(name).length,
  }));
  const readings = readingsOf(said);
  const called = readings.map((each) => names[each.replace(signs, '').toUpperCase()]);
  const named = all.find(({ name }) => called.includes(name.toUpperCase()));
  if (named !== undefined) return named.name;
  const whole = all.find(({ is }) => readings.some((reading) => is(reading.replace(signs, ''))));
  if (whole !== undefined) return whole.name;
  const parts = readings.flatMap((reading) => [
    ...reading.split(signs),
    reading.replace(signs, ''),
  ]);
  const found = all.find(
    (each) =>
      each.letters >= leastLetters && parts.some((part) => each.is(part) || strips(part, each)),
  );
  return found?.name ?? null;
}

type Curated = { readonly is: (latin: string) => boolean; readonly letters: number };

/** Whether the part is the curated symbol with something put before or behind it. */
function strips(part: string, { is, letters }: Curated): boolean {
  const capitals = part.toUpperCase();
  const rests = [part];
  for (const each of prefixes) if (capitals.startsWith(each)) rests.push(part.slice(each.length));
  return rests.some((rest) => {
    if (rest !== part && is(rest)) return true;
    const end = rest.slice(0, -1);
    if (is(rest.replace(/v?\d$/i, '')) && /\d$/.test(rest)) return true;
    if (letters >= longLetters && isAdded(rest, end) && is(end)) return true;
    if (/e$/i.test(rest) && (letters >= longLetters || /\p{Lu}e$/u.test(rest)) && is(end)) {
      return true;
    }
    const ends = letters >= longLetters ? [...suffixes, ...networks] : suffixes;
    return ends.some(
      (each) => rest.toUpperCase().endsWith(each) && is(rest.slice(0, -each.length)),
    );
  });
}

function isAdded(rest: string, end: string): boolean {
  return rest.length > 1 && rest.at(-1)?.toUpperCase() === end.at(-1)?.toUpperCase();
}

const signs = /[^\p{L}\p{N}|]+/gu;
const turns = /\p{Bidi_Control}/u;

/** In Latin letters with their case and all signs; several, where a sign may stand for a letter. */
function readingsOf(text: string): string[] {
  const latin = drawn(text);
  const readings = [latin, latin.replaceAll('$', 'S')];
  // A character that turns the direction of writing may show the text from its end.
  if (turns.test(text)) readings.push(...readings.map((each) => [...each].reverse().join('')));
  return readings.flatMap((each) => [each, ligatures(each)]);
}

function ligatures(text: string): string {
  return text.replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('VV', 'W');
}

/** L small and large are two things to the eye, and a curated symbol is written in either case. */
function matcherOf(curated: string): (latin: string) => boolean {
  const latin = drawn(curated).replace(signs, '');
  const forms = [latin, ligatures(latin.toLowerCase()), ligatures(latin)].map((form) =>
    fold(form.toUpperCase()).replaceAll('L', '[LI]'),
  );
  const pattern = new RegExp(`^(?:${[...new Set(forms)].join('|')})$`, 'u');
  const round = rounded(fold(latin));
  return (each) => {
    if (latin === '') return false;
    const folded = fold(each);
    return pattern.test(folded) || (round.length >= longLetters && rounded(folded) === round);
  };
}

/** D is drawn much like O, which in a longer symbol nobody reads twice. */
function rounded(folded: string): string {
  return folded.replaceAll('D', 'O');
}

function fold(latin: string): string {
  return latin
    .replace(/[l|]/g, 'I')
    .toUpperCase()
    .replace(/[01258]/g, (digit) => digits[digit] ?? digit);
}

function cut(text: string): string {
  return [...text.slice(0, 4 * mostCharacters)].slice(0, mostCharacters).join('');
}
