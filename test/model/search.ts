// Every state that can be reached, breadth first, so that the first fault found is told by one of
// the shortest ways to it.

import type { SwapStatus } from '../../core/status.ts';
import { adversaryMoves, chainMoves, type Emit } from './chain-moves.ts';
import { isConserved, isOver, judge, notConserved, stuck } from './faults.ts';
import { honestMoves, refusedRefund } from './honest-moves.ts';
import { copyOf, pack, type Slot, type State, startState, unpack } from './state.ts';
import { arm, timeMoves } from './time.ts';
import { type View, viewOf } from './view.ts';
import type { World } from './world.ts';

export type Found = {
  readonly states: number;
  readonly transitions: number;
  /** How many states have each status. */
  readonly statuses: ReadonlyMap<SwapStatus, number>;
  readonly fault: { readonly what: string; readonly path: readonly Move[] } | null;
};

export type Move = {
  readonly what: string;
  readonly slot: Slot | null;
  readonly state: State;
};

/** All that may happen next. The record that the market keeps is of this state, not the last. */
function successors(world: World, state: State, view: View, emit: Emit): void {
  const now = copyOf(state);
  now.recorded = view.recorded;
  now.lapsed = view.lapsed;
  honestMoves(world, now, view, emit);
  chainMoves(world, now, emit);
  if (world.question === 'loss') adversaryMoves(world, now, emit);
  timeMoves(world, now, view, emit);
}

export function search(world: World): Found {
  const first = startState();
  arm(world, first);
  const keys = [pack(first)];
  const parents = [-1];
  const seen = new Set(keys);
  let transitions = 0;
  const statuses = new Map<SwapStatus, number>();
  for (let at = 0; at < keys.length; at += 1) {
    const state = unpack(keys[at] as number);
    const view = viewOf(world, state);
    let ways = 0;
    statuses.set(view.status, (statuses.get(view.status) ?? 0) + 1);
    let fault = judge(world, state, view);
    successors(world, state, view, (name, _slot, next) => {
      transitions += 1;
      ways += 1;
      if (name === refusedRefund) fault ??= refusedRefund;
      if (!isConserved(state, next)) fault ??= notConserved;
      const key = pack(next);
      if (seen.has(key)) return;
      seen.add(key);
      keys.push(key);
      parents.push(at);
    });
    if (ways === 0 && state.wall < world.horizon && !isOver(world, state)) fault ??= stuck;
    if (fault !== null) {
      return {
        states: keys.length,
        transitions,
        statuses,
        fault: { what: fault, path: pathTo(at) },
      };
    }
  }
  return { states: keys.length, transitions, statuses, fault: null };

  function pathTo(last: number): Move[] {
    const chain: number[] = [];
    for (let at = last; at >= 0; at = parents[at] as number) chain.unshift(keys[at] as number);
    return chain.slice(1).map((key, index): Move => {
      const from = unpack(chain[index] as number);
      let found: Move | null = null;
      successors(world, from, viewOf(world, from), (what, slot, state) => {
        if (found === null && pack(state) === key) found = { what, slot, state };
      });
      if (found === null) throw new Error('a way that was found is not there again');
      return found;
    });
  }
}
