// What the largest ladder of signed refunds keeps the event loop from: its check at a stretch, as
// it once was, against the longest of the steps that it is made in, and against the same bytes
// posted again.

import { mostRungs } from '../chains/bitcoin/fee-ladder.ts';
import { defaultFeeBounds as bounds, feeAt } from '../chains/bitcoin/fees.ts';
import { signSighashes } from '../chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '../chains/bitcoin/networks.ts';
import { buildSpend, vsizeOf } from '../chains/bitcoin/plan.ts';
import { assemble } from '../chains/bitcoin/signed-psbt.ts';
import { checkSignedRefunds, mostRefundInputs } from '../chains/bitcoin/signed-refunds.ts';
import { testSwap } from '../chains/bitcoin/testing/swaps.ts';
import type { Rung } from '../chains/interface/scheduled.ts';
import { atMost, median, type Row } from './report.ts';

const network = bitcoinNetworks.regtest;
const { terms, funder } = testSwap({ timelock: 1_900_000_000, since: 0 });
const payments = Array.from({ length: mostRefundInputs }, (_, at) => ({
  txid: (at + 16).toString(16).repeat(32),
  vout: 0,
  amount: 1_000_000n,
  height: 100,
  coinbase: false,
  spend: null,
}));
const about = {
  terms,
  network,
  history: { payments, tip: 200 },
  requiredConfirmations: 3,
  bounds,
  estimate: { fast: 4, medium: 3, slow: 2, least: 1, at: 0 },
};

function ladder(): string[] {
  const vsize = vsizeOf(terms, network, 'refund', payments.length);
  return Array.from({ length: mostRungs }, (_, at) => {
    const fee = feeAt(vsize, 1 + 2 * at);
    const { psbtBase64, sighashHexes } = buildSpend(terms, network, 'refund', payments, fee);
    const signaturesHex = signSighashes(funder.privateKey, sighashHexes);
    return assemble({ psbtBase64, signaturesHex }).raw;
  });
}

/** How long each step took. */
function check(transactions: readonly string[], known: readonly Rung[]) {
  const steps = checkSignedRefunds(transactions, { ...about, known });
  const took: number[] = [];
  for (;;) {
    const began = performance.now();
    const { done, value } = steps.next();
    took.push(performance.now() - began);
    if (done) return { rungs: value, took };
  }
}

const sum = (figures: readonly number[]) => figures.reduce((all, each) => all + each, 0);

export function benchScheduled({ rounds }: { readonly rounds: number }): Row[] {
  const transactions = ladder();
  const { rungs } = check(transactions, []);
  const all = Array.from({ length: rounds }, () => ({
    first: check(transactions, []).took,
    again: check(transactions, rungs).took,
  }));
  const [{ first: steps = [] } = {}] = all;
  // Of each step by itself: what else the machine does meanwhile is nobody's step.
  const each = steps.map((_, at) => median(all.map(({ first }) => first[at] ?? 0)));
  const limit = median(all.map(({ first }) => sum(first)));
  const again = median(all.map((took) => sum(took.again)));
  const against = `the check of ${mostRungs} refunds of ${mostRefundInputs} payments at a stretch`;
  const row = { unit: 'ms', limit, bar: 0.1 } as const;
  const step = 'scheduled: longest step between two turns of the event loop';
  return [
    atMost(step, { ...row, value: Math.max(...each) }, against),
    atMost('scheduled: the same bytes posted again', { ...row, value: again }, against),
  ];
}
