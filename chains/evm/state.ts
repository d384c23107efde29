// What the contract says of one escrow, by its view: the money of all escrows lies together.

import { ParleyError } from '../../core/errors.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { stateData } from '../escrows/calls.ts';
import { fewWords, type Rpc } from '../nodes/rpc.ts';
import { type At, asked, atBlock, text } from './node.ts';
import { contractEscrow, deploymentOf, type EvmDeployment } from './plan.ts';

/** By the number that `stateOf` answers. The last two are told in contracts/escrows/README.md. */
const states = ['never', 'open', 'claimed', 'refunded', 'ended', 'void'] as const;

export type EscrowState = {
  /** `ended`: the lane holds a later escrow. `void`: the counter went to other terms. */
  readonly state: (typeof states)[number];
  /** Unix seconds of the block that funded (open) or settled it (claimed, refunded); else 0. */
  readonly changedAt: number;
};

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
    if (words === '0x' && typeof block === 'number') return { state: 'never', changedAt: 0 };
    return stateIn(words, contract);
  };
  return asked(rpc, 'eth_call', [call, atBlock(block)], signal, read, fewWords);
}

function stateIn(words: string, contract: string): EscrowState {
  if (words === '0x') throw new Error(`there is no contract at ${contract}`);
  if (!/^0x[0-9a-fA-F]{128}$/.test(words)) throw new Error('no state and second of an escrow');
  const state = states[Number(`0x${words.slice(2, 66)}`)];
  const changedAt = Number(`0x${words.slice(66)}`);
  if (state === undefined || changedAt >= 2 ** 32) throw new Error('no state of an escrow');
  return { state, changedAt };
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
  const sentence = `nothing to take from the escrow ${escrow} on ${terms.chain}: ${why}`;
  return new ParleyError('nothing_there', sentence, { chain: terms.chain, escrow });
}
