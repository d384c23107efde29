// Transactions that gas keys have signed: kept before they are sent, and what became of each.

import type { GasFate } from '../../chains/gas/account.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from '../port.ts';
import { type JobVerb, live, type Purpose } from './jobs.ts';

export type Attempt = {
  readonly id: number;
  readonly chain: ChainKey;
  readonly jobId: number | null;
  /** Of its job, when it was signed: what its cost counts against. */
  readonly purpose: Purpose | null;
  readonly verb: JobVerb | 'void';
  /** How many escrows it settles: its job's, and those of jobs that ride on it. */
  readonly legs: number;
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
  /** null: it has not left, or no node has it: nobody else knows what is in it. */
  readonly shownAt: Date | null;
  readonly fate: GasFate;
};

/** Whether it may still be mined, or be taken back by a reorganisation. */
export function isLive(fate: GasFate): boolean {
  return fate === 'unknown' || fate === 'pending' || fate === 'mined';
}

type Amounts = 'offer' | 'mostCost' | 'charged';
type Row = Omit<Attempt, Amounts> & Readonly<Record<Amounts, string>>;

const columns = `id, chain, job_id as "jobId", purpose, verb, legs, txid, nonce, sealed,
  sealed_version as "sealedVersion", offer, most_cost as "mostCost", charged,
  dies_at as "diesAt", signed_at as "signedAt", sent_at as "sentAt",
  shown_at as "shownAt", fate`;

function attemptOf({ offer, mostCost, charged, ...row }: Row): Attempt {
  return { ...row, offer: BigInt(offer), mostCost: BigInt(mostCost), charged: BigInt(charged) };
}

export type NewAttempt = Pick<
  Attempt,
  'chain' | 'jobId' | 'verb' | 'legs' | 'txid' | 'nonce' | 'offer' | 'mostCost' | 'diesAt'
> & {
  readonly address: string;
  readonly sealed: Uint8Array;
  readonly sealedVersion: number;
  readonly at: Date;
};

/** Of those with its nonce at most one is mined: what it may cost takes the place of theirs. */
export async function insertAttempt(tx: Tx, attempt: NewAttempt): Promise<Attempt> {
  const { chain, address, jobId, verb, txid, nonce, sealed, sealedVersion, legs } = attempt;
  if (nonce !== null) {
    await tx.rows({
      name: 'keeper_replaced',
      text: `update keeper_attempts set charged = 0
        where chain = $1 and address = $2 and nonce = $3 and ${live()}`,
      values: [chain, address, nonce],
    });
  }
  const rows = await tx.rows<Row>({
    name: 'keeper_insert_attempt',
    text: `insert into keeper_attempts
        (chain, address, job_id, purpose, verb, txid, nonce, sealed, sealed_version, offer,
         most_cost, charged, dies_at, signed_at, legs)
      values ($1, $2, $3, (select purpose from keeper_jobs where id = $3),
        $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13)
      returning ${columns}`,
    values: [
      ...[chain, address, jobId, verb, txid, nonce, sealed, sealedVersion],
      ...[`${attempt.offer}`, `${attempt.mostCost}`, attempt.diesAt, attempt.at, legs],
    ],
  });
  return attemptOf(rows[0] as Row);
}

/** All of a job's, oldest first; of one key that has signed, or of whichever. */
export async function attemptsOf(
  tx: Tx,
  jobId: number,
  address: string | null = null,
): Promise<Attempt[]> {
  const rows = await tx.rows<Row>({
    name: 'keeper_attempts_of',
    text: `select ${columns} from keeper_attempts
      where job_id = $1 and address = coalesce($2, address) order by id`,
    values: [jobId, address],
  });
  return rows.map(attemptOf);
}

/** Those of a key that may still be mined, or be taken back. */
export async function liveAttempts(tx: Tx, chain: ChainKey, address: string): Promise<Attempt[]> {
  const rows = await tx.rows<Row>({
    name: 'keeper_live_attempts',
    text: `select ${columns} from keeper_attempts
      where chain = $1 and address = $2 and ${live()}
      order by nonce, id`,
    values: [chain, address],
  });
  return rows.map(attemptOf);
}

/**
 * Nonces from there on of which a block has had one without effect. A reorganisation may free them:
 * nothing becomes of such a transaction any more, so nothing here tells.
 */
export async function failedNonces(
  tx: Tx,
  of: { readonly chain: ChainKey; readonly address: string; readonly from: number },
): Promise<number[]> {
  const rows = await tx.rows<{ nonce: number }>({
    name: 'keeper_failed_nonces',
    text: `select distinct nonce from keeper_attempts
      where chain = $1 and address = $2 and nonce >= $3 and fate = 'failed'`,
    values: [of.chain, of.address, of.from],
  });
  return rows.map(({ nonce }) => nonce);
}

/** What a former key of the chain has signed: nothing of it is sent again, nor replaced. */
export async function retireKeys(tx: Tx, chain: ChainKey, address: string): Promise<void> {
  await tx.rows({
    name: 'keeper_retire_keys',
    text: `update keeper_attempts set fate = 'gone', sealed = null, sealed_version = null
      where chain = $1 and address <> $2 and ${live()}`,
    values: [chain, address],
  });
}

export type NoncesKnown = {
  /** Above every one that is used up for good, and when the newest of those was signed. */
  readonly aboveDeep: number | null;
  readonly deepAt: Date | null;
  /** Above every one that it is known to have signed. */
  readonly aboveSigned: number;
};

export async function noncesKnown(tx: Tx, chain: ChainKey, address: string): Promise<NoncesKnown> {
  type Row = { aboveDeep: number | null; deepAt: Date | null; aboveSigned: number | null };
  const [row] = await tx.rows<Row>({
    name: 'keeper_nonces_known',
    text: `select max(nonce) filter (where fate = 'deep') + 1 as "aboveDeep",
        max(signed_at) filter (where fate = 'deep') as "deepAt",
        max(nonce) + 1 as "aboveSigned"
      from keeper_attempts where chain = $1 and address = $2 and nonce >= (
        select coalesce(max(nonce), 0) from keeper_attempts
        where chain = $1 and address = $2 and fate = 'deep')`,
    values: [chain, address],
  });
  const { aboveDeep = null, deepAt = null, aboveSigned } = row ?? {};
  return { aboveDeep, deepAt, aboveSigned: aboveSigned ?? 0 };
}

/** Whether others may know what is in a claim for this job, whichever key has signed it. */
export async function claimWasShown(tx: Tx, jobId: number): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_claim_shown',
    text: `select 1 from keeper_attempts
      where job_id = $1 and verb = 'claim' and shown_at is not null limit 1`,
    values: [jobId],
  });
  return rows.length > 0;
}

/**
 * Notes that it leaves now, so that it counts as shown whatever ends this. False: it may not, since
 * it was given up or its job has ended meanwhile.
 */
export async function markSent(tx: Tx, id: number, at: Date): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_mark_sent',
    text: `update keeper_attempts a set sent_at = coalesce(sent_at, $2),
        shown_at = coalesce(shown_at, $2)
      where id = $1 and sealed is not null and ${live()}
        and (job_id is null or exists (
          select 1 from keeper_jobs j where j.id = a.job_id and j.state = 'open'))
      returning id`,
    values: [id, at],
  });
  return rows.length === 1;
}

/** How a sending ended: a node took it; or, of the first, none has it and nothing else shows it. */
export async function storeShown(tx: Tx, id: number, at: Date, taken: boolean): Promise<void> {
  await tx.rows({
    name: 'keeper_store_shown',
    text: `update keeper_attempts
      set shown_at = case when $3 then $2 end
      where id = $1 and ($3 or (shown_at = $2 and fate = 'unknown'))`,
    values: [id, at, taken],
  });
}

/** Gives up what never left: its nonce is free again. False when it may have left by now. */
export async function giveUpUnsent(tx: Tx, id: number): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_give_up_unsent',
    text: `update keeper_attempts
      set fate = 'gone', charged = 0, sealed = null, sealed_version = null
      where id = $1 and sent_at is null returning id`,
    values: [id],
  });
  return rows.length === 1;
}

/**
 * What the chain shows of it. `paid` null: what it may cost stays counted. Deep it stays, whatever
 * a look saw that began before: what is asked of it then is its nonce.
 */
export async function storeFate(
  tx: Tx,
  id: number,
  fate: GasFate,
  { paid, at }: { readonly paid: bigint | null; readonly at: Date },
): Promise<void> {
  await tx.rows({
    name: 'keeper_store_fate',
    text: `update keeper_attempts set fate = $2, charged = coalesce($3, charged),
        shown_at = case when $2 in ('unknown', 'gone') then shown_at
          else coalesce(shown_at, $4) end,
        sealed = case when $2 in ('deep', 'gone') then null else sealed end,
        sealed_version = case when $2 in ('deep', 'gone') then null else sealed_version end
      where id = $1 and fate <> 'deep'`,
    values: [id, fate, paid?.toString() ?? null, at],
  });
}
