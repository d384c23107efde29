// Prices, sizes and results of the console in words. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { amountText } from '../../parts/words.ts';
import { formatAmount, formatPercent } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import type { Side } from './orders.ts';
import { roundedDown } from './pnl.ts';

/** In lists: eight digits are enough to tell trades apart. */
const most = 8;

/** `0.25 BTC`; the symbol alone where quotes decide. */
export function sideText({ asset, amount }: Side): string {
  if (amount === null) return asset.symbol;
  return `${formatAmount(amount, asset.decimals, { most })}\u00a0${asset.symbol}`;
}

/** `+25 bps`, and per cent from a hundred on. */
export function bpsText(bps: number): string {
  const size = Math.abs(bps);
  const sign = bps > 0 ? '+' : bps < 0 ? '−' : '±';
  return size < 100
    ? `${sign}${text('console.bps', { count: size })}`
    : `${sign}${formatPercent(bps)}`;
}

export function toneOf(value: number | bigint | null): string {
  if (value === null || value === 0 || value === 0n) return 'soft';
  return value > 0 ? 'good-ink' : 'warn-ink';
}

export function resultText(units: BaseUnits, { symbol, decimals }: Asset): string {
  const down = roundedDown(units, decimals, most);
  const sign = down > 0n ? '+' : down < 0n ? '−' : '';
  return `${sign}${amountText(down < 0n ? -down : down, decimals, symbol)}`;
}
