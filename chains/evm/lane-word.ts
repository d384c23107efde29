// The storage word of a lane. Lent to the contract, it makes an escrow open that nobody funded.
// Pure.

import { encodeAbiParameters, type Hex, keccak256 } from 'viem';
import type { EscrowTerms } from '../../core/terms.ts';
import { contractEscrow, deploymentOf, type EvmDeployment, evmEscrow, idOfEscrow } from './plan.ts';
import type { Overrides } from './simulate.ts';

const open = 1n;
const [timeShift, stateShift, idShift] = [30n, 62n, 64n];
const timeModulus = 2n ** 32n;

export function laneSlot(funder: Hex, lane: bigint): Hex {
  const key = (BigInt(funder) << 96n) | lane;
  return keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [key, 0n]));
}

export function openWord(id: Hex, since: bigint, counter: number): Hex {
  const start = (BigInt(id) >> idShift) << idShift;
  const time = (since % timeModulus) << timeShift;
  const word = start | (open << stateShift) | time | BigInt(counter);
  return `0x${word.toString(16).padStart(64, '0')}`;
}

/** What to lend the contract so that the escrow of these terms is open. It is lent no money. */
export function lentOpen(terms: EscrowTerms, deployment: EvmDeployment): Overrides {
  const { terms: told, lane, counter } = contractEscrow(terms);
  const id = idOfEscrow(evmEscrow(terms, deployment).address);
  const word = openWord(id, told.fundBefore - 1n, counter);
  const stateDiff = { [laneSlot(told.refund, lane)]: word };
  return { [deploymentOf({ deployment }, terms).contract]: { stateDiff } };
}
