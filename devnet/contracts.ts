// Puts the escrow contract and the dev tokens on an EVM dev chain, at addresses that are the same
// on every fresh chain.
import { type Address, createPublicClient, erc20Abi, http } from 'viem';
import { deployContracts as deployEscrows } from '../contracts/escrows/deploy.ts';
import type { DeployOptions } from '../contracts/evm/create2.ts';
import { type DevToken as Contract, deployDevTokens } from '../contracts/evm/dev-tokens.ts';
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
  const addresses = await deployDevTokens(options);
  const client = createPublicClient({ transport: http(rpcUrl) });
  const describe = async (contract: Contract): Promise<DevToken> => {
    const address = addresses[contract] as Address;
    const read = { address, abi: erc20Abi } as const;
    const [symbol, name, decimals] = await Promise.all([
      client.readContract({ ...read, functionName: 'symbol' }),
      client.readContract({ ...read, functionName: 'name' }),
      client.readContract({ ...read, functionName: 'decimals' }),
    ]);
    return { contract, symbol, name, decimals, address };
  };
  return {
    escrows: contract,
    tokens: await Promise.all(toTrade.map(describe)),
    hostileTokens: await Promise.all(hostile.map(describe)),
  };
}
