// The funders, the long leg, and the times: computed from the terms alone. The preview of a thread
// and the creation of its swap share it, so that they cannot differ.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { deadlines, type LegTiming, longLeg } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { type ChainPolicy, depthFor } from '@parley/core/policy.ts';
import {
  type ChainRules,
  contractId,
  policyDigest,
  type Rules,
  rulesOf,
} from '@parley/core/rules.ts';
import { type Direction, initiatorOf, type LegName, type Party } from '@parley/core/trade.ts';
import type { Asset } from '../db/assets.ts';
import type { AgreedLegs } from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';

export type TradeTerms = {
  readonly direction: Direction;
  readonly base: Asset;
  readonly quote: Asset;
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
};

export type PlannedLeg = {
  readonly leg: LegName;
  readonly asset: Asset;
  readonly adapter: ChainAdapter;
  /** Base units. */
  readonly amount: bigint;
  readonly timing: LegTiming;
};

type PlannedLegs = {
  readonly long: LegName;
  readonly a: PlannedLeg;
  readonly b: PlannedLeg;
};

export type LegPreview = {
  readonly leg: LegName;
  readonly chain: ChainKey;
  readonly assetId: string;
  readonly amount: bigint;
  readonly long: boolean;
  /** From the agreement to the escrow's timelock. */
  readonly timelockSeconds: number;
};

export type LegsPreview = {
  readonly initiator: Party;
  readonly rules: Rules;
  readonly legs: { readonly a: LegPreview; readonly b: LegPreview };
};

/** The adapter of a chain. Throws `bad_chain` when this deployment does not serve it. */
export function adapterOf(deps: Pick<Deps, 'adapters'>, chain: ChainKey): ChainAdapter {
  const adapter = deps.adapters.get(chain);
  if (adapter === undefined) {
    throw new ParleyError('bad_chain', `chain "${chain}" is not served here`, { chain });
  }
  return adapter;
}

/** Both legs of a trade; the chain policies decide which is long. */
export function planLegs(deps: Pick<Deps, 'adapters'>, terms: TradeTerms): PlannedLegs {
  const base = { asset: terms.base, amount: terms.baseAmount };
  const quote = { asset: terms.quote, amount: terms.quoteAmount };
  const sells = terms.direction === 'sell_base';
  const a = planned(deps, 'a', sells ? quote : base);
  const b = planned(deps, 'b', sells ? base : quote);
  const long = longLeg({ a: a.timing, b: b.timing });
  return { long, a, b };
}

function planned(
  deps: Pick<Deps, 'adapters'>,
  leg: LegName,
  { asset, amount }: { asset: Asset; amount: bigint },
): PlannedLeg {
  const adapter = adapterOf(deps, asset.chain);
  const depth = depthFor(adapter.policy, amount, asset.highValueFrom);
  return { leg, asset, adapter, amount, timing: { policy: adapter.policy, depth } };
}

/** The legs as a thread shows them: as they would be, or as its swap has them. */
export function previewLegs(
  deps: Pick<Deps, 'adapters'>,
  terms: TradeTerms,
  agreed: AgreedLegs | null = null,
): LegsPreview {
  const legs = planLegs(deps, terms);
  const { long, timelockSeconds, rules } = agreed ?? wouldBe(legs);
  const preview = ({ leg, asset, amount }: PlannedLeg): LegPreview => ({
    leg,
    chain: asset.chain,
    assetId: asset.id,
    amount,
    long: leg === long,
    timelockSeconds: timelockSeconds[leg],
  });
  return { initiator: initiatorOf(long), rules, legs: { a: preview(legs.a), b: preview(legs.b) } };
}

function wouldBe(legs: PlannedLegs): AgreedLegs {
  const { long, a, b } = legs;
  const { refundAt } = deadlines(0, { a: a.timing, b: b.timing }, long);
  return { long, timelockSeconds: refundAt, rules: rulesOfLegs(legs) };
}

/** A page shows a hundred threads, and a policy never changes once it is made. */
const digests = new WeakMap<ChainPolicy, string>();

export function rulesOfChain({ policy, contract }: ChainAdapter): ChainRules {
  const policies = digests.get(policy) ?? policyDigest(policy);
  digests.set(policy, policies);
  return { contract: contractId(contract), policies };
}

/** The rules that a swap of these legs would be agreed under now. */
export const rulesOfLegs = ({ a, b }: Pick<PlannedLegs, 'a' | 'b'>): Rules =>
  rulesOf({ a: rulesOfChain(a.adapter), b: rulesOfChain(b.adapter) });
