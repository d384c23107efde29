// From settings to gas keys: a file each, for nobody else to read. On dev chains the keys are made
// by themselves, and given coins by the start of the dev network.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { EvmAdapter } from '@parley/chains/evm/adapter.ts';
import { createEvmGasAccount } from '@parley/chains/evm/gas-account.ts';
import {
  type EvmGasPolicy,
  evmGasPolicies,
  evmGasPolicyOf,
  isKnownEvmChain,
} from '@parley/chains/evm/gas-policy.ts';
import type { GasAccount } from '@parley/chains/gas/account.ts';
import { type GasKey, parseGasKey } from '@parley/chains/gas/keys.ts';
import type { SolanaAdapter } from '@parley/chains/solana/adapter.ts';
import { createSolanaGasAccount } from '@parley/chains/solana/gas-account.ts';
import { type SolanaGasPolicy, solanaGasPolicies } from '@parley/chains/solana/gas-policy.ts';
import { solanaDeployment } from '@parley/chains/solana/plan.ts';
import type { TronAdapter } from '@parley/chains/tron/adapter.ts';
import { createTronGasAccount } from '@parley/chains/tron/gas-account.ts';
import { type TronGasPolicy, tronGasPolicies } from '@parley/chains/tron/policy.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import { partBesideClaims } from '@parley/watchtower/bounds.ts';
import type { Gas } from '@parley/watchtower/port.ts';
import type { ChainSettings } from '../settings/chains.ts';
import type { KeeperSettings } from '../settings/keeper.ts';
import { policyOf } from '../settings/policies.ts';
import { readSecretFile } from '../settings/secret-file.ts';

/** Throws an Error that names the file and never its content. */
export function openGas(
  settings: readonly KeeperSettings[],
  chains: readonly ChainSettings[],
  adapters: ReadonlyMap<ChainKey, ChainAdapter>,
): ReadonlyMap<ChainKey, Gas> {
  const all = new Map<ChainKey, Gas>();
  for (const each of settings) {
    const chain = chains.find(({ chain: key }) => key === each.chain);
    const adapter = adapters.get(each.chain);
    if (chain === undefined || adapter === undefined || !has(chain, 'gasKeys')) continue;
    const { claimGraceSeconds: claimSeconds, refundGraceSeconds: refundSeconds } = each;
    all.set(each.chain, {
      account: accountOf(chain, adapter, keyIn(each.keyFile, chain.family), each),
      dailyCap: each.dailyCap,
      takesRequests: takesRequests(chain, each),
      lowBalance: each.lowBalance,
      graces: { claimSeconds, refundSeconds },
    });
  }
  return all;
}

function accountOf(
  chain: ChainSettings & { readonly family: GasKey['family'] },
  adapter: ChainAdapter,
  key: GasKey,
  { reserveFeePerGas }: KeeperSettings,
): GasAccount {
  switch (chain.family) {
    case 'evm': {
      const { depthTag } = policyOf(chain);
      const known = evmPolicyOf(chain);
      const policy = reserveFeePerGas === null ? known : { ...known, reserveFeePerGas };
      return createEvmGasAccount({ key, adapter: adapter as EvmAdapter, policy, depthTag });
    }
    case 'tron': {
      const policy = (tronGasPolicies[chain.chain] ?? tronGasPolicies.tron) as TronGasPolicy;
      return createTronGasAccount({ key, adapter: adapter as TronAdapter, policy });
    }
    case 'solana': {
      const policy = solanaGasPolicies[chain.chain] ?? solanaGasPolicies.solana;
      return createSolanaGasAccount({
        key,
        adapter: adapter as SolanaAdapter,
        policy: policy as SolanaGasPolicy,
        deployment: { ...solanaDeployment, program: chain.program },
      });
    }
  }
}

/** EVM: where no node lends state to an estimate, a relay that shows its secret reserves the most gas of one. */
function takesRequests(
  chain: ChainSettings & { readonly family: GasKey['family'] },
  { reserveFeePerGas, dailyCap }: KeeperSettings,
): boolean {
  if (!has(chain, 'gasPrices')) return dailyCap > 0n;
  const { mostGas, reserveFeePerGas: usual } = evmPolicyOf(chain);
  return dailyCap >= partBesideClaims * mostGas * (reserveFeePerGas ?? usual);
}

/**
 * The policy of a chain whose id is known, whatever it is called; else of the one whose policy it
 * has.
 */
function evmPolicyOf(chain: ChainSettings & { readonly family: 'evm' }): EvmGasPolicy {
  const { chainId, policy } = chain;
  if (isKnownEvmChain(chainId)) return evmGasPolicyOf(chainId);
  const like = typeof policy === 'string' ? policy : policy?.like;
  return evmGasPolicies[like ?? ''] ?? evmGasPolicyOf(chainId);
}

function keyIn(path: string, family: GasKey['family']): GasKey {
  const read = readSecretFile(path, 'nobody');
  if ('wrong' in read) throw new Error(`a gas key: ${read.wrong}`);
  try {
    return parseGasKey(family, read.text);
  } catch (error) {
    throw new Error(`the gas key ${path} is refused: ${(error as Error).message}`);
  }
}

/** The daily limit of a dev key: its coins are worthless. */
const devCap = { evm: 10n ** 18n, tron: 1_000_000_000n, solana: 1_000_000_000n } as const;
/** People who try the market see the keeper at work, and parties that act are not overtaken. */
const devGraces = { claimGraceSeconds: 60, refundGraceSeconds: 120 } as const;

/** A key of its own for each dev chain that can have one, in the server's home. */
export function devKeeper(home: string, chains: readonly ChainSettings[]): KeeperSettings[] {
  return chains.flatMap(({ chain, family }): KeeperSettings[] => {
    if (!has(family, 'gasKeys')) return [];
    const keyFile = join(home, `keeper-${chain}.key`);
    try {
      writeFileSync(keyFile, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const dailyCap = devCap[family];
    return [
      {
        chain,
        keyFile,
        dailyCap,
        lowBalance: dailyCap,
        ...devGraces,
        reserveFeePerGas: null,
      },
    ];
  });
}
