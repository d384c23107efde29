// Whether a node shows the contract of all escrows. Its address commits to the deployer, the salt
// and the init code: whatever is there was made by the pinned init code. What it says of its domain
// is compared, since every id follows from it.

import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { fewWords, type Rpc, RpcError } from '../rpc.ts';
import { codeAt } from './node.ts';
import { domainOf, type EvmDeployment } from './plan.ts';

const data: Hex = encodeFunctionData({ abi: escrowsAbi, functionName: 'domain' });

/** What is wrong with it, as a clause; null = nothing. Throws what the node throws. */
export async function contractFault(
  rpc: Rpc,
  deployment: EvmDeployment,
  signal: AbortSignal,
): Promise<string | null> {
  const { contract, chainId } = deployment;
  const code = await codeAt(rpc, contract, 'latest', signal);
  if (!/^0x[0-9a-f]*$/i.test(code)) throw new Error('its code cannot be read');
  if (code === '0x')
    return `shows no escrow contract at ${contract}: deploy it with npm run deploy`;
  const domain = await rpc
    .call('eth_call', [{ to: contract, data }, 'latest'], signal, fewWords)
    .catch((error: unknown) => {
      if (error instanceof RpcError) return null;
      throw error;
    });
  if (domain === domainOf(deployment)) return null;
  return `shows a contract at ${contract} that was deployed under another chain id than ${chainId}`;
}
