// The facts that a chain shows of one escrow, and their consequences for its leg.

import { type Family, has } from './families.ts';
import type { Secret } from './hashlock.ts';
import type { BaseUnits, UnixSeconds } from './nominal.ts';
import type { Depth } from './policy.ts';

export type Sighting = {
  readonly txid: string;
  /** Blocks that hold it, its own included; 0 = only in the mempool. */
  readonly confirmations: number;
  /** Whether it is at the depth the escrow's amount wants. */
  readonly deep: boolean;
};

/** The facts that one escrow shows now. */
export type EscrowFacts = {
  /** One payment of at least the amount (never a sum of smaller ones). */
  readonly funded: Sighting | null;
  readonly claimed: Sighting | null;
  readonly refunded: Sighting | null;
  /** The preimage, if any transaction ever showed it: mempool and failed claims included. */
  readonly secret: Secret | null;
  /**
   * The amount that it holds now and that the funder can take back after the timelock: without dust
   * that no allowed fee can bring back (remains.ts).
   */
  readonly balance: BaseUnits;
  /**
   * It has only such dust in it or on its way, and the transaction that emptied it is final. Until
   * then a reorganisation is looked for.
   */
  readonly empty: boolean;
  /**
   * It ended or was never funded, and its chain does not keep which. The rest is what was known
   * before.
   */
  readonly outcome?: 'unknown';
  readonly rentLeft?: RentLeft;
};

/** Solana: the part of its funder's own that a claim or release left in the escrow's account. */
export type RentLeft = {
  readonly lamports: BaseUnits;
  /** From when a refund takes it; null: at once. */
  readonly from: UnixSeconds | null;
};

export const nothingSeen: EscrowFacts = {
  funded: null,
  claimed: null,
  refunded: null,
  secret: null,
  balance: 0n,
  empty: true,
};

export const legStatuses = ['unfunded', 'seen', 'funded', 'claimed', 'refunded'] as const;
export type LegStatus = (typeof legStatuses)[number];

/** The leg's status: claims and refunds count at depth, a funding shows from its first sight. */
export function legStatus(facts: EscrowFacts): LegStatus {
  if (facts.claimed?.deep) return 'claimed';
  if (facts.refunded?.deep) return 'refunded';
  if (facts.funded?.deep) return 'funded';
  if (facts.funded !== null || facts.claimed !== null || facts.refunded !== null) return 'seen';
  // A caller that took it for unfunded could pay twice.
  return isUnknown(facts) ? 'seen' : 'unfunded';
}

/** Whether nobody can tell what became of it; `unknownOutcome` says who could. */
export function isUnknown({ outcome }: EscrowFacts): boolean {
  return outcome === 'unknown';
}

/** The logs show the events of a lane, but do not prove that there were none. */
const unlessNever = ', unless it was never funded, which no node tells';

/** For each family whose chain forgets: why, and which node would tell. */
const whoTells: Readonly<Record<Family, readonly [string, string]>> = {
  bitcoin: ['it holds nothing', 'a node that has all blocks since the swap was agreed'],
  evm: [
    'a later escrow has its lane',
    'a node that gives the logs of all blocks since the swap was agreed (an archive, for old ones)',
  ],
  tron: [
    'a later escrow has its lane',
    'a node that gives the events of all blocks since the swap was agreed ' +
      '(JSON-RPC on, node.jsonrpc.httpFullNodeEnable)',
  ],
  solana: [
    'its account is closed',
    'a node that gives all transactions since the swap was agreed ' +
      '(--enable-rpc-transaction-history, or an archive)',
  ],
};

export function unknownOutcome({ chain, family, leg }: UnknownOf): string {
  const [why, who] = whoTells[family];
  return (
    `the outcome of the escrow of leg ${leg} on ${chain} is not known: ${why}, and the nodes ` +
    `configured show no transaction of it; ${who} would tell` +
    (has(family, 'lanes') ? unlessNever : '')
  );
}

type UnknownOf = { readonly chain: string; readonly family: Family; readonly leg: string };

/** A hundredth of `amount` at least: less is dust that anyone could send to stop a swap. */
export function isMuch(units: BaseUnits, amount: BaseUnits): boolean {
  return units > 0n && units * 100n >= amount;
}

/** A whole payment, or much of it. */
export function holdsPayment(facts: EscrowFacts, amount: BaseUnits): boolean {
  const { funded, claimed, refunded, balance } = facts;
  const left = (claimed?.deep ?? false) || (refunded?.deep ?? false);
  return (funded !== null && !left) || isMuch(balance, amount) || isUnknown(facts);
}

/** Funded at depth, or already past it: the meaning of "funded" in a gate. */
export function isFunded(facts: EscrowFacts): boolean {
  const status = legStatus(facts);
  return status === 'funded' || status === 'claimed' || (facts.funded?.deep ?? false);
}

/** A sighting from its confirmations and the depth wanted. */
export function sighting(txid: string, confirmations: number, depth: Depth): Sighting {
  return { txid, confirmations, deep: confirmations >= depth.confirmations };
}
