// Whether a token can be traded through our escrow, tried on a fork: funding, claim, refund.

import { randomBytes } from 'node:crypto';
import { decodeErrorResult, sha256 } from 'viem/utils';
import { escrowsAbi } from '../../../contracts/escrows/artifacts/abi.ts';
import type { Escrow } from '../../../contracts/escrows/ids.ts';
import { claimData, fundData, refundData } from '../../escrows/calls.ts';
import { type Finding, found, passed } from '../../tokens/inspection.ts';
import { closedNow } from '../../tokens/powers.ts';
import { daySeconds, daysAhead, judgeRebase } from '../../tokens/rebase.ts';
import { cleanText } from '../../tokens/text.ts';
import { dataOf } from '../../tokens/words.ts';
import { reasonOf } from '../energy.ts';
import type { Fork, ForkCall } from '../fork/fork.ts';
import type { Trial } from '../node.ts';
import { bareAddress } from '../plan.ts';
import { balanceOf, flagOf, type Look, lend, numberOf, ranOut, shown, tooDear } from './ask.ts';

const check = 'transfer';
const hour = 3_600;
/** A stranger's own words in a reason. */
const mostWords = 120;

/** One unit, a thousandth and a twentieth of all there is. */
function amountsOf(supply: bigint): bigint[] {
  const some = [1n, supply / 1_000n, supply / 20n];
  return [...new Set(some.filter((amount) => amount > 0n))];
}

export type Situation = {
  readonly supply: bigint;
  /** Transfers may be stopped now and be let go again: then a refusal is not for ever. */
  readonly mayBeStopped: boolean;
};

/** Checks `transfer`, and `limit`: that a large amount is taken as a small one is. */
export async function checkTransfer(look: Look, situation: Situation): Promise<Finding[]> {
  const done: bigint[] = [];
  for (const amount of amountsOf(situation.supply)) {
    const fault = await tryAmount(look, amount);
    if (fault === null) {
      done.push(amount);
      continue;
    }
    const { sentence, refused } = fault;
    if (refused && done.length > 0) {
      const moves = `it moves ${done.join(' and ')} units, but ${sentence.replace(/^it /, '')}`;
      return [passed(check), found('limit', 'wait', moves)];
    }
    const may = fault.unknown || (refused && (situation.mayBeStopped || (await isClosed(look))));
    return [found(check, may ? 'wait' : 'reject', sentence)];
  }
  return [passed(check), passed('limit')];
}

async function isClosed({ forks, token }: Look): Promise<boolean> {
  return (await closedNow(flagOf(await forks.fork(), token))) !== null;
}

/** What went wrong with a step; `refused`: the token did not move anything. */
type Fault = {
  readonly sentence: string;
  readonly refused: boolean;
  readonly unknown?: true;
};

type Trade = {
  readonly fork: Fork;
  readonly token: string;
  readonly amount: bigint;
  readonly escrows: string;
  readonly funder: string;
  readonly receiver: string;
  readonly escrow: Escrow;
  readonly secret: `0x${string}`;
};

async function tryAmount(look: Look, amount: bigint): Promise<Fault | null> {
  const { token, forks, watch } = look;
  const fork = await forks.fork();
  const [funder, receiver] = [fork.stranger(), fork.stranger()];
  if ((await lend(fork, token, funder, amount)) === null) {
    const sentence = 'its transfers could not be tried: no balance of it could be lent to anybody';
    return { sentence, refused: false, unknown: true };
  }
  const secret: `0x${string}` = `0x${randomBytes(32).toString('hex')}`;
  const terms = {
    hashlock: sha256(secret),
    payout: `0x${receiver}`,
    refund: `0x${funder}`,
    token: bareAddress(token),
    amount,
    timelock: BigInt(fork.now + 2 * hour),
    fundBefore: BigInt(fork.now + hour),
  } as const;
  const escrow = { terms, lane: 0n, counter: 1 };
  const escrows = watch.deployment.contract;
  return faultOf({ fork, token, amount, escrows, funder, receiver, escrow, secret });
}

async function faultOf(trade: Trade): Promise<Fault | null> {
  const funding = await tryFunding(trade);
  if (funding !== null) return funding;
  const { state } = trade.fork;
  await state.checkpoint();
  const claiming = (await tryClaim(trade)) ?? (await tryPassingOn(trade));
  await state.revert();
  if (claiming !== null) return { ...claiming, refused: false };
  const refunding = await tryRefund(trade);
  return refunding === null ? null : { ...refunding, refused: false };
}

async function tryFunding(trade: Trade): Promise<Fault | null> {
  const { fork, token, escrows, funder, amount, escrow } = trade;
  const spender = bareAddress(escrows).slice(2);
  const approval = dataOf('approve(address,uint256)', spender, amount);
  const approved = await fork.call({ from: shown(funder), to: token, data: approval });
  if (approved.failure !== null) return refusal('an approval', approved);
  const before = await balanceOf(fork, token, funder);
  const call = { from: shown(funder), to: escrows, data: fundData(escrow).slice(2) };
  const funded = await fork.call(call);
  if (funded.failure !== null) {
    const move = dataOf('transferFrom(address,address,uint256)', funder, spender, amount);
    const own = { from: escrows, to: token, data: move };
    return refusalWithin(fork, `a payment of ${amount} into the escrow`, funded, own);
  }
  const after = await balanceOf(fork, token, funder);
  return costs(amount, before, after);
}

async function tryClaim(trade: Trade): Promise<Fault | null> {
  const { fork, token, escrows, receiver, amount, escrow, secret } = trade;
  const data = claimData(escrow, secret.slice(2));
  const from = shown(fork.stranger());
  const claimed = await fork.call({ from, to: escrows, data: data.slice(2), later: hour });
  if (claimed.failure !== null) {
    const move = dataOf('transfer(address,uint256)', receiver, amount);
    const own = { from: escrows, to: token, data: move, later: hour };
    return refusalWithin(fork, `a claim of ${amount} out of the escrow`, claimed, own);
  }
  return gains('the receiver of a claim', amount, 0n, await balanceOf(fork, token, receiver));
}

async function tryPassingOn({ fork, token, receiver, amount }: Trade): Promise<Fault | null> {
  const next = fork.stranger();
  const data = dataOf('transfer(address,uint256)', next, amount);
  const passedOn = await fork.call({ from: shown(receiver), to: token, data, later: hour });
  if (passedOn.failure !== null) return refusal('to be passed on by who received it', passedOn);
  return gains('whom a receiver pays', amount, 0n, await balanceOf(fork, token, next));
}

async function tryRefund(trade: Trade): Promise<Fault | null> {
  const { fork, token, escrows, funder, amount, escrow } = trade;
  const before = await balanceOf(fork, token, funder);
  const data = refundData(escrow);
  const call = { from: shown(fork.stranger()), to: escrows, data: data.slice(2), later: 2 * hour };
  const refunded = await fork.call(call);
  if (refunded.failure !== null) {
    const move = dataOf('transfer(address,uint256)', funder, amount);
    const own = { from: escrows, to: token, data: move, later: 2 * hour };
    return refusalWithin(fork, `a refund of ${amount} out of the escrow`, refunded, own);
  }
  return gains('a refund', amount, before, await balanceOf(fork, token, funder));
}

/** The escrow does not hand on a token's reason: `own`, what it asked it for, is asked again. */
async function refusalWithin(fork: Fork, what: string, trial: Trial, own: ForkCall) {
  if (ranOut(trial) || countedBy(trial) !== null) return refusal(what, trial);
  const told = await fork.look(own);
  return refusal(what, told.failure === null ? trial : told);
}

function refusal(what: string, trial: Trial): Fault {
  const counted = countedBy(trial);
  if (counted !== null) return { sentence: counted, refused: false };
  const reason = ranOut(trial) ? `it ${tooDear}` : reasonOf(shortened(trial));
  const sentence = `it refuses ${what}: ${cleanText(reason ?? '', mostWords)}`;
  return { sentence, refused: !ranOut(trial) };
}

/** A revert may say a megabyte. */
function shortened(trial: Trial): Trial {
  return { ...trial, output: trial.output.slice(0, 8 * 1_024) };
}

/** What the escrow counted, where it refused for that. */
function countedBy({ output }: Trial): string | null {
  try {
    const { errorName, args } = decodeErrorResult({ abi: escrowsAbi, data: `0x${output}` });
    if (errorName === 'WrongAmountReceived') {
      const [, before, after, amount] = args;
      return after === before
        ? `it moves nothing: of ${amount} the escrow gets 0`
        : share('the escrow', amount, after - before);
    }
    if (errorName !== 'WrongAmountSent') return null;
    const [, before, after, amount] = args;
    if (before === after) return `it moves nothing: of ${amount} the receiver gets 0`;
    return `it takes ${before - after} from the escrow to pay ${amount}`;
  } catch {
    return null;
  }
}

function share(who: string, amount: bigint, gained: bigint): string {
  if (gained > amount)
    return `it moves more than it is told to: for ${amount} ${who} gets ${gained}`;
  const missing = amount - gained;
  const hundredths = (missing * 10_000n) / amount;
  const percent = `${hundredths / 100n}.${(hundredths % 100n).toString().padStart(2, '0')} %`;
  return `it takes a fee: of ${amount} ${who} gets ${gained}, ${missing} or ${percent} less`;
}

function gains(who: string, amount: bigint, before: bigint | null, after: bigint | null) {
  if (before === null || after === null) return hidden;
  if (after - before === amount) return null;
  return { sentence: share(who, amount, after - before), refused: false };
}

function costs(amount: bigint, before: bigint | null, after: bigint | null): Fault | null {
  if (before === null || after === null) return hidden;
  const cost = before - after;
  if (cost === amount) return null;
  return { sentence: `to fund ${amount} of it costs the funder ${cost}`, refused: false };
}

const hidden: Fault = { sentence: 'it shows no balance after a transfer', refused: false };

/** null where no balance could be lent: the check of transfers tells of that. */
export async function checkRebase(
  look: Look,
  supply: bigint,
  selectors: ReadonlySet<string>,
): Promise<Finding | null> {
  const { token, forks } = look;
  const fork = await forks.fork();
  const holder = fork.stranger();
  const lent = supply / 1_000n + 1n;
  const stored = await lend(fork, token, holder, lent);
  if (stored === null) return null;
  const data = dataOf('balanceOf(address)', holder);
  // A balance that the token does not tell is none.
  const held = async (ahead: number) =>
    numberOf(await fork.look({ from: shown(holder), to: token, data, later: ahead })) ?? 0n;
  const [now, later] = [await held(0), await held(daysAhead * daySeconds)];
  return judgeRebase({ now, later, stored }, selectors);
}
