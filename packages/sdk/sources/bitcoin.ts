// Bitcoin by a node of the customer's own, or an Esplora.

import { type BitcoinSource, bitcoinAdapter } from '@parley/chains/bitcoin/adapter.ts';
import { defaultFeeBounds } from '@parley/chains/bitcoin/fees.ts';
import { type BitcoinNetworkName, bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { bitcoinPolicies } from '@parley/chains/bitcoin/policy.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { ChainSource } from '../chains.ts';
import { machineClock, policyOf } from './policy.ts';

export type BitcoinSourceOptions = {
  readonly chain: string;
  readonly network: BitcoinNetworkName;
  /** A Core node (`http://user:password@host:port`) or an Esplora REST base. */
  readonly source: BitcoinSource;
  /** Another one: where the two differ, funding and revealing wait. */
  readonly second?: BitcoinSource;
  readonly policy?: ChainPolicy;
  readonly now?: () => number;
  /** Most that a claim or refund may pay, satoshi a virtual byte. */
  readonly mostFeeRateSatPerVbyte?: number;
};

/** Throws where its policy is unsound. */
export function bitcoinSource(options: BitcoinSourceOptions): ChainSource {
  const { chain, network, source, second } = options;
  const tables = bitcoinPolicies;
  const known = { policy: tables[network] };
  const policy = policyOf(chain, options.policy, known, { id: network, tables, dev: 'none' });
  const capSatPerVbyte = options.mostFeeRateSatPerVbyte ?? defaultFeeBounds.capSatPerVbyte;
  const adapter = bitcoinAdapter({
    chain,
    network,
    source,
    ...(second === undefined ? {} : { second }),
    policy,
    now: options.now ?? machineClock,
    feeBounds: { ...defaultFeeBounds, capSatPerVbyte },
  });
  return {
    view: {
      family: 'bitcoin',
      chain,
      network: bitcoinNetworks[network],
      policy,
      mostFeeRateSatPerVbyte: capSatPerVbyte,
    },
    adapter,
    ...(second === undefined ? {} : { nodes: adapter.nodes }),
  };
}
