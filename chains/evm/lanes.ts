// What the lanes of a funder hold at the best block.

import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { Lanes } from '../adapter.ts';
import type { Rpc } from '../rpc.ts';
import { asked } from './node.ts';
import type { EvmDeployment } from './plan.ts';

const counterBits = 30n;
const stateShift = 62n;
const open = 1n;

export function lanesOf(rpc: Rpc, { contract }: EvmDeployment): Lanes['read'] {
  const functionName = 'lanesOf';
  return (funder, numbers, signal) => {
    const keys = numbers.map((number) => (BigInt(funder) << 96n) | BigInt(`0x${number}`));
    const data = encodeFunctionData({ abi: escrowsAbi, functionName, args: [keys] });
    const call = [{ to: contract, data }, 'latest'];
    return asked(rpc, 'eth_call', call, signal, (answer) => {
      const shown = { abi: escrowsAbi, functionName, data: answer as Hex } as const;
      const words = decodeFunctionResult(shown);
      if (words.length !== keys.length) throw new Error(`${words.length} words`);
      return words.map((word) => ({
        counter: Number(word & ((1n << counterBits) - 1n)),
        isOpen: ((word >> stateShift) & 3n) === open,
      }));
    });
  };
}
