// How an escrow without an account ended, by a finalized slot or by all its transactions.

import { eachSource } from '../nodes/sources.ts';
import { firstBlock, signaturesOf } from './node.ts';
import type { Known, Watch } from './watch.ts';

export type End = 'claimed' | 'refunded' | 'unfunded';

/** null: not known, or not yet. */
export function endOf({ marks, history }: Known): End | null {
  if (marks.has('claim')) return 'claimed';
  if (history.ended !== null) return history.ended;
  const isAll = history.isRead && (marks.has('fund') || history.reachesBack);
  if (!isAll) return null;
  if (marks.has('refund')) return 'refunded';
  // A list that has the funding and no end is behind what the account shows.
  return marks.has('fund') || history.wasFunded ? null : 'unfunded';
}

/** Whether a node has all blocks that could hold a funding, and all list the same. */
export async function lookBack(watch: Watch, known: Known, signal: AbortSignal): Promise<void> {
  const { history, marks, watched } = known;
  if (!history.isGone || !history.isRead || history.reachesBack || marks.has('fund')) return;
  const shown = await eachSource(watch, watch.rpc, async (one) => {
    const range = { until: null, before: null, limit: 1 };
    const [newest] = await signaturesOf(one, watched.address, range, signal);
    const { at } = await firstBlock(one, signal);
    return { newest: newest?.txid, reaches: at <= watched.since };
  });
  const lists = new Set(shown.map(({ answer }) => answer.newest));
  history.reachesBack = lists.size === 1 && shown.some(({ answer }) => answer.reaches);
}
