// Tests only: vectors of what is compared before an acceptance: a thread's price, sides, legs and
// rules; and of the rules' digests.

import { evmDeployment } from '@parley/chains/evm/plan.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import { deadlines, type LegTiming } from '@parley/core/deadlines.ts';
import { contractId, policyDigest } from '@parley/core/rules.ts';
import type { LegName } from '@parley/core/trade.ts';
import { examine } from '../../agree.ts';
import type { ParleyClient } from '../../client.ts';
import { contractOf, ownRules } from '../../rules.ts';
import { ownLegs } from '../../trade.ts';
import type { Thread } from '../../types.ts';
import { bitcoinView, evmView, now, pinned, tradeOf } from '../honest.ts';
import { solanaView, tronView } from '../materials.ts';
import { viewShown } from './escrows.ts';
import { asRefusal, type Change, changed, fieldChanges, replace, textOf } from './format.ts';
import { policies, withPolicy } from './swaps.ts';

const trade = tradeOf('taker');

function honest() {
  const own = ownLegs(trade, pinned);
  const timing = (name: LegName): LegTiming => {
    const { policy } = own[name].view;
    return { policy, depth: policy.normal };
  };
  const { refundAt } = deadlines(0, { a: timing('a'), b: timing('b') }, own.long);
  const leg = (name: LegName) => ({
    chain: own[name].asset.chain,
    assetId: own[name].asset.id,
    amount: `${own[name].amount}`,
    long: name === own.long,
    timelockSeconds: refundAt[name],
  });
  return {
    id: trade.threadId,
    rfqId: trade.rfqId,
    makerId: trade.makerId,
    takerId: trade.takerId,
    quoteAmount: `${trade.quoteAmount}`,
    initiator: 'taker',
    legs: { a: leg('a'), b: leg('b') },
    rules: ownRules(own),
  };
}

async function check(thread: ReturnType<typeof honest>): Promise<void> {
  const { base, quote, rfqId, threadId, quoteAmount } = trade;
  await examine({
    client: { thread: async () => thread as unknown as Thread } as unknown as ParleyClient,
    userId: trade.takerId,
    party: 'taker',
    direction: trade.direction,
    rfqId,
    threadId,
    base,
    baseAmount: trade.baseAmount,
    quote,
    quoteAmount,
    chains: pinned,
    destinationOn: (chain) => (chain === base.chain ? trade.refundTo : trade.payTo),
    now: () => now,
  });
}

export async function threadVectors() {
  const thread = JSON.parse(textOf(honest())) as ReturnType<typeof honest>;
  await check(thread);
  const lies: { why: string; change: readonly Change[] }[] = fieldChanges(thread, '/thread').map(
    ({ path, how, change }) => ({ why: `${path}: ${how}`, change: [change] }),
  );
  lies.push({ why: 'other rules', change: [replace('/thread/rules', null)] });
  const refused = [];
  // The maker's identity is the counterparty's business.
  for (const { why, change } of lies.filter((each) => !each.why.startsWith('makerId'))) {
    const refusal = await check(changed({ thread }, change).thread).then(
      () => {
        throw new Error(`${why} was believed`);
      },
      (error: unknown) => asRefusal(error),
    );
    refused.push({ why, ...refusal, change });
  }
  const views = [evmView, bitcoinView].map(withPolicy);
  const shards = [1, 2].map((each) => shardOf(each).address);
  const sharded = { ...evmView, deployment: evmDeployment(31_337, { shards }) };
  return {
    threads: [{ name: 'the taker', trade, views, thread, refused }],
    contracts: [evmView, sharded, bitcoinView, tronView, solanaView].map((view) => {
      return { view: viewShown(view), contract: contractId(contractOf(view)) };
    }),
    policies: Object.entries(policies).map(([name, policy]) => {
      return { name, policy, digest: policyDigest(policy) };
    }),
  };
}
