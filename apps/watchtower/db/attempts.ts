// Transactions that gas keys have signed: kept before they are sent, and what became of each.

import type { GasOutcome } from '@parley/chains/gas/account.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { columns, did, list, many, none, only } from '@parley/host/postgres/statements.ts';
import type { Tx } from '../port.ts';
import { type JobVerb, live, type Purpose } from './jobs.ts';

export type Attempt = {
  readonly id: number;
  readonly chain: ChainKey;
  readonly jobId: number | null;
  /** The purpose of its job when it was signed, which its cost counts against. */
  readonly purpose: Purpose | null;
  readonly verb: JobVerb | 'void';
  readonly txid: string;
  /** EVM; null elsewhere. */
  readonly nonce: number | null;
  readonly sealed: Buffer | null;
  readonly sealedVersion: number | null;
  readonly offer: bigint;
  readonly mostCost: bigint;
  readonly charged: bigint;
  readonly diesAt: number | null;
  readonly signedAt: Date;
  /** null: it has not left, so no node can have it. */
  readonly sentAt: Date | null;
  /** null: it has not left, or no node has it, so others do not know what is in it. */
  readonly shownAt: Date | null;
  readonly outcome: GasOutcome;
};

/** Whether it may still be mined, or be taken back by a reorganisation. */
export function isLive(outcome: GasOutcome): boolean {
  return outcome === 'unknown' || outcome === 'pending' || outcome === 'mined';
}

const own = `${columns(`id chain jobId purpose verb txid nonce sealed sealedVersion offer
  mostCost charged diesAt signedAt sentAt shownAt`)}, fate as outcome`;

export type NewAttempt = Pick<
  Attempt,
  'chain' | 'jobId' | 'verb' | 'txid' | 'nonce' | 'offer' | 'mostCost' | 'diesAt'
> & {
  readonly address: string;
  readonly sealed: Uint8Array;
  readonly sealedVersion: number;
  readonly at: Date;
};

const replace = none<[attempt: NewAttempt]>('keeper_replaced')`
  update keeper_attempts set charged = 0
    where chain = :chain and address = :address and nonce = :nonce and ${live()}`;

const insert = only<[attempt: NewAttempt], Attempt>('keeper_insert_attempt')`
  insert into keeper_attempts
      (chain, address, job_id, purpose, verb, txid, nonce, sealed, sealed_version, offer,
       most_cost, charged, dies_at, signed_at)
    values (:chain, :address, :jobId, (select purpose from keeper_jobs where id = :jobId), :verb,
      :txid, :nonce, :sealed, :sealedVersion, :offer, :mostCost, :mostCost, :diesAt, :at)
    returning ${own}`;

/** At most one with its nonce is mined: its cost takes the place of theirs. */
export async function insertAttempt(tx: Tx, attempt: NewAttempt): Promise<Attempt> {
  if (attempt.nonce !== null) await replace(tx, attempt);
  return insert(tx, attempt);
}

/** All of a job's, oldest first; with an address only those that this key has signed. */
export const attemptsOf = many<[jobId: number, address?: string], Attempt>('keeper_attempts_of')`
  select ${own} from keeper_attempts
    where job_id = $1 and address = coalesce($2, address) order by id`;

/** Those of a key that may still be mined, or be taken back. */
export const liveAttempts = many<[chain: ChainKey, address: string], Attempt>(
  'keeper_live_attempts',
)`
  select ${own} from keeper_attempts
    where chain = $1 and address = $2 and ${live()} order by nonce, id`;

/**
 * Nonces from there on that a failed transaction of a block has used. A reorganisation may free
 * them, and no row here shows that.
 */
export const failedNonces = list<[of: { chain: ChainKey; address: string; from: number }], number>(
  'keeper_failed_nonces',
)`
  select distinct nonce from keeper_attempts
    where chain = :chain and address = :address and nonce >= :from and fate = 'failed'`;

/** Transactions of a former key of the chain are neither sent again nor replaced. */
export const retireKeys = none<[chain: ChainKey, address: string]>('keeper_retire_keys')`
  update keeper_attempts set fate = 'gone', sealed = null, sealed_version = null
    where chain = $1 and address <> $2 and ${live()}`;

export type NoncesKnown = {
  /** Above every one that is used up for good, and when the newest of those was signed. */
  readonly aboveDeep: number | null;
  readonly deepAt: Date | null;
  /** Above every one that it is known to have signed. */
  readonly aboveSigned: number;
};

export const noncesKnown = only<[chain: ChainKey, address: string], NoncesKnown>(
  'keeper_nonces_known',
)`
  select max(nonce) filter (where fate = 'deep') + 1 as "aboveDeep",
      max(signed_at) filter (where fate = 'deep') as "deepAt",
      coalesce(max(nonce) + 1, 0) as "aboveSigned"
    from keeper_attempts where chain = $1 and address = $2 and nonce >= (
      select coalesce(max(nonce), 0) from keeper_attempts
      where chain = $1 and address = $2 and fate = 'deep')`;

/** Whether others may know what is in a claim for this job, whichever key has signed it. */
export const claimWasShown = did<[jobId: number]>('keeper_claim_shown')`
  select 1 from keeper_attempts
    where job_id = $1 and verb = 'claim' and shown_at is not null limit 1`;

/**
 * Notes that it leaves now, so that it counts as shown whatever ends this. False: it may not, since
 * it was given up or its job has ended meanwhile.
 */
export const markSent = did<[id: number, at: Date]>('keeper_mark_sent')`
  update keeper_attempts a set sent_at = coalesce(sent_at, $2), shown_at = coalesce(shown_at, $2)
    where id = $1 and sealed is not null and ${live()}
      and (job_id is null or exists (
        select 1 from keeper_jobs j where j.id = a.job_id and j.state = 'open' offset 0))
    returning id`;

/** How a sending ended: a node took it; or, of the first, none has it and nothing else shows it. */
export const storeShown = none<[id: number, at: Date, taken: boolean]>('keeper_store_shown')`
  update keeper_attempts set shown_at = case when $3 then $2 end
    where id = $1 and ($3 or (shown_at = $2 and fate = 'unknown'))`;

/** Gives up what never left: its nonce is free again. False when it may have left by now. */
export const giveUpUnsent = did<[id: number]>('keeper_give_up_unsent')`
  update keeper_attempts set fate = 'gone', charged = 0, sealed = null, sealed_version = null
    where id = $1 and sent_at is null returning id`;

/**
 * The outcome that the chain shows. `paid` null: its most cost stays counted. A final one stays so,
 * whatever an earlier read saw: only its nonce is asked for then.
 */
export const storeOutcome = none<
  [id: number, outcome: GasOutcome, of: { readonly paid: bigint | null; readonly at: Date }]
>('keeper_store_fate')`
  update keeper_attempts set fate = $2, charged = coalesce(:paid, charged),
      shown_at = case when $2 in ('unknown', 'gone') then shown_at
        else coalesce(shown_at, :at) end,
      sealed = case when $2 in ('deep', 'gone') then null else sealed end,
      sealed_version = case when $2 in ('deep', 'gone') then null else sealed_version end
    where id = $1 and fate <> 'deep'`;
