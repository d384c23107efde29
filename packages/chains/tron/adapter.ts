// A TRON network as the market has it: a party's, with launches and checks of tokens.

import { inspect } from './inspect.ts';
import { type TronAdapter, tronParty } from './party.ts';
import { launchesOf } from './receipts.ts';
import type { TronAdapterOptions } from './watch.ts';

export type { TronAdapter } from './party.ts';

export function tronAdapter(options: TronAdapterOptions): TronAdapter {
  const { adapter, watch, kit } = tronParty(options);
  return {
    ...adapter,
    launches: launchesOf(watch, kit.opened),
    ...kit.asked({ inspect }),
  };
}
