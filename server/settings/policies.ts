// Which policy a configured chain has: one of the tables of chains/*/policy.ts, by name or by what
// the chain is, with the operator's own numbers laid over it. What cannot be used is an Error.

import { bitcoinPolicies } from '../../chains/bitcoin/policy.ts';
import { type DepthTag, type EvmChainSettings, evmChains } from '../../chains/evm/policy.ts';
import { type SolanaChainSettings, solanaChains } from '../../chains/solana/policy.ts';
import { type TronChainSettings, tronChains, tronDevPolicy } from '../../chains/tron/policy.ts';
import { brokenPolicy } from '../../core/deadlines.ts';
import type { Family } from '../../core/families.ts';
import { type ChainPolicy, type Depth, depthNumbers, policyNumbers } from '../../core/policy.ts';
import { worldOfChainId } from '../../core/worlds.ts';
import { type ChainSettings, knownWorld, type Of, type OwnPolicy } from './chains.ts';

export type PolicyOfChain = {
  readonly policy: ChainPolicy;
  /** EVM only. */
  readonly depthTag: DepthTag | null;
  /** Solana only. */
  readonly mostDriftSeconds: number | null;
};

type Entry = PolicyOfChain & { readonly dev: boolean };
type Table = ReadonlyMap<string, Entry>;

const plain = { depthTag: null, mostDriftSeconds: null } as const;

const tables: Readonly<Record<Family, Table>> = {
  bitcoin: new Map(
    Object.entries(bitcoinPolicies).map(([name, policy]) => [
      name,
      { ...plain, policy, dev: name === 'regtest' },
    ]),
  ),
  evm: new Map(
    Object.entries(evmChains).map(([name, { chainId, policy, depthTag }]) => [
      name,
      { ...plain, policy, depthTag, dev: worldOfChainId(chainId) === 'dev' },
    ]),
  ),
  tron: new Map([
    ...Object.entries(tronChains).map(([name, { policy }]): [string, Entry] => [
      name,
      { ...plain, policy, dev: false },
    ]),
    ['tron-dev', { ...plain, policy: tronDevPolicy, dev: true }],
  ]),
  solana: new Map(
    Object.entries(solanaChains).map(([name, { policy, genesisHash }]) => [
      name,
      { ...plain, policy, dev: genesisHash === null },
    ]),
  ),
};

/** Throws an Error: a name that is not known, numbers that are missing or unsound. */
export function policyOf(chain: ChainSettings): PolicyOfChain {
  const { policy: given } = chain;
  const own: OwnPolicy = typeof given === 'object' ? given : {};
  const name = typeof given === 'string' ? given : (own.like ?? ownName(chain));
  const table = tables[chain.family];
  const base = name === null ? null : (table.get(name) ?? null);
  if (name !== null && base === null) {
    const names = [...table.keys()].join(', ');
    throw wrong(chain, `there is no policy "${name}"; there are: ${names}`);
  }
  // Its depths suit a chain on which nothing is ever lost.
  if (base?.dev === true && !isDev(chain)) {
    throw wrong(chain, `the policy "${name}" is for dev chains only`);
  }
  const policy = layOver(chain, base?.policy ?? null, own);
  const asked = chain.family === 'evm' ? chain.depthTag : null;
  return {
    policy,
    depthTag: asked === undefined ? (base?.depthTag ?? null) : asked,
    mostDriftSeconds: chain.family === 'solana' ? driftOf(chain, policy) : null,
  };
}

/** No more than the deadlines hold. */
function driftOf(chain: Of<'solana'>, { driftSeconds }: ChainPolicy): number {
  const drift = chain.mostDriftSeconds ?? driftSeconds;
  if (drift <= driftSeconds) return drift;
  throw wrong(
    chain,
    `mostDriftSeconds is ${drift}, more than driftSeconds ${driftSeconds}, which holds it`,
  );
}

/** The name of the policy that a chain has where none is asked for; null = none is known. */
function ownName(chain: ChainSettings): string | null {
  switch (chain.family) {
    case 'bitcoin':
      return chain.network === 'signet' ? 'testnet' : chain.network;
    case 'evm': {
      const known: readonly [string, EvmChainSettings][] = Object.entries(evmChains);
      const named = known.find(([, { chainId }]) => chainId === chain.chainId);
      return named?.[0] ?? (isDev(chain) ? 'evm-dev' : null);
    }
    case 'tron': {
      const known: readonly [string, TronChainSettings][] = Object.entries(tronChains);
      const named = known.find(([, { chainId }]) => chainId === chain.chainId);
      return named?.[0] ?? (isDev(chain) ? 'tron-dev' : null);
    }
    case 'solana': {
      const known: readonly [string, SolanaChainSettings][] = Object.entries(solanaChains);
      const named = known.find(([, { genesisHash }]) => genesisHash === chain.genesisHash);
      return named?.[0] ?? (isDev(chain) ? 'solana-dev' : null);
    }
  }
}

function isDev(chain: ChainSettings): boolean {
  return (knownWorld(chain) ?? ('world' in chain ? chain.world : null)) === 'dev';
}

function layOver(chain: ChainSettings, base: ChainPolicy | null, own: OwnPolicy): ChainPolicy {
  const missing: string[] = [];
  const number = (name: string, ...values: (number | undefined)[]): number => {
    const value = values.find((each) => each !== undefined);
    if (value === undefined) missing.push(name);
    return value ?? 0;
  };
  const depth = (which: 'normal' | 'high'): Depth => {
    const [confirmations, settleSeconds, outageSeconds] = depthNumbers.map((name) =>
      number(`${which}.${name}`, own[which]?.[name], base?.[which][name]),
    ) as [number, number, number];
    return { confirmations, settleSeconds, outageSeconds };
  };
  const whole = Object.fromEntries(
    policyNumbers.map((name) => [name, number(name, own[name], base?.[name])]),
  ) as Record<(typeof policyNumbers)[number], number>;
  // Where nobody says otherwise, nothing bounds how far its clock trails after a standstill.
  const { windowSeconds = base?.windowSeconds ?? null } = own;
  const depths = { normal: depth('normal'), high: depth('high') };
  const policy: ChainPolicy = { ...whole, windowSeconds, ...depths };
  if (missing.length > 0) {
    throw wrong(
      chain,
      `no policy is known for it: name one with "policy", or give ${missing.join(', ')}`,
    );
  }
  // A chain that is served by itself must be sound as well.
  const [sentence] = brokenPolicy(policy);
  if (sentence !== undefined) throw wrong(chain, sentence);
  return policy;
}

function wrong(chain: ChainSettings, sentence: string): Error {
  const id = 'chainId' in chain ? ` (id ${chain.chainId})` : '';
  return new Error(`policy of chain "${chain.chain}"${id} refused: ${sentence}`);
}
