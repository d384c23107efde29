// A leg whose funding may be opened by a signature that somebody holds does not move: a holder of
// the signature could fund the escrow that the leg moved off, beside the one that it moved to. It
// moves again once the signature can open nothing: its fund-by has passed, or its lane is used, at
// depth, by every node that answers.

import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { escrowsOfSwap } from '../db/escrows.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { currentEscrow } from './escrows.ts';
import { adapterOf } from './preview.ts';

async function authorizedAt(tx: Tx, swap: Swap, name: LegName): Promise<Date | null> {
  const { escrow } = swap.state.legs[name];
  const rows = escrow === null ? [] : await escrowsOfSwap(tx, swap.id);
  return rows.find(({ address }) => address === escrow)?.authorizedAt ?? null;
}

/** An escrow whose signatures open nothing any more. */
export type Lifted = string | null;

/**
 * Asked of the chain before the transaction that moves the leg. Throws `addresses_fixed` while a
 * signature may open its escrow.
 */
export async function mayMoveOff(
  deps: Deps,
  swap: Swap,
  name: LegName,
  signal: AbortSignal,
): Promise<Lifted> {
  const escrow = currentEscrow(swap, name);
  if (escrow === null || (await authorizedAt(deps.db, swap, name)) === null) return null;
  const { chain } = swap.state.legs[name];
  const { ways } = adapterOf(deps, chain);
  if (ways === undefined || (await within(signal, chain, ways.mayOpen(escrow, signal)))) {
    throw pinned(swap, name);
  }
  return escrow.address;
}

/** In that transaction: the chain was not asked about later authorizations. */
export async function mustNotBeAuthorized(
  tx: Tx,
  swap: Swap,
  name: LegName,
  lifted: Lifted,
): Promise<void> {
  if (swap.state.legs[name].escrow === lifted) return;
  if ((await authorizedAt(tx, swap, name)) !== null) throw pinned(swap, name);
}

function pinned(swap: Swap, name: LegName): ParleyError {
  const until = currentEscrow(swap, name)?.terms.fundBefore ?? swap.state.legs[name].timelock;
  return new ParleyError(
    'addresses_fixed',
    `a funding of leg ${name} may have been signed: its addresses are fixed until its chain has ` +
      `passed ${until} (Unix seconds) at depth, unless its lane is used before`,
    { leg: name, until },
  );
}
