// An EVM chain by nodes of the customer's own.

import { evmParty } from '@parley/chains/evm/party.ts';
import { type EvmContracts, evmDeployment } from '@parley/chains/evm/plan.ts';
import { type DepthTag, evmChains } from '@parley/chains/evm/policy.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { ChainSource } from '../chains.ts';
import { eachNode, mustBeFew, policyOf } from './policy.ts';

/** Contracts other than the one that this package pins, or beside it: those of the market. */
export type EvmSourceOptions = EvmContracts & {
  readonly chain: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly policy?: ChainPolicy;
  readonly depthTag?: DepthTag | null;
};

/** Throws where no table has its policy and none is given, and where one is unsound. */
export function evmSource(options: EvmSourceOptions): ChainSource {
  const { chain, chainId } = options;
  const deployment = evmDeployment(chainId, options);
  mustBeFew(chain, deployment);
  const known = Object.values(evmChains).find((each) => each.chainId === chainId);
  const policy = policyOf(chain, options.policy, known, {
    id: `chain id ${chainId}`,
    tables: evmChains,
    dev: 'a dev network has chain id 31337 or 31338 and needs none',
  });
  const depthTag = options.depthTag ?? known?.depthTag ?? null;
  const by = (rpcUrls: readonly string[]) =>
    evmParty({ ...options, rpcUrls, policy, depthTag }).adapter;
  return {
    view: { family: 'evm', chain, chainId, deployment, policy },
    ...eachNode(options.rpcUrls, by),
  };
}
