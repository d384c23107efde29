// Which chain and which nodes are meant: a chain of the settings with its own nodes or others, or a
// network that is in no settings yet.

import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaDeployment } from '@parley/chains/solana/plan.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { tronChains } from '@parley/chains/tron/policy.ts';
import { type Family, families, has, isFamily } from '@parley/core/families.ts';
import { Misused } from '@parley/host/command.ts';
import { sourcesOf } from '../ports/node-questions.ts';
import { type ChainSettings, knownWorld, parseChains } from '../settings/chains.ts';
import { readSecretFile } from '../settings/secret-file.ts';

/** The nodes of one chain: each source as a chain of that source alone. */
export type Meant = { readonly sources: readonly ChainSettings[]; readonly isServed: boolean };

/** Nodes of one `npm run ops -- node`. */
export const mostNodes = 20;
/** In no settings it is of no network yet: the address has no contract, and nothing is asked of
 * it. */
const noContract = { contract: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', creation: '0'.repeat(64) };
const bitcoinNetworks = ['mainnet', 'testnet', 'signet', 'regtest'];

export function meantBy(
  chain: string,
  given: readonly string[],
  served: readonly ChainSettings[],
  kind: 'core' | 'esplora',
): Meant {
  const [family = '', network] = chain.split(/:(.*)/s);
  const known = served.find((each) => each.chain === chain);
  const isOfCoins = has(known ?? (isFamily(family) ? family : null), 'coins');
  if (kind === 'esplora' && (!isOfCoins || given.length === 0)) {
    throw new Misused('--kind esplora is of addresses that are named here, and of Bitcoin alone');
  }
  if (network === undefined) {
    if (known === undefined) throw new Misused(notServed(chain, served));
    if (given.length === 0) return { sources: sourcesOf(known), isServed: true };
    return { sources: withNodes(known, given, kind), isServed: true };
  }
  if (!isFamily(family)) {
    throw new Misused(`"${family}" is no family; there are ${families.join(', ')}`);
  }
  if (given.length === 0) throw new Misused(`${chain} needs the address of a node`);
  return { sources: withNodes(entryOf(family, network), given, kind), isServed: false };
}

function notServed(chain: string, served: readonly ChainSettings[]): string {
  const names = served.map((each) => each.chain).join(', ') || 'none';
  return (
    `there is no chain "${chain}" in the settings (${names}); of a chain that is in none name ` +
    'family and network, such as bitcoin:mainnet, evm:1, tron:tron-nile or solana:solana-devnet'
  );
}

/** An entry as PARLEY_CHAINS has it, without nodes. */
function entryOf(family: Family, network: string): object {
  const chain = family;
  const unknown = (names: readonly string[]) =>
    new Misused(`"${network}" is no network of ${family}; there are ${names.join(', ')}`);
  switch (family) {
    case 'bitcoin':
      if (!bitcoinNetworks.includes(network)) throw unknown(bitcoinNetworks);
      return { family, chain, network };
    case 'evm': {
      const chainId = idOf(network, evmChains);
      if (chainId === null) throw unknown([...Object.keys(evmChains), 'a chain id']);
      const isKnown = Object.values(evmChains).some((each) => each.chainId === chainId);
      return { family, chain, chainId, ...(isKnown ? {} : { policy: 'ethereum' }) };
    }
    case 'tron': {
      const chainId = idOf(network, tronChains);
      if (chainId === null) throw unknown([...Object.keys(tronChains), 'a chain id']);
      return { family, chain, chainId, ...noContract };
    }
    case 'solana': {
      const table: Readonly<Record<string, { readonly genesisHash: string | null }>> = solanaChains;
      const genesisHash = table[network]?.genesisHash ?? network;
      if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(genesisHash)) {
        throw unknown([...Object.keys(solanaChains), 'the hash of its first block']);
      }
      return { family, chain, genesisHash, program: solanaDeployment.program };
    }
  }
}

function idOf(network: string, table: Readonly<Record<string, { readonly chainId: number }>>) {
  if (/^[1-9]\d{0,15}$/.test(network)) return Number(network);
  return Object.hasOwn(table, network) ? (table[network]?.chainId ?? null) : null;
}

function withNodes(
  chain: object,
  given: readonly string[],
  kind: 'core' | 'esplora',
): ChainSettings[] {
  if (given.length > mostNodes) {
    throw new Misused(`${given.length} nodes; at most ${mostNodes} are looked at`);
  }
  return given.map((text) => entryWith(chain, nodeOf(text), kind));
}

/** `@file`, an address, or an object with its parts. */
function nodeOf(text: string): string | Readonly<Record<string, unknown>> {
  if (text.startsWith('@')) {
    const read = readSecretFile(text.slice(1), 'nobody');
    if ('wrong' in read) throw new Misused(read.wrong);
    // It may name itself.
    if (read.text.startsWith('@'))
      throw new Misused(`${text.slice(1)} holds no node: it names a file`);
    return nodeOf(read.text);
  }
  if (!text.startsWith('{')) return text;
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    // Its words would quote what may be a password.
    throw new Misused('a node begins with { and is no JSON');
  }
}

function entryWith(
  chain: object,
  node: string | Readonly<Record<string, unknown>>,
  kind: 'core' | 'esplora',
): ChainSettings {
  const {
    rpcUrl: _,
    esploraUrl: __,
    second: ___,
    rpcUrls: ____,
    sources: _____,
    ...rest
  } = chain as Readonly<Record<string, unknown>>;
  const entry = { ...rest, ...partsOf(rest.family as Family, node, kind) };
  const one = entry as unknown as ChainSettings;
  const world = knownWorld(one) ?? ('world' in rest ? String(rest.world) : 'dev');
  const whole = knownWorld(one) === null ? { ...entry, world } : entry;
  const { values, wrong } = parseChains([whole], world as 'dev' | 'testnet' | 'mainnet');
  const [value] = values;
  const [why = ''] = wrong;
  if (value === undefined) throw new Misused(why.replace(/^PARLEY_CHAINS, entry 1[^:]*: /, ''));
  return value;
}

function partsOf(
  family: Family,
  node: string | Readonly<Record<string, unknown>>,
  kind: 'core' | 'esplora',
): object {
  switch (family) {
    case 'bitcoin':
      if (typeof node !== 'string') return node;
      return kind === 'core' ? { rpcUrl: node } : { esploraUrl: node };
    case 'tron':
      return { sources: [typeof node === 'string' ? { url: node } : node] };
    case 'evm':
    case 'solana':
      return { rpcUrls: [typeof node === 'string' ? node : node.url] };
  }
}
