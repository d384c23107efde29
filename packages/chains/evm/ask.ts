// Questions to a stranger's contract. Their gas bounds the time and the size of an answer.

import { dataOf } from '@parley/tokens/words.ts';
import type { Hex } from 'viem';
import { fewMiB, isCallFailure, type Rpc, RpcError } from '../nodes/rpc.ts';
import { refused } from './node.ts';

/** Enough for a token behind several proxies; the usual answer takes less than 30 000. */
export const questionGas = '0x7a120';

export function callData(signature: string, ...values: readonly (bigint | string)[]): Hex {
  return `0x${dataOf(signature, ...values)}`;
}

export async function ask(
  rpc: Rpc,
  to: string,
  data: string,
  signal: AbortSignal,
): Promise<Hex | null> {
  try {
    const call = { to, data, gas: questionGas };
    const answer = await rpc.call('eth_call', [call, 'latest'], signal, fewMiB);
    return typeof answer === 'string' && /^0x[0-9a-fA-F]{2}/.test(answer) ? (answer as Hex) : null;
  } catch (error) {
    if (isCallFailure(error)) return null;
    throw error instanceof RpcError ? refused(rpc, 'eth_call', error) : error;
  }
}

const wordHex = 66;

export async function askWord(
  rpc: Rpc,
  to: string,
  data: string,
  signal: AbortSignal,
): Promise<bigint | null> {
  const answer = await ask(rpc, to, data, signal);
  return answer === null || answer.length < wordHex ? null : BigInt(answer.slice(0, wordHex));
}
