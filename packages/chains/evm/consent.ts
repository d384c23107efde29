// A payee's consent to a refund before the timelock, and the question to its code.

import { releasing } from '../escrows/releasing.ts';
import { fewWords, isCallFailure, type Rpc, RpcError } from '../nodes/rpc.ts';
import { eachSource } from '../nodes/sources.ts';
import { refused } from './node.ts';
import { deploymentOf, evmEscrow, releaseIn, releaseText } from './plan.ts';
import type { Watch } from './watch.ts';

/** A node must not work long. */
const mostGas = `0x${(3_000_000).toString(16)}`;

export const { consentOf, mustBeReleased } = releasing<Watch>({
  family: 'evm',
  plan: { escrowOf: evmEscrow, releaseText, releaseIn },
  answers: (watch, terms, data, signal) => {
    const { contract: from } = deploymentOf(watch, terms);
    const call = { from, to: terms.payout.address, data, gas: mostGas };
    return eachSource(watch, watch.rpc, (one) => codeSays(one, call, signal));
  },
});

async function codeSays(rpc: Rpc, call: Readonly<Record<string, string>>, signal: AbortSignal) {
  try {
    return `${await rpc.call('eth_call', [call, 'latest'], signal, fewWords)}`.slice(2);
  } catch (error) {
    if (isCallFailure(error)) return null;
    throw error instanceof RpcError ? refused(rpc, 'eth_call', error) : error;
  }
}
