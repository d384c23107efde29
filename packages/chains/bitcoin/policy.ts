// The needs of Bitcoin in time and depth, as data. Sources: mining times measured over the chain
// (p99.9 of 3 blocks 112 min, of 6 blocks 165 min; one block 69 min). Units: seconds, blocks.

import type { ChainPolicy, Depth } from '@parley/core/policy.ts';
import type { BitcoinNetworkName } from './networks.ts';

const minute = 60;
const hour = 60 * minute;

const threeBlocks: Depth = {
  confirmations: 3,
  settleSeconds: 112 * minute,
  outageSeconds: 2 * hour,
};
const sixBlocks: Depth = {
  confirmations: 6,
  settleSeconds: 165 * minute,
  outageSeconds: 2 * hour,
};

const mainnet: ChainPolicy = {
  floorSeconds: 24 * hour,
  normal: threeBlocks,
  high: sixBlocks,
  // A claim stays possible until a refund is mined. It waits for the median time past, up to two
  // hours behind the clock, and then takes the p99.9 of three blocks.
  lateClaimSeconds: 2 * hour + 112 * minute,
  // A spell without blocks ends with one that has the wall's time; the median follows as above.
  windowSeconds: 0,
  // The median of eleven blocks' times is ahead only where most of the miners lie.
  driftSeconds: 0,
  reactSeconds: 30 * minute,
  signSeconds: 10 * minute,
  detectSeconds: 2 * minute,
};

// Public test networks have spells of minutes and of hours between blocks: mainnet's numbers.
const testnet: ChainPolicy = mainnet;

// A dev chain mines at once: the same floor and the same formula, small waits.
const regtest: ChainPolicy = {
  ...mainnet,
  normal: { confirmations: 2, settleSeconds: minute, outageSeconds: 2 * hour },
  high: { confirmations: 3, settleSeconds: minute, outageSeconds: 2 * hour },
};

export const bitcoinPolicies: Readonly<Record<BitcoinNetworkName, ChainPolicy>> = {
  mainnet,
  testnet,
  regtest,
};

/** Usual time between blocks. */
export const bitcoinBlockSeconds: Readonly<Record<BitcoinNetworkName, number>> = {
  mainnet: 10 * minute,
  testnet: 10 * minute,
  regtest: 1,
};

/** Rate used where a node has too little to estimate by, sat per vbyte. */
export const fallbackRates: Readonly<Record<BitcoinNetworkName, number>> = {
  mainnet: 20,
  testnet: 3,
  regtest: 2,
};
