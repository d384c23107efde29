// A trade as the CUSTOMER knows it: everything the market says later is compared with it.

import type { BitcoinNetwork } from '@parley/chains/bitcoin/networks.ts';
import type { EvmDeployment } from '@parley/chains/evm/plan.ts';
import type { SolanaDeployment } from '@parley/chains/solana/plan.ts';
import type { TronDeployment } from '@parley/chains/tron/plan.ts';
import {
  brokenInequalities,
  type Deadlines,
  type LegTiming,
  longLeg,
} from '@parley/core/deadlines.ts';
import type { ChainKey, EachOf, Family } from '@parley/core/families.ts';
import type { Hashlock } from '@parley/core/hashlock.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { type ChainPolicy, depthFor } from '@parley/core/policy.ts';
import type { Destination, Escrow, EscrowTerms } from '@parley/core/terms.ts';
import {
  type Direction,
  exchange,
  type LegName,
  otherLeg,
  type Party,
  type Role,
} from '@parley/core/trade.ts';
import { SettleError, VerificationError } from './errors.ts';

/** An asset as the customer pinned it, with the id the market uses for it. */
export type PinnedAsset = {
  readonly id: string;
  readonly chain: ChainKey;
  /** Contract; null = the chain's native coin. */
  readonly token: string | null;
  readonly decimals: number;
  /** Base units from which the customer wants the chain's high-value depth; null = never. */
  readonly highValueFrom: BaseUnits | null;
};

type View<F extends Family, Own> = Own & {
  readonly family: F;
  readonly chain: ChainKey;
  readonly policy: ChainPolicy;
};

/** The customer's own facts about a chain, whatever the market says. */
export type ChainView = EachOf<{
  evm: View<'evm', { readonly chainId: number; readonly deployment: EvmDeployment }>;
  bitcoin: View<
    'bitcoin',
    {
      readonly network: BitcoinNetwork;
      /** Most that a claim or refund may pay in fees, satoshi a virtual byte; default 500. */
      readonly mostFeeRateSatPerVbyte?: number;
    }
  >;
  tron: View<
    'tron',
    {
      readonly deployment: TronDeployment;
      /** Most that one transaction may burn for energy, sun; default 500 TRX. */
      readonly mostFeeLimitSun?: BaseUnits;
    }
  >;
  solana: View<'solana', { readonly deployment: SolanaDeployment }>;
}>;

/** The part of `Chains` that checks need, by the chain's key: no node is asked. */
export type PinnedChains = Readonly<Record<ChainKey, { readonly source: Pinned }>>;

type Pinned = { readonly view: ChainView };

/** Throws SettleError `no_source` for a chain that is missing or is another one. */
export function sourceIn<Source extends Pinned>(
  chains: Readonly<Record<ChainKey, { readonly source: Source }>>,
  chain: ChainKey,
): Source {
  const source = chains[chain]?.source;
  if (source === undefined) {
    throw new SettleError('no_source', `no source for ${notAmong(chains, chain)}`);
  }
  if (source.view.chain === chain) return source;
  const sentence = `your chains have under "${chain}" a source of "${source.view.chain}"`;
  throw new SettleError('no_source', sentence);
}

export function notAmong(chains: object, chain: ChainKey): string {
  const keys = Object.keys(chains).map((key) => `"${key}"`);
  return `"${chain}" among your chains (${keys.join(', ') || 'none'})`;
}

export type OwnTrade = {
  readonly party: Party;
  readonly rfqId: string;
  readonly threadId: string;
  readonly makerId: string;
  readonly takerId: string;
  readonly direction: Direction;
  readonly base: PinnedAsset;
  readonly baseAmount: BaseUnits;
  readonly quote: PinnedAsset;
  readonly quoteAmount: BaseUnits;
  /** The initiator's own. null: the counterparty learns it from the swap. */
  readonly hashlock: Hashlock | null;
  /** When the customer accepted, by its own clock. */
  readonly acceptedAt: UnixSeconds;
  /** For how long that stands, in seconds; default `defaultAcceptTtlSeconds`. */
  readonly acceptTtlSeconds?: number;
  /** When the price ends, and the acceptance with it; absent: it has no end of its own. */
  readonly priceEndsAt?: UnixSeconds;
  /** When its swap was first seen, by the customer's own clock. */
  readonly swapSeenAt?: UnixSeconds;
  /** Where the leg it funds is refunded to, and where the other leg pays it. */
  readonly refundTo: Destination;
  readonly payTo: Destination;
};

export type VerifiedLeg = {
  readonly leg: LegName;
  readonly chain: ChainKey;
  readonly family: Family;
  readonly assetId: string;
  readonly amount: BaseUnits;
  readonly funder: Party;
  readonly long: boolean;
  readonly timelock: UnixSeconds;
  readonly requiredConfirmations: number;
  /** null until both destinations of the leg are set. */
  readonly escrow: (Escrow & { readonly terms: EscrowTerms }) | null;
};

export type VerifiedSwap = {
  readonly id: string;
  readonly party: Party;
  readonly role: Role;
  readonly hashlock: Hashlock;
  readonly agreedAt: UnixSeconds;
  readonly deadlines: Deadlines;
  readonly legs: Readonly<Record<LegName, VerifiedLeg>>;
};

/** The market's default (PARLEY_ACCEPT_TTL). */
export const defaultAcceptTtlSeconds = 600;

/** Until when the customer's acceptance stands, by its own clock. */
export function standsUntil({
  acceptedAt,
  acceptTtlSeconds = defaultAcceptTtlSeconds,
  priceEndsAt = Number.POSITIVE_INFINITY,
}: Pick<OwnTrade, 'acceptedAt' | 'acceptTtlSeconds' | 'priceEndsAt'>): UnixSeconds {
  return Math.min(acceptedAt + acceptTtlSeconds, priceEndsAt);
}

export type OwnLeg = {
  readonly leg: LegName;
  readonly asset: PinnedAsset;
  readonly amount: BaseUnits;
  readonly view: ChainView;
};

/**
 * Throws where the policies of the two chains break an inequality of the deadlines, and
 * VerificationError where the market has one id for both assets: legs are told apart by them.
 */
export function ownLegs(
  trade: OwnTrade,
  chains: PinnedChains,
): { readonly a: OwnLeg; readonly b: OwnLeg; readonly long: LegName } {
  if (trade.base.id === trade.quote.id) {
    const expected = `another id than that of ${assetOf(trade.base)}`;
    throw new VerificationError(`id of ${assetOf(trade.quote)}`, expected, trade.quote.id);
  }
  const given = exchange({
    direction: trade.direction,
    baseAssetId: trade.base.id,
    baseAmount: trade.baseAmount,
    quoteAssetId: trade.quote.id,
    quoteAmount: trade.quoteAmount,
  });
  const of = (leg: LegName): OwnLeg => {
    const { assetId, amount } = given[leg];
    const asset = assetId === trade.base.id ? trade.base : trade.quote;
    const { view } = sourceIn(chains, asset.chain);
    return { leg, asset, amount, view };
  };
  const a = of('a');
  const b = of('b');
  const timings = timingsOf({ a, b });
  const long = longLeg(timings);
  const short = otherLeg(long);
  const [sentence] = brokenInequalities(timings[short], timings[long]);
  if (sentence === undefined) return { a, b, long };
  const on = { a: a.asset.chain, b: b.asset.chain };
  throw new Error(`policies of ${on[short]} (short) and ${on[long]} (long) refused: ${sentence}`);
}

/** By the customer's own policies, and from which amounts on it wants their higher depths. */
export function timingsOf(own: Readonly<Record<LegName, OwnLeg>>): Record<LegName, LegTiming> {
  const timing = ({ view: { policy }, amount, asset }: OwnLeg): LegTiming => ({
    policy,
    depth: depthFor(policy, amount, asset.highValueFrom),
  });
  return { a: timing(own.a), b: timing(own.b) };
}

const assetOf = ({ chain, token }: PinnedAsset) => `${chain}:${token ?? 'its own coin'}`;

export function givenLeg(party: Party): LegName {
  return party === 'maker' ? 'a' : 'b';
}
