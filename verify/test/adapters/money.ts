// Balances of addresses, and gas keys with coins, on the families that have both.

import { randomBytes } from 'node:crypto';
import type { EvmAdapter } from '@parley/chains/evm/adapter.ts';
import { createEvmGasAccount } from '@parley/chains/evm/gas-account.ts';
import { evmGasPolicies } from '@parley/chains/evm/gas-policy.ts';
import type { GasAccount } from '@parley/chains/gas/account.ts';
import { parseGasKey } from '@parley/chains/gas/keys.ts';
import type { SolanaAdapter } from '@parley/chains/solana/adapter.ts';
import { createSolanaGasAccount } from '@parley/chains/solana/gas-account.ts';
import { accountsAt } from '@parley/chains/solana/node.ts';
import { solanaGasPolicies } from '@parley/chains/solana/policy.ts';
import { associatedTokenAccount, tokenProgram } from '@parley/chains/solana/programs.ts';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import type { TronAdapter } from '@parley/chains/tron/adapter.ts';
import { tronAddressOf } from '@parley/chains/tron/address.ts';
import { createTronGasAccount } from '@parley/chains/tron/gas-account.ts';
import { accountOf } from '@parley/chains/tron/node.ts';
import { tronGasPolicies } from '@parley/chains/tron/policy.ts';
import { tokenBalance } from '@parley/chains/tron/views.ts';
import type { DevChain } from '@parley/dev/devnet/dev-chain.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import type { CoinKind, Money } from './driver.ts';

const soon = () => AbortSignal.timeout(30_000);
const freshKey = () => randomBytes(32).toString('hex');
type Of<Adapter> = {
  readonly dev: DevChain;
  readonly url: string;
  token(kind: CoinKind): string | null;
  adapter(urls?: readonly string[]): Adapter;
};

/** The policy of a dev chain's gas keys. */
function ofDev<Policy>(policies: Readonly<Record<string, Policy>>, chain: string): Policy {
  const policy = policies[chain];
  if (policy === undefined) throw new Error(`no gas policy of ${chain}`);
  return policy;
}

async function given(dev: DevChain, account: GasAccount): Promise<GasAccount> {
  await dev.give({ address: account.address, token: null, amount: null });
  await dev.mine(1);
  return account;
}

export function evmMoney({ dev, url, token, adapter }: Of<EvmAdapter>): Money {
  const rpc = rpcTo(url);
  const policy = ofDev(evmGasPolicies, 'evm-dev');
  return {
    gasAccount: (urls) => {
      const key = parseGasKey('evm', freshKey());
      return given(dev, createEvmGasAccount({ key, adapter: adapter(urls), policy }));
    },
    held: async (kind, address) => {
      const to = token(kind);
      const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
      if (to === null) return BigInt(await rpc<string>('eth_getBalance', [address, 'latest']));
      return BigInt(await rpc<string>('eth_call', [{ to, data }, 'latest']));
    },
    newcomer: () => adapter().parseAddress(`0x${randomBytes(20).toString('hex')}`),
  };
}

export function tronMoney({ dev, token, adapter }: Of<TronAdapter>): Money {
  const policy = ofDev(tronGasPolicies, 'tron-dev');
  return {
    gasAccount: (urls) => {
      const key = parseGasKey('tron', freshKey());
      return given(dev, createTronGasAccount({ key, adapter: adapter(urls), policy }));
    },
    held: async (kind, address) => {
      const { node } = adapter();
      const contract = token(kind);
      if (contract !== null) return tokenBalance(node, 'head', contract, address, soon());
      return (await accountOf(node, address, soon()))?.balance ?? 0n;
    },
    newcomer: () => tronAddressOf(randomBytes(20)),
  };
}

export function solanaMoney({ dev, url, token, adapter }: Of<SolanaAdapter>): Money {
  const policy = ofDev(solanaGasPolicies, 'solana-dev');
  const rpc = rpcTo(url);
  return {
    gasAccount: (urls) => {
      const key = parseGasKey('solana', freshKey());
      return given(dev, createSolanaGasAccount({ key, adapter: adapter(urls), policy }));
    },
    held: async (kind, address) => {
      const mint = token(kind);
      const at = mint === null ? address : associatedTokenAccount(address, mint, tokenProgram);
      const { accounts } = await accountsAt(adapter().node, [at], 'confirmed', soon());
      const [account = null] = accounts;
      if (account === null) return 0n;
      if (mint === null) return BigInt(account.lamports);
      return new DataView(account.data.buffer, account.data.byteOffset).getBigUint64(64, true);
    },
    newcomer: () => solanaAddressOfSeed(randomBytes(32)),
    force: ({ raw }) => rpc('sendTransaction', [raw, { encoding: 'base64', skipPreflight: true }]),
  };
}
