// Transactions that gas keys have signed: kept before they are sent, and what became of each.

import type { GasFate } from '../../chains/gas/account.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';
import type { KeeperVerb, Purpose } from './keeper-jobs.ts';

export type Attempt = {
  readonly id: number;
  readonly chain: ChainKey;
  readonly jobId: number | null;
  /** Of its job, when it was signed: what its cost counts against. */
  readonly purpose: Purpose | null;
  readonly verb: KeeperVerb | 'void';
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

type Row = Omit<Attempt, 'offer' | 'mostCost' | 'charged'> & {
  readonly offer: string;
  readonly mostCost: string;
  readonly charged: string;
};

const columns = `id, chain, job_id as "jobId", purpose, verb, legs, txid, nonce, sealed,
  sealed_version as "sealedVersion", offer, most_cost as "mostCost", charged,
  dies_at as "diesAt", signed_at as "signedAt", sent_at as "sentAt",
  shown_at as "shownAt", fate`;

function attemptOf(row: Row): Attempt {
  return {
    ...row,
    offer: BigInt(row.offer),
    mostCost: BigInt(row.mostCost),
    charged: BigInt(row.charged),
  };
}

export type NewAttempt = {
  readonly chain: ChainKey;
  readonly address: string;
  readonly jobId: number | null;
  readonly verb: Attempt['verb'];
  readonly legs: number;
  readonly txid: string;
  readonly nonce: number | null;
  readonly sealed: Uint8Array;
  readonly sealedVersion: number;
  readonly offer: bigint;
  readonly mostCost: bigint;
  readonly diesAt: number | null;
  readonly at: Date;
};

/** Of those with its nonce at most one is mined: what it may cost takes the place of theirs. */
export async function insertAttempt(tx: Tx, attempt: NewAttempt): Promise<Attempt> {
  const { chain, address, nonce } = attempt;
  if (nonce !== null) {
    await tx.rows({
      name: 'keeper_replaced',
      text: `update keeper_attempts set charged = 0
        where chain = $1 and address = $2 and nonce = $3
          and fate in ('unknown', 'pending', 'mined')`,
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
      chain,
      address,
      attempt.jobId,
      attempt.verb,
      attempt.txid,
      nonce,
      attempt.sealed,
      attempt.sealedVersion,
      attempt.offer.toString(),
      attempt.mostCost.toString(),
      attempt.diesAt,
      attempt.at,
      attempt.legs,
    ],
  });
  return attemptOf(rows[0] as Row);
}

/** All of a job's that this key has signed, oldest first. */
export async function attemptsOf(tx: Tx, jobId: number, address: string): Promise<Attempt[]> {
  const rows = await tx.rows<Row>({
    name: 'keeper_attempts_of',
    text: `select ${columns} from keeper_attempts where job_id = $1 and address = $2 order by id`,
    values: [jobId, address],
  });
  return rows.map(attemptOf);
}

/** Those of a key that may still be mined, or be taken back. */
export async function liveAttempts(tx: Tx, chain: ChainKey, address: string): Promise<Attempt[]> {
  const rows = await tx.rows<Row>({
    name: 'keeper_live_attempts',
    text: `select ${columns} from keeper_attempts
      where chain = $1 and address = $2 and fate in ('unknown', 'pending', 'mined')
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

/**
 * Whether something that has to land waits behind this nonce. A funding is in the way of all that
 * is none: it comes behind everything else.
 */
export async function blocksRelay(
  tx: Tx,
  of: {
    readonly chain: ChainKey;
    readonly address: string;
    readonly nonce: number;
    readonly purpose: Purpose;
  },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_blocks_relay',
    text: `select 1 from keeper_attempts a join keeper_jobs j on j.id = a.job_id
      where a.chain = $1 and a.address = $2 and a.nonce > $3
        and a.fate in ('unknown', 'pending', 'mined')
        and (j.purpose = 'relay' or $4 = 'fund' and j.purpose <> 'fund') limit 1`,
    values: [of.chain, of.address, of.nonce, of.purpose],
  });
  return rows.length > 0;
}

/** What a former key of the chain has signed: nothing of it is sent again, nor replaced. */
export async function retireKeys(tx: Tx, chain: ChainKey, address: string): Promise<void> {
  await tx.rows({
    name: 'keeper_retire_keys',
    text: `update keeper_attempts set fate = 'gone', sealed = null, sealed_version = null
      where chain = $1 and address <> $2 and fate in ('unknown', 'pending', 'mined')`,
    values: [chain, address],
  });
}

export type NoncesKnown = {
  /** Above every one that is used up for good. */
  readonly aboveDeep: number;
  /** Above every one that it is known to have signed. */
  readonly aboveSigned: number;
  /** None is used up for good, or time since the last such one was signed may be missing. */
  readonly mayLack: boolean;
};

export async function noncesKnown(tx: Tx, chain: ChainKey, address: string): Promise<NoncesKnown> {
  type Row = { deep: number | null; signed: number | null; gap: boolean };
  const [row] = await tx.rows<Row>({
    name: 'keeper_nonces_known',
    text: `select
        (select max(nonce) + 1 from keeper_attempts
          where chain = $1 and address = $2 and fate = 'deep') as deep,
        (select max(nonce) + 1 from keeper_attempts
          where chain = $1 and address = $2) as signed,
        exists (select 1 from gaps where ended_at >= (
          select max(signed_at) from keeper_attempts
          where chain = $1 and address = $2 and fate = 'deep')) as gap`,
    values: [chain, address],
  });
  const deep = row?.deep ?? null;
  // What was signed since is no proof: a node that caught up yet may have given its nonce.
  const mayLack = deep === null || row?.gap === true;
  return { aboveDeep: deep ?? 0, aboveSigned: row?.signed ?? 0, mayLack };
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
      where id = $1 and sealed is not null and fate in ('unknown', 'pending', 'mined')
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

export type Sums = {
  /** Kept for what was asked for and is open, and for what else has something that may be mined. */
  readonly reserved: bigint;
  readonly relayReserved: bigint;
  /** Counted against the cap since the beginning of the day, all accounts: nothing asked for. */
  readonly spent: bigint;
  /** Of this account. */
  readonly spentOn: bigint;
  /** On refunds. */
  readonly spentOnRefunds: bigint;
  /** Jobs with something signed that is not mined yet, but for what was asked for. */
  readonly underWay: number;
  /** Of those the refunds. */
  readonly refundsUnderWay: number;
  readonly relaysUnderWay: number;
  readonly fundingsUnderWay: number;
};

/** What of it counts against the account of one of its escrows: rounded up, so never too little. */
export const partOf = (attempt: string) => {
  return `div(${attempt}.charged + ${attempt}.legs - 1, ${attempt}.legs)`;
};

const underWayOf = (which: string) => `(select count(distinct u.job_id)
          from keeper_attempts u join keeper_jobs o on o.id = u.job_id
          where u.chain = $1 and u.fate in ('unknown', 'pending') and ${which})`;

/** Nothing else is held for what nobody was promised: it may be refused for ever. */
const hasLive = `exists (select 1 from keeper_attempts l
              where l.job_id = o.id and l.fate in ('unknown', 'pending', 'mined'))`;

/** Sums of one chain. `except`: a job whose own reserve is left out. */
export async function keeperSums(
  tx: Tx,
  of: {
    readonly chain: ChainKey;
    readonly since: Date;
    readonly accountId: string | null;
    readonly except: number | null;
  },
): Promise<Sums> {
  const rows = await tx.rows<Record<string, string | number | null>>({
    name: 'keeper_sums',
    text: `select
        (select coalesce(sum(o.reserve), 0) from keeper_jobs o
          where o.chain = $1 and o.state = 'open' and o.id is distinct from $4
            and (o.purpose in ('relay', 'fund') or ${hasLive})) as reserved,
        (select coalesce(sum(reserve), 0) from keeper_jobs
          where chain = $1 and state = 'open' and purpose = 'relay'
            and id is distinct from $4) as "relayReserved",
        coalesce(sum(a.charged), 0) as spent,
        coalesce(sum(${partOf('a')}) filter (where j.account_id = $3), 0) + (
          select coalesce(sum(${partOf('r')}), 0) from keeper_rides k
            join keeper_attempts r on r.id = k.attempt_id join keeper_jobs o on o.id = k.job_id
          where r.chain = $1 and r.signed_at >= $2 and o.account_id = $3) as "spentOn",
        coalesce(sum(a.charged) filter (where a.purpose in ('refund', 'close')), 0)
          as "spentOnRefunds",
        ${underWayOf(`o.purpose not in ('relay', 'fund')`)} as "underWay",
        ${underWayOf(`o.purpose in ('refund', 'close')`)} as "refundsUnderWay",
        ${underWayOf(`o.purpose = 'relay'`)} as "relaysUnderWay",
        ${underWayOf(`o.purpose = 'fund'`)} as "fundingsUnderWay"
      from keeper_attempts a left join keeper_jobs j on j.id = a.job_id
      where a.chain = $1 and a.signed_at >= $2
        and (a.purpose is null or a.purpose not in ('relay', 'fund'))`,
    values: [of.chain, of.since, of.accountId, of.except],
  });
  const row = rows[0] ?? {};
  const money = (name: string) => BigInt(row[name] ?? 0);
  return {
    reserved: money('reserved'),
    relayReserved: money('relayReserved'),
    spent: money('spent'),
    spentOn: money('spentOn'),
    spentOnRefunds: money('spentOnRefunds'),
    underWay: Number(row.underWay ?? 0),
    refundsUnderWay: Number(row.refundsUnderWay ?? 0),
    relaysUnderWay: Number(row.relaysUnderWay ?? 0),
    fundingsUnderWay: Number(row.fundingsUnderWay ?? 0),
  };
}
