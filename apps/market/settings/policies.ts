// Which policy a configured chain has: one of the tables of chains/*/policy.ts, by name or by what
// the chain is, with the operator's own numbers laid over it. An unusable one is an Error.

import { bitcoinPolicies } from '@parley/chains/bitcoin/policy.ts';
import { type DepthTag, evmChains } from '@parley/chains/evm/policy.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { tronChains, tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { brokenPolicy } from '@parley/core/deadlines.ts';
import { type Family, has } from '@parley/core/families.ts';
import { type ChainPolicy, type Depth, depthNumbers, policyNumbers } from '@parley/core/policy.ts';
import { worldOfChainId } from '@parley/core/worlds.ts';
import { type ChainSettings, knownWorld, type Of, type OwnPolicy } from './chains.ts';

type PolicyOfChain = {
  readonly policy: ChainPolicy;
  readonly depthTag: DepthTag | null;
  readonly mostDriftSeconds: number | null;
};

type Entry = {
  readonly policy: ChainPolicy;
  readonly dev: boolean;
  /** By which a chain has it where none is named: its network, chain id or genesis hash. */
  readonly id?: string | number | null;
  readonly depthTag?: DepthTag | null;
};

const entriesOf = <T>(table: Readonly<Record<string, T>>, entry: (of: T, name: string) => Entry) =>
  new Map(Object.entries(table).map(([name, each]) => [name, entry(each, name)]));

const tables: Readonly<Record<Family, ReadonlyMap<string, Entry>>> = {
  bitcoin: entriesOf(bitcoinPolicies, (policy, id) => ({ policy, id, dev: id === 'regtest' })),
  evm: entriesOf<(typeof evmChains)[keyof typeof evmChains]>(
    evmChains,
    ({ chainId: id, policy, depthTag }) => {
      return { policy, depthTag, id, dev: worldOfChainId(id) === 'dev' };
    },
  ),
  tron: entriesOf(tronChains, ({ chainId: id, policy }) => ({ policy, id, dev: false })).set(
    'tron-dev',
    { policy: tronDevPolicy, dev: true },
  ),
  solana: entriesOf<(typeof solanaChains)[keyof typeof solanaChains]>(
    solanaChains,
    ({ genesisHash: id, policy }) => ({ policy, id, dev: id === null }),
  ),
};

/** Throws an Error: a name that is not known, numbers that are missing or unsound. */
export function policyOf(chain: ChainSettings): PolicyOfChain {
  const { policy: given, family } = chain;
  const own: OwnPolicy = typeof given === 'object' ? given : {};
  const name = typeof given === 'string' ? given : (own.like ?? ownName(chain));
  const table = tables[family];
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
  const asked = has(chain, 'depthTags') ? chain.depthTag : null;
  return {
    policy,
    depthTag: asked === undefined ? (base?.depthTag ?? null) : asked,
    mostDriftSeconds: has(chain, 'measuresDrift') ? driftOf(chain, policy) : null,
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
  if (has(chain, 'coins')) return chain.network === 'signet' ? 'testnet' : chain.network;
  const id = 'chainId' in chain ? chain.chainId : chain.genesisHash;
  const [known] = [...tables[chain.family]].find(([, each]) => each.id === id) ?? [];
  return known ?? (isDev(chain) ? `${chain.family}-dev` : null);
}

function isDev(chain: ChainSettings): boolean {
  return (knownWorld(chain) ?? ('world' in chain ? chain.world : null)) === 'dev';
}

function layOver(chain: ChainSettings, base: ChainPolicy | null, own: OwnPolicy): ChainPolicy {
  const missing: string[] = [];
  const numbers = <Name extends string>(
    names: readonly Name[],
    [over, under]: readonly (Partial<Record<Name, number>> | undefined)[],
    before = '',
  ) => {
    const values = names.map((name) => [name, over?.[name] ?? under?.[name]] as const);
    missing.push(...values.filter(([, value]) => value === undefined).map(([it]) => before + it));
    return Object.fromEntries(values) as Record<Name, number>;
  };
  const depth = (which: 'normal' | 'high'): Depth =>
    numbers(depthNumbers, [own[which], base?.[which]], `${which}.`);
  // Where nobody says otherwise, nothing bounds how far its clock trails after a standstill.
  const { windowSeconds = base?.windowSeconds ?? null } = own;
  const whole = numbers(policyNumbers, [own, base ?? undefined]);
  const policy = { ...whole, windowSeconds, normal: depth('normal'), high: depth('high') };
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
