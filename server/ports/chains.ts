// From settings to adapters: one for each chain, with its policy, checked before it is served.

import type { ChainAdapter } from '../../chains/adapter.ts';
import { bitcoinAdapter } from '../../chains/bitcoin/adapter.ts';
import { type EvmAdapter, evmAdapter } from '../../chains/evm/adapter.ts';
import { RpcError } from '../../chains/nodes/rpc.ts';
import { solanaAdapter } from '../../chains/solana/adapter.ts';
import { solanaDeployment } from '../../chains/solana/plan.ts';
import { tronAdapter } from '../../chains/tron/adapter.ts';
import { brokenInequalities, pairings } from '../../core/deadlines.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import type { BitcoinSourceSettings, ChainSettings, Of } from '../settings/chains.ts';
import type { Settings } from '../settings/config.ts';
import { policyOf } from '../settings/policies.ts';
import { mustBeBitcoin, mustBeEvm, mustBeSolana, mustBeTron } from './node-identity.ts';

type Log = {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
};

type Limits = Pick<Settings, 'chainTimeoutMs'>;

type Parts = { readonly now: () => number; readonly log: Log };

/** A node of another chain, other contracts and unsound policies refuse to start. */
export async function openAdapters(
  settings: Limits,
  chains: readonly ChainSettings[],
  parts: Parts,
): Promise<ReadonlyMap<ChainKey, ChainAdapter>> {
  const all = new Map<ChainKey, ChainAdapter>();
  const identities: (() => Promise<void>)[] = [];
  for (const each of chains) {
    const { adapter, identify } = openOne(each, settings, parts);
    all.set(each.chain, adapter);
    identities.push(() =>
      identify((source, why) =>
        parts.log.warn(
          { chain: each.chain, source, why },
          'a node does not answer; it is asked again',
        ),
      ),
    );
  }
  const broken = brokenPolicies(all);
  if (broken.length > 0) throw new Error(`chain policies refused:\n- ${broken.join('\n- ')}`);
  await Promise.all(identities.map((check) => check()));
  return all;
}

export type Opened = {
  readonly adapter: ChainAdapter;
  /** Whether its nodes are of this chain, with the contracts. Throws WrongNodeError. */
  identify(silent: (source: number, why: string) => void): Promise<void>;
};

export function openOne(each: ChainSettings, settings: Limits, parts: Parts): Opened {
  type Silent = Parameters<Opened['identify']>[0];
  const saying = (silent: Silent) => (source: number, error: unknown) =>
    silent(source, reasonOf(error));
  switch (each.family) {
    case 'bitcoin':
      return {
        adapter: bitcoinOf(each, settings, parts),
        identify: (silent) => mustBeBitcoin(each, saying(silent)),
      };
    case 'evm': {
      const adapter = evmOf(each, settings, parts);
      return { adapter, identify: (silent) => mustBeEvm(adapter, saying(silent)) };
    }
    case 'tron':
      return {
        adapter: tronOf(each, settings, parts),
        identify: (silent) => mustBeTron(each, saying(silent)),
      };
    case 'solana':
      return {
        adapter: solanaOf(each, settings, parts),
        identify: (silent) => mustBeSolana(each, saying(silent)),
      };
  }
}

/** Never the message of a library, which may quote the node's address and the key in it. */
function reasonOf(error: unknown): string {
  if (error instanceof ParleyError || error instanceof RpcError) return error.message;
  if (!(error instanceof Error)) return 'unreadable';
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}

function bitcoinOf(chain: Of<'bitcoin'>, settings: Limits, { now, log }: Parts): ChainAdapter {
  const timeMs = settings.chainTimeoutMs;
  const sourceOf = ({ rpcUrl, esploraUrl = '' }: BitcoinSourceSettings) =>
    rpcUrl === undefined ? { esploraUrl, timeMs } : { coreUrl: rpcUrl, timeMs };
  return bitcoinAdapter({
    chain: chain.chain,
    network: chain.network === 'signet' ? 'testnet' : chain.network,
    source: sourceOf(chain),
    ...(chain.second === undefined ? {} : { second: sourceOf(chain.second) }),
    policy: policyOf(chain).policy,
    now: () => Math.floor(now() / 1000),
    log: (sentence, facts) => log.warn({ chain: chain.chain, ...facts }, sentence),
  });
}

function evmOf(chain: Of<'evm'>, settings: Limits, { log }: Parts): EvmAdapter {
  return evmAdapter({
    chain: chain.chain,
    chainId: chain.chainId,
    ...(chain.contract !== undefined && { contract: chain.contract }),
    shards: chain.shards ?? [],
    formerContracts: chain.formerContracts ?? [],
    rpcUrls: chain.rpcUrls,
    nextForkAt: chain.nextForkAt ?? null,
    ...policyOf(chain),
    rpc: { attemptTimeoutMs: settings.chainTimeoutMs },
    log: (event, facts) => log.warn({ chain: chain.chain, ...facts }, event),
  });
}

function tronOf(chain: Of<'tron'>, settings: Limits, { log }: Parts): ChainAdapter {
  return tronAdapter({
    chain: chain.chain,
    deployment: chain,
    sources: chain.sources,
    policy: policyOf(chain).policy,
    http: { attemptTimeoutMs: settings.chainTimeoutMs },
    log: (event, facts) => log.warn({ chain: chain.chain, ...facts }, event),
  });
}

function solanaOf(chain: Of<'solana'>, settings: Limits, { now, log }: Parts): ChainAdapter {
  const { policy, mostDriftSeconds } = policyOf(chain);
  return solanaAdapter({
    chain: chain.chain,
    rpcUrls: chain.rpcUrls,
    policy,
    mostDriftSeconds: mostDriftSeconds ?? policy.driftSeconds,
    genesisHash: chain.genesisHash,
    now: () => Math.floor(now() / 1000),
    deployment: { ...solanaDeployment, program: chain.program },
    rpc: { attemptTimeoutMs: settings.chainTimeoutMs },
    log: (event, facts) => log.warn({ chain: chain.chain, ...facts }, event),
  });
}

/** Every broken inequality of every pair of chains and depths, whichever may be long. */
export function brokenPolicies(adapters: ReadonlyMap<ChainKey, ChainAdapter>): string[] {
  const sentences = new Set<string>();
  for (const short of adapters.values()) {
    for (const long of adapters.values()) {
      if (short.chain === long.chain) continue;
      for (const timings of pairings(short.policy, long.policy)) {
        for (const sentence of brokenInequalities(...timings)) {
          sentences.add(`${short.chain} (short) with ${long.chain} (long): ${sentence}`);
        }
      }
    }
  }
  return [...sentences];
}
