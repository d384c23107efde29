// What the market that serves this app says of itself in `/app/config.js`, before the app begins.
// A word of the market: names and dev conveniences, never what money depends on.

import type { Family, Network } from '../../core/families.ts';

export type DevChain = {
  readonly chain: string;
  readonly family: Family;
  readonly rpcUrl: string;
  readonly chainId?: number;
  readonly escrows?: string;
  readonly escrowsCreation?: string;
  readonly genesisHash?: string;
  readonly program?: string;
};

export type MarketConfig = {
  readonly productName: string;
  readonly shortName: string;
  readonly network: Network;
  /** By how much a dev network has moved its clock; 0 elsewhere. */
  readonly clockOffsetSeconds: number;
  /** Of a dev network: its control address, its page of mails and its chains. */
  readonly dev: {
    readonly control: string;
    readonly inbox: string | null;
    readonly chains: readonly DevChain[];
  } | null;
};

/** A saved copy that is opened without a market has none. */
const none: MarketConfig = {
  productName: 'Parley',
  shortName: 'parley',
  network: 'mainnet',
  clockOffsetSeconds: 0,
  dev: null,
};

export const config: MarketConfig =
  (globalThis as { marketConfig?: MarketConfig }).marketConfig ?? none;
