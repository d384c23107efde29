// Conclusions from a kept record alone, and from the record with the chains' state.

import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { type Family, has } from '@parley/core/families.ts';
import type { Clocks, Leg, SwapState } from '@parley/core/swap.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import { SettleError } from '../errors.ts';
import type { Doubt, Evidence } from '../evidence/judge.ts';
import type { Memory } from '../evidence/memory.ts';
import { mayBeFunded, type SwapRecord } from '../stores/store.ts';
import { givenLeg, type VerifiedLeg } from '../trade.ts';

export type SetLeg = VerifiedLeg & { readonly escrow: NonNullable<VerifiedLeg['escrow']> };

export function legOf(record: SwapRecord, name: LegName): SetLeg {
  const leg = record.swap.legs[name];
  if (leg.escrow === null) throw new SettleError('bad_record', `leg ${name} has no escrow`);
  return { ...leg, escrow: leg.escrow };
}

/** The leg this customer funds, and the one that pays it. */
export function ownSides(record: Pick<SwapRecord, 'trade'>): { gives: LegName; gets: LegName } {
  const gives = givenLeg(record.trade.party);
  return { gives, gets: otherLeg(gives) };
}

export function watchedOf(record: SwapRecord, name: LegName): WatchedEscrow {
  const { escrow, requiredConfirmations } = legOf(record, name);
  const { address, terms } = escrow;
  const stored = record.seen?.[address];
  const watched = { address, terms, requiredConfirmations, since: record.swap.agreedAt };
  return stored === undefined ? watched : { ...watched, stored };
}

/** Escrows that the leg moved off before anything was funded, the newest first. */
export function formerOf(record: SwapRecord, name: LegName): WatchedEscrow[] {
  const { requiredConfirmations } = legOf(record, name);
  const former = record.former?.[name] ?? [];
  const since = record.swap.agreedAt;
  return former.map((escrow) => ({ ...escrow, requiredConfirmations, since }));
}

export function memoryOf({ seen = {}, marks = {} }: SwapRecord, address: string): Memory {
  return { facts: seen[address] ?? null, marks: marks[address] ?? {} };
}

/** One leg as its own chain shows it, and that chain's clock. */
export type LegSeen = {
  readonly leg: Leg;
  readonly clock: number;
  /** How sure that is; absent: as sure as one look. */
  readonly evidence?: Evidence;
};

export type Seen = {
  readonly state: SwapState;
  readonly clocks: Clocks;
  /** Why nothing may begin or end by it; absent: no objection. */
  readonly doubt?: string;
};

export function legWith(
  record: SwapRecord,
  name: LegName,
  facts: EscrowFacts,
  strayed = false,
): Leg {
  const { escrow, ...leg } = legOf(record, name);
  const { payout, refund, lane } = escrow.terms;
  const isLent = name === ownSides(record).gets && lane !== undefined && isOfPayee(lane);
  return {
    ...leg,
    ...(isLent && record.laneOpened !== escrow.address && { laneAwaitedUntil: 0 }),
    facts,
    strayed,
    ...wordsOf(record, name, escrow.address),
    escrow: escrow.address,
    payoutAddress: payout.address,
    payoutPubkey: payout.pubkey,
    payoutForm: payout.form ?? null,
    refundForm: refund.form ?? null,
    refundAddress: refund.address,
    refundPubkey: refund.pubkey,
  };
}

/** How far its funding went, and its release by its payee. */
function wordsOf(
  record: SwapRecord,
  name: LegName,
  address: string,
): Pick<Leg, 'handed' | 'release'> {
  const { givenUp, released } = record;
  if (name !== ownSides(record).gives) {
    // The other side's, which may come at any time.
    const handed = 'unknown';
    if (givenUp === undefined) return { handed, release: null };
    const askedAt = Math.floor(givenUp.keptAtMs / 1_000);
    const at = givenUp.told === 'release' ? askedAt : null;
    return { handed, release: { askedAt, at, signature: givenUp.signature ?? null } };
  }
  const handed = mayBeFunded(record) || record.restored === true ? 'sent' : 'nothing';
  if (released?.escrow !== address) return { handed, release: null };
  return { handed, release: { askedAt: 0, at: 0, signature: released.signature } };
}

export function seenOf(
  record: SwapRecord,
  { a, b }: Readonly<Record<LegName, LegSeen>>,
  wall: number,
): Seen {
  const secret = record.publicSecret ?? a.leg.facts.secret ?? b.leg.facts.secret;
  const { hashlock, deadlines } = record.swap;
  const legs = { a: a.leg, b: b.leg };
  const seen = {
    state: { hashlock, deadlines, secret, lapsed: false, legs },
    clocks: { wall, a: a.clock, b: b.clock },
  };
  const doubts = [a, b].flatMap(doubtsOf);
  return doubts.length === 0 ? seen : { ...seen, doubt: doubts.join('; ') };
}

/**
 * Doubts about a leg's nodes that are to be emitted. A momentary doubt is no news, but it stops
 * effects all the same.
 */
export function toldOf({ evidence }: Pick<LegSeen, 'evidence'>): readonly Doubt[] {
  const { doubts = [], isBrief = false } = evidence ?? {};
  return isBrief ? doubts.filter(({ code }) => code !== 'nodes_disagree') : doubts;
}

/** Why nothing may begin or end by this leg. */
export function doubtsOf({ leg, evidence }: LegSeen): string[] {
  if (evidence === undefined || evidence.agreed) return [];
  const sentences = evidence.doubts.map(({ sentence }) => sentence);
  return sentences.length > 0 ? sentences : [`a node of leg ${leg.leg} has yet to answer`];
}

/**
 * As if the other chain had shown nothing: for a claim with a public secret and for a refund alone.
 */
export function aloneOf(record: SwapRecord, seen: LegSeen, wall: number): Seen {
  const { leg: name } = seen.leg;
  const other = otherLeg(name);
  const blank = { leg: legWith(record, other, nothingSeen), clock: wall };
  const both = { [name]: seen, [other]: blank } as Record<LegName, LegSeen>;
  return seenOf(record, both, wall);
}

/** One account of one chain, whichever way its address is spelt. */
export function accountKey(chain: string, family: Family, address: string): string {
  return `${chain} ${has(family, 'foldsCase') ? address.toLowerCase() : address}`;
}
