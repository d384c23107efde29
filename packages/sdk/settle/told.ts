// The faults of the nodes of a swap's chains, as every face emits them: doubts about what they
// showed, and gates that they keep shut.

import type { LegName } from '@parley/core/trade.ts';
import type { Doubt } from '../evidence/judge.ts';
import type { Failure, Shown } from './context.ts';
import type { LegSeen } from './record.ts';

/** `leg`: null where a gate was about both chains. */
export type ToldDoubt = Doubt & { readonly leg: LegName | null };

type Told = Pick<Shown, 'legs' | 'failures'>;

/** By the last look, and what followed of it. */
export function doubtsIn({ legs, failures }: Told): ToldDoubt[] {
  const seen = [...legs].flatMap(([leg, { evidence }]) =>
    (evidence?.doubts ?? []).map((doubt) => ({ ...doubt, leg })),
  );
  return [...seen, ...failures.flatMap(gateIn)];
}

/** Before it funds or reveals, the driver asks all nodes once more: those that differ then. */
function gateIn({ leg, code, sentence }: Failure): ToldDoubt[] {
  return code === 'sources_disagree' ? [{ code: 'nodes_disagree', sentence, leg }] : [];
}

/**
 * Whether a node has yet to answer, or no node does: a doubt about it is not over because nobody
 * hears it. The look names a silence once it has lasted.
 */
export function isUnheard(seen: LegSeen | undefined): boolean {
  if (seen === undefined) return true;
  const { evidence } = seen;
  if (evidence === undefined) return false;
  const { agreed, doubts } = evidence;
  if (doubts.length === 0) return !agreed;
  return doubts.some(({ code }) => code === 'node_silent');
}

/** The same, with what was told of a leg before while a node of it has yet to answer. */
export function doubtsAfter(before: readonly ToldDoubt[], shown: Told): ToldDoubt[] {
  const now = doubtsIn(shown);
  const isKept = ({ leg }: ToldDoubt) =>
    leg !== null && isUnheard(shown.legs.get(leg)) && !now.some((each) => each.leg === leg);
  return [...before.filter(isKept), ...now];
}
