// Whether the configured nodes are of the chains they are configured for, with the contracts as
// pinned. A node that does not answer proves nothing and is asked again by its adapter; one that
// answers as another chain refuses to start: swaps on it would lose coins.

import { exchange } from '../../chains/bitcoin/http.ts';
import { coreRpc } from '../../chains/bitcoin/rpc.ts';
import type { EvmAdapter } from '../../chains/evm/adapter.ts';
import { chainIdOf } from '../../chains/evm/node.ts';
import { contractFault } from '../../chains/evm/state.ts';
import { type Rpc, rpcClient } from '../../chains/nodes/rpc.ts';
import { solanaFault } from '../../chains/solana/identity.ts';
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

export async function mustBeEvm(
  adapter: EvmAdapter,
  silent: (source: number, error: unknown) => void,
): Promise<void> {
  const { chain, chainId, node, deployment } = adapter;
  await eachSource(node.sources, silent, async (at) => {
    const one: Rpc = { ...node, call: (method, params, s) => node.ask(at, method, params, s) };
    const signal = AbortSignal.timeout(openMs);
    const id = await chainIdOf(one, signal);
    if (id !== chainId) {
      throw new WrongNodeError(chain, at, `is of chain id ${id}, not ${chainId} as configured`);
    }
    const fault = await contractFault(one, deployment, signal);
    if (fault !== null) throw new WrongNodeError(chain, at, fault.says);
  });
}

export async function mustBeBitcoin(
  chain: Of<'bitcoin'>,
  silent: (source: number, error: unknown) => void,
): Promise<void> {
  const sources = chain.second === undefined ? [chain] : [chain, chain.second];
  await eachSource(sources.length, silent, async (at) => {
    const source = sources[at] as BitcoinSourceSettings;
    const found = await (source.rpcUrl === undefined
      ? networkOfEsplora(source.esploraUrl ?? '')
      : networkOfCore(source.rpcUrl));
    if (networks[chain.network].includes(found)) return;
    throw new WrongNodeError(
      chain.chain,
      at,
      `is of Bitcoin ${found}, not ${chain.network} as configured`,
    );
  });
}

/** The same for a TRON chain: its id, each contract of escrows and its creation. */
export async function mustBeTron(
  { chain, sources, ...deployment }: Of<'tron'>,
  silent: (source: number, error: unknown) => void,
): Promise<void> {
  await eachSource(sources.length, silent, async (at) => {
    const one = httpClient({ chain, sources: [sources[at] as TronSource], rounds: 1 });
    const signal = AbortSignal.timeout(openMs);
    const fault = await tronFault(one, deployment, signal);
    if (fault !== null) throw new WrongNodeError(chain, at, fault.says);
  });
}

/** The same for a Solana cluster: its genesis hash, and the program, which nobody can replace. */
export async function mustBeSolana(
  { chain, genesisHash, rpcUrls, program }: Of<'solana'>,
  silent: (source: number, error: unknown) => void,
): Promise<void> {
  await eachSource(rpcUrls.length, silent, async (at) => {
    const one = rpcClient({ chain, urls: [rpcUrls[at] as string], rounds: 1 });
    const signal = AbortSignal.timeout(openMs);
    const fault = await solanaFault(one, { genesisHash, program }, signal);
    if (fault !== null) throw new WrongNodeError(chain, at, fault);
  });
}

/** What a node calls the networks that each setting stands for (Core's getblockchaininfo). */
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

async function networkOfCore(url: string): Promise<string> {
  const signal = AbortSignal.timeout(openMs);
  const rpc = coreRpc({ url, limits: { timeMs: openMs } });
  const { chain } = await rpc.call<{ chain: unknown }>('getblockchaininfo', [], signal);
  return shown(chain);
}

async function networkOfEsplora(base: string): Promise<string> {
  const url = `${base.replace(/\/+$/, '')}/block-height/0`;
  const limits = { timeMs: openMs, bytes: 100_000 };
  const request = { url, method: 'GET' as const, headers: {} };
  const signal = AbortSignal.timeout(openMs);
  const { status, body } = await exchange('Esplora server', request, limits, signal);
  if (status !== 200) throw new Error(`the Esplora server answered HTTP ${status}`);
  const hash = new TextDecoder().decode(body).trim();
  return firstBlocks[hash] ?? `with first block ${shown(hash)}`;
}

function shown(value: unknown): string {
  return String(value).slice(0, 80);
}

async function eachSource(
  count: number,
  silent: (source: number, error: unknown) => void,
  check: (at: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      try {
        await check(at);
      } catch (error) {
        if (error instanceof WrongNodeError) throw error;
        silent(at, error);
      }
    }),
  );
}
