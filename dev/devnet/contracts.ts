// Puts the escrow contract and dev tokens on an EVM dev chain, at the same addresses everywhere.

import devCoin from '@parley/contracts/escrows/artifacts/DevCoin.json' with { type: 'json' };
import { deployContracts as deployEscrows } from '@parley/contracts/escrows/deploy.ts';
import type { DeployOptions } from '@parley/contracts/evm/create2.ts';
import {
  type DevToken as Contract,
  deployDevToken,
  initCodeOf,
} from '@parley/contracts/evm/dev-tokens.ts';
import { createPublicClient, erc20Abi, type Hex, http } from 'viem';
import type { AnvilNode } from './anvil.ts';
import type { DevToken } from './dev-chain.ts';
import type { Contracts } from './evm-chain.ts';
import { faucetPrivateKey } from './evm-faucet.ts';

const toTrade: readonly Contract[] = ['DevDollar', 'DevTether'];
const hostile: readonly Contract[] = ['ReturnsFalse', 'FeeToken'];

export async function deployContracts(
  { rpcUrl }: AnvilNode,
  signal: AbortSignal | undefined,
): Promise<Contracts> {
  const options: DeployOptions = {
    rpcUrl,
    privateKey: faucetPrivateKey,
    ...(signal === undefined ? {} : { signal }),
  };
  const { contract } = await deployEscrows(options);
  const client = createPublicClient({ transport: http(rpcUrl) });
  const put = async (contract: string, initCode: Hex): Promise<DevToken> => {
    const address = await deployDevToken(options, initCode);
    const read = { address, abi: erc20Abi } as const;
    const [symbol, name, decimals] = await Promise.all([
      client.readContract({ ...read, functionName: 'symbol' }),
      client.readContract({ ...read, functionName: 'name' }),
      client.readContract({ ...read, functionName: 'decimals' }),
    ]);
    return { contract, symbol, name, decimals, address };
  };
  // One after the other: each is a transaction of the same key.
  const all = async (names: readonly Contract[]) => {
    const tokens: DevToken[] = [];
    for (const name of names) tokens.push(await put(name, initCodeOf(name)));
    return tokens;
  };
  const tokens = await all(toTrade);
  // It takes permits and authorizations, as USDC does.
  tokens.push(await put('DevCoin', devCoin.bytecode as Hex));
  return { escrows: contract, tokens, hostileTokens: await all(hostile) };
}
