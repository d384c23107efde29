// The maker's own side of each chain: its nodes, its wallet by a key file, and what that holds.

import type { ChainKey } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { Chains, PartyChain } from '@parley/sdk/chains.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { keyWallet, type OwnWallet } from '@parley/trader/chains.ts';
import { openSource } from '@parley/trader/sources.ts';
import type { ChainConfig } from './config/config.ts';
import type { Deal } from './journal.ts';
import { readKey } from './keys.ts';

export type OwnChain = PartyChain & { readonly wallet: OwnWallet };
export type OwnChains = Chains & Readonly<Record<string, OwnChain>>;

/** `now`: the maker's clock, Unix seconds. Throws Failure, and where a policy is unsound. */
export async function openChains(
  configs: readonly ChainConfig[],
  now: () => UnixSeconds,
): Promise<OwnChains> {
  const chains: Record<string, OwnChain> = {};
  for (const config of configs) {
    const { chain, isDev } = config;
    const key = await readKey(config.keyFile, config.family);
    chains[chain] = {
      source: await openSource(chain, config, { isDev, now }),
      wallet: await keyWallet(chain, config, key),
    };
  }
  return chains;
}

export async function closeChains(chains: OwnChains): Promise<void> {
  await Promise.all(Object.values(chains).map(({ source }) => source.adapter.close()));
}

/** Something open needs a chain that the settings do not name. */
export class ChainMissing extends Error {
  override name = 'ChainMissing';
}

/**
 * A deal agreed on a chain that is gone from the settings would be lost. Throws ChainMissing, so
 * that a person who took it out is told at once.
 */
export async function mustHaveChains(
  chains: readonly Pick<ChainConfig, 'chain'>[],
  store: Pick<Store, 'getSwap' | 'getTrade'>,
  deals: readonly Deal[],
): Promise<void> {
  const named = new Set(chains.map(({ chain }) => chain));
  const missing = new Map<ChainKey, string[]>();
  for (const { threadId, swapId, end } of deals) {
    if (end !== null) continue;
    // A record that cannot be read keeps no other swap from being settled.
    const record = swapId === null ? null : await store.getSwap(swapId).catch(() => null);
    const trade = record?.trade ?? (await store.getTrade(threadId).catch(() => null));
    for (const { chain } of trade === null ? [] : [trade.base, trade.quote]) {
      const what = swapId === null ? `thread ${threadId}` : `swap ${swapId}`;
      if (!named.has(chain)) missing.set(chain, [...(missing.get(chain) ?? []), what]);
    }
  }
  if (missing.size === 0) return;
  const each = [...missing].map(([chain, of]) => `"${chain}" for ${of.join(', ')}`);
  throw new ChainMissing(
    `the settings name no chain ${each.join(' and ')}, which is open: ` +
      'the maker did not start. Add [chains.NAME] again, at least until that has ended',
  );
}
