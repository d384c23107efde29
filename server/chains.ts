// From settings to adapters: one for each chain, with its policy, checked before it is served.

import type { ChainAdapter } from '../chains/adapter.ts';
import { bitcoinAdapter } from '../chains/bitcoin/adapter.ts';
import { type EvmAdapter, evmAdapter } from '../chains/evm/adapter.ts';
import { type EvmChainSettings, evmChains } from '../chains/evm/policy.ts';
import { brokenInequalities, type LegTiming } from '../core/deadlines.ts';
import { ParleyError } from '../core/errors.ts';
import type { ChainKey } from '../core/families.ts';
import { longLeg } from '../core/trade.ts';
import type { ChainSettings, Settings } from './config.ts';

type Log = {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
};

type Parts = { readonly now: () => number; readonly log: Log };

/** How long start-up waits for each node to answer. */
const openMs = 15_000;

export type Adapters = {
  readonly all: ReadonlyMap<ChainKey, ChainAdapter>;
  readonly evm: readonly EvmAdapter[];
};

/**
 * Makes and checks the adapters: a node of the wrong chain, contracts that are not the pinned
 * ones and unsound policies refuse to start. A node that is down does not: its chain is served
 * when it answers.
 */
export async function openAdapters(
  settings: Settings,
  chains: readonly ChainSettings[],
  parts: Parts,
): Promise<Adapters> {
  const all = new Map<ChainKey, ChainAdapter>();
  const evm: EvmAdapter[] = [];
  for (const each of chains) {
    if (each.family === 'bitcoin') all.set(each.chain, bitcoinOf(each, settings, parts));
    else {
      const adapter = evmOf(each, settings, parts);
      evm.push(adapter);
      all.set(each.chain, adapter);
    }
  }
  const broken = brokenPolicies(all);
  if (broken.length > 0) throw new Error(`chain policies refused:\n- ${broken.join('\n- ')}`);
  await Promise.all([...all.values()].map((adapter) => probe(adapter, parts.log)));
  return { all, evm };
}

async function probe(adapter: ChainAdapter, log: Log): Promise<void> {
  try {
    await adapter.heads(AbortSignal.timeout(openMs));
  } catch (error) {
    const down = error instanceof ParleyError && ['timeout', 'unavailable'].includes(error.kind);
    if (!down) throw error;
    log.warn({ chain: adapter.chain, err: error }, 'the node does not answer; it is asked again');
  }
}

function bitcoinOf(
  chain: ChainSettings & { family: 'bitcoin' },
  settings: Settings,
  { now, log }: Parts,
): ChainAdapter {
  const timeMs = settings.chainTimeoutMs;
  const sourceOf = ({ rpcUrl, esploraUrl = '' }: { rpcUrl?: string; esploraUrl?: string }) =>
    rpcUrl === undefined ? { esploraUrl, timeMs } : { coreUrl: rpcUrl, timeMs };
  return bitcoinAdapter({
    chain: chain.chain,
    network: chain.network === 'signet' ? 'testnet' : chain.network,
    source: sourceOf(chain),
    ...(chain.second === undefined ? {} : { second: sourceOf(chain.second) }),
    now: () => Math.floor(now() / 1000),
    log: (sentence, facts) => log.warn({ chain: chain.chain, ...facts }, sentence),
  });
}

function evmOf(
  chain: ChainSettings & { family: 'evm' },
  settings: Settings,
  { log }: Parts,
): EvmAdapter {
  const known: EvmChainSettings = policyOf(chain);
  return evmAdapter({
    chain: chain.chain,
    chainId: chain.chainId,
    rpcUrls: chain.rpcUrls,
    policy: known.policy,
    depthTag: chain.depthTag ?? known.depthTag,
    rpc: { attemptTimeoutMs: settings.chainTimeoutMs },
    log: (event, facts) => log.warn({ chain: chain.chain, ...facts }, event),
  });
}

/** By the policy's name, the chain's key, or its chain id. Throws when none is known. */
function policyOf(chain: ChainSettings & { family: 'evm' }): EvmChainSettings {
  const table: Readonly<Record<string, EvmChainSettings>> = evmChains;
  const name = chain.policy ?? chain.chain;
  const found =
    table[name] ?? Object.values(table).find(({ chainId }) => chainId === chain.chainId);
  if (found === undefined) {
    const names = Object.keys(table).join(', ');
    throw new Error(
      `chain "${chain.chain}" (id ${chain.chainId}) has no policy "${name}"; there are: ${names}`,
    );
  }
  return found;
}

/** Every broken inequality of every ordered pair of chains and depths, a sentence each. */
export function brokenPolicies(adapters: ReadonlyMap<ChainKey, ChainAdapter>): string[] {
  const sentences = new Set<string>();
  for (const a of adapters.values()) {
    for (const b of adapters.values()) {
      if (a.chain === b.chain) continue;
      const isLongA = longLeg(a.policy.floorSeconds, b.policy.floorSeconds) === 'a';
      const [long, short] = isLongA ? [a, b] : [b, a];
      for (const timings of depthPairs(short, long)) {
        for (const sentence of brokenInequalities(...timings)) {
          sentences.add(`${short.chain} (short) with ${long.chain} (long): ${sentence}`);
        }
      }
    }
  }
  return [...sentences];
}

function depthPairs(short: ChainAdapter, long: ChainAdapter): [LegTiming, LegTiming][] {
  const depths = ({ policy }: ChainAdapter) =>
    [policy.normal, policy.high].map((depth) => ({ policy, depth }));
  return depths(short).flatMap((s) => depths(long).map((l): [LegTiming, LegTiming] => [s, l]));
}
