// The facts of each chain for the app for browsers. Never the market's own nodes of a real network:
// their addresses may hold keys.

import type { AppChain } from '@parley/core/app-chain.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { ChainSettings } from '../settings/chains.ts';

/** The nodes of a dev chain: `pageUrl` where its node itself answers no page. */
type DevNodes = { readonly chain: ChainKey; readonly rpcUrl: string; readonly pageUrl?: string };

export function appChains(
  chains: readonly ChainSettings[],
  devChains: readonly DevNodes[],
): AppChain[] {
  return chains.map((each) => {
    const dev = devChains.find(({ chain }) => chain === each.chain);
    const own = dev === undefined ? [] : [dev.pageUrl ?? dev.rpcUrl];
    return appChain(each, each.pageUrls ?? own);
  });
}

function appChain(settings: ChainSettings, nodes: readonly string[]): AppChain {
  const { chain } = settings;
  switch (settings.family) {
    case 'bitcoin': {
      const { family, network } = settings;
      return { family, chain, nodes, bitcoin: network === 'signet' ? 'testnet' : network };
    }
    case 'evm': {
      const { family, chainId, contract, ...rest } = settings;
      const own = contract === undefined ? {} : { contract };
      return { family, chain, nodes, chainId, ...own, ...beside(rest) };
    }
    case 'tron': {
      const { family, chainId, contract, creation, ...rest } = settings;
      return { family, chain, nodes, chainId, contract, creation, ...beside(rest) };
    }
    case 'solana': {
      const { family, genesisHash, program } = settings;
      return { family, chain, nodes, genesisHash, program };
    }
  }
}

type Beside<C> = {
  readonly shards?: readonly C[] | undefined;
  readonly formerContracts?: readonly C[] | undefined;
};

function beside<C>({ shards, formerContracts }: Beside<C>) {
  return {
    ...(shards === undefined ? {} : { shards }),
    ...(formerContracts === undefined ? {} : { formerContracts }),
  };
}
