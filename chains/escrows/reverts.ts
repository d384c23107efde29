// What a reverted call says, in words: our contract's errors, a token's own text, or its selector.

import type { Hex } from 'viem';
import { decodeErrorResult } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';

/** Own words of others are cut here: they end in answers and logs. */
export const mostWords = 200;

export type Revert = {
  readonly name: string | null;
  readonly words: string;
};

export function revertIn(data: Hex): Revert {
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: escrowsAbi, data });
    return { name: errorName, words: sentence(errorName, args) };
  } catch {
    return { name: null, words: `it reverts with the error ${data.slice(0, 10)} of its own` };
  }
}

function seconds(value: unknown): string {
  return new Date(Number(value) * 1_000).toISOString();
}

function sentence(name: string, args: readonly unknown[]): string {
  switch (name) {
    case 'Error':
      return `it says "${printable(String(args[0]))}"`;
    case 'Panic':
      return `it panics with code ${String(args[0])}`;
    case 'WrongAmountReceived': {
      const gained = BigInt(args[2] as bigint) - BigInt(args[1] as bigint);
      return `the escrow would gain ${gained} instead of ${String(args[3])}: a fee on transfers?`;
    }
    case 'WrongAmountSent': {
      const lost = BigInt(args[1] as bigint) - BigInt(args[2] as bigint);
      return `the escrow would lose ${lost} instead of ${String(args[3])}`;
    }
    case 'PaymentRejected':
      return 'the receiving contract refuses the payment';
    case 'TokenCallFailed':
      return 'the token refuses the transfer';
    case 'LaneNotReady':
      return `the lane was used ${String(args[1])} times: number ${String(args[2])} is not its next`;
    case 'FundTooLate':
      return `it had to be funded before ${seconds(args[0])}, and it is ${seconds(args[1])}`;
    case 'TimelockOutOfBounds':
      return (
        `the timelock ${seconds(args[0])} is not between ${seconds(args[1])} ` +
        `and ${seconds(args[2])}, 30 minutes to 30 days ahead`
      );
    default:
      return `${name}(${args.map(String).join(', ')})`;
  }
}

/** A stranger's text without control characters, cut to a length. */
function printable(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '').slice(0, mostWords);
}
