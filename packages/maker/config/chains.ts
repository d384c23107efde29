// The chains of the settings: which network, by which nodes, and where the wallet's key lies.

import { resolve } from 'node:path';
import { type Family, families, has } from '@parley/core/families.ts';
import type { BitcoinNode, PinnedChain, PinnedOn } from '@parley/trader/sources.ts';
import type { Fields } from './fields.ts';

const networks = ['mainnet', 'testnet', 'regtest'] as const;

export type ChainConfig = PinnedChain & {
  readonly chain: string;
  /** Absolute path. */
  readonly keyFile: string;
  /** Short of so many swaps that the wallet's coin pays for, the log warns. */
  readonly warnBelowSwaps: number;
  /** A dev chain has no lasting id by which its policy could be known. */
  readonly isDev: boolean;
};

const nodes = { most: 5 } as const;
const instances = { most: 8 } as const;
const chainIds = { least: 1, most: Number.MAX_SAFE_INTEGER } as const;

export function chainConfig(chain: string, fields: Fields, folder: string): ChainConfig {
  const family = fields.oneOf('family', families);
  const isDev =
    !has(family, 'policyTable') &&
    fields.oneOf('policy', ['published', 'dev'], 'published') === 'dev';
  const common = {
    chain,
    keyFile: resolve(folder, fields.text('key_file')),
    warnBelowSwaps: fields.whole('warn_below_swaps', { least: 0, most: 10_000 }, 5),
    isDev,
  };
  return { ...common, ...pinned(family, fields, isDev) };
}

function pinned(family: Family, fields: Fields, isDev: boolean): PinnedChain {
  switch (family) {
    case 'bitcoin': {
      const bitcoin = fields.oneOf('network', networks, 'mainnet');
      const first = bitcoinNode(fields, 'core_url', 'esplora_url');
      const second = bitcoinNode(fields, 'second_core_url', 'second_esplora_url');
      if (first === null) fields.fault('core_url', 'or esplora_url must be given, one of both');
      return { family, bitcoin, nodes: [first, second].filter((each) => each !== null) };
    }
    case 'evm': {
      const contract = fields.optional('contract');
      return {
        family,
        chainId: fields.whole('chain_id', chainIds),
        nodes: urlsOf(fields),
        ...(contract === null ? {} : { contract }),
        shards: fields.texts('shards', instances),
        formerContracts: fields.texts('former_contracts', instances),
      };
    }
    case 'tron': {
      const solid = fields.texts('solidity_urls', nodes);
      return {
        family,
        chainId: fields.whole('chain_id', chainIds),
        nodes: urlsOf(fields).map((url, at) => {
          const solidityUrl = solid[at];
          return solidityUrl === undefined ? { url } : { url, solidityUrl };
        }),
        contract: fields.text('contract'),
        creation: fields.text('creation'),
        shards: tronContracts(fields, 'shards'),
        formerContracts: tronContracts(fields, 'former_contracts'),
      };
    }
    case 'solana': {
      const genesisHash = fields.optional('genesis_hash') ?? '';
      // Without it any cluster would be taken for the one that is meant.
      if (genesisHash === '' && !isDev) {
        fields.fault('genesis_hash', 'is missing: getGenesisHash of your node names the cluster');
      }
      const program = fields.optional('program') ?? '';
      return { family, nodes: urlsOf(fields), genesisHash, program };
    }
  }
}

function urlsOf(fields: Fields): readonly string[] {
  const urls = fields.texts('rpc_urls', nodes);
  if (urls.length === 0) fields.fault('rpc_urls', 'must name 1 to 5 nodes');
  for (const url of urls) mustBeUrl(fields, 'rpc_urls', url);
  return urls;
}

/** The fault names the place alone: an address may hold a password. */
function mustBeUrl(fields: Fields, name: string, url: string): void {
  const { protocol = '' } = URL.parse(url) ?? {};
  if (!/^https?:$/.test(protocol)) fields.fault(name, 'must be an http or https address');
}

function bitcoinNode(fields: Fields, core: string, esplora: string): BitcoinNode | null {
  const coreUrl = fields.optional(core);
  const esploraUrl = fields.optional(esplora);
  if (coreUrl !== null && esploraUrl !== null) {
    fields.fault(core, `or ${esplora} must be given, one of both`);
  }
  if (coreUrl !== null) mustBeUrl(fields, core, coreUrl);
  if (esploraUrl !== null) mustBeUrl(fields, esplora, esploraUrl);
  if (coreUrl !== null) return { coreUrl };
  return esploraUrl === null ? null : { esploraUrl };
}

type TronContract = Pick<PinnedOn<'tron'>, 'contract' | 'creation'>;

function tronContracts(fields: Fields, name: string): readonly TronContract[] {
  return fields.list(name, instances).map((each) => {
    const { contract, creation } = (each ?? {}) as Partial<TronContract>;
    if (typeof contract !== 'string' || typeof creation !== 'string') {
      fields.fault(name, 'each has `contract` and `creation`');
    }
    return { contract: String(contract), creation: String(creation) };
  });
}
