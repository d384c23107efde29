// Whether a request that was put off had a reason: a node, a connection or a process that failed at
// it. Without one it is the market that keeps what it promised waiting.

import type { Answer, Ask, Party } from './people.ts';
import { violate, type World } from './world.ts';

/** Counted where a call or a statement meets them. */
const reasons = [
  ...['node down', 'node slow', 'sources disagree', 'broadcast unanswered'],
  ...['connection lost', 'crash', 'commit late', 'overtaken', 'estimate refused'],
];

/** No word on what was asked, by the code alone: a node or the database does not answer. */
const puttingOff = new Set([
  ...['chain_timeout', 'chain_unavailable', 'unavailable', 'sources_disagree'],
]);
/** What a node makes of an estimate that it refuses; else it is a word on what was asked. */
const refusing = new Set(['payout_would_fail', 'funding_would_fail']);
/** The same request, or too many like it, was asked for just before. */
const tooSoon = new Set(['still_running', 'schedule_rate_limited', 'relay_rate_limited']);

/** How often any of them was met so far. */
export function troubleMet({ counts }: World): number {
  return reasons.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0);
}

/** No word on what was asked: nobody answers, a node or the database does not, or too soon. */
export function isPutOff({ status, code }: Answer): boolean {
  return status === 0 || puttingOff.has(code ?? '') || tooSoon.has(code ?? '');
}

/** So, and with a reason; `met` is what had been met before it was asked. */
export function isExcused(world: World, met: number, answer: Answer): boolean {
  const code = answer.code ?? '';
  if (!puttingOff.has(code) && !refusing.has(code)) return isPutOff(answer);
  return troubleMet(world) > met;
}

/** `beside`: another of the same party was under way meanwhile. */
export type Leaving = { readonly by: Party; beside: boolean };

/** Of a request that leaves signed refunds; returns what is told its answer. */
export function noteLeaving(world: World, by: Party, { url }: Ask): (answer: Answer) => void {
  const leaving = world.ladders?.leaving;
  if (leaving === undefined || !url.endsWith('/refund/scheduled')) return () => {};
  const others = [...leaving].filter((each) => each.by === by);
  for (const each of others) each.beside = true;
  const own: Leaving = { by, beside: others.length > 0 };
  leaving.add(own);
  return ({ code }) => {
    leaving.delete(own);
    if (code !== 'schedule_rate_limited' || own.beside) return;
    violate(world, 'nobody waits until others have left their refunds', by.name);
  };
}
