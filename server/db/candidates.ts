// Statements about tokens that are to be listed.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type CandidateStatus = 'pending' | 'rejected' | 'expired';

export type Candidate = {
  readonly id: string;
  readonly chain: ChainKey;
  /** Canonical. */
  readonly address: string;
  /** `api` or `launchpad:<name>`. */
  readonly source: string;
  readonly accountId: string | null;
  readonly status: CandidateStatus;
  readonly reasons: readonly string[];
  readonly createdAt: Date;
  /** When the last look that counted began; null before the first. */
  readonly checkedAt: Date | null;
  readonly nextCheckAt: Date;
  readonly givesUpAt: Date;
};

type CandidateRow = {
  readonly id: string;
  readonly chain: string;
  readonly address: string;
  readonly source: string;
  readonly account_id: string | null;
  readonly status: CandidateStatus;
  readonly reasons: readonly string[];
  readonly created_at: Date;
  readonly checked_at: Date | null;
  readonly next_check_at: Date;
  readonly gives_up_at: Date;
};

const columns = `id, chain, address, source, account_id, status, reasons, created_at, checked_at,
      next_check_at, gives_up_at`;

function candidateOf(row: CandidateRow): Candidate {
  const { account_id, created_at, checked_at, next_check_at, gives_up_at, ...rest } = row;
  return {
    ...rest,
    accountId: account_id,
    createdAt: created_at,
    checkedAt: checked_at,
    nextCheckAt: next_check_at,
    givesUpAt: gives_up_at,
  };
}

export async function findCandidate(
  tx: Tx,
  chain: ChainKey,
  address: string,
): Promise<Candidate | null> {
  const [row] = await tx.rows<CandidateRow>({
    name: 'candidates_find',
    text: `select ${columns} from candidates where chain = $1 and address = $2`,
    values: [chain, address],
  });
  return row === undefined ? null : candidateOf(row);
}

/** Newest first. */
export async function listCandidates(
  tx: Tx,
  status: CandidateStatus | null,
  limit: number,
): Promise<Candidate[]> {
  const rows = await tx.rows<CandidateRow>({
    name: 'candidates_list',
    text: `select ${columns} from candidates
      where ($1::text is null or status = $1) order by created_at desc, id limit $2`,
    values: [status, limit],
  });
  return rows.map(candidateOf);
}

/** One decision on what becomes of this token at a time. */
export async function lockToken(tx: Tx, chain: ChainKey, address: string): Promise<void> {
  await tx.rows({
    name: 'candidates_lock_token',
    text: `select pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))`,
    values: [chain, address],
  });
}

/** Those that an account asked for and that are still looked at. */
export async function countPending(tx: Tx, accountId: string): Promise<number> {
  const [row] = await tx.rows<{ count: string }>({
    name: 'candidates_count',
    text: `select count(*) from candidates where account_id = $1 and status = 'pending'`,
    values: [accountId],
  });
  return Number(row?.count ?? 0);
}

/** Those of a source that are still looked at. */
export async function countPendingOf(tx: Tx, source: string): Promise<number> {
  const [row] = await tx.rows<{ count: string }>({
    name: 'candidates_count_of',
    text: `select count(*) from candidates where source = $1 and status = 'pending'`,
    values: [source],
  });
  return Number(row?.count ?? 0);
}

/**
 * Adds it, or writes over the one of this chain and address, which keeps its id, its source, and
 * the next look where that is later: somebody may have it in hand until then. Under `lockToken`.
 */
export async function storeCandidate(tx: Tx, candidate: Candidate): Promise<void> {
  const { id, chain, address, source, accountId, status, reasons } = candidate;
  const { createdAt, checkedAt, nextCheckAt, givesUpAt } = candidate;
  await tx.rows({
    name: 'candidates_store',
    text: `insert into candidates (${columns})
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      on conflict (chain, address) do update set account_id = $5, status = $6, reasons = $7,
        created_at = $8, checked_at = $9,
        next_check_at = greatest(candidates.next_check_at, $10), gives_up_at = $11`,
    values: [
      id,
      chain,
      address,
      source,
      accountId,
      status,
      JSON.stringify(reasons),
      createdAt,
      checkedAt,
      nextCheckAt,
      givesUpAt,
    ],
  });
}

/**
 * Adds it where nothing is known of its token, or only that somebody asked for it in its first day
 * and was refused. Returns whether it was added.
 */
export async function addCandidate(tx: Tx, candidate: Candidate): Promise<boolean> {
  const { id, chain, address, source, accountId, status, reasons } = candidate;
  const { createdAt, nextCheckAt, givesUpAt } = candidate;
  const rows = await tx.rows({
    name: 'candidates_add',
    text: `insert into candidates (id, chain, address, source, account_id, status, reasons,
        created_at, next_check_at, gives_up_at)
      select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
      where not exists (select 1 from assets where chain = $2 and address = $3)
      on conflict (chain, address) do update set source = excluded.source,
        status = excluded.status, next_check_at = excluded.next_check_at,
        gives_up_at = excluded.gives_up_at
      where candidates.status = 'rejected' and candidates.source = 'api'
        and candidates.checked_at < candidates.created_at + interval '1 day'
      returning id`,
    values: [
      id,
      chain,
      address,
      source,
      accountId,
      status,
      JSON.stringify(reasons),
      createdAt,
      nextCheckAt,
      givesUpAt,
    ],
  });
  return rows.length > 0;
}

export async function dropCandidate(tx: Tx, chain: ChainKey, address: string): Promise<void> {
  await tx.rows({
    name: 'candidates_drop',
    text: 'delete from candidates where chain = $1 and address = $2',
    values: [chain, address],
  });
}

/**
 * Pending ones that are due, of these chains, not due again before `leaseEnds`: those that somebody
 * asked for, or those of launchpads.
 */
export async function takeDueCandidates(
  tx: Tx,
  chains: readonly ChainKey[],
  now: Date,
  leaseEnds: Date,
  of: 'api' | 'launchpads',
  limit: number,
): Promise<Candidate[]> {
  if (limit === 0) return [];
  const rows = await tx.rows<CandidateRow>({
    name: 'candidates_due',
    text: `update candidates set next_check_at = $3
      where id in (
        select id from candidates
        where status = 'pending' and (source = 'api') = $5 and next_check_at <= $2
          and chain = any($1::text[])
        order by next_check_at
        limit $4
        for update skip locked)
      returning ${columns}`,
    values: [chains, now, leaseEnds, limit, of === 'api'],
  });
  return rows.map(candidateOf);
}

/** Pending ones whose time is over before the instant expire; returns how many. */
export async function expireCandidates(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'candidates_expire',
    text: `update candidates set status = 'expired'
      where id in (
        select id from candidates where status = 'pending' and gives_up_at < $1
        limit $2 for update skip locked)
      returning 1`,
    values: [before, limit],
  });
  return rows.length;
}

/** Forgets what is no longer looked at, by when that began; returns how many. */
export async function pruneCandidates(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'candidates_prune',
    text: `delete from candidates
      where id in (
        select id from candidates where status <> 'pending' and gives_up_at < $1
        limit $2 for update skip locked)
      returning 1`,
    values: [before, limit],
  });
  return rows.length;
}
