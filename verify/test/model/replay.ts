// Steps of the model on the contract's bytes: every kind of step once, from a state in which it can
// be taken, by the model's own way to that state.

import type { Model, Node } from './explore.ts';
import { type Action, type Contract, dealAt, escrowAt, type State } from './lanes.ts';
import { namedBy } from './promises.ts';
import { act } from './verbs.ts';
import {
  doOn,
  type Holder,
  held,
  heldOf,
  holders,
  states,
  statesOf,
  type World,
  words,
  wordsOf,
} from './world.ts';

type At = Node<State, Action>;
export type Steps = ReadonlyMap<At, readonly Action[]>;

/** How an escrow stands to its lane's word, and what the step made of it. */
function standing(contract: Contract, before: State, after: State, index: number): unknown {
  const { scene, places, cuts } = contract;
  const word = before.words[places[index] as number];
  const ahead = Math.sign(escrowAt(scene, index).counter - (word?.counter ?? 0));
  const fate = before.fates[index] ?? '';
  const became = fate.length > 1 ? 'over' : `${fate}>${after.fates[index]}`;
  return [ahead, word?.state === 1, word?.cut === cuts[index], became];
}

/** A call by what its escrows have in common, and a refused one by less. */
function alike({ scene }: Contract, action: Action, isRefused: boolean): unknown {
  if ('escrow' in action) {
    const { isPayees } = escrowAt(scene, action.escrow);
    return isRefused ? { ...action, escrow: isPayees } : action;
  }
  if (!('groups' in action) && !('escrows' in action)) return action;
  const named = namedBy(action);
  const deals = named.map((index) => dealAt(scene, index));
  const shared = (list: readonly unknown[]) => (isRefused ? 0 : new Set(list).size);
  const owed = deals.reduce((sum, { asset, amount }) => sum + (asset === 'native' ? amount : 0), 0);
  return {
    ...action,
    escrows: new Set(named).size,
    assets: shared(deals.map(({ asset }) => asset)),
    receivers: shared(deals.map(({ payout, funder }) => `${payout} ${funder}`)),
    groups: 'groups' in action && action.groups.length,
    value: 'value' in action && Math.sign(action.value - owed),
  };
}

/** The kind of a step: the call, its answer, and what became of the escrows that it names. */
function kindOf(contract: Contract, before: State, action: Action): string {
  const { state, refusal } = act(contract, before, action);
  const stand = namedBy(action).map((index) => standing(contract, before, state, index));
  return JSON.stringify([alike(contract, action, refusal !== null), refusal, stand]);
}

/** One step of each kind, and the steps that lead there. */
export function stepsOf(
  contract: Contract,
  model: Model<State, Action>,
  nodes: readonly At[],
): Steps {
  const kinds = new Set<string>();
  const steps = new Map<At, Action[]>();
  const add = (node: At, action: Action) => {
    const before = steps.get(node);
    if (before === undefined) steps.set(node, [action]);
    else if (!before.includes(action)) before.push(action);
  };
  for (const node of nodes) {
    if (node.state.marked !== null || node.state.isReorganised) continue;
    for (const action of model.actions(node.state)) {
      const kind = kindOf(contract, node.state, action);
      if (kinds.has(kind) || action.verb === 'mark') continue;
      kinds.add(kind);
      add(node, action);
      for (let { by } = node; by !== null; by = by.node.by) add(by.node, by.action);
    }
  }
  return steps;
}

/** Of each node that is reached: its nodes, by the action that leads there. */
function childrenOf(steps: Steps): ReadonlyMap<At, ReadonlyMap<Action, At>> {
  const children = new Map<At, Map<Action, At>>();
  for (const node of steps.keys()) {
    if (node.by === null) continue;
    const siblings = children.get(node.by.node) ?? new Map();
    children.set(node.by.node, siblings.set(node.by.action, node));
  }
  return children;
}

/** The differences between the model and the bytes, a sentence each. */
export async function differences(world: World, steps: Steps) {
  const { contract, session } = world;
  const children = childrenOf(steps);
  const wrong: string[] = [];
  let done = 0;
  const same = (what: string, seen: readonly bigint[], told: readonly bigint[]) => {
    if (seen.join() !== told.join()) wrong.push(`${what}: ${seen}, by the model ${told}`);
  };
  const own = ['contract'] as const;
  const begun = new Map<readonly Holder[], bigint[]>();
  for (const who of [own, holders]) begun.set(who, await held(world, who));
  const compare = async (before: State, after: State, what: string) => {
    same(what, await words(world), wordsOf(world, after));
    // Where nothing changed, nothing may have left.
    const who = before === after ? own : holders;
    const told = heldOf(after, who).map((amount, at) => amount + (begun.get(who)?.[at] ?? 0n));
    same(what, await held(world, who), told);
  };
  const walk = async (node: At): Promise<void> => {
    same('states', await states(world), statesOf(contract, node.state));
    for (const action of steps.get(node) ?? []) {
      await session.chain.checkpoint();
      const { state, refusal } = act(contract, node.state, action);
      const said = await doOn(world, node.state, action);
      const what = JSON.stringify(action);
      if (said !== refusal) wrong.push(`${what}: ${said}, by the model ${refusal}`);
      if (said === null && refusal === null) await compare(node.state, state, what);
      done += 1;
      const child = children.get(node)?.get(action);
      if (child !== undefined) await walk(child);
      await session.chain.revert();
    }
  };
  for (const node of steps.keys()) if (node.by === null) await walk(node);
  return { done, wrong };
}
