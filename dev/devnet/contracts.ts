// Puts the escrow contract and dev tokens on an EVM dev chain, at the same addresses everywhere.

import devCoin from '@parley/contracts/escrows/artifacts/DevCoin.json' with { type: 'json' };
import { deployContracts as deployEscrows } from '@parley/contracts/escrows/deploy.ts';
import {
  type DeployOptions,
  deployer,
  sendThroughDeployer,
} from '@parley/contracts/evm/create2.ts';
import {
  type DevToken as Contract,
  deployDevTokens,
  devSalt,
} from '@parley/contracts/evm/dev-tokens.ts';
import {
  type Address,
  createPublicClient,
  erc20Abi,
  getCreate2Address,
  type Hex,
  http,
} from 'viem';
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
  const describe = async (contract: string, address: Address): Promise<DevToken> => {
    const read = { address, abi: erc20Abi } as const;
    const [symbol, name, decimals] = await Promise.all([
      client.readContract({ ...read, functionName: 'symbol' }),
      client.readContract({ ...read, functionName: 'name' }),
      client.readContract({ ...read, functionName: 'decimals' }),
    ]);
    return { contract, symbol, name, decimals, address };
  };
  const all = (names: readonly Contract[]) =>
    names.map((name) => describe(name, addresses[name] as Address));
  // It takes permits and authorizations, as USDC does.
  const signed = describe('DevCoin', await deployDevCoin(options));
  return {
    escrows: contract,
    tokens: await Promise.all([...all(toTrade), signed]),
    hostileTokens: await Promise.all(all(hostile)),
  };
}

async function deployDevCoin(options: DeployOptions): Promise<Address> {
  const bytecode = devCoin.bytecode as Hex;
  await sendThroughDeployer(options, { salt: devSalt, initCode: bytecode });
  return getCreate2Address({ from: deployer.address, salt: devSalt, bytecode });
}
