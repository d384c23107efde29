// TRON by nodes of the customer's own.

import type { TronSource } from '@parley/chains/tron/http.ts';
import { tronParty } from '@parley/chains/tron/party.ts';
import type { TronOrigin } from '@parley/chains/tron/plan.ts';
import { type TronChainSettings, tronChains, tronDevPolicy } from '@parley/chains/tron/policy.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { ChainSource } from '../chains.ts';
import { eachNode, mustBeFew, policyOf } from './policy.ts';

/**
 * The policy of dev networks, as `policy`: a dev chain has no lasting id. Never with money on it.
 */
export const devPolicy: ChainPolicy = tronDevPolicy;

export type TronSourceOptions = {
  readonly chain: string;
  /** Each node has to show that these transactions ran the pinned init code. */
  readonly deployment: TronOrigin;
  readonly sources: readonly TronSource[];
  readonly policy?: ChainPolicy;
  /** Most that one transaction may burn for energy, sun. */
  readonly mostFeeLimitSun?: bigint;
};

export function tronSource(options: TronSourceOptions): ChainSource {
  const { chain, deployment, sources, mostFeeLimitSun } = options;
  const networks: readonly TronChainSettings[] = Object.values(tronChains);
  const known = networks.find(({ chainId }) => chainId === deployment.chainId);
  const policy = policyOf(chain, options.policy, known, {
    id: `chain id ${deployment.chainId}`,
    tables: tronChains,
    dev: 'for a dev network `devPolicies.tron` of @parley/sdk/sources/tron',
  });
  mustBeFew(chain, deployment);
  const most = mostFeeLimitSun === undefined ? {} : { mostFeeLimitSun };
  const by = (nodes: readonly TronSource[]) =>
    tronParty({ chain, deployment, sources: nodes, policy }).adapter;
  return {
    view: { family: 'tron', chain, deployment, policy, ...most },
    ...eachNode(sources, by),
  };
}
