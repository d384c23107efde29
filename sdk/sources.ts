// Chain sources of the customer's own: what it pins about a chain, and an adapter by its own nodes.

import { type BitcoinSource, bitcoinAdapter } from '../chains/bitcoin/adapter.ts';
import { defaultFeeBounds } from '../chains/bitcoin/fees.ts';
import { type BitcoinNetworkName, bitcoinNetworks } from '../chains/bitcoin/networks.ts';
import { bitcoinPolicies } from '../chains/bitcoin/policy.ts';
import { contractsFault, type Deployment } from '../chains/escrows/plan.ts';
import { evmParty } from '../chains/evm/party.ts';
import { type EvmContracts, evmDeployment } from '../chains/evm/plan.ts';
import { type DepthTag, evmChains } from '../chains/evm/policy.ts';
import { solanaParty } from '../chains/solana/party.ts';
import { type SolanaDeployment, solanaDeployment } from '../chains/solana/plan.ts';
import {
  type SolanaChainSettings,
  solanaChains,
  solanaDevPolicy,
} from '../chains/solana/policy.ts';
import type { TronSource } from '../chains/tron/http.ts';
import { tronParty } from '../chains/tron/party.ts';
import type { TronOrigin } from '../chains/tron/plan.ts';
import { type TronChainSettings, tronChains, tronDevPolicy } from '../chains/tron/policy.ts';
import { brokenPolicy } from '../core/deadlines.ts';
import type { Family } from '../core/families.ts';
import type { ChainPolicy } from '../core/policy.ts';
import type { ChainSource } from './settle/context.ts';

export type { ChainSource } from './settle/context.ts';

/**
 * Of dev networks, as `policy`: a dev chain of TRON or Solana has no lasting id. Never with money
 * on it.
 */
export const devPolicies = {
  tron: tronDevPolicy,
  solana: solanaDevPolicy,
} as const satisfies Partial<Record<Family, ChainPolicy>>;

/**
 * Which depth is enough is the customer's to say. Throws where no table has one, or it is unsound.
 */
function policyOf(
  chain: string,
  given: ChainPolicy | undefined,
  known: { readonly policy: ChainPolicy } | undefined,
  { id, tables, dev }: { id: string; tables: Readonly<Record<string, unknown>>; dev: string },
): ChainPolicy {
  const policy = given ?? known?.policy;
  if (policy === undefined) {
    throw new Error(
      `chain ${chain} (${id}) needs a policy: this package has those of ` +
        `${Object.keys(tables).join(', ')}. Give \`policy\`: ${dev}, and for any other network ` +
        'numbers of your own (docs/timelocks.md)',
    );
  }
  const [sentence] = brokenPolicy(policy);
  if (sentence !== undefined) throw new Error(`policy of chain "${chain}" refused: ${sentence}`);
  return policy;
}

/** Throws where a contract is named twice, or too many are. */
function mustBeFew(chain: string, deployment: Deployment): void {
  const fault = contractsFault(deployment);
  if (fault !== null) throw new Error(`contracts of chain "${chain}" refused: ${fault}`);
}

const machineClock = () => Math.floor(Date.now() / 1000);

/** Contracts other than the one that this package pins, or beside it: those of the market. */
export type EvmSourceOptions = EvmContracts & {
  readonly chain: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly policy?: ChainPolicy;
  readonly depthTag?: DepthTag | null;
  /** Unix seconds: until then gas costs what it does by Prague's rules, where no node tells. */
  readonly nextForkAt?: number;
};

/** Throws where no table has its policy and none is given, and where one is unsound. */
export function evmSource(options: EvmSourceOptions): ChainSource {
  const { chain, chainId } = options;
  const deployment = evmDeployment(chainId, options);
  mustBeFew(chain, deployment);
  const known = Object.values(evmChains).find((each) => each.chainId === chainId);
  const policy = policyOf(chain, options.policy, known, {
    ...{ id: `chain id ${chainId}`, tables: evmChains },
    dev: 'a dev network has chain id 31337 or 31338 and needs none',
  });
  const depthTag = options.depthTag ?? known?.depthTag ?? null;
  const nextForkAt = options.nextForkAt ?? null;
  return {
    view: { family: 'evm', chain, chainId, deployment, policy },
    adapter: evmParty({ ...options, policy, depthTag, nextForkAt }).adapter,
  };
}

export type BitcoinSourceOptions = {
  readonly chain: string;
  readonly network: BitcoinNetworkName;
  /** A Core node (`http://user:password@host:port`) or an Esplora REST base. */
  readonly source: BitcoinSource;
  readonly policy?: ChainPolicy;
  readonly now?: () => number;
  /** Most that a claim or refund may pay, satoshi a virtual byte. */
  readonly mostFeeRateSatPerVbyte?: number;
};

/** Throws where its policy is unsound. */
export function bitcoinSource(options: BitcoinSourceOptions): ChainSource {
  const { chain, network, source } = options;
  const tables = bitcoinPolicies;
  const known = { policy: tables[network] };
  const policy = policyOf(chain, options.policy, known, { id: network, tables, dev: 'none' });
  const capSatPerVbyte = options.mostFeeRateSatPerVbyte ?? defaultFeeBounds.capSatPerVbyte;
  return {
    view: {
      family: 'bitcoin',
      chain,
      network: bitcoinNetworks[network],
      policy,
      mostFeeRateSatPerVbyte: capSatPerVbyte,
    },
    adapter: bitcoinAdapter({
      chain,
      network,
      source,
      policy,
      now: options.now ?? machineClock,
      feeBounds: { ...defaultFeeBounds, capSatPerVbyte },
    }),
  };
}

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
    ...{ id: `chain id ${deployment.chainId}`, tables: tronChains },
    dev: 'for a dev network `devPolicies.tron` of sdk/sources.ts',
  });
  mustBeFew(chain, deployment);
  const most = mostFeeLimitSun === undefined ? {} : { mostFeeLimitSun };
  return {
    view: { family: 'tron', chain, deployment, policy, ...most },
    adapter: tronParty({ chain, deployment, sources, policy }).adapter,
  };
}

export type SolanaSourceOptions = {
  readonly chain: string;
  readonly rpcUrls: readonly string[];
  /** Of the cluster's first block; default: not checked, as on a dev chain that is made anew. */
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
    ...{ id: `genesis hash ${genesisHash}`, tables: solanaChains },
    dev: 'for a dev network `devPolicies.solana` of sdk/sources.ts',
  });
  const deployment: SolanaDeployment = {
    ...solanaDeployment,
    ...(options.program === undefined ? {} : { program: options.program }),
  };
  return {
    view: { family: 'solana', chain, deployment, policy },
    adapter: solanaParty({
      chain,
      rpcUrls,
      policy,
      deployment,
      genesisHash,
      mostDriftSeconds: policy.driftSeconds,
      now: options.now ?? machineClock,
    }).adapter,
  };
}
