// The market that serves this app describes itself in `/app/config.js`, before the app begins. A
// word of the market: names and dev conveniences, never what money depends on.

import type { AppChain } from '@parley/core/app-chain.ts';
import type { Network } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';

type MarketConfig = {
  readonly productName: string;
  readonly shortName: string;
  readonly network: Network;
  /** By how much a dev network has moved its clock; 0 elsewhere. */
  readonly clockOffsetSeconds: number;
  /** How each chain is known, and nodes to begin with. */
  readonly chains: readonly AppChain[];
  /** A dev network's: its page of mails, and an address of its faucet on Bitcoin. */
  readonly dev: { readonly inbox: string | null; readonly bitcoinAddress: string | null } | null;
};

/** A saved copy that is opened without a market has none. */
const none: MarketConfig = {
  productName: 'Parley',
  shortName: 'parley',
  network: 'mainnet',
  clockOffsetSeconds: 0,
  chains: [],
  dev: null,
};

export const config: MarketConfig =
  (globalThis as { marketConfig?: MarketConfig }).marketConfig ?? none;

/**
 * Seconds that the own clock may be off the market's: further off the status and a swap say so, and
 * nothing is accepted. Half of `clockToleranceSeconds` of the SDK: the measure is seconds old, and
 * a clock drifts until its swap has ended.
 */
export const mostClockOffSeconds = 60;

let offsetSeconds = config.network === 'dev' ? config.clockOffsetSeconds : 0;

export function now(): UnixSeconds {
  return Math.floor(Date.now() / 1_000) + offsetSeconds;
}

/** Takes over the clock of a dev network. */
export function moveClock(seconds: number): void {
  offsetSeconds = seconds;
}
