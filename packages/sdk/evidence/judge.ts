// Decides which answers of a chain's nodes count, and what follows. Pure: no node is asked here.

import type { Tip, WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { depthOf } from '@parley/core/deadlines.ts';
import { type EscrowFacts, legStatus, type Sighting } from '@parley/core/facts.ts';
import { type Family, has } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { clockToleranceSeconds } from '../clock-tolerance.ts';
import type { Marks } from './memory.ts';

/** The escrow as one node displayed it, at its own best block. */
export type Answer = {
  /** Its place among the chain's nodes, from 0. */
  readonly node: number;
  readonly heads: Tip;
  readonly facts: EscrowFacts;
  /** Whether it denies what was seen at depth, and proves no reorganisation. */
  readonly isRefused: boolean;
};

export type DoubtCode =
  | 'node_behind'
  | 'node_ahead'
  | 'node_silent'
  | 'chain_stands'
  | 'answer_refused'
  | 'nodes_disagree';

/** Why an answer does not count, or why nothing may end by these. Names no URL. */
export type Doubt = {
  readonly code: DoubtCode;
  readonly sentence: string;
  /** The place of the node that it is about; absent: it is about several. */
  readonly node?: number;
};

export type Bounds = {
  readonly chain: string;
  /** That are configured, whether they answer or not. */
  readonly nodes: number;
  readonly family: Family;
  readonly policy: ChainPolicy;
  readonly requiredConfirmations: number;
  /** Usual time between blocks. */
  readonly blockSeconds: number;
};

export type Judged = {
  readonly facts: EscrowFacts;
  /** The node whose facts these are. */
  readonly node: number;
  /** Those whose answers count. */
  readonly counting: readonly number[];
  /**
   * The earliest best block's time, and the latest one's, of the nodes that count and are not
   * ahead. Where all are ahead both are the earliest: no node may be right before it.
   */
  readonly earliest: UnixSeconds;
  readonly latest: UnixSeconds;
  /** Whether all nodes that count show the same. Only then something is ended or begun by it. */
  readonly agreed: boolean;
  readonly doubts: readonly Doubt[];
};

/** How sure it is what a leg shows. */
export type Evidence = Omit<Judged, 'facts' | 'latest' | 'counting'> & {
  /** The blocks of all that is at depth, once the nodes agree on it. */
  readonly marks: Marks;
  /** The former escrow that holds a payment, if any. */
  readonly strayed: WatchedEscrow | null;
  /** Whether its nodes differ for a moment only, as a block spreads: it counts, and is no news. */
  readonly isBrief?: boolean;
};

/**
 * Below it a pause between two blocks is no reason to doubt a node: else one that invents a newer
 * head would be heard alone.
 */
const leastBehindSeconds = 600;

/** By how much a head's time may be behind the wall's: an outage, and how the clock trails. */
export function mostBehindWall(bounds: Bounds): number {
  return outageOf(bounds) + trailsBy(bounds);
}

/** The outage of the depth that is waited for. */
export function outageOf({ policy, requiredConfirmations }: Bounds): number {
  return depthOf(policy, requiredConfirmations).outageSeconds;
}

/** By so much a chain's clock trails where nothing is wrong: Bitcoin's is a median of blocks. */
function trailsBy({ family, policy }: Bounds): number {
  return has(family, 'medianTime') ? policy.lateClaimSeconds : policy.driftSeconds;
}

/** By how much a head's time may be ahead of the wall's: the chain's clock, and this device's. */
const mostAheadOfWall = ({ policy }: Bounds) => policy.driftSeconds + clockToleranceSeconds;

export function isAhead({ clock }: Tip, bounds: Bounds, wall: UnixSeconds): boolean {
  return clock - wall > mostAheadOfWall(bounds);
}

/**
 * By height and by time: an invented head makes nobody else old that has the time of now. No head
 * is newer than now, and one that says so speaks against nobody.
 */
function isBehind(one: Tip, other: Tip, bounds: Bounds, wall: UnixSeconds): boolean {
  if (isAhead(other, bounds, wall)) return false;
  const { requiredConfirmations, blockSeconds } = bounds;
  const half = (requiredConfirmations * blockSeconds) / 2;
  const mostSeconds = Math.max(leastBehindSeconds, trailsBy(bounds), half);
  const isLow = other.height - one.height > requiredConfirmations;
  return isLow && Math.min(other.clock, wall) - one.clock > mostSeconds;
}

/**
 * `isPatient`: a node that has not reached the block of what another one shows is waited for.
 * Throws nothing; there is at least one answer.
 */
export function judge(
  answers: readonly [Answer, ...Answer[]],
  bounds: Bounds,
  { wall, isPatient }: { readonly wall: UnixSeconds; readonly isPatient: boolean },
): Judged {
  const doubts: Doubt[] = [];
  const counting = answers.filter((each) => {
    const doubt = ageDoubtOf(each, answers, bounds, wall);
    if (doubt !== null) doubts.push(doubt);
    return doubt === null;
  });
  // Its answer counts on: by a clock of this device that is behind all honest nodes are ahead.
  const ahead = counting.filter(({ heads }) => isAhead(heads, bounds, wall));
  for (const each of ahead) doubts.push(aheadDoubt(each, bounds, wall));
  // The memory may be one node's lie: another one that denies it is no silence.
  const refused = counting.filter(({ isRefused }) => isRefused);
  for (const each of refused) doubts.push(refusal(each, bounds));
  const [first, ...others] = counting.length > 0 ? counting : newest(answers);
  const all: readonly [Answer, ...Answer[]] = [first as Answer, ...others];
  const isSame = all.every((each) => shapeOf(each.facts) === shapeOf(all[0].facts));
  if (!isSame) doubts.push(disagreement(all, bounds));
  const picked = mostOpen(isPatient ? reached(all) : all);
  const secrets = answers.map(({ facts }) => facts.secret);
  const clocks = all.map(({ heads }) => heads.clock);
  const timely = all.filter((each) => !ahead.includes(each)).map(({ heads }) => heads.clock);
  return {
    facts: { ...picked.facts, secret: secrets.find((each) => each !== null) ?? null },
    node: picked.node,
    counting: counting.map(({ node }) => node),
    earliest: Math.min(...(timely.length > 0 ? timely : clocks)),
    latest: timely.length > 0 ? Math.max(...timely) : Math.min(...clocks),
    agreed: counting.length > ahead.length && isSame && refused.length === 0,
    doubts,
  };
}

/** Where no answer counts the least old one says what may be tried. */
function newest(answers: readonly Answer[]): Answer[] {
  return answers.toSorted((one, other) => other.heads.clock - one.heads.clock).slice(0, 1);
}

/** A node is named by its place among several, and by no address. */
export function nameOf(node: number, { chain, nodes }: Pick<Bounds, 'chain' | 'nodes'>): string {
  return nodes > 1 ? `node ${node + 1} of ${chain}` : `the node of ${chain}`;
}

function ageDoubtOf(
  answer: Answer,
  answers: readonly Answer[],
  bounds: Bounds,
  wall: UnixSeconds,
): Doubt | null {
  const { heads } = answer;
  const name = nameOf(answer.node, bounds);
  const other = answers.find((each) => isBehind(heads, each.heads, bounds, wall));
  if (other !== undefined) {
    const behind = other.heads.height - heads.height;
    const sentence = `${name} stands at block ${heads.height}, ${behind} behind another one`;
    return { code: 'node_behind', sentence, node: answer.node };
  }
  const old = wall - heads.clock;
  const most = mostBehindWall(bounds);
  if (old <= most) return null;
  const limit = `more than ${most} s: the chain, its node or this clock stands still`;
  const sentence = `the newest block of ${name} is ${old} s older than now, ${limit}`;
  return { code: 'chain_stands', sentence, node: answer.node };
}

function aheadDoubt({ node, heads }: Answer, bounds: Bounds, wall: UnixSeconds): Doubt {
  const newer = `${heads.clock - wall} s newer than now, more than ${mostAheadOfWall(bounds)} s`;
  const sentence = `the newest block of ${nameOf(node, bounds)} is ${newer}`;
  return { code: 'node_ahead', sentence: `${sentence}: it lies, or this clock is behind`, node };
}

function refusal({ node }: Answer, bounds: Bounds): Doubt {
  const name = nameOf(node, bounds);
  const sentence = `${name} denies what was seen at depth, and proves no reorganisation`;
  return { code: 'answer_refused', sentence, node };
}

function disagreement(answers: readonly Answer[], { chain }: Bounds): Doubt {
  const shown = answers.map(({ node, facts }) => `node ${node + 1}: ${statusOf(facts)}`);
  const sentence = `the nodes of ${chain} show an escrow differently (${shown.join(', ')})`;
  return { code: 'nodes_disagree', sentence };
}

const isMined = (found: Sighting | null) => found !== null && found.confirmations > 0;

/**
 * As far as two nodes may not differ. A fact that waits for a block may be with one of them alone.
 */
function shapeOf(facts: EscrowFacts): string {
  const { funded, claimed, refunded } = facts;
  const isThere = [funded, claimed, refunded].map(isMined).join();
  return `${statusOf(facts)} ${isThere} ${facts.outcome ?? ''}`;
}

function statusOf(facts: EscrowFacts): string {
  const { claimed, refunded, funded } = facts;
  const isSeen = [claimed, refunded, funded].some(isMined);
  const status = legStatus(facts);
  return status === 'seen' && !isSeen ? 'unfunded' : status;
}

/** How much an escrow leaves to be done: an open one is claimed or refunded in doubt. */
function opennessOf(facts: EscrowFacts): number {
  const { funded, claimed, refunded } = facts;
  if (claimed?.deep || refunded?.deep) return 1;
  if (isMined(claimed) || isMined(refunded)) return 2;
  if (funded?.deep) return 4;
  return funded === null ? 0 : 3;
}

/**
 * Among equals one that shows more in the escrow. A payment that waits for a block may be with one
 * node alone, so no agreement is asked of it: a run ends too late by it, and never too early.
 */
function mostOpen(answers: readonly [Answer, ...Answer[]]): Answer {
  return answers.reduce((most, each) => (isMoreOpen(each.facts, most.facts) ? each : most));
}

function isMoreOpen(one: EscrowFacts, other: EscrowFacts): boolean {
  const openness = opennessOf(one) - opennessOf(other);
  if (openness !== 0) return openness > 0;
  if (one.balance !== other.balance) return one.balance > other.balance;
  return other.empty && !one.empty;
}

/** Those that have the blocks of all that any of them shows. */
function reached(answers: readonly [Answer, ...Answer[]]): readonly [Answer, ...Answer[]] {
  const heights = answers.flatMap(({ heads, facts }) =>
    [facts.funded, facts.claimed, facts.refunded].map((found) =>
      found !== null && isMined(found) ? heads.height - found.confirmations + 1 : 0,
    ),
  );
  const wanted = Math.max(...heights);
  const [first, ...others] = answers.filter(({ heads }) => heads.height >= wanted);
  return first === undefined ? answers : [first, ...others];
}
