// A Solana cluster as the market has it: a party's, with launches and checks of tokens.

import { inspect } from './inspect.ts';
import { launchesOf } from './launches.ts';
import { type SolanaAdapter, solanaParty } from './party.ts';
import type { SolanaAdapterOptions } from './watch.ts';

export type { SolanaAdapter } from './party.ts';
export type { SolanaAdapterOptions } from './watch.ts';

export function solanaAdapter(options: SolanaAdapterOptions): SolanaAdapter {
  const { adapter, watch, kit } = solanaParty(options);
  return {
    ...adapter,
    launches: launchesOf(watch, kit.opened),
    ...kit.asked({ inspect }),
  };
}
