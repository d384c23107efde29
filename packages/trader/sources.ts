// A chain as a trader pins it, and its source by the trader's own nodes. The code of a family is
// loaded when a chain of it is used.

import type { AppChain } from '@parley/core/app-chain.ts';
import type { Family } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { ChainSource } from '@parley/sdk/chains.ts';
import { SettleError } from '@parley/sdk/errors.ts';

export type BitcoinNode = { readonly coreUrl: string } | { readonly esploraUrl: string };

/** A URL; on TRON also with the solid view where that has a port of its own. */
export type NodeAt = string | { readonly url: string; readonly solidityUrl?: string } | BitcoinNode;

/** `p2wsh`: asks for no escrow of Taproot; default `p2tr`. */
type OwnForm = { readonly form?: 'p2tr' | 'p2wsh' | undefined };

type Pinned<C> = C extends AppChain
  ? Omit<C, 'chain' | 'nodes'> & {
      /** Asked in this order; Bitcoin is read by the first two. */
      readonly nodes: readonly NodeAt[];
    } & (C['family'] extends 'bitcoin' ? OwnForm : unknown)
  : never;

/** `genesisHash` and `program` may be empty: on a dev chain, and where the SDK knows the program. */
export type PinnedChain = Pinned<AppChain>;
export type PinnedOn<F extends Family> = Extract<PinnedChain, { readonly family: F }>;

/** Unix seconds. */
export type Now = () => UnixSeconds;

export function urlOf(node: NodeAt): string {
  if (typeof node === 'string') return node;
  if ('url' in node) return node.url;
  return 'coreUrl' in node ? node.coreUrl : node.esploraUrl;
}

/** Throws SettleError `no_source` where nothing is to be asked. */
export function urlsOf(
  chain: string,
  { nodes }: Pick<PinnedChain, 'nodes'>,
): readonly [string, ...string[]] {
  const [first, ...more] = nodes.map(urlOf);
  if (first !== undefined) return [first, ...more];
  throw new SettleError('no_source', `no node of "${chain}" is known: name one of your own`);
}

/** A Core node asks for a user and a password, an Esplora for nothing. */
export function bitcoinAt(node: NodeAt): BitcoinNode {
  if (typeof node !== 'string' && !('url' in node)) return node;
  const url = urlOf(node);
  return new URL(url).username === '' ? { esploraUrl: url } : { coreUrl: url };
}

export const tronAt = (nodes: readonly NodeAt[]) =>
  nodes.map((each) => (typeof each === 'object' && 'url' in each ? each : { url: urlOf(each) }));

type Opening = {
  /** A dev chain of TRON or Solana has no lasting id: its policy is in no table. */
  readonly isDev: boolean;
  readonly now: Now;
};

/** Throws SettleError `no_source`, and where no table has the chain's policy. */
export async function openSource(
  chain: string,
  of: PinnedChain,
  { isDev, now }: Opening,
): Promise<ChainSource> {
  const rpcUrls = urlsOf(chain, of);
  switch (of.family) {
    case 'bitcoin': {
      const { bitcoinSource } = await import('@parley/sdk/sources/bitcoin.ts');
      const [source = { esploraUrl: rpcUrls[0] }, second] = of.nodes.map(bitcoinAt);
      const beside = second === undefined ? {} : { second };
      return bitcoinSource({ chain, network: of.bitcoin, source, ...beside, now });
    }
    case 'evm': {
      const { evmSource } = await import('@parley/sdk/sources/evm.ts');
      return evmSource({ ...of, chain, rpcUrls });
    }
    case 'tron': {
      const { tronSource, devPolicy } = await import('@parley/sdk/sources/tron.ts');
      const policy = isDev ? { policy: devPolicy } : {};
      return tronSource({ chain, deployment: of, sources: tronAt(of.nodes), ...policy });
    }
    case 'solana': {
      const { solanaSource, devPolicy } = await import('@parley/sdk/sources/solana.ts');
      const pinned = {
        ...(of.genesisHash === '' ? {} : { genesisHash: of.genesisHash }),
        ...(of.program === '' ? {} : { program: of.program }),
        ...(isDev ? { policy: devPolicy } : {}),
      };
      return solanaSource({ chain, rpcUrls, now, ...pinned });
    }
  }
}
