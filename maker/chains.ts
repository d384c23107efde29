// The maker's own side of each chain: its nodes, its wallet by a key file, and what that holds.

import type { ChainKey } from '../core/families.ts';
import type { UnixSeconds } from '../core/nominal.ts';
import type { Chains, PartyChain } from '../sdk/chains.ts';
import type { MessageSigner } from '../sdk/keys.ts';
import { bitcoinSource, devPolicies, evmSource, solanaSource, tronSource } from '../sdk/sources.ts';
import type { Store } from '../sdk/stores/store.ts';
import { bitcoinWallet } from '../sdk/wallets/bitcoin.ts';
import { coinsByAll, coreCoins, esploraCoins } from '../sdk/wallets/coins.ts';
import { evmWallet } from '../sdk/wallets/evm.ts';
import { solanaWallet } from '../sdk/wallets/solana.ts';
import { tronWallet } from '../sdk/wallets/tron.ts';
import type { Wallet } from '../sdk/wallets/wallet.ts';
import type { ChainConfig } from './config/chains.ts';
import type { Deal } from './journal.ts';
import { readKey } from './keys.ts';

/** It signs swaps, and the texts by which it signs in. */
export type OwnWallet = Wallet & MessageSigner;
export type OwnChain = PartyChain & { readonly wallet: OwnWallet };
export type OwnChains = Chains & Readonly<Record<string, OwnChain>>;

/** `now`: the maker's clock, Unix seconds. Throws KeyFileError, and where a policy is unsound. */
export async function openChains(
  configs: readonly ChainConfig[],
  now: () => UnixSeconds,
): Promise<OwnChains> {
  const chains: Record<string, OwnChain> = {};
  for (const config of configs) {
    const key = await readKey(config.keyFile, config.family);
    chains[config.chain] = openChain(config, key, now);
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
    const record = swapId === null ? null : await store.getSwap(swapId);
    const trade = record?.trade ?? (await store.getTrade(threadId));
    for (const { chain } of trade === null ? [] : [trade.base, trade.quote]) {
      const what = swapId === null ? `thread ${threadId}` : `swap ${swapId}`;
      if (!named.has(chain)) missing.set(chain, [...(missing.get(chain) ?? []), what]);
    }
  }
  if (missing.size === 0) return;
  const each = [...missing].map(([chain, of]) => `"${chain}" for ${of.join(', ')}`);
  throw new ChainMissing(
    `the settings name no chain ${each.join(' and ')}, which is open: ` +
      'nothing was begun. Add [chains.NAME] again, at least until that has ended',
  );
}

function openChain(
  config: ChainConfig,
  key: string | Uint8Array,
  now: () => UnixSeconds,
): OwnChain {
  const privateKey = String(key);
  const { chain } = config;
  switch (config.family) {
    case 'bitcoin': {
      const { network, source, second } = config;
      const nodes = second === null ? [source] : [source, second];
      const coins = nodes.map((node) =>
        'coreUrl' in node ? coreCoins(node.coreUrl) : esploraCoins(node.esploraUrl),
      );
      const beside = second === null ? {} : { second };
      return {
        source: bitcoinSource({ chain, network, source, ...beside, now }),
        wallet: bitcoinWallet({ privateKey, network, source: coinsByAll(coins) }),
      };
    }
    case 'evm': {
      const { chainId, rpcUrls, contract, shards, formerContracts } = config;
      const own = contract === null ? {} : { contract };
      return {
        source: evmSource({ chain, chainId, rpcUrls, shards, formerContracts, ...own }),
        wallet: evmWallet({ privateKey: `0x${privateKey}`, chainId, rpcUrl: rpcUrls }),
      };
    }
    case 'tron': {
      const { chainId, contract, creation, shards, formerContracts, isDev } = config;
      const deployment = { chainId, contract, creation, shards, formerContracts };
      const sources = config.rpcUrls.map((url, at) => {
        const solidityUrl = config.solidityUrls[at];
        return solidityUrl === undefined ? { url } : { url, solidityUrl };
      });
      const policy = isDev ? { policy: devPolicies.tron } : {};
      return {
        source: tronSource({ chain, deployment, sources, ...policy }),
        wallet: tronWallet({ chain, sources, privateKey }),
      };
    }
    case 'solana': {
      const { rpcUrls, genesisHash, program, isDev } = config;
      const pinned = {
        ...(genesisHash === null ? {} : { genesisHash }),
        ...(program === null ? {} : { program }),
        ...(isDev ? { policy: devPolicies.solana } : {}),
      };
      return {
        source: solanaSource({ chain, rpcUrls, now, ...pinned }),
        wallet: solanaWallet({ chain, rpcUrls, secretKey: key }),
      };
    }
  }
}
