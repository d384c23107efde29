// What the lanes of a funder hold at the best block.

import type { Hex } from 'viem';
import { decodeFunctionResult } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { laneIn, lanesData } from '../escrows/lanes.ts';
import type { Lanes } from '../interface/lanes.ts';
import { gathering } from '../nodes/gathering.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { asked } from './node.ts';

export function lanesOf(rpc: Rpc): Lanes['read'] {
  return ({ contract, funder }, numbers, signal) => {
    const call = [{ to: contract, data: lanesData(funder as Hex, numbers) }, 'latest'];
    return asked(gathering(rpc, signal), 'eth_call', call, signal, (answer) => {
      const shown = { abi: escrowsAbi, functionName: 'lanesOf', data: answer as Hex } as const;
      const words = decodeFunctionResult(shown);
      if (words.length !== numbers.length) throw new Error(`${words.length} words`);
      return words.map(laneIn);
    });
  };
}
