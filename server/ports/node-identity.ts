// Whether the configured nodes are of the chains they are configured for, with the contracts as
// pinned. A node that does not answer proves nothing and is asked again by its adapter; one that
// answers as another chain refuses to start: swaps on it would lose coins.

import { exchange } from '../../chains/bitcoin/http.ts';
import { coreRpc } from '../../chains/bitcoin/rpc.ts';
import type { EvmAdapter } from '../../chains/evm/adapter.ts';
import { chainIdOf } from '../../chains/evm/node.ts';
import { contractFault } from '../../chains/evm/state.ts';
import { type Rpc, rpcClient } from '../../chains/nodes/rpc.ts';
import { solanaFault } from '../../chains/solana/agreement.ts';
import { httpClient, type TronSource } from '../../chains/tron/http.ts';
import { tronFault } from '../../chains/tron/identity.ts';
import type { BitcoinSourceSettings, Of } from '../settings/chains.ts';

export const openMs = 15_000;

type BitcoinNetwork = Of<'bitcoin'>['network'];

export class WrongNodeError extends Error {
  constructor(chain: string, source: number, sentence: string) {
    const which = source === 0 ? 'the node' : `node ${source + 1}`;
    super(`chain "${chain}" refused: ${which} ${sentence}`);
    this.name = 'WrongNodeError';
  }
}

/** The fault of each node of a chain, as a clause; null = nothing. */
export type Identity = {
  readonly sources: number;
  fault(at: number, signal: AbortSignal): Promise<string | null>;
};

/** Throws WrongNodeError; `silent` is told of each node that did not answer. */
export async function mustBe(
  chain: string,
  { sources, fault }: Identity,
  silent: (source: number, error: unknown) => void,
): Promise<void> {
  const check = async (at: number) => {
    const found = await fault(at, AbortSignal.timeout(openMs)).catch((error: unknown) => {
      silent(at, error);
      return null;
    });
    if (found !== null) throw new WrongNodeError(chain, at, found);
  };
  await Promise.all(Array.from({ length: sources }, (_, at) => check(at)));
}

export function evmIdentity({ chainId, node, deployment }: EvmAdapter): Identity {
  return {
    sources: node.sources,
    fault: async (at, signal) => {
      const one: Rpc = { ...node, call: (method, params, s) => node.ask(at, method, params, s) };
      const id = await chainIdOf(one, signal);
      if (id !== chainId) return `is of chain id ${id}, not ${chainId} as configured`;
      return (await contractFault(one, deployment, signal))?.says ?? null;
    },
  };
}

/** The identity of both its sources. */
export function bitcoinIdentity(chain: Of<'bitcoin'>): Identity {
  const all = chain.second === undefined ? [chain] : [chain, chain.second];
  return {
    sources: all.length,
    fault: async (at, signal) => {
      const { rpcUrl, esploraUrl = '' } = all[at] as BitcoinSourceSettings;
      const found = await (rpcUrl === undefined
        ? networkOfEsplora(esploraUrl, signal)
        : networkOfCore(rpcUrl, signal));
      if (networks[chain.network].includes(found)) return null;
      return `is of Bitcoin ${found}, not ${chain.network} as configured`;
    },
  };
}

/** Its id, each contract of escrows and its creation. */
export function tronIdentity({ chain, sources, ...deployment }: Of<'tron'>): Identity {
  return {
    sources: sources.length,
    fault: async (at, signal) => {
      const one = httpClient({ chain, sources: [sources[at] as TronSource], rounds: 1 });
      return (await tronFault(one, deployment, signal))?.says ?? null;
    },
  };
}

/** Its genesis hash, and the program, which nobody can replace. */
export function solanaIdentity({ chain, genesisHash, rpcUrls, program }: Of<'solana'>): Identity {
  return {
    sources: rpcUrls.length,
    fault: (at, signal) => {
      const one = rpcClient({ chain, urls: [rpcUrls[at] as string], rounds: 1 });
      return solanaFault(one, { genesisHash, program }, signal);
    },
  };
}

/** The names by which a node calls the networks of each setting (Core's getblockchaininfo). */
const networks: Readonly<Record<BitcoinNetwork, readonly string[]>> = {
  mainnet: ['main'],
  testnet: ['test', 'testnet4'],
  signet: ['signet'],
  regtest: ['regtest'],
};

/** Hash of the first block: Bitcoin Core, src/kernel/chainparams.cpp. */
const firstBlocks: Readonly<Record<string, string>> = {
  '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f': 'main',
  '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943': 'test',
  '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043': 'testnet4',
  '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6': 'signet',
  '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206': 'regtest',
};

async function networkOfCore(url: string, signal: AbortSignal): Promise<string> {
  const rpc = coreRpc({ url, limits: { timeMs: openMs } });
  const { chain } = await rpc.call<{ chain: unknown }>('getblockchaininfo', [], signal);
  return shown(chain);
}

async function networkOfEsplora(base: string, signal: AbortSignal): Promise<string> {
  const url = `${base.replace(/\/+$/, '')}/block-height/0`;
  const limits = { timeMs: openMs, bytes: 100_000 };
  const request = { url, method: 'GET' as const, headers: {} };
  const { status, body } = await exchange('Esplora server', request, limits, signal);
  if (status !== 200) throw new Error(`the Esplora server answered HTTP ${status}`);
  const hash = new TextDecoder().decode(body).trim();
  return firstBlocks[hash] ?? `with first block ${shown(hash)}`;
}

function shown(value: unknown): string {
  return String(value).slice(0, 80);
}
