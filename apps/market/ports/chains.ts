// From settings to adapters: one for each chain, with its policy, checked before it is served.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { bitcoinAdapter } from '@parley/chains/bitcoin/adapter.ts';
import { evmAdapter } from '@parley/chains/evm/adapter.ts';
import { RpcError } from '@parley/chains/nodes/rpc.ts';
import { solanaAdapter } from '@parley/chains/solana/adapter.ts';
import { solanaDeployment } from '@parley/chains/solana/plan.ts';
import { tronAdapter } from '@parley/chains/tron/adapter.ts';
import { brokenInequalities, pairings } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { BitcoinSourceSettings, ChainSettings } from '../settings/chains.ts';
import type { Settings } from '../settings/config.ts';
import { policyOf } from '../settings/policies.ts';
import { questionsTo, sourcesOf } from './node-questions.ts';

/** Longer than a call of a request: a start asks once. */
const openMs = 15_000;

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
  const opened = chains.map((each) => ({ ...each, ...openOne(each, settings, parts) }));
  for (const { chain, adapter } of opened) all.set(chain, adapter);
  const broken = brokenPolicies(all);
  if (broken.length > 0) throw new Error(`chain policies refused:\n- ${broken.join('\n- ')}`);
  const told = 'a node does not answer; it is asked again';
  await Promise.all(
    opened.map(({ chain, identify }) =>
      identify((source, why) => parts.log.warn({ chain, source, why }, told)),
    ),
  );
  return all;
}

export type Opened = {
  readonly adapter: ChainAdapter;
  /** Whether its nodes are of this chain, with the contracts. Throws WrongNodeError. */
  identify(silent: (source: number, why: string) => void): Promise<void>;
};

export function openOne(each: ChainSettings, settings: Limits, parts: Parts): Opened {
  return {
    adapter: adapterOf(each, settings, parts),
    identify: (silent) => mustBeOf(each, parts.now, silent),
  };
}

export class WrongNodeError extends Error {
  constructor(chain: string, source: number, sentence: string) {
    const which = source === 0 ? 'the node' : `node ${source + 1}`;
    super(`chain "${chain}" refused: ${which} ${sentence}`);
    this.name = 'WrongNodeError';
  }
}

/**
 * A node that does not answer proves nothing and is asked again by its adapter. One that answers as
 * another chain refuses to start: swaps on it would lose coins.
 */
async function mustBeOf(
  of: ChainSettings,
  now: () => number,
  silent: (source: number, why: string) => void,
): Promise<void> {
  const check = async (source: ChainSettings, at: number) => {
    const questions = questionsTo(source, openMs, () => Math.floor(now() / 1_000));
    const fault = await questions
      .fault(AbortSignal.timeout(openMs))
      .catch((error: unknown) => silent(at, reasonOf(error)));
    if (typeof fault === 'string') throw new WrongNodeError(of.chain, at, fault);
  };
  await Promise.all(sourcesOf(of).map(check));
}

function adapterOf(
  of: ChainSettings,
  { chainTimeoutMs }: Limits,
  { now, log }: Parts,
): ChainAdapter {
  const { chain } = of;
  const { policy, depthTag, mostDriftSeconds } = policyOf(of);
  const attempts = { attemptTimeoutMs: chainTimeoutMs };
  const common = {
    chain,
    policy,
    now: () => Math.floor(now() / 1000),
    log: (what: string, facts: object) => log.warn({ chain, ...facts }, what),
  };
  switch (of.family) {
    case 'bitcoin': {
      const sourceOf = ({ rpcUrl, esploraUrl = '' }: BitcoinSourceSettings) =>
        rpcUrl === undefined
          ? { esploraUrl, timeMs: chainTimeoutMs }
          : { coreUrl: rpcUrl, timeMs: chainTimeoutMs };
      return bitcoinAdapter({
        ...common,
        network: of.network === 'signet' ? 'testnet' : of.network,
        source: sourceOf(of),
        ...(of.second === undefined ? {} : { second: sourceOf(of.second) }),
      });
    }
    case 'evm': {
      const { chainId, contract, shards = [], formerContracts = [], rpcUrls } = of;
      return evmAdapter({
        ...common,
        chainId,
        shards,
        formerContracts,
        rpcUrls,
        depthTag,
        ...(contract !== undefined && { contract }),
        rpc: attempts,
      });
    }
    case 'tron': {
      const { sources } = of;
      return tronAdapter({ ...common, deployment: of, sources, http: attempts });
    }
    case 'solana': {
      const { rpcUrls, genesisHash, program } = of;
      return solanaAdapter({
        ...common,
        rpcUrls,
        genesisHash,
        mostDriftSeconds: mostDriftSeconds ?? policy.driftSeconds,
        deployment: { ...solanaDeployment, program },
        rpc: attempts,
      });
    }
  }
}

/** Never the message of a library, which may quote the node's address and the key in it. */
function reasonOf(error: unknown): string {
  if (error instanceof ParleyError || error instanceof RpcError) return error.message;
  if (!(error instanceof Error)) return 'unreadable';
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
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
