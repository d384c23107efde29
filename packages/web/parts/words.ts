// Chains, assets, amounts and records in words. Pure.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, factsOf } from '@parley/core/families.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import type { AmountFault } from '@parley/sdk/people.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Asset, Level, Standing } from '@parley/sdk/types.ts';
import { keptBps } from '../market/offers.ts';
import type { Pair } from '../market/pairs.ts';
import type { Price } from '../market/prices.ts';
import {
  formatAmount,
  formatDuration,
  formatPercent,
  formatPrice,
  parseAmount,
} from '../texts/people.ts';
import { text } from '../texts/texts.ts';

const known: Readonly<Record<string, string>> = {
  bitcoin: 'Bitcoin',
  ethereum: 'Ethereum',
  base: 'Base',
  optimism: 'Optimism',
  arbitrum: 'Arbitrum',
  polygon: 'Polygon',
  bsc: 'BNB Chain',
  avalanche: 'Avalanche',
  tron: 'TRON',
  solana: 'Solana',
  signet: 'Bitcoin Signet',
  sepolia: 'Ethereum Sepolia',
  nile: 'TRON Nile',
  'solana-devnet': 'Solana Devnet',
  'bitcoin-regtest': 'Bitcoin (dev)',
  'evm-dev': 'Ethereum (dev)',
  'tron-dev': 'TRON (dev)',
  'solana-dev': 'Solana (dev)',
};

/** A chain that is not known by name keeps the id that the market gives it. */
export function chainName(chain: string): string {
  return Object.hasOwn(known, chain) ? (known[chain] ?? chain) : chain;
}

/** The same symbol is another thing on another chain: `USDT on TRON`. */
export function assetName({ symbol, chain }: Pick<Asset, 'symbol' | 'chain'>): string {
  return text('asset.on', { symbol, chain: chainName(chain) });
}

/**
 * For recognising only: a look-alike with the same ends is cheap to make. An address that is paid
 * or signed is displayed whole.
 */
export function shortAddress(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}

type Unit = { readonly decimals: number; readonly symbol: string };

export function amountText(units: BaseUnits, decimals: number, symbol: string): string {
  return `${formatAmount(units, decimals)}\u00a0${symbol}`;
}

/** At most 8 decimals: for estimates, never for an amount to pay. */
export function estimateText(units: BaseUnits, { decimals, symbol }: Unit): string {
  return `${formatAmount(units, decimals, { most: 8 })}\u00a0${symbol}`;
}

/** In base units where the market lists the asset no more, or has not answered. */
export function assetAmountText(units: BaseUnits, asset: Asset | undefined): string {
  if (asset === undefined) return units.toString();
  return amountText(units, asset.decimals, asset.symbol);
}

type TypedAmount = { readonly units: BaseUnits | null; readonly fault: string | null };

/** The asset's; with a symbol the amount may have it behind. */
type AmountOf = { readonly decimals: number; readonly symbol?: string };

/** An empty field is neither an amount nor a fault. */
export function typedAmount(
  typed: string,
  { decimals, symbol }: AmountOf,
  locale?: string,
): TypedAmount {
  try {
    return { units: parseAmount(typed, decimals, { locale, symbol }), fault: null };
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'bad_amount') throw error;
    const { why, ...facts } = error.facts as { why: AmountFault };
    return { units: null, fault: why === 'empty' ? null : text(`amount.${why}`, facts) };
  }
}

export type Listed = { readonly id: string; readonly symbol: string };

const coins: Readonly<Record<string, string>> = { polygon: 'POL', bsc: 'BNB', avalanche: 'AVAX' };

/** A token that nobody lists goes by its contract: a name could be anybody's. */
export function symbolOf(
  { id, chain, token }: PinnedAsset,
  family: Family,
  listed: readonly Listed[],
): string {
  if (token === null) return coins[chain] ?? factsOf[family].coin.symbol;
  const known = listed.find((each) => each.id === id);
  return known?.symbol ?? `token ${token.slice(0, 6)}…${token.slice(-4)}`;
}

/** The explorers of chains that this app's own tables know: a dev chain has none. */
const explorers: Readonly<Record<string, readonly [name: string, before: string, after?: string]>> =
  {
    bitcoin: ['mempool.space', 'https://mempool.space/tx/'],
    ethereum: ['Etherscan', 'https://etherscan.io/tx/'],
    base: ['BaseScan', 'https://basescan.org/tx/'],
    optimism: ['Optimism Etherscan', 'https://optimistic.etherscan.io/tx/'],
    arbitrum: ['Arbiscan', 'https://arbiscan.io/tx/'],
    tron: ['Tronscan', 'https://tronscan.org/#/transaction/'],
    solana: ['Solana Explorer', 'https://explorer.solana.com/tx/'],
    signet: ['mempool.space', 'https://mempool.space/signet/tx/'],
    sepolia: ['Etherscan', 'https://sepolia.etherscan.io/tx/'],
    nile: ['Tronscan', 'https://nile.tronscan.org/#/transaction/'],
    'solana-devnet': ['Solana Explorer', 'https://explorer.solana.com/tx/', '?cluster=devnet'],
  };

type Explorer = { readonly name: string; readonly url: string };

/** null where the chain is not known, or the id could lead elsewhere. */
export function explorerOf(chain: string, isKnown: boolean, txid: string): Explorer | null {
  const [name, before, after = ''] = explorers[chain] ?? [];
  if (!isKnown || name === undefined || !/^[0-9A-Za-z]{32,90}$/.test(txid)) return null;
  return { name, url: `${before}${txid}${after}` };
}

/** For one of the base: a hint and not a price to pay, so what was cut is not marked. */
export function priceNumber({ baseAmount, quoteAmount }: Price, { base, quote }: Pair): string {
  const of = { units: quoteAmount, decimals: quote.decimals };
  const per = { units: baseAmount, decimals: base.decimals };
  return formatPrice(of, per).replace('…', '');
}

/** The worst is not left out. `null`: the record is unknown. */
export function recordText(standing: Standing | null | undefined): string {
  if (standing === null || standing === undefined) return text('order.unknown');
  const { settled, abandoned, refunded, medianFundSeconds } = standing;
  if (settled === 0 && abandoned === 0 && refunded === 0) return text('record.new');
  const parts = [text('record.settled', { count: settled })];
  if (abandoned > 0) parts.push(text('record.abandoned', { count: abandoned }));
  if (refunded > 0) parts.push(text('record.refunded', { count: refunded }));
  if (medianFundSeconds !== null) {
    parts.push(text('record.median', { time: formatDuration(medianFundSeconds) }));
  }
  return parts.join(' · ');
}

/** For a table: settled swaps, and how many of those that were its to end it did end. */
export function shortRecord(standing: Level['makerStanding']): string {
  const kept = keptBps(standing);
  if (!standing?.settled || kept === null) {
    return recordText(standing && { ...standing, medianFundSeconds: null });
  }
  const values = { count: standing.settled, percent: formatPercent(kept) };
  return text('swap_box.makers.settled', values);
}

export function hasWords(said: string, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = said.toLowerCase();
  return words.every((word) => lower.includes(word));
}
