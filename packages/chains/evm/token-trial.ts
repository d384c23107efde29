// Check `transfer`: an amount that is lent to a stranger goes through an escrow and on, in one
// eth_call. The contract refuses what does not arrive whole; the last step, what was paid short.

import { transferCheck as check } from '@parley/tokens/contracts.ts';
import { type Finding, found, passed } from '@parley/tokens/inspection.ts';
import { freshAddress } from '@parley/tokens/reads.ts';
import { cleanText } from '@parley/tokens/text.ts';
import { innerReason, transferCall, trialEscrow, trialSecret } from './builders.ts';
import { headBlock } from './node.ts';
import { claimCall, fundCalls } from './plan.ts';
import { type Failure, lendBalance, tryCalls } from './simulate.ts';
import type { Watch } from './watch.ts';

const steps = [
  'an approval',
  'the funding of an escrow',
  'the claim of an escrow',
  'passing on what a claim paid',
] as const;
/** A stranger's own words in a reason. */
const mostWords = 120;

export async function tryTransfer(
  watch: Watch,
  token: string,
  amount: bigint,
  signal: AbortSignal,
): Promise<Finding> {
  const { rpc, chain, deployment } = watch;
  const from = freshAddress();
  const lent = await lendBalance(rpc, token, from, amount, signal);
  if (lent === null) {
    return found(check, 'wait', 'it cannot be tried: where it keeps its balances was not found');
  }
  const { timestamp } = await headBlock(rpc, signal);
  const { contract } = deployment;
  const terms = trialEscrow({ chain, token, amount }, contract, { from, to: from, timestamp });
  const calls = [
    ...fundCalls(terms, deployment, 0n),
    claimCall(terms, deployment, trialSecret),
    transferCall(token, freshAddress(), amount),
  ];
  const failure = await tryCalls(rpc, from, calls, lent, signal);
  if (failure === null) return passed(check);
  const what = `${steps[failure.index] ?? 'a round of transfers'} of ${amount} units`;
  const words = await innerReason(watch, terms, contract, { from, lent }, failure, signal);
  const reason = cleanText(words, mostWords);
  if (isInexact(failure)) return found(check, 'reject', `${what} is not exact: ${reason}`);
  // A token may be stopped for now, and let go again.
  return found(check, 'wait', `${what} fails: ${reason}`);
}

/** The contract counts what arrives and what leaves. */
function isInexact({ name }: Failure): boolean {
  return name === 'WrongAmountReceived' || name === 'WrongAmountSent';
}
