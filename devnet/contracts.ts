// Puts the escrow factory and the dev tokens on an EVM dev chain, at addresses that are the same
// on every fresh chain.
import {
  type Address,
  createPublicClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
  keccak256,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { deployment } from '../contracts/evm/artifacts/abi.ts';
import devDollar from '../contracts/evm/artifacts/DevDollar.json' with { type: 'json' };
import devTether from '../contracts/evm/artifacts/DevTether.json' with { type: 'json' };
import pinned from '../contracts/evm/artifacts/devTokens.json' with { type: 'json' };
import feeToken from '../contracts/evm/artifacts/FeeToken.json' with { type: 'json' };
import returnsFalse from '../contracts/evm/artifacts/ReturnsFalse.json' with { type: 'json' };
import { deployContracts as deployFactory } from '../contracts/evm/deploy.ts';
import type { AnvilNode } from './anvil.ts';
import type { DevToken } from './dev-chain.ts';
import type { Contracts } from './evm-chain.ts';
import { faucetPrivateKey } from './evm-faucet.ts';
import { DevnetError } from './failure.ts';

type Contract = keyof typeof pinned;

const bytecodes: Readonly<Record<Contract, string>> = {
  DevDollar: devDollar.bytecode,
  DevTether: devTether.bytecode,
  ReturnsFalse: returnsFalse.bytecode,
  FeeToken: feeToken.bytecode,
};
const toTrade: readonly Contract[] = ['DevDollar', 'DevTether'];
const hostile: readonly Contract[] = ['ReturnsFalse', 'FeeToken'];

export async function deployContracts(
  node: AnvilNode,
  signal: AbortSignal | undefined,
): Promise<Contracts> {
  const { rpcUrl } = node;
  const { factory } = await deployFactory({
    rpcUrl,
    privateKey: faucetPrivateKey,
    ...(signal === undefined ? {} : { signal }),
  });
  const client = createPublicClient({ transport: http(rpcUrl), pollingInterval: 50 });
  const all = [...toTrade, ...hostile];
  const codes = await Promise.all(
    all.map((name) => client.getCode({ address: pinned[name].address as Address })),
  );
  const account = privateKeyToAccount(faucetPrivateKey);
  const wallet = createWalletClient({ account, transport: http(rpcUrl) });
  for (const [at, name] of all.entries()) {
    if (codes[at] !== undefined) continue;
    const data: Hex = `${deployment.salt}${bytecodes[name].replace(/^0x/, '')}` as Hex;
    const to = deployment.deployer.address;
    const hash = await wallet.sendTransaction({ to, data, chain: null });
    await client.waitForTransactionReceipt({ hash });
  }
  const describe = async (contract: Contract): Promise<DevToken> => {
    const address = pinned[contract].address as Address;
    const code = await client.getCode({ address });
    if (code === undefined || keccak256(code) !== pinned[contract].codeHash) {
      throw new DevnetError(`${contract} at ${address} is not the pinned code`, { rpcUrl });
    }
    const read = { address, abi: erc20Abi } as const;
    const [symbol, name, decimals] = await Promise.all([
      client.readContract({ ...read, functionName: 'symbol' }),
      client.readContract({ ...read, functionName: 'name' }),
      client.readContract({ ...read, functionName: 'decimals' }),
    ]);
    return { contract, symbol, name, decimals, address };
  };
  return {
    factory,
    tokens: await Promise.all(toTrade.map(describe)),
    hostileTokens: await Promise.all(hostile.map(describe)),
  };
}
