// The result of an inspection of a token: listed, kept waiting, refused for ever; and one that is
// listed already: kept open, closed, reopened, delisted. In one transaction with what makers are
// told, under the lock of all such changes; a token that is not listed yet has a lock of its own.
// So two processes that looked at once agree.

import { ParleyError } from '@parley/core/errors.ts';
import { type Asset, findChecked, insertListed, setChecked } from '../db/assets.ts';
import {
  type Candidate,
  countPending,
  dropCandidate,
  findCandidate,
  lockToken,
  storeCandidate,
} from '../db/candidates.ts';
import type { Tx } from '../db/database.ts';
import { type Closing, shareChain } from '../db/halts.ts';
import {
  boundLocks,
  type Closer,
  type Closings,
  findListedToken,
  findListing,
  type Listing,
  lockListings,
} from '../db/listing.ts';
import { notifyWork } from '../db/work.ts';
import { type Change, closeAsset, delistAsset, reopenAsset } from '../market/listing.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import type { Token } from '../ports/markets.ts';
import {
  assetEveryMs,
  candidateEveryMs,
  candidateForMs,
  closedEveryMs,
  confirmAfterMs,
  mostLockMs,
  mostPending,
  openingForMs,
} from './bounds.ts';
import type { Judgement } from './judge.ts';

/** lock_not_available (PostgreSQL, appendix A). */
const lockTimeout = '55P03';

export type Wish = Token & {
  /** `api` or `launchpad:<name>`. */
  readonly source: string;
  readonly accountId: string | null;
};

export type Decision =
  | { readonly status: 'listed'; readonly asset: Asset; readonly isNew: boolean }
  | { readonly status: 'pending' | 'closed'; readonly reasons: readonly string[] }
  | { readonly status: 'rejected' | 'delisted'; readonly reasons: readonly string[] };

/**
 * The answer that no inspection could change; a token closed by operators or the settings stays
 * theirs.
 */
export function settledOf(
  listing: Listing | null,
  candidate: Candidate | null,
  nowMs: number,
): Decision | null {
  if (listing !== null) {
    const { asset, state, closings } = listing;
    const isTheirs = asset.source === 'curated' || closings.checks === undefined;
    return state === 'closed' && !isTheirs ? null : standingOf(listing, false);
  }
  if (candidate?.status !== 'rejected') return null;
  const { createdAt, checkedAt, reasons } = candidate;
  const opensUntil = createdAt.getTime() + openingForMs;
  const isConfirmed = checkedAt !== null && checkedAt.getTime() >= opensUntil;
  return isConfirmed || nowMs < opensUntil ? { status: 'rejected', reasons } : null;
}

/** `judgement` null: look again soon. One that a later look overtook changes nothing. */
export async function decide(
  tx: Tx,
  deps: Making,
  wish: Wish,
  judgement: Judgement | null,
): Promise<Decision> {
  const { chain, address } = wish;
  const known = await findListedToken(tx, chain, address);
  if (known !== null) return decideListed(tx, deps, known, judgement);
  await lockToken(tx, chain, address);
  const since = await findListedToken(tx, chain, address);
  if (since !== null) return decideListed(tx, deps, since, judgement);
  const candidate = await findCandidate(tx, chain, address);
  const at = new Date(deps.now());
  const settled = settledOf(null, candidate, at.getTime());
  if (settled !== null) return settled;
  const counts = isOvertaken(judgement, null, candidate?.checkedAt ?? null) ? null : judgement;
  if (counts?.outcome === 'pass') return list(tx, deps, wish, candidate, counts, at);
  return keep(tx, deps, wish, candidate, counts, at);
}

/** For a request, which must not hold a connection while others wait. Throws `overloaded`. */
export async function decideSoon(...given: Parameters<typeof decide>): Promise<Decision> {
  await boundLocks(given[0], mostLockMs);
  try {
    return await decide(...given);
  } catch (error) {
    if ((error as { code?: string }).code !== lockTimeout) throw error;
    const sentence = 'other tokens are being closed or reopened at this moment; ask again soon';
    throw new ParleyError('overloaded', sentence, {}, { cause: error });
  }
}

function isOvertaken(
  judgement: Judgement | null,
  assetId: string | null,
  checkedAt: Date | null,
): boolean {
  if (judgement === null) return false;
  return judgement.assetId !== assetId || (checkedAt !== null && judgement.beganAt < checkedAt);
}

/** The lock of all changes is for those who change something. */
async function decideListed(
  tx: Tx,
  deps: Making,
  found: Listing,
  judgement: Judgement | null,
): Promise<Decision> {
  const { id } = found.asset;
  if (judgement === null) return standingOf(found, false);
  if (judgement.assetId !== id) {
    // The candidate that was stored while its token was being listed is dropped.
    await dropCandidate(tx, found.asset.chain, found.asset.address as string);
    return standingOf(found, false);
  }
  await lockListings(tx);
  const before = (await findListing(tx, id)) as Listing;
  const isOld = isOvertaken(judgement, id, await findChecked(tx, id));
  if (isOld || before.state === 'delisted') return standingOf(before, false);
  return judgeListed(tx, deps, before, judgement);
}

async function judgeListed(
  tx: Tx,
  deps: Making,
  before: Listing,
  { outcome, reasons, beganAt }: Judgement,
): Promise<Decision> {
  const at = new Date(deps.now());
  const assetId = before.asset.id;
  const everyMs = outcome === 'pass' ? assetEveryMs - someMs(deps) : closedEveryMs;
  await setChecked(tx, assetId, beganAt, new Date(at.getTime() + everyMs));
  if (before.asset.source === 'curated') return standingOf(before, false);
  const change = { assetId, by: 'checks' as const, at };
  if (outcome === 'reject') return reject(tx, before, { ...change, reasons }, beganAt);
  if (outcome === 'wait') return standingOf(await closeAsset(tx, { ...change, reasons }), false);
  if (before.closings.checks === undefined) return standingOf(before, false);
  return standingOf(await reopenAsset(tx, change), false);
}

/** Up to a quarter of a day: a token shall not know when it is looked at. */
function someMs({ randomBytes }: Pick<Deps, 'randomBytes'>): number {
  const [high = 0, low = 0] = randomBytes(2);
  return Math.floor(((high * 256 + low) / 65_536) * (assetEveryMs / 4));
}

/** Delisted is for ever: the first such look closes, one a day later delists. */
async function reject(
  tx: Tx,
  { closings: { checks } }: Listing,
  change: Change & { readonly reasons: readonly string[] },
  beganAt: Date,
): Promise<Decision> {
  if (checks?.rejected !== true) {
    return standingOf(await closeAsset(tx, { ...change, rejected: true }), false);
  }
  const isEarly = beganAt.getTime() < Date.parse(checks.at) + confirmAfterMs;
  const after = isEarly
    ? await closeAsset(tx, { ...change, at: new Date(checks.at), rejected: true })
    : await delistAsset(tx, change);
  return standingOf(after, false);
}

function standingOf({ asset, state, closings }: Listing, isNew: boolean): Decision {
  if (state === 'open') return { status: 'listed', asset, isNew };
  // A halt passes; a reason that is for ever has another name.
  const { halt: _, chain: __, ...lasting } = closings;
  return { status: state, reasons: reasonsOf(state === 'delisted' ? lasting : closings) };
}

/** For customers: a closing that no check found names its closer. */
function reasonsOf(closings: Closings): string[] {
  return (Object.entries(closings) as [Closer, Closing][]).flatMap(([by, { reasons }]) => {
    if (by === 'halt') return ['halted by the operator for now'];
    if (by === 'chain') return ['the chain is halted by the operator for now'];
    return by === 'operator' ? reasons.map((each) => `operator: ${each}`) : reasons;
  });
}

async function assertFewPending(tx: Tx, { accountId }: Wish): Promise<void> {
  if (accountId === null) return;
  const pending = await countPending(tx, accountId);
  if (pending < mostPending) return;
  const sentence =
    `${pending} tokens that this account asked for wait to be listed already, the most there` +
    ' may be; ask again when one of them was listed or refused, or its seven days are over';
  throw new ParleyError('too_many_pending', sentence, { pending });
}

/** One curated in this moment is that, and no candidate. */
async function list(
  tx: Tx,
  deps: Pick<Deps, 'randomBytes'>,
  { chain, address, source }: Wish,
  candidate: Candidate | null,
  { symbol, decimals, beganAt }: Extract<Judgement, { outcome: 'pass' }>,
  at: Date,
): Promise<Decision> {
  const id = uuidv7(at.getTime(), deps.randomBytes);
  const wanted = { id, chain, symbol, address, decimals, source: candidate?.source ?? source };
  const next = new Date(at.getTime() + assetEveryMs - someMs(deps));
  await shareChain(tx, chain);
  const asset = await insertListed(tx, wanted, at, beganAt, next);
  await dropCandidate(tx, chain, address);
  if (asset?.enabled) return { status: 'listed', asset, isNew: true };
  return standingOf((await findListedToken(tx, chain, address)) as Listing, false);
}

async function keep(
  tx: Tx,
  deps: Pick<Deps, 'randomBytes'>,
  wish: Wish,
  before: Candidate | null,
  judgement: Judgement | null,
  at: Date,
): Promise<Decision> {
  const { chain, address } = wish;
  // Before it opens to trade, much of what a launchpad launches looks like a trap.
  const isNew = before !== null && at.getTime() < before.createdAt.getTime() + openingForMs;
  const mayOpen = isNew && before.source.startsWith('launchpad:');
  const isRejected = judgement?.outcome === 'reject' && !mayOpen;
  // Asked for again, one whose time was over begins anew.
  const known = before?.status === 'pending' ? before : null;
  const firstSeen = before === null || before.status === 'expired' ? at : before.createdAt;
  const reasons = judgement?.reasons ?? known?.reasons ?? [];
  if (known === null && !isRejected) await assertFewPending(tx, wish);
  await storeCandidate(tx, {
    id: before?.id ?? uuidv7(at.getTime(), deps.randomBytes),
    chain,
    address,
    source: before?.source ?? wish.source,
    accountId: known?.accountId ?? wish.accountId,
    status: isRejected ? 'rejected' : 'pending',
    reasons,
    createdAt: firstSeen,
    checkedAt: judgement?.beganAt ?? known?.checkedAt ?? null,
    nextCheckAt: new Date(at.getTime() + (judgement === null ? 0 : candidateEveryMs)),
    givesUpAt: known?.givesUpAt ?? new Date(at.getTime() + candidateForMs),
  });
  if (judgement === null) await notifyWork(tx, 'tokens');
  return { status: isRejected ? 'rejected' : 'pending', reasons };
}
