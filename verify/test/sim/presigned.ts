// Claims and refunds signed beforehand on a simulated chain: what a Bitcoin adapter answers about
// them, and a party's own signed claims. A simulated id covers the secret too, a real one does not.

import type { Bump, ScheduledSpends, ScheduledVerb } from '@parley/chains/interface/scheduled.ts';
import { ParleyError } from '@parley/core/errors.ts';
import {
  clockAt,
  heldIn,
  rawOf,
  type SimChain,
  tipOf,
  transactionOf,
  txidOf,
  waitingAt,
} from './chain.ts';
import { takenBy } from './node.ts';
import type { Wire } from './wire.ts';

function bumpOf(verb: ScheduledVerb, raw: string, escrow: string): Bump {
  const tx = transactionOf(raw);
  if (tx?.verb !== verb || tx.escrow !== escrow || tx.secret !== null) {
    throw new ParleyError('bad_transaction', `this is no ${verb} of that escrow`, { escrow });
  }
  return { txid: txidOf(raw), raw, feeSats: BigInt(tx.fee), feeRateSatPerVbyte: tx.fee };
}

export function presignedOn(chain: SimChain, wire: Wire): ScheduledSpends {
  const call = <R>(name: string, work: () => R) => wire.at(`${chain.chain} ${name}`, work);
  return {
    check: ({ address }, { verb, transactions }) =>
      call('checkSpends', () => transactions.map((each) => bumpOf(verb, each, address))),
    spendable: async () => ({ payments: [], lastHourRate: 1 }),
    next: ({ address, terms }, { verb, bumps, tried, secret }) =>
      call('nextSpend', () => {
        const { height } = tipOf(chain);
        const [held] = chain.holdings.get(address) ?? [];
        const { spentBy } = held ?? { spentBy: null };
        if (spentBy !== null && height - spentBy.height >= chain.policy.high.confirmations) {
          return { kind: 'over', txid: spentBy.txid };
        }
        const [waiting] = waitingAt(chain, address).filter(({ tx }) => tx.verb !== 'fund');
        const isDue = verb === 'claim' ? secret !== null : clockAt(chain, height) > terms.timelock;
        if (held === undefined || spentBy !== null || !isDue) {
          return { kind: 'wait', why: 'not now', calm: false, tried };
        }
        if (waiting === undefined) return { kind: 'send', from: 0, height, over: null };
        const { txid, tx } = waiting;
        const kept = { txid, at: 0, height };
        const from = bumps.findIndex(({ feeRateSatPerVbyte }) => feeRateSatPerVbyte > tx.fee);
        const isStuck = tx.verb === 'refund' || (tried?.txid === txid && tried.height < height);
        if (verb === 'refund' || from < 0 || !isStuck) {
          const since = tried?.txid === txid ? tried : kept;
          return { kind: 'wait', why: 'it waits', calm: false, tried: since };
        }
        return { kind: 'send', from, height, over: txid };
      }),
    finished: (_, { raw }, { verb, secret }) => {
      const tx = transactionOf(raw);
      return verb === 'refund' || tx === null ? raw : rawOf({ ...tx, secret });
    },
    rival: ({ txid, raw }) =>
      call('rivalOfRefund', () => {
        const [waiting] = waitingAt(chain, transactionOf(raw)?.escrow ?? '');
        return waiting === undefined || waiting.txid === txid ? null : waiting.txid;
      }),
  };
}

const fees = [5, 9, 40, 160];

/** Its payee's claims of what funds it, at rising fees; none while nothing does. */
export function signedClaims(chain: SimChain, escrow: string | null): string[] {
  const terms = chain.plans.get(escrow ?? '');
  if (escrow === null || terms === undefined) return [];
  const unspent = heldIn(chain, escrow).filter(({ spentBy }) => spentBy === null);
  const coins = takenBy(chain, 'claim', unspent, terms).map(({ txid }) => txid);
  if (coins.length === 0) return [];
  const by = terms.payout.pubkey ?? '';
  const about = { chain: chain.chain, verb: 'claim', escrow, by, coins, amount: '0' } as const;
  return fees.map((fee) => rawOf({ ...about, secret: null, fee }));
}
