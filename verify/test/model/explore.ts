// Every state that a model can reach, breadth first, so that the story of a fault is a shortest one.

export type Model<State, Action> = {
  readonly first: State;
  actions(state: State): readonly Action[];
  /** Pure. Answers the very same state where nothing changes. */
  step(state: State, action: Action): State;
  /** Equal for states that are equal, and for no others. */
  keyOf(state: State): string;
  /** The promise that this step broke, or null. */
  faultOf(before: State, action: Action, after: State): string | null;
};

export type Node<State, Action> = {
  readonly state: State;
  /** How it was reached first; null for the first state. */
  readonly by: { readonly node: Node<State, Action>; readonly action: Action } | null;
};

export type Explored<State, Action> = {
  readonly nodes: readonly Node<State, Action>[];
  readonly steps: number;
  /** Whether no state is left out. */
  readonly isWhole: boolean;
  readonly fault: { readonly rule: string; readonly story: readonly Action[] } | null;
};

/** The actions from the first state to this one. */
export function storyOf<State, Action>(node: Node<State, Action>): Action[] {
  const story: Action[] = [];
  for (let { by } = node; by !== null; by = by.node.by) story.unshift(by.action);
  return story;
}

/** Ends at the first fault, or with the steps of `most` states. */
export function explore<State, Action>(
  model: Model<State, Action>,
  most: number,
): Explored<State, Action> {
  const nodes: Node<State, Action>[] = [{ state: model.first, by: null }];
  const known = new Set([model.keyOf(model.first)]);
  let steps = 0;
  let walked = 0;
  // The list grows while it is walked.
  for (const node of nodes) {
    if (walked === most) return { nodes, steps, isWhole: false, fault: null };
    walked += 1;
    for (const action of model.actions(node.state)) {
      const after = model.step(node.state, action);
      steps += 1;
      const rule = model.faultOf(node.state, action, after);
      if (rule !== null) {
        const fault = { rule, story: [...storyOf(node), action] };
        return { nodes, steps, isWhole: false, fault };
      }
      if (after === node.state) continue;
      const key = model.keyOf(after);
      if (known.has(key)) continue;
      known.add(key);
      nodes.push({ state: after, by: { node, action } });
    }
  }
  return { nodes, steps, isWhole: true, fault: null };
}
