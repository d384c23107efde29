// The market as the watchtower sees it: the due and stored facts of an escrow, the gates as a party
// passes them, and the follower's own way of taking notice of a sent transaction.

import { ParleyError } from '@parley/core/errors.ts';
import { isUnknown, nothingSeen } from '@parley/core/facts.ts';
import { claimGate, fundGate } from '@parley/core/gates.ts';
import type { SwapState } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { AskedLeg, Case, ClaimAsking, FundAsking, Market } from '@parley/watchtower/port.ts';
import { escrowAt } from '../db/escrows.ts';
import { lockSwap, type Swap, swapById } from '../db/swaps.ts';
import * as watched from '../db/watched.ts';
import { notifyWork } from '../db/work.ts';
import type { Deps } from '../ports/deps.ts';
import {
  type Claimable,
  claimAsked,
  type Fundable,
  fundAsked,
  mayClaim,
  mayFund,
  mustStillBe,
  showSecret,
} from './builders.ts';
import { escrowOfRow } from './escrows.ts';
import { mayReveal, readBothLegs, readForClaim, sourcesAgree } from './live.ts';
import { reconcile } from './reconcile.ts';

export function marketOf(deps: Deps): Market {
  const { db } = deps;
  const claimOf = (asking: ClaimAsking) => claimAsked(db, asking);
  const fundOf = async (asking: FundAsking) => {
    const asked = await fundAsked(db, asking);
    await mustStillBe(db, asking);
    return asked;
  };
  return {
    takeUp: watched.takeUp,
    takeUpMissed: watched.takeUpMissed,
    takeUpAnew: watched.takeUpAnew,
    lockWithoutSecret: watched.lockWithoutSecret,
    lacksTimeSince: (since) => watched.lacksTimeSince(db, since),
    caseOf: async (chain, address) => {
      const row = await escrowAt(db, chain, address);
      const swap = row === null ? null : await swapById(db, row.swapId);
      if (row === null || swap === null) return null;
      const { id: swapId, state, done, chainClocks } = swap;
      const escrow = escrowOfRow(swap, row);
      return { swapId, leg: row.leg, escrow, state, clock: chainClocks[row.leg], done };
    },
    timelocksOf: async (chain, addresses) => {
      const rows = await watched.timelocksOf(db, chain, addresses);
      return new Map(rows.map(({ address, timelock }) => [address, timelock]));
    },
    mustMayClaim: (of, payer, signal) => mustMayClaim(deps, of, payer, signal),
    isBarred: async ({ swapId, leg, escrow }, signal) => {
      const swap = await swapById(db, swapId);
      return swap === null || (await isBarred(deps, swap, { leg, escrow }, signal));
    },
    claimAsked: async (asking) => legOf(await claimOf(asking)),
    mayClaim: async (asking, payer, signal) =>
      passed(await mayClaim(deps, await claimOf(asking), payer, signal)),
    fundAsked: async (asking) => legOf(await fundOf(asking)),
    mayFund: async (asking, signal) => passed(await mayFund(deps, await fundOf(asking), signal)),
    pin: async (tx, of) => {
      await lockSwap(tx, of.swapId);
      await mustStillBe(tx, of);
    },
    showSecret: (tx, of) => showSecret(tx, deps, of),
    ringWatchtower: (tx) => notifyWork(tx, 'watchtower'),
    reconcile: async (swapId, chain, signal) => {
      await reconcile(deps, swapId, { chains: [chain], signal });
    },
  };
}

function legOf({ swap, name: leg }: { readonly swap: Swap; readonly name: LegName }): AskedLeg {
  const { chain, family, escrow } = swap.state.legs[leg];
  return { swapId: swap.id, leg, chain, family, token: swap.tokens[leg], escrow };
}

function passed<Of extends Claimable | Fundable>(of: Of) {
  return { ...of, swapId: of.swap.id, leg: of.name };
}

/** As a broadcast passes them: a signed transaction may have waited for long. */
async function mustMayClaim(
  deps: Deps,
  { swapId, leg, escrow }: Pick<Case, 'swapId' | 'leg' | 'escrow'>,
  payer: string,
  signal: AbortSignal,
): Promise<void> {
  const swap = await swapById(deps.db, swapId);
  if (swap === null) throw new Error(`there is no swap ${swapId}`);
  const { state, clocks } = await readForClaim(deps, swap, leg, signal);
  claimGate(state, leg, clocks);
  if (state.secret !== null) return;
  await mayReveal(deps, swap, { escrow, payer }, signal);
}

/** As whoever signed it would ask before sending it. */
async function isBarred(
  deps: Deps,
  swap: Swap,
  { leg, escrow }: { readonly leg: LegName; readonly escrow: string },
  signal: AbortSignal,
): Promise<boolean> {
  // A transaction signed for an escrow that the leg moved off is not sent any more.
  if (swap.state.legs[leg].escrow !== escrow) return true;
  const { state, clocks } = await readBothLegs(deps, swap, signal);
  try {
    fundGate(before(state, leg), leg, clocks);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return true;
  }
  await sourcesAgree(deps, swap, signal);
  return false;
}

/**
 * As if this leg were not funded: the transaction that has funded it may be the one in question. An
 * unknown leg stays so, as it may have been funded and have ended.
 */
function before(state: SwapState, name: LegName): SwapState {
  const { facts } = state.legs[name];
  const leg = { ...state.legs[name], facts: isUnknown(facts) ? facts : nothingSeen };
  return { ...state, legs: { ...state.legs, [name]: leg } };
}
