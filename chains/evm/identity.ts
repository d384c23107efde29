// Whether a node shows the contracts: an address commits to the init code, every id to the domain.

import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { noShard, shardAt } from '../../contracts/escrows/shards.ts';
import { ParleyError } from '../../core/errors.ts';
import { contractsOf } from '../escrows/plan.ts';
import { fewWords, type Rpc, RpcError } from '../nodes/rpc.ts';
import { eachSource } from '../nodes/sources.ts';
import { chainIdOf, codeAt } from './node.ts';
import { domainOf, type EvmDeployment } from './plan.ts';
import type { Watch } from './watch.ts';

const data: Hex = encodeFunctionData({ abi: escrowsAbi, functionName: 'domain' });

export type ContractFault = { readonly says: string; readonly contract: string };

/** What is wrong with one of them, as a clause; null = nothing. Throws what the node throws. */
export async function contractFault(
  rpc: Rpc,
  deployment: EvmDeployment,
  signal: AbortSignal,
): Promise<ContractFault | null> {
  const { chainId } = deployment;
  const faults = await Promise.all(
    contractsOf(deployment).map(async (contract) => {
      const says = await faultOf(rpc, { chainId, contract }, signal);
      return says === null ? null : { says, contract };
    }),
  );
  return faults.find((each) => each !== null) ?? null;
}

async function faultOf(
  rpc: Rpc,
  { chainId, contract }: EvmDeployment,
  signal: AbortSignal,
): Promise<string | null> {
  const shard = shardAt(contract);
  if (shard === null) return `is to show ${noShard(contract)}`;
  const code = await codeAt(rpc, contract, 'latest', signal);
  if (!/^0x[0-9a-f]*$/i.test(code)) throw new Error('its code cannot be read');
  if (code === '0x') {
    const command = `npm run deploy${shard.number === 0 ? '' : ` -- --shard ${shard.number}`}`;
    return `shows no escrow contract at ${contract}: deploy it with ${command}`;
  }
  const domain = await rpc
    .call('eth_call', [{ to: contract, data }, 'latest'], signal, fewWords)
    .catch((error: unknown) => {
      if (error instanceof RpcError) return null;
      throw error;
    });
  if (domain === domainOf({ chainId, contract })) return null;
  return `shows a contract at ${contract} that was deployed under another chain id than ${chainId}`;
}

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
  if (fault !== null) throw wrong(fault.says, { contract: fault.contract });
}
