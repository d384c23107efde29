// The needs of a party of a swap on a Solana cluster: reading, building and sending.

import type { ChainAdapter } from '../adapter.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { kitOf } from '../kit/adapter.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { parseSolanaAddress } from './address.ts';
import { checkNodes, mustAgree } from './agreement.ts';
import { isKnown, readSigned, sending } from './broadcast.ts';
import { buildClaim, buildFund, buildRefund, buildRelease, checkAmount } from './builders.ts';
import { costs } from './costs.ts';
import { shortage } from './fees.ts';
import { changes } from './follow.ts';
import { lamportsOf } from './node.ts';
import { solanaContract, solanaEscrow } from './plan.ts';
import { solanaSlotSeconds } from './policy.ts';
import { decimalsOf, heldBy, preflight } from './preflight.ts';
import { look } from './read.ts';
import { forget, newWatch, remember, type SolanaAdapterOptions } from './watch.ts';

export type SolanaAdapter = ChainAdapter & {
  readonly family: 'solana';
  /** Its nodes, for whoever else has something to ask of them. */
  readonly node: Rpc;
  mustAgree(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
  /** Checks that the nodes are of this cluster and the program is the pinned one, for good. */
  open(signal: AbortSignal): Promise<void>;
};

/** The adapter, and its parts: the market's adds what it alone reads. */
export function solanaParty(options: SolanaAdapterOptions) {
  const { policy, rpc: limits } = options;
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
  const adapter: SolanaAdapter = {
    ...kit.kept,
    family: 'solana',
    blockSeconds: solanaSlotSeconds.usual,
    contract: solanaContract(deployment),
    parseAddress: parseSolanaAddress,
    plan: (terms) => solanaEscrow(terms, deployment),
    readSigned: (signed, signal) => readSigned(watch, signed, signal),
    consent: kit.asked({ buildRelease }),
    // Members that ask the nodes: each has the watch, and begins once they are checked.
    ...kit.asked({
      mustAgree,
      preflight,
      ...shortage,
      buildFund,
      buildClaim,
      buildRefund,
      isKnown,
      checkAmount,
      costs,
      coins: ({ rpc }, address: string, signal) => lamportsOf(rpc, address, signal),
      decimals: decimalsOf,
      held: heldBy,
    }),
  };
  return { adapter, watch, kit };
}
