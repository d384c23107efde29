// The steps of a trial: one amount goes round, and each step must move exactly it.

import { randomBytes } from 'node:crypto';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { hashlockOf } from '../../../core/hashlock.ts';
import type { EscrowTerms } from '../../../core/terms.ts';
import { claimData, fundData, refundData } from '../../escrows/calls.ts';
import { contractEscrow, type EvmDeployment } from '../plan.ts';
import { lentOpen, type Overrides } from '../simulate.ts';

export type Step = {
  readonly what: string;
  readonly actor: string;
  readonly to: string;
  readonly data: Hex;
  readonly moves: { readonly payer: string; readonly payee: string } | null;
};

export type Course = {
  readonly amount: bigint;
  readonly steps: readonly Step[];
  readonly lent: Overrides;
};

const hourSeconds = 3_600;
const laneBytes = 12;

export function courseOf(
  token: string,
  amount: bigint,
  actors: Actors,
  deployment: EvmDeployment,
  now: number,
): Course {
  const { holder, second, spender, contract, payout, last, origin } = actors;
  const secret = randomBytes(32).toString('hex');
  const at = (address: string) => ({ address, pubkey: null });
  const common = {
    chain: '',
    hashlock: hashlockOf(secret),
    token,
    amount,
    lane: { number: randomBytes(laneBytes).toString('hex'), counter: 1 },
  };
  const live: EscrowTerms = {
    ...common,
    payout: at(payout),
    refund: at(contract),
    timelock: now + 2 * hourSeconds,
    fundBefore: now + hourSeconds,
  };
  const over: EscrowTerms = {
    ...common,
    payout: at(second),
    refund: at(last),
    timelock: now - hourSeconds,
    fundBefore: now - 2 * hourSeconds,
  };
  const escrows = deployment.contract;
  const transfer = (what: string, payer: string, payee: string) =>
    transferStep(what, token, payer, payee, amount);
  const approve = (actor: string, who: string): Step => {
    const args = [who as Hex, amount] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
    return { what: 'an approval', actor, to: token, data, moves: null };
  };
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
    approve(contract, escrows),
    {
      what: 'the funding of an escrow',
      actor: contract,
      to: escrows,
      data: fundData(contractEscrow(live)),
      moves: { payer: contract, payee: escrows },
    },
    {
      what: 'the claim of an escrow',
      actor: origin,
      to: escrows,
      data: claimData(contractEscrow(live), secret),
      moves: { payer: escrows, payee: payout },
    },
    // What lies there belongs to nobody, and is what the escrow that is over pays back.
    transfer('a transfer of what was claimed', payout, escrows),
    {
      what: 'the refund of an escrow',
      actor: origin,
      to: escrows,
      data: refundData(contractEscrow(over)),
      moves: { payer: escrows, payee: last },
    },
  ];
  return { amount, steps, lent: lentOpen(over, deployment) };
}

function transferStep(what: string, token: string, payer: string, payee: string, amount: bigint) {
  const args = [payee as Hex, amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return { what, actor: payer, to: token, data, moves: { payer, payee } };
}

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
  return { amount, steps, lent: {} };
}

const addressBytes = 20;

export type Actors = {
  readonly holder: string;
  readonly second: string;
  readonly spender: string;
  /** A contract that holds tokens, as a market does. */
  readonly contract: string;
  readonly payout: string;
  /** Paid by a refund; no code is ever lent to it. */
  readonly last: string;
  /** Sends what an actor need not. */
  readonly origin: string;
  readonly director: string;
};

export function freshAddress(): string {
  return `0x${randomBytes(addressBytes).toString('hex')}`;
}

export function newActors(): Actors {
  return {
    holder: freshAddress(),
    second: freshAddress(),
    spender: freshAddress(),
    contract: freshAddress(),
    payout: freshAddress(),
    last: freshAddress(),
    origin: freshAddress(),
    director: freshAddress(),
  };
}
