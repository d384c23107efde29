// What the contract says of one escrow.

import type { Hex } from 'viem';
import { decodeFunctionResult } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { stateData } from '../escrows/calls.ts';
import type { Rpc } from '../rpc.ts';
import { asked } from './node.ts';
import { contractEscrow, type EvmDeployment } from './plan.ts';

/** By the number that `stateOf` answers. */
const states = ['never', 'open', 'claimed', 'refunded', 'ended', 'void'] as const;

export type EscrowState = {
  readonly state: (typeof states)[number];
  /** Unix seconds of the funding (open) or of the settling (claimed, refunded); else 0. */
  readonly changedAt: number;
};

/** At a block's number or at the best block. */
export function stateAt(
  rpc: Rpc,
  deployment: EvmDeployment,
  terms: EscrowTerms,
  at: number | 'latest',
  signal: AbortSignal,
): Promise<EscrowState> {
  const call = { to: deployment.contract, data: stateData(contractEscrow(terms)) };
  const block = typeof at === 'number' ? `0x${at.toString(16)}` : at;
  return asked(rpc, 'eth_call', [call, block], signal, (answer) => {
    const [code, changedAt] = decodeFunctionResult({
      abi: escrowsAbi,
      functionName: 'stateOf',
      data: answer as Hex,
    });
    const state = states[Number(code)];
    if (state === undefined) throw new Error(`state ${code}`);
    return { state, changedAt: Number(changedAt) };
  });
}
