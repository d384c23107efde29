// A TRON network as the market has it: a party's, with launches and checks of tokens.

import type { PowerRules } from '../tokens/inspection.ts';
import { type TronAdapter, tronParty } from './party.ts';
import { launchesOf } from './receipts.ts';
import type { TronAdapterOptions, Watch } from './watch.ts';

export type { TronAdapter } from './party.ts';

export function tronAdapter(options: TronAdapterOptions): TronAdapter {
  const { adapter, watch, kit } = tronParty(options);
  return {
    ...adapter,
    launches: launchesOf(watch, kit.opened),
    ...kit.asked({ inspect }),
  };
}

/** Brings a whole EVM along, which nothing else needs. */
async function inspect(watch: Watch, token: string, rules: PowerRules, signal: AbortSignal) {
  const look = await import('./inspect.ts');
  return look.inspect(watch, token, rules, signal);
}
