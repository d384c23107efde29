// The contract's state of one escrow, by its view: the money of all escrows lies together.

import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { noShard, shardAt } from '@parley/contracts/escrows/ids.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { stateData } from '../escrows/calls.ts';
import { contractsOf, laneIn, lanesData } from '../escrows/plan.ts';
import { type EscrowState, stateIn } from '../escrows/state.ts';
import type { Lanes } from '../interface/lanes.ts';
import { gathering } from '../nodes/gathering.ts';
import { fewWords, type Rpc, RpcError } from '../nodes/rpc.ts';
import { eachSource } from '../nodes/sources.ts';
import { type At, asked, atBlock, chainIdOf, codeAt, text } from './node.ts';
import { contractEscrow, deploymentOf, domainOf, type EvmDeployment } from './plan.ts';
import type { Watch } from './watch.ts';

export function stateAt(
  rpc: Rpc,
  deployment: EvmDeployment,
  terms: EscrowTerms,
  block: At,
  signal: AbortSignal,
): Promise<EscrowState> {
  const { contract } = deploymentOf({ deployment }, terms);
  const call = { to: contract, data: stateData(contractEscrow(terms)) };
  const read = (answer: unknown): EscrowState => {
    const words = text(answer);
    // Only an address without code answers nothing: the contract was deployed after that block.
    if (words === '0x' && typeof block === 'number') return { state: 'never' };
    return stateOf(words, contract);
  };
  return asked(rpc, 'eth_call', [call, atBlock(block)], signal, read, fewWords);
}

function stateOf(words: string, contract: string): EscrowState {
  if (words === '0x') throw new Error(`there is no contract at ${contract}`);
  const state = /^0x[0-9a-fA-F]{64}$/.test(words) ? stateIn(BigInt(words)) : null;
  if (state === null) throw new Error('no state of an escrow');
  return state;
}

export async function mustBeOpen(
  rpc: Rpc,
  deployment: EvmDeployment,
  terms: EscrowTerms,
  escrow: string,
  signal: AbortSignal,
): Promise<void> {
  const { state } = await stateAt(rpc, deployment, terms, 'latest', signal);
  if (state === 'open') return;
  throw nothingThere(terms, escrow, `the contract says "${state}" of it`);
}

export function nothingThere(terms: EscrowTerms, escrow: string, why: string): ParleyError {
  const sentence = `the escrow ${escrow} on ${terms.chain} has no balance to take: ${why}`;
  return new ParleyError('nothing_there', sentence, { chain: terms.chain, escrow });
}

export function lanesOf(rpc: Rpc): Lanes['read'] {
  return ({ contract, owner }, numbers, signal) => {
    const call = [{ to: contract, data: lanesData(owner as Hex, numbers) }, 'latest'];
    return asked(gathering(rpc, signal), 'eth_call', call, signal, (answer) => {
      const shown = { abi: escrowsAbi, functionName: 'lanesOf', data: answer as Hex } as const;
      const words = decodeFunctionResult(shown);
      if (words.length !== numbers.length) throw new Error(`${words.length} words`);
      return words.map(laneIn);
    });
  };
}

const domainCall: Hex = encodeFunctionData({ abi: escrowsAbi, functionName: 'domain' });

type ContractFault = { readonly says: string; readonly contract: string };

/** The fault of one of them, as a clause; null = nothing. Throws what the node throws. */
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

async function faultOf(rpc: Rpc, { chainId, contract }: EvmDeployment, signal: AbortSignal) {
  const shard = shardAt(contract);
  if (shard === null) return `is to show ${noShard(contract)}`;
  const code = await codeAt(rpc, contract, 'latest', signal);
  if (!/^0x[0-9a-f]*$/i.test(code)) throw new Error('its code cannot be read');
  if (code === '0x') {
    const command = `npm run deploy${shard.number === 0 ? '' : ` -- --shard ${shard.number}`}`;
    return `shows no escrow contract at ${contract}: deploy it with ${command}`;
  }
  const domain = await rpc
    .call('eth_call', [{ to: contract, data: domainCall }, 'latest'], signal, fewWords)
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
