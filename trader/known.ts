// Networks that this program knows by their ids, whatever a market calls them, with public nodes to
// begin with. A public node sees what one asks: nodes of one's own go into the profile before them.

import type { Network } from './keys/words.ts';
import type { ProfileChain } from './profile.ts';

export type Known = {
  readonly title: string;
  readonly network: Network;
  readonly nodes: readonly string[];
};

type Row = readonly [id: string, network: Network, title: string, ...nodes: string[]];

const rows: readonly Row[] = [
  [
    ...(['bitcoin mainnet', 'mainnet', 'Bitcoin'] as const),
    'https://mempool.space/api',
    'https://blockstream.info/api',
  ],
  // Signet and both testnets go by it: which one a market means, its own nodes say.
  ['bitcoin testnet', 'testnet', 'Bitcoin test network'],
  ['bitcoin regtest', 'dev', 'Bitcoin regtest'],
  [
    ...(['evm 1', 'mainnet', 'Ethereum'] as const),
    'https://ethereum-rpc.publicnode.com',
    'https://eth.drpc.org',
  ],
  [
    ...(['evm 10', 'mainnet', 'OP Mainnet'] as const),
    'https://mainnet.optimism.io',
    'https://optimism-rpc.publicnode.com',
  ],
  [
    ...(['evm 8453', 'mainnet', 'Base'] as const),
    'https://mainnet.base.org',
    'https://base-rpc.publicnode.com',
  ],
  [
    ...(['evm 42161', 'mainnet', 'Arbitrum One'] as const),
    'https://arb1.arbitrum.io/rpc',
    'https://arbitrum-one-rpc.publicnode.com',
  ],
  [
    ...(['evm 11155111', 'testnet', 'Sepolia'] as const),
    'https://ethereum-sepolia-rpc.publicnode.com',
  ],
  ['evm 11155420', 'testnet', 'OP Sepolia', 'https://sepolia.optimism.io'],
  ['evm 84532', 'testnet', 'Base Sepolia', 'https://sepolia.base.org'],
  ['evm 421614', 'testnet', 'Arbitrum Sepolia', 'https://sepolia-rollup.arbitrum.io/rpc'],
  ['evm 31337', 'dev', 'EVM dev chain'],
  ['evm 31338', 'dev', 'EVM dev chain'],
  ['tron 728126428', 'mainnet', 'TRON', 'https://api.trongrid.io'],
  ['tron 3448148188', 'testnet', 'TRON Nile', 'https://nile.trongrid.io'],
  ['tron 2494104990', 'testnet', 'TRON Shasta', 'https://api.shasta.trongrid.io'],
  [
    'solana 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    ...(['mainnet', 'Solana', 'https://api.mainnet-beta.solana.com'] as const),
  ],
  [
    'solana EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    ...(['testnet', 'Solana devnet', 'https://api.devnet.solana.com'] as const),
  ],
  [
    'solana 4uhcVJyU9pJkvQyS88uRDiswHScCkY3xQawwpjk2NsNY',
    ...(['testnet', 'Solana testnet', 'https://api.testnet.solana.com'] as const),
  ],
];

const byId: ReadonlyMap<string, Known> = new Map(
  rows.map(([id, network, title, ...nodes]) => [id, { network, title, nodes }]),
);

/** The meanings of names that people know: a market could call another chain so. */
const usual: Readonly<Record<string, string>> = {
  bitcoin: 'bitcoin mainnet',
  ethereum: 'evm 1',
  optimism: 'evm 10',
  base: 'evm 8453',
  arbitrum: 'evm 42161',
  tron: 'tron 728126428',
  solana: 'solana 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
};

function idOf(chain: ProfileChain): string {
  switch (chain.family) {
    case 'bitcoin':
      return `bitcoin ${chain.bitcoin}`;
    case 'evm':
      return `evm ${chain.chainId}`;
    case 'tron':
      return `tron ${chain.chainId}`;
    case 'solana':
      return `solana ${chain.genesisHash}`;
  }
}

/** null: no table has it. */
export function knownAs(chain: ProfileChain): Known | null {
  return byId.get(idOf(chain)) ?? null;
}

/** Why a chain that a market names is not taken; null: it has no fault. */
export function faultOf(name: string, chain: ProfileChain, network: Network): string | null {
  const known = knownAs(chain);
  const title = known?.title ?? `${chain.family} of an id that this program does not know`;
  const meant = network === 'mainnet' && Object.hasOwn(usual, name) ? usual[name] : idOf(chain);
  if (meant !== idOf(chain)) return `the market calls "${name}" what is ${title}`;
  // Dev chains of TRON and Solana are made anew, and in no table.
  const isOfDev = network === 'dev' && /^(?:tron|solana)$/.test(chain.family);
  if (known?.network === network || (known === null && isOfDev)) return null;
  if (known === null) return `"${name}" is ${title}: describe it in the profile by hand`;
  return `"${name}" is ${title}, and the market says that it trades on ${network}`;
}

const families = { bitcoin: 'Bitcoin', evm: 'EVM', tron: 'TRON', solana: 'Solana' };

export function titleOf(chain: ProfileChain): string {
  return knownAs(chain)?.title ?? `${families[chain.family]} dev chain`;
}
