// Which policy a configured chain has: one of the tables of chains/*/policy.ts, by name or by what
// the chain is, with the operator's own numbers laid over it. What cannot be used is an Error.

import { bitcoinPolicies } from '../chains/bitcoin/policy.ts';
import { type DepthTag, type EvmChainSettings, evmChains } from '../chains/evm/policy.ts';
import { brokenInequalities } from '../core/deadlines.ts';
import type { ChainPolicy, Depth } from '../core/policy.ts';
import { worldOfChainId } from '../core/worlds.ts';
import type { ChainSettings, OwnPolicy } from './chain-settings.ts';

export type PolicyOfChain = {
  readonly policy: ChainPolicy;
  /** EVM only. */
  readonly depthTag: DepthTag | null;
};

type Table = ReadonlyMap<string, PolicyOfChain & { readonly dev: boolean }>;

const bitcoinTable: Table = new Map(
  Object.entries(bitcoinPolicies).map(([name, policy]) => [
    name,
    { policy, depthTag: null, dev: name === 'regtest' },
  ]),
);
const evmTable: Table = new Map(
  Object.entries(evmChains).map(([name, { chainId, policy, depthTag }]) => [
    name,
    { policy, depthTag, dev: worldOfChainId(chainId) === 'dev' },
  ]),
);

/** Throws an Error: a name that is not known, numbers that are missing or unsound. */
export function policyOf(chain: ChainSettings): PolicyOfChain {
  const { policy: given } = chain;
  const own: OwnPolicy = typeof given === 'object' ? given : {};
  const name = typeof given === 'string' ? given : (own.like ?? ownName(chain));
  const table = chain.family === 'bitcoin' ? bitcoinTable : evmTable;
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
  return { policy, depthTag: asked === undefined ? (base?.depthTag ?? null) : asked };
}

/** The name of the policy that a chain has where none is asked for; null = none is known. */
function ownName(chain: ChainSettings): string | null {
  if (chain.family === 'bitcoin') return chain.network === 'signet' ? 'testnet' : chain.network;
  const known: readonly [string, EvmChainSettings][] = Object.entries(evmChains);
  const named = known.find(([, { chainId }]) => chainId === chain.chainId);
  if (named !== undefined) return named[0];
  return isDev(chain) ? 'evm-dev' : null;
}

function isDev(chain: ChainSettings): boolean {
  if (chain.family === 'bitcoin') return chain.network === 'regtest';
  return (worldOfChainId(chain.chainId) ?? chain.world) === 'dev';
}

/** Every number of a policy but the depths'. */
const numbers = [
  'floorSeconds',
  'lateClaimSeconds',
  'reactSeconds',
  'signSeconds',
  'detectSeconds',
] as const;
const depthNumbers = ['confirmations', 'settleSeconds', 'outageSeconds'] as const;

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
  const [floorSeconds, lateClaimSeconds, reactSeconds, signSeconds, detectSeconds] = numbers.map(
    (name) => number(name, own[name], base?.[name]),
  ) as [number, number, number, number, number];
  const whole = { floorSeconds, lateClaimSeconds, reactSeconds, signSeconds, detectSeconds };
  const policy: ChainPolicy = { ...whole, normal: depth('normal'), high: depth('high') };
  if (missing.length > 0) {
    throw wrong(
      chain,
      `no policy is known for it: name one with "policy", or give ${missing.join(', ')}`,
    );
  }
  for (const name of depthNumbers) {
    if (policy.high[name] >= policy.normal[name]) continue;
    const { [name]: high } = policy.high;
    throw wrong(chain, `high.${name} is ${high}, less than normal.${name} ${policy.normal[name]}`);
  }
  // Alone and with its like: a chain that is served by itself must be sound as well.
  for (const own of [policy.normal, policy.high]) {
    const [sentence] = brokenInequalities({ policy, depth: own }, { policy, depth: own });
    if (sentence !== undefined) throw wrong(chain, sentence);
  }
  return policy;
}

function wrong(chain: ChainSettings, sentence: string): Error {
  const id = chain.family === 'evm' ? ` (id ${chain.chainId})` : '';
  return new Error(`policy of chain "${chain.chain}"${id} refused: ${sentence}`);
}
