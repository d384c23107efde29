// The future of a withdrawal that is signed, by what its chain shows: it waits, its fee is raised, a
// block has it, or no block ever will.

import { has } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { type Kept, keptNow } from '@parley/sdk/stores/store.ts';
import { type PaymentState, raisedPayment, stateOfPayment } from '@parley/trader/paying/signing.ts';
import { type SpendSearch, type Spent, spendSearch } from '@parley/trader/paying/spent.ts';
import { coinsLimitMs, type Own, type WithdrawalsInput } from './checks.ts';
import type { Withdrawal } from './withdrawal.ts';

/** A fee that no block takes is raised after so long: others of the account wait behind it. */
const patienceMs = 2 * 60_000;
const coinPatienceMs = 20 * 60_000;
/** Before a payment was asked for, by the clock of another machine. */
const clockSlackSeconds = 600;

type Given = Pick<WithdrawalsInput, 'now' | 'searchOn'> & {
  readonly limit: (ms?: Millis) => AbortSignal;
  readonly send: (own: Own, withdrawal: Withdrawal) => Promise<void>;
};

/** `isSent`: its bytes were sent on the way. */
export type Next = { readonly next: Withdrawal; readonly isSent: boolean };

export function createNext({ now, searchOn, limit, send }: Given) {
  /** By chain. */
  const searches = new Map<string, SpendSearch>();

  const spentOf = async (own: Own, withdrawal: Withdrawal, kept: Kept): Promise<Spent | null> => {
    const { chain, to, amount, askedAtMs } = withdrawal;
    if (!has(own.of, 'coins')) return null;
    const byNodes: typeof searchOn = (of) => spendSearch(of, () => seconds(now()));
    const search = searches.get(chain) ?? (searchOn ?? byNodes)(own.of);
    searches.set(chain, search);
    const since = seconds(askedAtMs) - clockSlackSeconds;
    const spending = { kept, to, amount, from: own.wallet.address, since };
    return search(spending, limit(coinsLimitMs));
  };

  /** Bitcoin shows no output of it: it waits, or its receiver has spent it, or others its coins. */
  const unseen = async (own: Own, withdrawal: Withdrawal, kept: Kept): Promise<Next> => {
    const isSent = withdrawal.minedAtMs === null;
    if (isSent) await send(own, withdrawal);
    // A node takes a payment again that a block has: only its coins tell.
    const raised = await raisedPayment(own.wallet, kept, withdrawal, limit());
    if (raised === 'gone') {
      const spent = await spentOf(own, withdrawal, kept);
      const isDeep = (spent?.blocks ?? 0) >= own.source.view.policy.normal.confirmations;
      return { next: afterSpent(withdrawal, spent, isDeep), isSent };
    }
    // A reorganisation may have taken it back.
    return { next: waiting(withdrawal, kept, raised, coinPatienceMs), isSent };
  };

  return async (own: Own, withdrawal: Withdrawal, kept: Kept): Promise<Next> => {
    const { normal } = own.source.view.policy;
    const { minedAtMs } = withdrawal;
    const minedForMs = minedAtMs === null ? null : Date.now() - minedAtMs;
    const state = await stateOfPayment(own.wallet, kept, normal, minedForMs, limit());
    if (state === 'unseen') return unseen(own, withdrawal, kept);
    if (state !== 'waiting') return { next: shown(withdrawal, kept, state), isSent: false };
    const raised = isLate(kept, patienceMs)
      ? await raisedPayment(own.wallet, kept, withdrawal, limit())
      : null;
    const version = raised === 'gone' ? null : raised;
    return { next: waiting(withdrawal, kept, version, patienceMs), isSent: false };
  };
}

/** A clock that was set back makes no wait longer. */
const isLate = ({ keptAtMs = 0 }: Kept, patience: Millis) =>
  Math.abs(Date.now() - keptAtMs) >= patience;

/** A block takes one of both versions. */
function waiting(
  withdrawal: Withdrawal,
  kept: Kept,
  raised: Kept | null,
  patience: Millis,
): Withdrawal {
  const waits: Withdrawal = { ...withdrawal, state: 'signed', minedAtMs: null };
  return raised === null || !isLate(kept, patience) ? waits : { ...waits, kept: keptNow(raised) };
}

function shown(
  withdrawal: Withdrawal,
  kept: Kept,
  state: Exclude<PaymentState, 'unseen' | 'waiting'>,
): Withdrawal {
  const minedAtMs = withdrawal.minedAtMs ?? Date.now();
  switch (state) {
    case 'deep':
      return { ...withdrawal, state: 'paid', why: null, minedAtMs };
    case 'mined':
      return { ...withdrawal, state: 'mined', why: null, minedAtMs };
    case 'reverted':
    case 'lost':
      return { ...withdrawal, state: 'failed', why: lostWords(state, kept) };
  }
}

/** Another wallet of the same key may have spent its coins: that is no payment of it. */
function afterSpent(withdrawal: Withdrawal, spent: Spent | null, isDeep: boolean): Withdrawal {
  if (spent === null)
    return { ...withdrawal, why: 'a block spends its coins: which one is searched' };
  if (spent.pays) {
    const minedAtMs = withdrawal.minedAtMs ?? Date.now();
    return { ...withdrawal, state: isDeep ? 'paid' : 'mined', why: null, minedAtMs };
  }
  const spender = `another wallet of this key has spent its coins in ${spent.txid}`;
  if (isDeep)
    return { ...withdrawal, state: 'failed', why: `${spender}: the withdrawal paid nobody` };
  const why = `${spender}: if that is final, the withdrawal paid nobody`;
  return { ...withdrawal, state: 'signed', minedAtMs: null, why };
}

const seconds = (ms: Millis) => Math.floor(ms / 1_000);

function lostWords(state: 'reverted' | 'lost', { txid }: Kept): string {
  return state === 'lost'
    ? `no block will ever take ${txid}, and nothing was paid`
    : `a block has ${txid}, which reverted: its fee was paid, and nothing else`;
}
