// Whether a node shows the contract of all escrows. Its address commits to the deployer, the salt
// and the init code: whatever is there was made by the pinned init code. What it says of its domain
// is compared, since every id follows from it.

import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { ParleyError } from '../../core/errors.ts';
import { fewWords, type Rpc, RpcError } from '../rpc.ts';
import { eachSource } from '../sources.ts';
import { chainIdOf, codeAt } from './node.ts';
import { domainOf, type EvmDeployment } from './plan.ts';
import type { Watch } from './watch.ts';

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

/** Throws `chain_unavailable` where a node is of another chain, or shows another contract. */
export async function checkNodes(watch: Watch, signal: AbortSignal): Promise<void> {
  const { chain, chainId, deployment } = watch;
  const wrong = (sentence: string, facts: Record<string, string | number>) =>
    new ParleyError('chain_unavailable', `${chain}: ${sentence}`, { chain, ...facts });
  const ids = await eachSource(watch, watch.rpc, (one) => chainIdOf(one, signal));
  for (const { answer: id } of ids) {
    if (id === chainId) continue;
    throw wrong(`the node is of chain id ${id}, not ${chainId} as configured`, { id, chainId });
  }
  const fault = await contractFault(watch.rpc, deployment, signal);
  if (fault !== null) throw wrong(fault, { contract: deployment.contract });
}
