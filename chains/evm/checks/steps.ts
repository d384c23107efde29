// What a trial does, step by step: one amount goes round through every kind of transfer and through
// our own contracts, and each step must move exactly it. Pure.

import { encodeFunctionData, type Hex, sha256 } from 'viem';
import { erc20Abi, escrowAbi, factoryAbi } from '../../../contracts/evm/artifacts/abi.ts';
import { type ContractTerms, type EvmDeployment, escrowAddress } from '../plan.ts';
import type { Actors } from './actors.ts';

export type Step = {
  /** In words, for a sentence: "... of 1000 units". */
  readonly what: string;
  readonly actor: string;
  readonly to: string;
  readonly data: Hex;
  /** Who loses and who gains the amount; null: nothing moves. */
  readonly moves: { readonly payer: string; readonly payee: string } | null;
};

export type Course = {
  readonly amount: bigint;
  readonly steps: readonly Step[];
  /** An escrow whose timelock has passed: its code is lent to this address. null: none. */
  readonly expired: string | null;
};

const secret: Hex = `0x${'00'.repeat(31)}01`;
const hourSeconds = 3_600n;

export function courseOf(
  token: string,
  amount: bigint,
  actors: Actors,
  deployment: EvmDeployment,
  now: number,
): Course {
  const { holder, second, spender, contract, payout, last, origin } = actors;
  const common = { hashlock: sha256(secret), token: token as Hex, amount };
  const live: ContractTerms = {
    ...common,
    payout: payout as Hex,
    refund: contract as Hex,
    timelock: BigInt(now) + 2n * hourSeconds,
  };
  const over: ContractTerms = {
    ...common,
    payout: second as Hex,
    refund: last as Hex,
    timelock: BigInt(now) - hourSeconds,
  };
  const escrow = escrowAddress(live, deployment);
  const expired = escrowAddress(over, deployment);
  const { factory } = deployment;
  const transfer = (what: string, payer: string, payee: string) =>
    transferStep(what, token, payer, payee, amount);
  const approve = (actor: string, who: string): Step => {
    const args = [who as Hex, amount] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
    return { what: 'an approval', actor, to: token, data, moves: null };
  };
  const escrowCall = (functionName: 'claim' | 'refund', terms: ContractTerms) =>
    functionName === 'claim'
      ? encodeFunctionData({ abi: escrowAbi, functionName, args: [terms, secret] })
      : encodeFunctionData({ abi: escrowAbi, functionName, args: [terms] });
  const steps: Step[] = [
    transfer('a transfer from one holder to another', holder, second),
    approve(second, spender),
    {
      what: 'a transfer to a contract by an approved spender',
      actor: spender,
      to: token,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transferFrom',
        args: [second as Hex, contract as Hex, amount],
      }),
      moves: { payer: second, payee: contract },
    },
    approve(contract, factory),
    {
      what: 'the funding of an escrow',
      actor: contract,
      to: factory,
      data: encodeFunctionData({ abi: factoryAbi, functionName: 'fund', args: [live] }),
      moves: { payer: contract, payee: escrow },
    },
    {
      what: 'the claim of an escrow',
      actor: origin,
      to: escrow,
      data: escrowCall('claim', live),
      moves: { payer: escrow, payee: payout },
    },
    transfer('a transfer of what was claimed', payout, expired),
    {
      what: 'the refund of an escrow',
      actor: origin,
      to: expired,
      data: escrowCall('refund', over),
      moves: { payer: expired, payee: last },
    },
  ];
  return { amount, steps, expired };
}

function transferStep(
  what: string,
  token: string,
  payer: string,
  payee: string,
  amount: bigint,
): Step {
  const args = [payee as Hex, amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return { what, actor: payer, to: token, data, moves: { payer, payee } };
}

/** Sold to a market that the token names, and bought there. */
export function marketCourse(
  token: string,
  amount: bigint,
  { holder, last }: Actors,
  market: string,
): Course {
  const steps = [
    transferStep(`a sale to its market ${market}`, token, holder, market, amount),
    transferStep(`a purchase from its market ${market}`, token, market, last, amount),
  ];
  return { amount, steps, expired: null };
}
