// The meaning of a trade of a pair: the initiator, its duration and its cost. By policies and fees
// that anybody can read (packages/core/expected.ts, `costs` of an adapter).

import type { Cost, Costs } from '@parley/chains/interface/gas.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { deadlines, schedule } from '@parley/core/deadlines.ts';
import { expected } from '@parley/core/expected.ts';
import { initiatorOf, otherLeg } from '@parley/core/trade.ts';
import type { Deps } from '../ports/deps.ts';
import { createMoments } from '../ports/moments.ts';
import { type PlannedLeg, planLegs, rulesOfLegs, type TradeTerms } from './preview.ts';

/** Fees move by the block; each chain has two. */
const freshMs = 15_000;
const mostChains = 200;

type ReadCosts = (leg: Pick<PlannedLeg, 'adapter' | 'asset'>) => Promise<Costs | null>;

/** Null where a chain does not answer in time, or tells nothing. */
export function createCosts(deps: Pick<Deps, 'settings' | 'log'>): ReadCosts {
  const kept = createMoments<Costs | null>(freshMs, mostChains);
  return ({ adapter, asset: { chain, address } }) =>
    kept.of(`${chain} ${address !== null}`, async () => {
      const signal = AbortSignal.timeout(deps.settings.chainTimeoutMs);
      try {
        if (adapter.costs === undefined) return null;
        return await within(signal, chain, adapter.costs(address, signal));
      } catch (err) {
        deps.log.debug({ chain, err }, 'costs could not be read');
        return null;
      }
    });
}

export async function pairView(
  deps: Pick<Deps, 'adapters'>,
  terms: TradeTerms,
  readCosts: ReadCosts,
) {
  const legs = planLegs(deps, terms);
  const { a, b, long } = legs;
  const times = deadlines(0, { a: a.timing, b: b.timing }, long);
  const [aCosts, bCosts] = await Promise.all([readCosts(a), readCosts(b)]);
  const legView = (leg: PlannedLeg, costs: Costs | null) => ({
    chain: leg.asset.chain,
    assetId: leg.asset.id,
    long: leg.leg === long,
    timelockSeconds: times.refundAt[leg.leg],
    confirmations: leg.timing.depth.confirmations,
    leastAmount: costs?.leastAmount.toString() ?? null,
    costs: costs && costsView(costs),
  });
  const [short, slow] = [legs[otherLeg(long)], legs[long]].map(paced);
  const sides = short && slow ? expected(schedule(short, slow), short, slow) : null;
  return {
    initiator: initiatorOf(long),
    rules: rulesOfLegs(legs),
    legs: { a: legView(a, aCosts), b: legView(b, bCosts) },
    initiatorFundBySeconds: times.initiatorFundBy,
    counterpartyFundBySeconds: times.counterpartyFundBy,
    revealBySeconds: times.revealBy,
    expected: sides,
  };
}

function paced({ adapter: { blockSeconds }, timing }: PlannedLeg) {
  return blockSeconds === undefined ? null : { ...timing, blockSeconds };
}

function costsView({ fund, claim, refund, settlesFromAmount, deposit }: Costs) {
  const shown = ({ usual, most }: Cost) => ({ usual: usual.toString(), most: most.toString() });
  return {
    fund: shown(fund),
    claim: shown(claim),
    refund: shown(refund),
    settlesFromAmount,
    deposit: deposit && {
      locked: deposit.locked.toString(),
      keptByClaim: deposit.keptByClaim.toString(),
    },
  };
}
