// What an operator's gas key sends, and how much gas it takes: only a claim or refund of an escrow
// that the pinned factory made, or nothing to itself. Tried on the best block before it is signed.

import { smaller } from '../../core/amounts.ts';
import { ParleyError } from '../../core/errors.ts';
import { hashlockOf, opens } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { GasWork } from '../gas-account.ts';
import { unseenMargin } from '../gas-work.ts';
import type { EvmCall } from '../material.ts';
import { type Rpc, RpcError } from '../rpc.ts';
import { wouldFail } from '../would-fail.ts';
import type { Offer } from './gas-fees.ts';
import { balanceAt, codeAt, headBlock, refused } from './node.ts';
import { claimCall, type EvmDeployment, evmEscrow, refundCall } from './plan.ts';
import { readRevert } from './reverts.ts';
import { lendBalance, lends, type Overrides } from './simulate.ts';

/** What is tried: by whom, at which fees, and how much gas it may take. */
export type Trial = {
  readonly rpc: Rpc;
  readonly deployment: EvmDeployment;
  readonly from: string;
  readonly mostGas: bigint;
  /** null: the key's coins would not do for `mostGas` of it, and a node would refuse the trial. */
  readonly offer: Offer | null;
  /** The adapter's: tries the payment where the claim itself cannot be tried. */
  readonly preflight: (terms: EscrowTerms, signal: AbortSignal) => Promise<void>;
};

/** The call of some work; `own` is the key's address. */
export function callOf(work: GasWork, own: string, deployment: EvmDeployment): EvmCall {
  switch (work.verb) {
    case 'claim':
      return claimCall(work.terms, deployment, work.secret);
    case 'refund':
      return refundCall(work.terms, deployment);
    case 'void':
      return { to: own, data: '0x', value: '0x0' };
  }
}

/** A revert's data is a few words; a hostile token's may be a megabyte. */
const mostAnswer = { mostBytes: 64 * 2 ** 10 };

/** Gas limit of this work. Throws `nothing_there` or `payout_would_fail`. */
export async function gasOf(trial: Trial, work: GasWork, signal: AbortSignal): Promise<bigint> {
  const { rpc, deployment, from } = trial;
  if (work.verb === 'void') {
    return withMargin(await estimate(trial, callOf(work, from, deployment), null, signal), trial);
  }
  const { terms } = work;
  if (work.verb === 'claim' && !opens(work.secret, terms.hashlock)) {
    throw new ParleyError('wrong_secret', `sha256(secret) is not ${terms.hashlock}`, {});
  }
  const { address } = evmEscrow(terms, deployment);
  // A call to an address without code works, and does nothing.
  const code = await codeAt(rpc, address, 'latest', signal);
  if (code === '0x') throw nothingThere(terms, address, 'there is no code');
  try {
    if (work.verb === 'claim' && !work.isPublic) {
      return await gasUnseen(trial, terms, address, code, signal);
    }
    const call = callOf(work, from, deployment);
    return withMargin(await estimate(trial, call, null, signal), trial);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw refusal(trial, work.verb, terms, address, error);
  }
}

/** Room for state that another block changes. */
function withMargin(gas: bigint, { mostGas }: Trial): bigint {
  return smaller((gas * 5n) / 4n + 10_000n, mostGas);
}

const hex = (value: bigint) => `0x${value.toString(16)}`;

export async function estimate(
  { rpc, from, mostGas, offer }: Pick<Trial, 'rpc' | 'from' | 'mostGas' | 'offer'>,
  { to, data }: EvmCall,
  overrides: Overrides | null,
  signal: AbortSignal,
): Promise<bigint> {
  const call = { from, to, data, value: '0x0', gas: hex(mostGas), ...fieldsOf(offer) };
  const params = overrides === null ? [call, 'latest'] : [call, 'latest', overrides];
  const answer = await rpc.call('eth_estimateGas', params, signal, mostAnswer);
  if (typeof answer === 'string' && /^0x[0-9a-f]{1,16}$/i.test(answer)) return BigInt(answer);
  throw refused(rpc, 'eth_estimateGas', new RpcError(0, 'its answer is no quantity', null));
}

/** With its fees a trial looks like the transaction, also to a token that asks for its price. */
function fieldsOf(offer: Offer | null): Readonly<Record<string, string>> {
  if (offer === null) return {};
  if (offer.kind === 'legacy') return { gasPrice: hex(offer.maxFee) };
  return { maxFeePerGas: hex(offer.maxFee), maxPriorityFeePerGas: hex(offer.tip) };
}

const trialSecret = '00'.repeat(31).concat('02');

/**
 * The same claim of an escrow with another hashlock, and what that is lent: the code and the
 * amount. The secret stays unseen. null where the node or the token lends nothing.
 */
export async function unseenClaim(
  { rpc, deployment }: Pick<Trial, 'rpc' | 'deployment'>,
  terms: EscrowTerms,
  code: string,
  signal: AbortSignal,
): Promise<{ readonly call: EvmCall; readonly overrides: Overrides } | null> {
  const { token, amount } = terms;
  if (!(await lends(rpc, signal))) return null;
  const other = { ...terms, hashlock: hashlockOf(trialSecret) };
  const escrow = evmEscrow(other, deployment).address;
  const lent = token === null ? {} : await lendBalance(rpc, token, escrow, amount, signal);
  if (lent === null) return null;
  const own = { code, ...(token === null && { balance: hex(amount) }) };
  const call = claimCall(other, deployment, trialSecret);
  return { call, overrides: { ...lent, [escrow]: own } };
}

/** Where a node lends nothing, all that is allowed. */
async function gasUnseen(
  trial: Trial,
  terms: EscrowTerms,
  address: string,
  code: string,
  signal: AbortSignal,
): Promise<bigint> {
  const { rpc, mostGas } = trial;
  const { token, amount } = terms;
  const held = await balanceAt(rpc, token, address, 'latest', signal);
  if (held < amount) throw nothingThere(terms, address, `it holds ${held} of ${amount}`);
  const untried = async () => {
    const { timestamp } = await headBlock(rpc, signal);
    if (timestamp >= terms.timelock) {
      const reason = `its timelock ${terms.timelock} has passed`;
      throw wouldFail(terms, 'wei', 'payout', terms.payout.address, reason);
    }
    await trial.preflight(terms, signal);
    return mostGas;
  };
  const tried = await unseenClaim(trial, terms, code, signal);
  if (tried === null) return untried();
  try {
    const gas = await estimate(trial, tried.call, tried.overrides, signal);
    return smaller(gas * unseenMargin, mostGas);
  } catch (error) {
    // Some nodes lend to eth_call alone.
    if (error instanceof RpcError && !isRevert(error)) return untried();
    throw error;
  }
}

function isRevert({ data, message }: RpcError): boolean {
  return (
    data !== null ||
    /revert|invalid opcode|out of gas|outofgas|gas required|exceeds allowance/i.test(message)
  );
}

function nothingThere(terms: EscrowTerms, escrow: string, why: string): ParleyError {
  const sentence = `nothing to take from the escrow ${escrow} on ${terms.chain}: ${why}`;
  return new ParleyError('nothing_there', sentence, { chain: terms.chain, escrow });
}

const emptied = new Set(['BalanceTooLow', 'NothingToRefund']);

function refusal(
  { rpc, mostGas }: Trial,
  verb: 'claim' | 'refund',
  terms: EscrowTerms,
  escrow: string,
  error: RpcError,
): ParleyError {
  if (/an answer of more than/.test(error.message)) {
    return wouldFail(terms, 'wei', 'payout', terms[payeeOf(verb)].address, 'it answers too much');
  }
  if (!isRevert(error)) return refused(rpc, 'eth_estimateGas', error);
  const { name, words } = readRevert(error.data, error.message);
  if (name !== null && emptied.has(name)) return nothingThere(terms, escrow, words);
  const reason = `${words} (tried with ${mostGas} gas)`;
  return wouldFail(terms, 'wei', 'payout', terms[payeeOf(verb)].address, reason);
}

const payeeOf = (verb: 'claim' | 'refund') => (verb === 'claim' ? 'payout' : 'refund');
