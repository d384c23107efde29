// The chains of the settings: which network, by which nodes, and where the wallet's key lies.

import { resolve } from 'node:path';
import type { Fields } from './fields.ts';

const networks = ['mainnet', 'testnet', 'regtest'] as const;

type Chain<Family extends string, Own> = Own & {
  readonly family: Family;
  readonly chain: string;
  /** Absolute path. */
  readonly keyFile: string;
  /** Short of so many swaps that the wallet's coin pays for, the log warns. */
  readonly warnBelowSwaps: number;
};

export type Instance = { readonly contract: string; readonly creation: string };

export type ChainConfig =
  | Chain<'evm', EvmPart>
  | Chain<'bitcoin', BitcoinPart>
  | Chain<'tron', TronPart>
  | Chain<'solana', SolanaPart>;

type EvmPart = {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly contract: string | null;
  readonly shards: readonly string[];
  readonly formerContracts: readonly string[];
};

type BitcoinPart = {
  readonly network: (typeof networks)[number];
  readonly source: BitcoinNode;
  /** Where the two differ, nothing is funded or revealed; either of them may be gone. */
  readonly second: BitcoinNode | null;
};

type BitcoinNode = { readonly coreUrl: string } | { readonly esploraUrl: string };

type TronPart = Instance & {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly solidityUrls: readonly string[];
  readonly shards: readonly Instance[];
  readonly formerContracts: readonly Instance[];
  readonly isDev: boolean;
};

type SolanaPart = {
  readonly rpcUrls: readonly string[];
  readonly genesisHash: string | null;
  readonly program: string | null;
  readonly isDev: boolean;
};

const nodes = { most: 5 } as const;
const instances = { most: 8 } as const;
const chainIds = { least: 1, most: Number.MAX_SAFE_INTEGER } as const;

export function chainConfig(chain: string, fields: Fields, folder: string): ChainConfig {
  const family = fields.oneOf('family', ['bitcoin', 'evm', 'tron', 'solana']);
  const common = {
    chain,
    keyFile: resolve(folder, fields.text('key_file')),
    warnBelowSwaps: fields.whole('warn_below_swaps', { least: 0, most: 10_000 }, 5),
  };
  switch (family) {
    case 'bitcoin':
      return { ...common, family, ...bitcoinPart(fields) };
    case 'evm':
      return { ...common, family, ...evmPart(fields) };
    case 'tron':
      return { ...common, family, ...tronPart(fields) };
    case 'solana':
      return { ...common, family, ...solanaPart(fields) };
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

function bitcoinPart(fields: Fields): BitcoinPart {
  const network = fields.oneOf('network', networks, 'mainnet');
  const source = bitcoinNode(fields, 'core_url', 'esplora_url');
  const second = bitcoinNode(fields, 'second_core_url', 'second_esplora_url');
  if (source === null) fields.fault('core_url', 'or esplora_url must be given, one of both');
  return { network, source: source ?? { esploraUrl: '' }, second };
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

function evmPart(fields: Fields): EvmPart {
  return {
    chainId: fields.whole('chain_id', chainIds),
    rpcUrls: urlsOf(fields),
    contract: fields.optional('contract'),
    shards: fields.texts('shards', instances),
    formerContracts: fields.texts('former_contracts', instances),
  };
}

function tronPart(fields: Fields): TronPart {
  const instancesOf = (name: string): readonly Instance[] =>
    fields.list(name, instances).map((each) => {
      const { contract, creation } = (each ?? {}) as Partial<Instance>;
      if (typeof contract !== 'string' || typeof creation !== 'string') {
        fields.fault(name, 'each has `contract` and `creation`');
      }
      return { contract: String(contract), creation: String(creation) };
    });
  return {
    chainId: fields.whole('chain_id', chainIds),
    rpcUrls: urlsOf(fields),
    solidityUrls: fields.texts('solidity_urls', nodes),
    contract: fields.text('contract'),
    creation: fields.text('creation'),
    shards: instancesOf('shards'),
    formerContracts: instancesOf('former_contracts'),
    isDev: isDev(fields),
  };
}

function solanaPart(fields: Fields): SolanaPart {
  const part = {
    rpcUrls: urlsOf(fields),
    genesisHash: fields.optional('genesis_hash'),
    program: fields.optional('program'),
    isDev: isDev(fields),
  };
  // Without it any cluster would be taken for the one that is meant.
  if (part.genesisHash === null && !part.isDev) {
    fields.fault('genesis_hash', 'is missing: getGenesisHash of your node names the cluster');
  }
  return part;
}

/** A dev chain has no lasting id by which its policy could be known. */
function isDev(fields: Fields): boolean {
  return fields.oneOf('policy', ['published', 'dev'], 'published') === 'dev';
}
