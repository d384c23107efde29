// What lanes hold, by the contract's view of many: asked for, and read back. Pure.

import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { LaneState, Lanes } from '../interface/lanes.ts';
import { contractsOf, type Deployment, openContracts } from './plan.ts';

const counterBits = 30n;
const stateShift = 62n;
const open = 1n;

export function lanesData(funder: Hex, numbers: readonly string[]): Hex {
  const keys = numbers.map((number) => (BigInt(funder) << 96n) | BigInt(`0x${number}`));
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'lanesOf', args: [keys] });
}

export function laneIn(word: bigint): LaneState {
  return {
    counter: Number(word & ((1n << counterBits) - 1n)),
    isOpen: ((word >> stateShift) & 3n) === open,
  };
}

export function lanesIn<D extends Deployment>(
  deployment: D,
  contractFor: (funder: string, deployment: D) => string,
  read: Lanes['read'],
): Lanes {
  return {
    contracts: contractsOf(deployment),
    open: openContracts(deployment),
    contractFor: (funder) => contractFor(funder, deployment),
    read,
  };
}
