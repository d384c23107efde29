// The needs of a party of a swap on an EVM chain: reading, building and sending. One a chain id.

import type { EscrowTerms } from '@parley/core/terms.ts';
import type { ChainAdapter } from '../adapter.ts';
import { lanesIn } from '../escrows/plan.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { kitOf } from '../kit/adapter.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { parseEvmAddress } from './address.ts';
import { isKnown, readSigned, sending } from './broadcast.ts';
import {
  buildBatch,
  buildClaim,
  buildFund,
  buildRefund,
  checkAmount,
  preflight,
} from './builders.ts';
import { consentOf } from './consent.ts';
import { costs, shortage, spendGas, untriedSpend } from './fees.ts';
import { changes } from './follow.ts';
import { fundWaysOf, permitNonce, separator, trial } from './fund-ways.ts';
import { balanceAt, decimalsOf, lookedAt } from './node.ts';
import {
  contractFor,
  type EvmDeployment,
  evmContract,
  evmEscrow,
  laneConsent,
  laneText,
} from './plan.ts';
import { evmBlockSeconds } from './policy.ts';
import { hashAt, look, mustAgree } from './read.ts';
import { checkNodes, lanesOf } from './state.ts';
import { type EvmAdapterOptions, forget, newWatch, remember, type Watch } from './watch.ts';

export type EvmAdapter = ChainAdapter & {
  readonly family: 'evm';
  readonly chainId: number;
  readonly deployment: EvmDeployment;
  mustAgree(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
  readonly node: Rpc;
  open(signal: AbortSignal): Promise<void>;
};

/** The adapter, and its parts: the market's adds what it alone reads. */
export function evmParty(options: EvmAdapterOptions) {
  const { chainId, policy, rpc: limits } = options;
  const watch = newWatch(options);
  const { rpc: node, deployment } = watch;
  const kit = kitOf({
    watch,
    node,
    policy,
    rounds: limits?.rounds,
    check: checkNodes,
    changes,
    look,
    remember,
    forget,
    sending,
  });
  const asksOf = (of: Watch) => ({
    lanes: lanesIn(deployment, { contractFor, laneText, laneConsent }, kit.opened(lanesOf(of.rpc))),
    ...kit.asked({ preflight, buildFund, ...shortage }, of),
  });
  const adapter: EvmAdapter = {
    ...kit.kept,
    family: 'evm',
    chainId,
    blockSeconds: evmBlockSeconds(chainId),
    contract: evmContract(deployment),
    parseAddress: parseEvmAddress,
    plan: (terms) => evmEscrow(terms, deployment),
    resumeFrom: (height) => {
      watch.readTo = height;
    },
    signing: kit.asked({ separator, permitNonce, trial }),
    readSigned: (signed) => readSigned(watch, signed),
    at: (heads) => asksOf({ ...watch, rpc: lookedAt(node, heads) }),
    deployment,
    ways: fundWaysOf(watch, kit.opened),
    consent: consentOf(watch, kit.opened),
    ...asksOf(watch),
    ...kit.asked({
      mustAgree,
      blockHash: ({ rpc }, height: number, signal) => hashAt(rpc, height, signal),
      held: ({ rpc }, { token, refund }: EscrowTerms, signal) =>
        balanceAt(rpc, token, refund.address, 'latest', signal),
      decimals: ({ rpc }, token: string, signal) => decimalsOf(rpc, token, signal),
      spendGas,
      untriedGas: untriedSpend,
      buildClaim,
      buildRefund,
      buildBatch,
      isKnown,
      checkAmount,
      costs,
      coins: ({ rpc }, address: string, signal) => balanceAt(rpc, null, address, 'latest', signal),
    }),
  };
  return { adapter, watch, kit };
}
