// What a reverted call says, in words: our contract's errors, a token's own text, or its selector.

import { decodeErrorResult } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { plainWords } from './http.ts';
import type { Trial } from './node.ts';

/** Why a call would fail; null: it would not. */
export function reasonOf({ failure, output }: Trial): string | null {
  if (failure === null) return null;
  if (output === '') return `it fails: ${failure}`;
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: escrowsAbi, data: `0x${output}` });
    return sentence(errorName, args);
  } catch {
    return `it reverts with the error 0x${output.slice(0, 8)} of its own`;
  }
}

function seconds(value: unknown): string {
  return new Date(Number(value) * 1_000).toISOString();
}

function sentence(name: string, args: readonly unknown[]): string {
  switch (name) {
    case 'Error':
      return `it says "${plainWords(`${args[0]}`)}"`;
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
