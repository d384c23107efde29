// The needs of a party of a swap on a TRON network: reading, building and sending.

import type { EscrowTerms } from '@parley/core/terms.ts';
import type { ChainAdapter } from '../adapter.ts';
import { lanesIn } from '../escrows/plan.ts';
import type { Shortage } from '../interface/gas.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { kitOf } from '../kit/adapter.ts';
import { forget } from '../kit/watch.ts';
import { parseTronAddress } from './address.ts';
import { isKnown, readSigned, sending } from './broadcast.ts';
import { buildBatch, buildClaim, buildFund, buildRefund, checkAmount } from './builders.ts';
import { consentOf } from './consent.ts';
import { costs } from './costs.ts';
import { heldBy, shortage } from './energy.ts';
import { changes } from './follow.ts';
import type { Http } from './http.ts';
import { checkNodes } from './identity.ts';
import { tronNodes } from './node.ts';
import {
  contractFor,
  laneConsent,
  laneText,
  type TronDeployment,
  tronContract,
  tronEscrow,
} from './plan.ts';
import { tronBlockSeconds } from './policy.ts';
import { preflight } from './preflight.ts';
import { hashAt, look, mustAgree } from './read.ts';
import { decimalsOf, lanesOf, momentAt, sunOf } from './views.ts';
import { newWatch, remember, type TronAdapterOptions, type Watch } from './watch.ts';

export type TronAdapter = Omit<ChainAdapter, 'warnings'> & {
  readonly family: 'tron';
  readonly chainId: number;
  readonly deployment: TronDeployment;
  readonly node: Http;
  mustAgree(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
  warnings(terms: EscrowTerms, signal: AbortSignal): Promise<readonly Shortage[]>;
  open(signal: AbortSignal): Promise<void>;
};

/** The adapter, and its parts: the market's adds what it alone reads. */
export function tronParty(options: TronAdapterOptions) {
  const { chain, deployment, policy, sources, http: limits } = options;
  const node = tronNodes({ chain, sources, ...limits }, policy.normal.confirmations);
  const watch = newWatch({ ...options, http: node });
  const kit = kitOf({
    watch,
    node,
    policy,
    rounds: limits?.rounds,
    check: (of, signal) => checkNodes(of, deployment, signal),
    changes,
    look,
    remember,
    forget,
    sending,
  });
  const asksOf = (of: Watch) => ({
    lanes: lanesIn(deployment, { contractFor, laneText, laneConsent }, kit.opened(lanesOf(of))),
    ...kit.asked({ preflight, buildFund, ...shortage }, of),
  });
  const adapter: TronAdapter = {
    ...kit.kept,
    family: 'tron',
    chainId: deployment.chainId,
    blockSeconds: tronBlockSeconds,
    contract: tronContract(deployment),
    parseAddress: parseTronAddress,
    plan: (terms) => tronEscrow(terms, deployment),
    resumeFrom: (height) => {
      watch.readTo = height;
    },
    readSigned: (signed) => readSigned(watch, signed),
    triesByLook: true,
    at: (heads) => asksOf({ ...watch, http: momentAt(node, heads) }),
    deployment,
    consent: consentOf(watch, kit.opened),
    ...asksOf(watch),
    ...kit.asked({
      mustAgree,
      blockHash: ({ http }, height: number, signal) => hashAt(http, height, signal),
      held: (of, terms: EscrowTerms, signal) => heldBy(of, terms, terms.refund.address, signal),
      decimals: ({ http }, token: string, signal) => decimalsOf(http, token, signal),
      buildClaim,
      buildRefund,
      buildBatch,
      isKnown,
      checkAmount,
      costs,
      coins: ({ http }, address: string, signal) => sunOf(http, address, signal),
    }),
  };
  return { adapter, watch, kit };
}
