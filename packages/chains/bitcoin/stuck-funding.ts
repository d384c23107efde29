// A funding that waits too long for its first block, and what its funder can do: have the wallet
// replace it (RBF), or spend its change with a child that pays for both (CPFP).

import { larger } from '@parley/core/amounts.ts';
import type { Warning } from '../interface/gas.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { fundingPayment } from './escrow-facts.ts';
import { feeAt, ladderRate, rateOf } from './fees.ts';
import { parseTx } from './raw-transaction.ts';
import type { Reading } from './signed-spends.ts';

/** So long it may wait before anybody is bothered, where the source tells: a block or two. */
export const fundingPatienceSeconds = 20 * 60;

/** One P2WPKH input, one output of any kind in use. */
const childVsize = 122;

/** Null: it began to wait just now, or pays what is wanted to be mined by `sendBy`. */
export async function stuckFunding(
  { backend, history, estimate, now }: Reading,
  escrow: WatchedEscrow,
  sendBy: number,
  signal: AbortSignal,
): Promise<Warning | null> {
  const { address, terms } = escrow;
  const seen = await history(escrow, signal);
  const funding = fundingPayment(seen.history, terms.amount);
  if (funding === null || funding.height !== null) return null;
  const { txid } = funding;
  const entry = await backend.mempoolEntry(txid, signal);
  const raw = entry && (await backend.rawOf(txid, null, signal));
  if (entry === null || raw === null) return null;
  const { vsize, feeSats, since = 0 } = entry;
  if (now() - since < fundingPatienceSeconds) return null;
  const wanted = ladderRate(await estimate(signal), sendBy - now());
  const parents = entry.withAncestors ?? { vsize, feeSats };
  const own = Math.min(rateOf(feeSats, vsize), rateOf(parents.feeSats, parents.vsize));
  // A child that is there already may pay for it.
  const withChild = rateOf(entry.withDescendantsFeeSats, entry.withDescendantsVsize ?? vsize);
  if (Math.max(own, withChild) >= wanted) return null;
  const missing = (of: { readonly vsize: number; readonly feeSats: bigint }) =>
    feeAt(of.vsize + childVsize, wanted) - of.feeSats;
  // Parents that pay more than is wanted are mined before, and leave it nothing.
  const fee = larger(missing(parents), missing({ vsize, feeSats }));
  const change = [...parseTx(raw).outputs.keys()].filter((vout) => vout !== funding.vout);
  const child =
    change.length === 0
      ? 'it has no change that a child could spend'
      : `spend your change (output ${change.join(' or ')}) with a fee of ${fee} sats for ` +
        `${childVsize} vbytes`;
  const sentence =
    `the funding ${txid} is in no block and pays ${own} sat per vbyte, where ${wanted} are wanted ` +
    `now: have your wallet replace it at that rate (the same payment), or ${child}`;
  return { code: 'fund_stuck', verb: 'fund', address, sentence };
}
