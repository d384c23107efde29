// An EVM chain as the market has it: a party's, with launches and checks of tokens.

import { inspect } from './inspect.ts';
import { type EvmAdapter, evmParty } from './party.ts';
import { launchesOf } from './scan.ts';
import type { EvmAdapterOptions } from './watch.ts';

export type { EvmAdapter } from './party.ts';
export type { EvmAdapterOptions } from './watch.ts';

export function evmAdapter(options: EvmAdapterOptions): EvmAdapter {
  const { adapter, watch, kit } = evmParty(options);
  return {
    ...adapter,
    launches: launchesOf(watch, options.policy.normal.confirmations, kit.opened),
    ...kit.asked({ inspect }),
  };
}
