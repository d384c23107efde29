// What the chains show of a swap at this moment, read for one request before its gates are passed.
// Nothing is stored: the follower finds the same by itself.

import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import { opens } from '../../core/hashlock.ts';
import type { Clocks, SwapState } from '../../core/swap.ts';
import { type LegName, otherLeg } from '../../core/trade.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../deps.ts';
import { currentEscrow, within } from './escrows.ts';
import { adapterOf } from './preview.ts';

export type Live = { readonly state: SwapState; readonly clocks: Clocks };

type Shown = { readonly facts: EscrowFacts; readonly clock: number };

async function readLeg(deps: Deps, swap: Swap, name: LegName, signal: AbortSignal): Promise<Shown> {
  const { chain } = swap.state.legs[name];
  const adapter = adapterOf(deps, chain);
  const escrow = currentEscrow(swap, name);
  const facts = escrow === null ? Promise.resolve(nothingSeen) : adapter.readEscrow(escrow, signal);
  const [heads, read] = await within(signal, chain, Promise.all([adapter.heads(signal), facts]));
  // A read watches what it reads; a swap that has ended is no longer followed.
  if (swap.done && escrow !== null) adapter.unwatch([escrow.address]);
  return { facts: read, clock: heads.clock };
}

function withShown(deps: Deps, swap: Swap, shown: Partial<Record<LegName, Shown>>): Live {
  const { legs, hashlock } = swap.state;
  const a = { ...legs.a, facts: shown.a?.facts ?? legs.a.facts };
  const b = { ...legs.b, facts: shown.b?.facts ?? legs.b.facts };
  const seen = [a.facts.secret, b.facts.secret].find((each) => each && opens(each, hashlock));
  const clocks: Clocks = {
    wall: Math.floor(deps.now() / 1000),
    a: shown.a?.clock ?? swap.chainClocks.a,
    b: shown.b?.clock ?? swap.chainClocks.b,
  };
  const secret = swap.state.secret ?? seen ?? null;
  return { state: { ...swap.state, legs: { a, b }, secret }, clocks };
}

/** Both legs. Throws `chain_timeout` or `chain_unavailable` when either chain does not answer. */
export async function readBothLegs(deps: Deps, swap: Swap, signal: AbortSignal): Promise<Live> {
  const [a, b] = await Promise.all([
    readLeg(deps, swap, 'a', signal),
    readLeg(deps, swap, 'b', signal),
  ]);
  return withShown(deps, swap, { a, b });
}

/**
 * Before money or a secret relies on what the chains show: where a chain has two sources, both must
 * show the same. Throws `sources_disagree`. Never asked for refunds, nor once the secret is public.
 */
export async function sourcesAgree(deps: Deps, swap: Swap, signal: AbortSignal): Promise<void> {
  const legs = ['a', 'b'] as const;
  await Promise.all(
    legs.map((name) => {
      const { chain } = swap.state.legs[name];
      const escrow = currentEscrow(swap, name);
      const agreeing = escrow && adapterOf(deps, chain).mustAgree?.(escrow, signal);
      return agreeing ? within(signal, chain, agreeing) : undefined;
    }),
  );
}

/** One leg; of the other what was last stored. */
export async function readOneLeg(
  deps: Deps,
  swap: Swap,
  name: LegName,
  signal: AbortSignal,
): Promise<Live> {
  return withShown(deps, swap, { [name]: await readLeg(deps, swap, name, signal) });
}

/**
 * As much as a claim needs: with the secret public nothing of ours may stand in its way, so only
 * its own chain is asked; before that both are.
 */
export async function readForClaim(
  deps: Deps,
  swap: Swap,
  name: LegName,
  signal: AbortSignal,
): Promise<Live> {
  if (swap.state.secret !== null) return readOneLeg(deps, swap, name, signal);
  const other = readLeg(deps, swap, otherLeg(name), signal).then(
    (shown) => ({ shown, failure: null }),
    (failure: unknown) => ({ shown: null, failure }),
  );
  const own = await readLeg(deps, swap, name, signal);
  const alone = withShown(deps, swap, { [name]: own });
  if (alone.state.secret !== null) return alone;
  const { shown, failure } = await other;
  if (shown === null) throw failure;
  return withShown(deps, swap, { [name]: own, [otherLeg(name)]: shown });
}
