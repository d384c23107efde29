// What the market makes of the chains it runs on: which it serves, with which curated assets, and
// what its ready line says of each.

import type { Devnet } from '../devnet/devnet.ts';
import type { AssetSettings, ChainSettings } from './chain-settings.ts';

export type ReadyChain = {
  readonly chain: string;
  readonly family: string;
  /** Whole for dev chains; of a real node its origin, since the rest may be a secret. */
  readonly rpcUrl?: string;
  readonly chainId?: number;
  readonly node?: { readonly name: string; readonly version: string };
};

/** The chains of a running dev network as settings. */
export function devChains(devnet: Devnet | null): ChainSettings[] {
  return (devnet?.chains ?? []).map(({ chain, family, rpcUrl, chainId }) =>
    family === 'bitcoin'
      ? { family, chain, network: 'regtest', rpcUrl }
      : { family, chain, chainId: chainId ?? 0, rpcUrls: [rpcUrl], policy: 'evm-dev' },
  );
}

/** BTC, ETH of each EVM chain, and the dev network's tokens; native coins alone elsewhere. */
export function devAssets(
  chains: readonly ChainSettings[],
  devnet: Devnet | null,
): AssetSettings[] {
  const assets: AssetSettings[] = [];
  for (const { chain, family } of chains) {
    const decimals = family === 'bitcoin' ? 8 : 18;
    const symbol = family === 'bitcoin' ? 'BTC' : 'ETH';
    assets.push({ chain, symbol, address: null, decimals });
    const tokens = devnet?.chains.find((each) => each.chain === chain)?.tokens ?? [];
    for (const token of tokens) {
      const { address, decimals, symbol } = token;
      assets.push({ chain, symbol, address, decimals });
    }
  }
  return assets;
}

export function servedChains(
  chains: readonly ChainSettings[],
  devnet: Devnet | null,
): ReadyChain[] {
  if (devnet !== null) {
    return devnet.chains.map(({ chain, family, rpcUrl, chainId, node }) =>
      chainId === undefined
        ? { chain, family, rpcUrl, node }
        : { chain, family, rpcUrl, chainId, node },
    );
  }
  return chains.map((each) =>
    each.family === 'evm'
      ? {
          chain: each.chain,
          family: each.family,
          rpcUrl: originOf(each.rpcUrls[0] ?? ''),
          chainId: each.chainId,
        }
      : {
          chain: each.chain,
          family: each.family,
          rpcUrl: originOf(each.rpcUrl ?? each.esploraUrl ?? ''),
        },
  );
}

/** Where a node is, without the password or key that its address may hold. */
function originOf(url: string): string {
  return new URL(url).origin;
}
