// Gas of a party's own claim or refund. An undecided secret is in no question.

import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { Spend } from '../interface/gas.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { RpcError } from '../nodes/rpc.ts';
import { evmTransactionGas as mostGas } from './gas-policy.ts';
import { callOf, estimate, isUnlent, unseenClaim } from './gas-work.ts';
import { refused } from './node.ts';
import { evmEscrow } from './plan.ts';
import { readRevert } from './reverts.ts';
import { mustBeOpen } from './state.ts';
import type { Watch } from './watch.ts';

/** What the contract says by itself. It passes on no words of a token or a receiver. */
const ownErrors: ReadonlySet<string> = new Set(
  escrowsAbi.flatMap((each) => (each.type === 'error' ? [each.name] : [])),
);

export async function spendGas(
  watch: Pick<Watch, 'rpc' | 'deployment'>,
  spend: Spend,
  payer: string,
  signal: AbortSignal,
): Promise<bigint> {
  const { rpc } = watch;
  const { call, overrides } = await triedOf(watch, spend, payer, signal);
  try {
    const trial = { rpc, from: payer, mostGas, offer: null };
    const gas = await estimate(trial, call, overrides, signal);
    if (gas <= mostGas) return gas;
    // Every other node would refuse a transaction with so much.
    throw new RpcError(0, `it estimates ${gas} gas, above the ${mostGas} of a transaction`, null);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (overrides !== null && isUnlent(error)) throw refused(rpc, 'eth_estimateGas', unlent);
    const { name, words } = readRevert(error.data, error.message);
    // A claim that would fail says so by one of these. What else a node says is about itself.
    if (name === null || !ownErrors.has(name)) throw refused(rpc, 'eth_estimateGas', error);
    const { terms, verb } = spend;
    const to = verb === 'claim' ? terms.payout : terms.refund;
    throw wouldFail(terms, 'wei', 'payout', to.address, words);
  }
}

async function triedOf(
  watch: Pick<Watch, 'rpc' | 'deployment'>,
  spend: Spend,
  payer: string,
  signal: AbortSignal,
) {
  const { rpc, deployment } = watch;
  if (spend.verb === 'refund') return { call: callOf(spend, payer, deployment), overrides: null };
  const { terms, secret } = spend;
  if (secret !== null) {
    const call = callOf({ ...spend, secret, isPublic: true }, payer, deployment);
    return { call, overrides: null };
  }
  // It is tried as open, with the money of others: so the true one must be.
  await mustBeOpen(rpc, deployment, terms, evmEscrow(terms, deployment).address, signal);
  const tried = await unseenClaim(watch, terms, signal);
  if (tried !== null) return tried;
  throw refused(rpc, 'eth_estimateGas', unlent);
}

const unlent = new RpcError(0, 'it lends no state', null);
