// What becomes of a token after a look at it: listed, kept waiting, refused for ever; and one that
// is listed already: kept open, closed, reopened, delisted. In one transaction with what makers are
// told, under the lock of all such changes, so that two who looked at once agree.

import { ParleyError } from '../../core/errors.ts';
import type { Asset } from '../db/assets.ts';
import {
  type Candidate,
  countPending,
  dropCandidate,
  findCandidate,
  insertListed,
  setChecked,
  storeCandidate,
} from '../db/candidates.ts';
import type { Tx } from '../db/database.ts';
import { type Listing, lockListings, searchListings } from '../db/listing.ts';
import type { Deps } from '../deps.ts';
import { uuidv7 } from '../ids.ts';
import { type Change, closeAsset, delistAsset, reopenAsset } from '../market/listing.ts';
import {
  assetEveryMs,
  candidateEveryMs,
  candidateForMs,
  confirmAfterMs,
  launchedForMs,
  mostPending,
} from './bounds.ts';
import type { Judgement, Token } from './judge.ts';

/** Who wants it listed. */
export type Wish = Token & {
  /** `api` or `launchpad:<name>`. */
  readonly source: string;
  readonly accountId: string | null;
};

export type Decision =
  | { readonly status: 'listed'; readonly asset: Asset; readonly isNew: boolean }
  | { readonly status: 'pending' | 'closed'; readonly reasons: readonly string[] }
  | { readonly status: 'rejected' | 'delisted'; readonly reasons: readonly string[] };

export async function findListed(tx: Tx, { chain, address }: Token): Promise<Listing | null> {
  const [listing] = await searchListings(tx, { chain, address });
  return listing ?? null;
}

/**
 * The answer where no look at the token could change it; null where one is wanted. Curated assets
 * and what operators or the settings hold closed are theirs.
 */
export function settledOf(listing: Listing | null, candidate: Candidate | null): Decision | null {
  if (listing !== null) {
    const { asset, state, closings } = listing;
    const isTheirs = asset.source === 'curated' || closings.checks === undefined;
    return state === 'closed' && !isTheirs ? null : standingOf(listing, false);
  }
  if (candidate?.status !== 'rejected') return null;
  return { status: 'rejected', reasons: candidate.reasons };
}

/** Does what the judgement says. `null`: nothing could be said yet; look again soon. */
export async function decide(
  tx: Tx,
  deps: Pick<Deps, 'now' | 'randomBytes'>,
  wish: Wish,
  judgement: Judgement | null,
): Promise<Decision> {
  await lockListings(tx);
  const { chain, address } = wish;
  const listing = await findListed(tx, wish);
  const candidate = listing === null ? await findCandidate(tx, chain, address) : null;
  const settled = settledOf(listing, candidate);
  const at = new Date(deps.now());
  if (listing !== null) {
    // An open one is looked at too, once a day, and then settled or not.
    if (judgement === null || listing.state === 'delisted') return standingOf(listing, false);
    return judgeListed(tx, listing, judgement, at);
  }
  if (settled !== null) return settled;
  if (judgement?.outcome === 'pass') return list(tx, deps, wish, candidate, judgement, at);
  return keep(tx, deps, wish, candidate, judgement, at);
}

async function judgeListed(
  tx: Tx,
  before: Listing,
  { outcome, reasons }: Judgement,
  at: Date,
): Promise<Decision> {
  const assetId = before.asset.id;
  await setChecked(tx, assetId, at, new Date(at.getTime() + assetEveryMs));
  if (before.asset.source === 'curated') return standingOf(before, false);
  const change = { assetId, by: 'checks' as const, at };
  if (outcome === 'reject') return reject(tx, before, { ...change, reasons });
  if (outcome === 'wait') return standingOf(await closeAsset(tx, { ...change, reasons }), false);
  if (before.closings.checks === undefined) return standingOf(before, false);
  return standingOf(await reopenAsset(tx, change), false);
}

/**
 * Delisted is for ever, and one look may have asked a node that lies or is behind: the first one
 * closes it, and another one some minutes later delists it.
 */
async function reject(
  tx: Tx,
  { closings: { checks } }: Listing,
  change: Change & { readonly reasons: readonly string[] },
): Promise<Decision> {
  const { at, assetId } = change;
  if (checks?.rejected !== true) {
    await setChecked(tx, assetId, at, new Date(at.getTime() + confirmAfterMs));
    return standingOf(await closeAsset(tx, { ...change, rejected: true }), false);
  }
  const isEarly = at.getTime() < Date.parse(checks.at) + confirmAfterMs;
  const after = isEarly
    ? await closeAsset(tx, { ...change, at: new Date(checks.at), rejected: true })
    : await delistAsset(tx, change);
  return standingOf(after, false);
}

function standingOf({ asset, state, closings }: Listing, isNew: boolean): Decision {
  if (state === 'open') return { status: 'listed', asset, isNew };
  const reasons = Object.values(closings).flatMap((each) => each.reasons);
  return { status: state, reasons };
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

async function list(
  tx: Tx,
  deps: Pick<Deps, 'randomBytes'>,
  wish: Wish,
  candidate: Candidate | null,
  { symbol, decimals }: Judgement,
  at: Date,
): Promise<Decision> {
  const { chain, address } = wish;
  const asset = await insertListed(
    tx,
    {
      id: uuidv7(at.getTime(), deps.randomBytes),
      chain,
      symbol,
      address,
      decimals,
      source: candidate?.source ?? wish.source,
      highValueFrom: null,
    },
    at,
    new Date(at.getTime() + assetEveryMs),
  );
  await dropCandidate(tx, chain, address);
  return { status: 'listed', asset, isNew: true };
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
  const isNew = before !== null && at.getTime() < before.createdAt.getTime() + launchedForMs;
  const mayOpen = isNew && before.source.startsWith('launchpad:');
  const isRejected = judgement?.outcome === 'reject' && !mayOpen;
  // Asked for again, one whose time was over begins anew.
  const known = before?.status === 'pending' ? before : null;
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
    createdAt: known?.createdAt ?? at,
    checkedAt: judgement === null ? (known?.checkedAt ?? null) : at,
    nextCheckAt: new Date(at.getTime() + (judgement === null ? 0 : candidateEveryMs)),
    givesUpAt: known?.givesUpAt ?? new Date(at.getTime() + candidateForMs),
  });
  return { status: isRejected ? 'rejected' : 'pending', reasons };
}
