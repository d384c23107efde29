// Solana by nodes of the customer's own.

import { solanaParty } from '@parley/chains/solana/party.ts';
import { type SolanaDeployment, solanaDeployment } from '@parley/chains/solana/plan.ts';
import {
  type SolanaChainSettings,
  solanaChains,
  solanaDevPolicy,
} from '@parley/chains/solana/policy.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { ChainSource } from '../chains.ts';
import { eachNode, machineClock, policyOf } from './policy.ts';

/**
 * The policy of dev networks, as `policy`: a dev chain has no lasting id. Never with money on it.
 */
export const devPolicy: ChainPolicy = solanaDevPolicy;

export type SolanaSourceOptions = {
  readonly chain: string;
  readonly rpcUrls: readonly string[];
  /**
   * The hash of the cluster's first block; default: not checked, as on a dev chain that is made
   * anew.
   */
  readonly genesisHash?: string;
  readonly program?: string;
  /** Default: the published policy of that cluster; without a genesis hash, that of dev chains. */
  readonly policy?: ChainPolicy;
  readonly now?: () => number;
};

export function solanaSource(options: SolanaSourceOptions): ChainSource {
  const { chain, rpcUrls, genesisHash = null } = options;
  const clusters: readonly SolanaChainSettings[] = Object.values(solanaChains);
  const known = clusters.find((each) => each.genesisHash === genesisHash);
  const policy = policyOf(chain, options.policy, known, {
    id: `genesis hash ${genesisHash}`,
    tables: solanaChains,
    dev: 'for a dev network `devPolicies.solana` of @parley/sdk/sources/solana',
  });
  const deployment: SolanaDeployment = {
    ...solanaDeployment,
    ...(options.program === undefined ? {} : { program: options.program }),
  };
  const by = (urls: readonly string[]) =>
    solanaParty({
      chain,
      rpcUrls: urls,
      policy,
      deployment,
      genesisHash,
      mostDriftSeconds: policy.driftSeconds,
      now: options.now ?? machineClock,
    }).adapter;
  return { view: { family: 'solana', chain, deployment, policy }, ...eachNode(rpcUrls, by) };
}
