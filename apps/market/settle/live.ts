// The facts that the chains show of a swap at this moment, read for one request before its gates
// are passed. The read stores no row: the follower finds the same by itself.

import type { Asks } from '@parley/chains/interface/building.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { begun } from '@parley/chains/nodes/gathering.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, holdsPayment, nothingSeen } from '@parley/core/facts.ts';
import { opens } from '@parley/core/hashlock.ts';
import type { Clocks, Leg, SwapState } from '@parley/core/swap.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import { escrowsOfSwap } from '../db/escrows.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { currentEscrow, escrowOfRow } from './escrows.ts';
import { adapterOf } from './preview.ts';

export type Live = {
  readonly state: SwapState;
  readonly clocks: Clocks;
  /** The further questions of gates, for the blocks that were read. */
  readonly asks: { readonly [Name in LegName]?: Asks };
};

type Shown = {
  readonly facts: EscrowFacts;
  readonly strayed: boolean;
  readonly clock: number;
  readonly asks: Asks;
};

/** All of it at one block, so that facts and clock belong together. */
async function readLeg(deps: Deps, swap: Swap, name: LegName, signal: AbortSignal): Promise<Shown> {
  const { chain, amount } = swap.state.legs[name];
  const current = currentEscrow(swap, name);
  const own = current === null ? [] : [current];
  const former = await formerOf(deps, swap, name);
  const adapter = adapterOf(deps, chain);
  const looking = adapter.look([...own, ...former], signal);
  const { heads, facts } = await within(signal, chain, looking);
  const [shown = nothingSeen] = facts.slice(0, own.length);
  const strayed = facts.slice(own.length).some((each) => holdsPayment(each, amount));
  const asks = adapter.at?.(heads) ?? adapter;
  return { facts: shown, strayed, clock: heads.clock, asks };
}

/** The escrows that the leg moved off: as a rule none, at most 19. */
async function formerOf({ db }: Deps, swap: Swap, name: LegName): Promise<WatchedEscrow[]> {
  if (swap.done || !swap.former.some(({ leg }) => leg === name)) return [];
  const { escrow } = swap.state.legs[name];
  const rows = await escrowsOfSwap(db, swap.id);
  const former = rows.filter((row) => row.leg === name && row.address !== escrow);
  return former.map((row) => escrowOfRow(swap, row));
}

function withShown(deps: Deps, swap: Swap, shown: Partial<Record<LegName, Shown>>): Live {
  const { legs, hashlock } = swap.state;
  const a = withNews(legs.a, shown.a);
  const b = withNews(legs.b, shown.b);
  const seen = [a.facts.secret, b.facts.secret].find((each) => each && opens(each, hashlock));
  const clocks: Clocks = {
    wall: Math.floor(deps.now() / 1000),
    a: shown.a?.clock ?? swap.chainClocks.a,
    b: shown.b?.clock ?? swap.chainClocks.b,
  };
  const secret = swap.state.secret ?? seen ?? null;
  const asks: Live['asks'] = {
    ...(shown.a && { a: shown.a.asks }),
    ...(shown.b && { b: shown.b.asks }),
  };
  return { state: { ...swap.state, legs: { a, b }, secret }, clocks, asks };
}

function withNews(leg: Leg, shown: Shown | undefined): Leg {
  return shown === undefined ? leg : { ...leg, facts: shown.facts, strayed: shown.strayed };
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

type Reveal = {
  readonly escrow: WatchedEscrow;
  readonly payer: string | null;
  /** The questions of the poll that its gate went by. */
  readonly asks?: Asks | undefined;
};

/**
 * Before a claim shows the secret: the sources agree, the payout would arrive, and whoever sends it
 * can pay for it. A token that was paused since, a receiver that was blocked, or a wallet that runs
 * out of energy would burn the secret for nothing. `payer` null: the sender is not known yet. All
 * is asked at one moment.
 */
export async function mayReveal(
  deps: Deps,
  swap: Swap,
  { escrow: { terms }, payer, asks }: Reveal,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = terms;
  const { preflight, claimShortage } = asks ?? adapterOf(deps, chain);
  const agreeing = begun(sourcesAgree(deps, swap, signal));
  const trying = begun(within(signal, chain, preflight(terms, 'claim', signal)));
  const asking = payer === null ? undefined : claimShortage?.(terms, payer, signal);
  const counting = asking && begun(within(signal, chain, asking));
  await agreeing;
  await trying;
  const shortage = (await counting) ?? null;
  if (shortage === null) return;
  const { sentence, code, has, need } = shortage;
  throw new ParleyError('claim_unpayable', sentence, { chain, payer, lack: code, has, need });
}

/** One leg; the other one is as last stored. */
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
