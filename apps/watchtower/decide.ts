// The next step of one job, from what its chain shows and what was signed for it so far.
// Pure.

import type { EscrowFacts } from '@parley/core/facts.ts';
import {
  bumpSeconds,
  firstBackoffSeconds,
  lookAgainSeconds,
  mostFailed,
  mostFailedFunding,
  stuckSeconds,
} from './bounds.ts';
import { type Attempt, isLive } from './db/attempts.ts';
import type { JobVerb } from './db/jobs.ts';
import type { Graces } from './port.ts';

export type Look = {
  readonly verb: JobVerb;
  readonly facts: EscrowFacts;
  /** Base units of the leg. */
  readonly amount: bigint;
  /** A claim or a funding lands until then, a refund from then on. */
  readonly timelock: number;
  /** The chain's clock, as one node gives it, and ours, Unix seconds. */
  readonly clock: number;
  readonly wall: number;
  /** How far the chain's clock may be ahead of ours. */
  readonly driftSeconds: number;
  readonly createdAt: number;
  /** Whether a chain or a claim of ours has shown the secret; only a claim needs one. */
  readonly isPublic: boolean;
  /** Until when a secret that is not public may be shown by it. */
  readonly revealBy: number;
  /** Whether a gate refuses a funding now; null: the gates cannot be asked. */
  readonly barred: boolean | null;
  /** Whether something more urgent waits for what it has in flight. */
  readonly hurried: boolean;
  /** Whether it is itself nothing that has to land, and so gives its nonce up for that. */
  readonly yields: boolean;
  /** Whether paying more would help the newest, once it has waited. */
  readonly outbid: boolean;
  /** Every one of this job, oldest first. */
  readonly attempts: readonly Attempt[];
};

export type Decision =
  | { readonly do: 'end'; readonly as: 'done' | 'dropped' }
  | { readonly do: 'wait'; readonly seconds: number }
  /** Sends what is signed. `reveals`: it would show the secret, so the gates are asked first. */
  | { readonly do: 'send'; readonly attempt: Attempt; readonly reveals: boolean }
  | { readonly do: 'sign'; readonly instead: Attempt | null; readonly reveals: boolean }
  /** Takes its nonce by an empty transaction: the signed one is of no use any more. */
  | { readonly do: 'void'; readonly attempt: Attempt }
  /** Never left, and must not any more. */
  | { readonly do: 'give up'; readonly attempt: Attempt };

const again = (seconds: number = lookAgainSeconds): Decision => ({ do: 'wait', seconds });

export function decide(look: Look): Decision {
  const live = look.attempts.filter(({ outcome }) => isLive(outcome));
  const mined = live.filter(({ outcome }) => outcome === 'mined');
  if (mined.some(({ verb }) => verb !== 'void')) return again();
  // A replacement takes the place of all before it: the newest speaks for them.
  const newest = live.filter(({ outcome }) => outcome !== 'mined').at(-1) ?? null;
  const open = opening(look);
  if (open.what === 'later') {
    return look.yields && newest !== null ? giveWay(look, newest) : again(open.seconds);
  }
  if (open.what === 'untold') return newest === null ? again() : stepAside(look, newest);
  if (open.what !== 'now') {
    const as = open.what === 'over' ? 'done' : 'dropped';
    return newest === null && mined.length > 0 ? again() : withdraw(look, newest, as);
  }
  if (newest === null) {
    const rest = restAfterFailures(look);
    if (rest !== null) return rest;
  }
  if (!look.isPublic) return decideReveal(look, newest);
  return newest === null ? { do: 'sign', instead: null, reveals: false } : push(look, newest);
}

/** A transaction that fails in a block costs gas each time, although it was simulated before. */
function restAfterFailures({ verb, attempts, wall }: Look): Decision | null {
  const failed = attempts.filter(({ outcome, verb }) => outcome === 'failed' && verb !== 'void');
  const last = failed.at(-1);
  if (last === undefined) return null;
  const most = verb === 'fund' ? mostFailedFunding : mostFailed;
  if (failed.length >= most) return { do: 'end', as: 'dropped' };
  const rest = firstBackoffSeconds * 2 ** failed.length;
  const left = Math.floor(last.signedAt.getTime() / 1000) + rest - wall;
  return left > 0 ? again(left) : null;
}

/** Whether what follows of a funding depends on its gates. */
export function asksGates(look: Look): boolean {
  const isMined = look.attempts.some(({ outcome, verb }) => outcome === 'mined' && verb !== 'void');
  return look.verb === 'fund' && !isMined && opening(look).what === 'now';
}

/** Whether there is something to do: `later` it may be, `lost` it never will. */
function opening(
  look: Look,
): { what: 'now' | 'over' | 'lost' | 'untold' } | { what: 'later'; seconds: number } {
  const { verb, facts, clock, timelock, attempts } = look;
  const { claimed, refunded, funded, balance } = facts;
  const own = new Set(attempts.map(({ txid }) => txid));
  if (claimed?.deep || refunded?.deep) return { what: 'over' };
  if (verb === 'fund' && funded?.deep) return { what: 'over' };
  for (const seen of verb === 'fund' ? [funded, claimed, refunded] : [claimed, refunded]) {
    if (seen === null || own.has(seen.txid)) continue;
    if (seen.confirmations > 0) return { what: 'later', seconds: lookAgainSeconds };
    if (waitsForParty(look)) return { what: 'later', seconds: lookAgainSeconds };
  }
  if (verb === 'fund') {
    // It shows no secret: giving it up loses nothing, whatever a node says.
    if (look.barred === true || clock >= timelock) return { what: 'lost' };
    return { what: look.barred === null ? 'untold' : 'now' };
  }
  if (verb === 'refund') {
    if (clock < timelock) return { what: 'later', seconds: Math.min(600, timelock - clock) };
    return balance > 0n ? { what: 'now' } : { what: 'later', seconds: 60 };
  }
  // One node's clock alone ends nothing: where it is right the chain refuses what is tried.
  if (clock >= timelock && mayHavePassed(look)) return { what: 'lost' };
  const isFunded = funded !== null && funded.confirmations > 0 && balance >= look.amount;
  if (!isFunded && claimed === null) return { what: 'later', seconds: 60 };
  return { what: 'now' };
}

/** Whether the chain's clock may be at the timelock by now, by ours. */
function mayHavePassed({ timelock, wall, driftSeconds }: Look): boolean {
  return wall >= timelock - driftSeconds;
}

/** Somebody's own transaction that is in no block yet: waited for, but not to the end. */
function waitsForParty({ verb, clock, timelock, createdAt, wall }: Look): boolean {
  if (wall - createdAt > 2 * stuckSeconds) return false;
  return verb === 'refund' || timelock - clock > stuckSeconds;
}

/** The signed transaction is not needed any more. */
function withdraw(look: Look, newest: Attempt | null, as: 'done' | 'dropped'): Decision {
  if (newest === null) return { do: 'end', as };
  // One that takes the place of what has left is sent: signed anew it might be the same bytes.
  const { attempts } = look;
  const replaces = attempts.some(
    ({ nonce, outcome, sentAt }) => nonce === newest.nonce && isLive(outcome) && sentAt !== null,
  );
  const isNeeded = newest.verb === 'void' && replaces;
  if (newest.sentAt === null && !isNeeded) return { do: 'give up', attempt: newest };
  // It dies by itself, and finds nothing until then.
  if (newest.nonce === null) return again();
  if (newest.verb !== 'void') return { do: 'void', attempt: newest };
  return push(look, newest);
}

/** It has nothing to do for now, and something more urgent waits for it. */
function giveWay(look: Look, newest: Attempt): Decision {
  const age = look.wall - Math.floor(newest.signedAt.getTime() / 1000);
  if (newest.verb === 'void') return push(look, newest);
  return age < bumpSeconds.least ? again() : { do: 'void', attempt: newest };
}

/**
 * The gates cannot tell whether it may be sent: it yields its nonce to others, and is signed anew
 * once they allow that.
 */
function stepAside(look: Look, newest: Attempt): Decision {
  const isUnsent = newest.sentAt === null && newest.verb !== 'void';
  return isUnsent ? { do: 'give up', attempt: newest } : giveWay(look, newest);
}

/**
 * Only its owner and we know the secret: until it is public the gates decide. All nodes have
 * refused what was sent here, or none was reached.
 */
function decideReveal(look: Look, newest: Attempt | null): Decision {
  const late = look.wall > look.revealBy;
  if (newest === null) {
    return late ? { do: 'end', as: 'dropped' } : { do: 'sign', instead: null, reveals: true };
  }
  if (newest.sentAt === null) {
    if (late) return { do: 'give up', attempt: newest };
    return { do: 'send', attempt: newest, reveals: true };
  }
  if (newest.verb === 'void') return push(look, newest);
  // From here on nothing of ours may show it.
  if (late && newest.outcome === 'unknown') {
    return newest.nonce === null ? again() : { do: 'void', attempt: newest };
  }
  const next = push(look, newest);
  return 'reveals' in next ? { ...next, reveals: newest.outcome === 'unknown' } : next;
}

/** The newest that no block has, once it has waited so long that it might be made to pay more. */
export function hasWaited(look: Omit<Look, 'outbid'>): Attempt | null {
  const waiting = look.attempts.filter(
    ({ outcome }) => outcome === 'unknown' || outcome === 'pending',
  );
  const newest = waiting.at(-1);
  if (newest === undefined || newest.nonce === null) return null;
  const age = look.wall - Math.floor(newest.signedAt.getTime() / 1000);
  const isDue = newest.sentAt !== null && age >= bumpAfter(look);
  return isDue ? newest : null;
}

/** Sends it again or, where that helps, one that pays more in its place once it has waited. */
function push(look: Look, newest: Attempt): Decision {
  if (look.outbid && hasWaited(look) === newest) {
    if (newest.verb === 'void') return { do: 'void', attempt: newest };
    return { do: 'sign', instead: newest, reveals: false };
  }
  // One node has it, and may be cut off from all others.
  if (newest.outcome === 'pending' && hasWaited(look) !== newest) return again();
  return { do: 'send', attempt: newest, reveals: false };
}

/** For how long the same fee is offered. */
export function bumpAfter(look: Omit<Look, 'outbid'>): number {
  const { verb, timelock, clock, hurried } = look;
  const { least, most, part } = bumpSeconds;
  if (hurried) return least;
  if (verb === 'refund') return most;
  return Math.min(most, Math.max(least, Math.floor((timelock - clock) / part)));
}

/** How long the party is left to do it itself, from when it could. */
export function graceOf(verb: JobVerb, graces: Graces, timelock: number, clock: number): number {
  if (verb === 'refund') return graces.refundSeconds;
  return Math.max(0, Math.min(graces.claimSeconds, Math.floor((timelock - clock) / 8)));
}
