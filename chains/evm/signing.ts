// What a funder asks its own node before it signs a funding.

import { parseAbi } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import type { EvmCall } from '../interface/material.ts';
import { fewMiB, type Rpc, RpcError } from '../nodes/rpc.ts';
import { isCallFailure } from './checks/ask.ts';
import { refused, text, wordOf } from './node.ts';
import { readRevert } from './reverts.ts';
import type { Watch } from './watch.ts';

const tokenAbi = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function nonces(address owner) view returns (uint256)',
]);

export async function separator(
  { rpc }: Watch,
  token: string,
  signal: AbortSignal,
): Promise<string | null> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'DOMAIN_SEPARATOR' });
  const word = await wordAt(rpc, { to: token, data }, signal);
  return word === null ? null : `0x${word.toString(16).padStart(64, '0')}`;
}

export function permitNonce(
  { rpc }: Watch,
  token: string,
  owner: string,
  signal: AbortSignal,
): Promise<bigint | null> {
  const args = [owner as `0x${string}`] as const;
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'nonces', args });
  return wordAt(rpc, { to: token, data }, signal);
}

async function wordAt(
  rpc: Rpc,
  call: { readonly to: string; readonly data: string },
  signal: AbortSignal,
): Promise<bigint | null> {
  try {
    const answer = await rpc.call('eth_call', [call, 'latest'], signal, fewMiB);
    return answer === '0x' ? null : wordOf(text(answer));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (isCallFailure(error)) return null;
    throw refused(rpc, 'eth_call', error);
  }
}

export async function trial(
  { rpc }: Watch,
  { to, data }: EvmCall,
  from: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    await rpc.call('eth_call', [{ from, to, data, value: '0x0' }, 'latest'], signal, fewMiB);
    return null;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (isCallFailure(error)) return readRevert(error.data, error.message).words;
    throw refused(rpc, 'eth_call', error);
  }
}
