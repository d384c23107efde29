// Refunds signed beforehand on a simulated Bitcoin: what its adapter answers of them.

import type { Rung, ScheduledRefunds } from '../../chains/interface/scheduled.ts';
import { ParleyError } from '../../core/errors.ts';
import { clockAt, type SimChain, tipOf } from '../sim/chain.ts';
import { transactionOf, txidOf } from '../sim/transaction.ts';
import type { Wire } from '../sim/wire.ts';

function rungOf(raw: string, escrow: string): Rung {
  const tx = transactionOf(raw);
  if (tx?.verb !== 'refund' || tx.escrow !== escrow) {
    throw new ParleyError('bad_transaction', 'this is no refund of that escrow', { escrow });
  }
  return { txid: txidOf(raw), raw, feeSats: BigInt(tx.fee), feeRateSatPerVbyte: tx.fee };
}

export function presignedOn(chain: SimChain, wire: Wire): ScheduledRefunds {
  const call = <R>(name: string, work: () => R) => wire.at(`${chain.chain} ${name}`, work);
  return {
    check: ({ address }, { transactions }) =>
      call('checkRefunds', () => transactions.map((each) => rungOf(each, address))),
    payments: async () => [],
    next: ({ address, terms }, { tried }) =>
      call('nextRefund', () => {
        const { height } = tipOf(chain);
        const [held] = chain.holdings.get(address) ?? [];
        const { spentBy } = held ?? { spentBy: null };
        if (spentBy !== null && height - spentBy.height >= chain.policy.high.confirmations) {
          return { kind: 'over', txid: spentBy.txid };
        }
        const waits = [...chain.mempool.values()].some(({ tx }) => tx.escrow === address);
        const isOpen = held !== undefined && spentBy === null && !waits;
        if (!isOpen || clockAt(chain, height) <= terms.timelock) {
          return { kind: 'wait', why: 'not now', calm: false, tried };
        }
        return { kind: 'send', from: 0, height, over: null };
      }),
    rival: ({ txid, raw }) =>
      call('rivalOfRefund', () => {
        const escrow = transactionOf(raw)?.escrow;
        const waiting = [...chain.mempool.values()].find(({ tx }) => tx.escrow === escrow);
        return waiting === undefined || waiting.txid === txid ? null : waiting.txid;
      }),
  };
}
