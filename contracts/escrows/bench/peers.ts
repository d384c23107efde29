// Boltz v6 takes this much for the same, under the rules of chain.ts: EtherSwap and ERC20Swap of
// github.com/BoltzExchange/boltz-core at `boltzCommit`, by solc 0.8.37 with 10,000,000 runs. Each
// swap is new state there and cleared by its claim, so that a first and a later one cost the same.
// Its batch is sent by the payee.

import type { Fork } from './chain.ts';

type Paid = Readonly<Record<Fork, number>>;

export const boltzCommit = '0f2bfa4fb002833ca1ca9cbf1c52393af0feef10';

export const boltz = {
  'native fund': { prague: 47_621, amsterdam: 135_641 },
  'native claim': { prague: 35_419, amsterdam: 35_296 },
  'native claim by the payee': { prague: 32_484, amsterdam: 32_628 },
  'native refund': { prague: 34_497, amsterdam: 34_558 },
  'native refund by consent': { prague: 39_617, amsterdam: 38_654 },
  'native fund and claim': { prague: 83_040, amsterdam: 170_937 },
  'native claimMany of ten, each': { prague: 9_791, amsterdam: 15_255 },
  'token fund, allowance standing': { prague: 67_166, amsterdam: 163_986 },
  'token claim': { prague: 42_548, amsterdam: 51_732 },
  'token claim by the payee': { prague: 42_110, amsterdam: 51_294 },
  'token refund': { prague: 41_627, amsterdam: 50_811 },
  'token refund by consent': { prague: 46_827, amsterdam: 56_011 },
  'token fund and claim': { prague: 109_714, amsterdam: 215_718 },
  'token claimMany of ten, each': { prague: 10_557, amsterdam: 17_021 },
} as const satisfies Readonly<Record<string, Paid>>;
