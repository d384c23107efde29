// The effect of a text that the market gave to sign, and of a signature that it is given: the leg
// stays where it is (pin.ts).

import type { LegName } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { noteAuthorized, noteBuilt } from '../db/escrows.ts';
import { lockSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { fundAsked, mustStillBe, planned } from './builders.ts';
import { mustAuthorize } from './fund-ways.ts';
import { adapterOf } from './preview.ts';

/**
 * A funding of this escrow leaves the market. From one that is signed (`isSigned`) the leg stays.
 * Throws `escrow_moved` where it has gone before.
 */
export async function handOut(
  tx: Tx,
  deps: Deps,
  about: { readonly swapId: string; readonly leg: string; readonly escrow: string },
  isSigned: boolean,
): Promise<void> {
  const swap = await lockSwap(tx, about.swapId);
  await mustStillBe(tx, about);
  if (swap === null) return;
  const { chain } = swap.state.legs[about.leg as LegName];
  const escrow = { chain, address: about.escrow, at: new Date(deps.now()) };
  await noteBuilt(tx, escrow);
  if (isSigned) await noteAuthorized(tx, escrow);
}

type SignatureGiven = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  readonly escrow: string;
  readonly signature: string;
  readonly signal: AbortSignal;
};

/**
 * Takes note of a signature, whatever becomes of what was asked with it. Throws `bad_signature`
 * unless it is the refund address's over this escrow.
 */
export async function takeSignature(deps: Deps, given: SignatureGiven): Promise<void> {
  const { swap, name } = await fundAsked(deps.db, given);
  await mustStillBe(deps.db, given);
  const adapter = adapterOf(deps, swap.state.legs[name].chain);
  if (adapter.ways === undefined || swap.tokens[name] === null) return;
  await mustAuthorize(deps, adapter, planned(swap, name), given.signature, given.signal);
  await deps.db.transaction((tx) => handOut(tx, deps, given, true));
}
