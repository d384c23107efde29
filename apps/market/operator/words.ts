// How the operator's page says amounts, times and other people's words. Every value goes through
// `html`, which escapes it: symbols of tokens and words of nodes are somebody else's.

import { formatUnits } from '@parley/core/amounts.ts';

/** Text that is markup already. Only `html` makes it. */
export type Markup = { readonly markup: string };
type Piece = Markup | string | number | null | readonly Piece[];

const signs: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For an element or a quoted attribute. A character that turns the direction becomes a space. */
export function escaped(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[&<>"']/g, (sign) => signs[sign] ?? '');
}

function written(piece: Piece): string {
  if (piece === null) return '';
  if (typeof piece === 'number') return String(piece);
  if (typeof piece === 'string') return escaped(piece);
  return 'markup' in piece ? piece.markup : piece.map(written).join('');
}

/** `null` is nothing, a list is its pieces one after the other. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  const markup = parts.map((part, at) => part + written(pieces[at] ?? null)).join('');
  return { markup };
}

/** Longer symbols are cut. */
const symbolLetters = 12;

export function symbolShown(symbol: string): string {
  const letters = [...symbol];
  return letters.length <= symbolLetters ? symbol : `${letters.slice(0, symbolLetters).join('')}…`;
}

/** Digits that are shown of a fraction, of those that are not zero. */
const shownDigits = 4;

/**
 * Base units in whole coins. Cut, never rounded up: an operator who reads it has at least that
 * much. A `…` marks a cut.
 */
export function coins(units: bigint, decimals: number): string {
  const [whole = '0', fraction = ''] = formatUnits(units < 0n ? -units : units, decimals).split(
    '.',
  );
  const sign = units < 0n ? '−' : '';
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  const kept = fraction.slice(0, zeros + shownDigits);
  const rest = fraction.length > kept.length ? '…' : '';
  const shown = kept === '' ? '' : `.${kept}`;
  return `${sign}${grouped(whole)}${shown}${rest}`;
}

/** Thousands in groups: `12 345`. */
export function grouped(digits: string | number): string {
  return String(digits).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** The two largest units of a time, cut: `2 h 5 min`. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const pair = (large: number, name: string, small: number, unit: string) => {
    const rest = Math.floor((whole % large) / small);
    return `${Math.floor(whole / large)} ${name}${rest === 0 ? '' : ` ${rest} ${unit}`}`;
  };
  if (whole < minute) return `${whole} s`;
  if (whole < 10 * minute) return pair(minute, 'min', 1, 's');
  if (whole < hour) return `${Math.floor(whole / minute)} min`;
  return whole < day ? pair(hour, 'h', minute, 'min') : pair(day, 'd', hour, 'h');
}

/** `14:05:10 UTC`. */
export function clock(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;
