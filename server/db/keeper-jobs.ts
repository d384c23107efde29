// Jobs of the keeper: what is found to be done, taken in hand, put off and ended.

import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import type { Database, Tx } from './database.ts';
import type { NotUnder, SealedRow } from './sealed-rows.ts';

export type KeeperVerb = 'claim' | 'refund' | 'fund';
/** `close`: a refund of what a claim has left in the escrow (Solana). */
export type Purpose = 'relay' | 'secret' | 'refund' | 'fund' | 'close';

export type Job = {
  readonly id: number;
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly verb: KeeperVerb;
  readonly swapId: string;
  readonly leg: LegName;
  readonly accountId: string;
  readonly purpose: Purpose;
  readonly state: 'open' | 'done' | 'dropped';
  readonly reserve: bigint;
  /** Solana: whether it may pay for its receiver's token account; a claim: or has once. */
  readonly makesAccount: boolean;
  readonly secret: Buffer | null;
  readonly secretVersion: number | null;
  /** Of a funding: its funder's. */
  readonly signature: string | null;
  /** It is in no batch any more. */
  readonly alone: boolean;
  readonly failures: number;
  readonly createdAt: Date;
};

type Row = Omit<Job, 'reserve'> & { readonly reserve: string };

const columns = `id, chain, escrow, verb, swap_id as "swapId", leg, account_id as "accountId",
  purpose, state, reserve, makes_account as "makesAccount", secret,
  secret_version as "secretVersion", signature, alone, failures, created_at as "createdAt"`;

function jobOf(row: Row): Job {
  return { ...row, reserve: BigInt(row.reserve) };
}

/**
 * Takes up swaps whose secret is public: a claim job for each leg on one of these chains. Whether
 * there is anything to claim is the job's own question. Returns how many swaps were taken up.
 */
export async function takeUpRevealed(
  tx: Tx,
  chains: readonly ChainKey[],
  now: Date,
  limit: number,
): Promise<number> {
  const rows = await tx.rows<{ id: string }>({
    name: 'keeper_take_up_revealed',
    text: `with found as (
        select id, maker_id, taker_id from swaps
        where secret is not null and not done and not kept
        order by id limit $3 for update skip locked
      ), made as (
        insert into keeper_jobs
          (chain, escrow, verb, swap_id, leg, account_id, purpose, state, due_at, created_at)
        select l.chain, l.escrow, 'claim', f.id, l.leg,
          case l.leg when 'a' then f.taker_id else f.maker_id end, 'secret', 'open', $2, $2
        from found f join legs l on l.swap_id = f.id
        where l.escrow is not null and l.chain = any($1) and l.family <> 'bitcoin'
        on conflict (chain, escrow, verb) do update set state = 'open', purpose = 'secret'
          where keeper_jobs.state = 'dropped'
      )
      update swaps set kept = true where id in (select id from found) returning id`,
    values: [chains, now, limit],
  });
  return rows.length;
}

/** What bounds which dropped jobs are reopened, so that none is dropped and reopened for ever. */
export type Missed = {
  /** Its claims that blocks took without effect: as many are not followed by another. */
  readonly mostFailed: number;
  /** By chain, Unix seconds: a timelock above it is surely not what dropped a job. */
  readonly above: ReadonlyMap<ChainKey, number>;
};

/**
 * The claim jobs that are missing of swaps which were taken up: by a server without a key on one of
 * these chains, which does not reopen a relay that was dropped there either; and those that were
 * dropped while they could still land. Returns how many were made or reopened.
 */
export async function takeUpMissed(
  tx: Tx,
  { mostFailed, above }: Missed,
  now: Date,
  limit: number,
): Promise<number> {
  const rows = await tx.rows({
    name: 'keeper_take_up_missed',
    text: `insert into keeper_jobs
        (chain, escrow, verb, swap_id, leg, account_id, purpose, state, due_at, created_at)
      select l.chain, l.escrow, 'claim', s.id, l.leg,
        case l.leg when 'a' then s.taker_id else s.maker_id end, 'secret', 'open', $2, $2
      from swaps s join legs l on l.swap_id = s.id
        join unnest($1::text[], $4::bigint[]) as k (chain, above) on k.chain = l.chain
      where s.secret is not null and not s.done and s.kept
        and l.escrow is not null and l.family <> 'bitcoin'
        and not exists (
          select 1 from keeper_jobs j
          where j.chain = l.chain and j.escrow = l.escrow and j.verb = 'claim'
            and (j.state <> 'dropped' or (j.purpose <> 'relay' and l.timelock <= k.above)
              or (select count(*) from keeper_attempts a where a.job_id = j.id
                and a.fate = 'failed' and a.verb <> 'void') >= $5))
      order by s.id limit $3
      on conflict (chain, escrow, verb) do update set state = 'open', purpose = 'secret',
          due_at = $2
        where keeper_jobs.state = 'dropped'
      returning id`,
    values: [[...above.keys()], now, limit, [...above.values()], mostFailed],
  });
  return rows.length;
}

/** What is refunded: money of a swap; or, once each, what a claim left there is their funder's. */
const holding = {
  refund: `not e.done and e.facts ->> 'balance' <> '0'`,
  close: `e.done and e.redeem_script is null and e.facts -> 'claimed' ->> 'deep' = 'true'`,
} as const;

/** Takes up escrows whose timelock has passed by their chain's clock with something in them. */
export async function takeUpExpired(
  tx: Tx,
  chain: ChainKey,
  due: { readonly clock: number; readonly now: Date; readonly purpose: keyof typeof holding },
  limit: number,
): Promise<number> {
  const { clock, now, purpose } = due;
  const rows = await tx.rows<{ address: string }>({
    name: `keeper_take_up_expired_${purpose}`,
    text: `with found as (
        select e.chain, e.address, e.swap_id, e.leg from escrows e
        where e.chain = $1 and not e.kept and ${holding[purpose]}
          and (e.terms ->> 'timelock')::bigint <= $2
        order by (e.terms ->> 'timelock')::bigint limit $4 for update skip locked
      ), made as (
        insert into keeper_jobs
          (chain, escrow, verb, swap_id, leg, account_id, purpose, state, due_at, created_at)
        select f.chain, f.address, 'refund', f.swap_id, f.leg,
          case f.leg when 'a' then s.maker_id else s.taker_id end, '${purpose}', 'open', $3, $3
        from found f join swaps s on s.id = f.swap_id
        on conflict (chain, escrow, verb) do nothing
      )
      update escrows e set kept = true from found f
      where e.chain = f.chain and e.address = f.address returning e.address`,
    values: [chain, clock, now, limit],
  });
  return rows.length;
}

/** What was taken up while a chain had no key is taken up again; jobs that exist stay. */
export async function takeUpAnew(tx: Tx): Promise<void> {
  await tx.rows({
    name: 'keeper_anew_swaps',
    text: `update swaps set kept = false where secret is not null and not done and kept`,
    values: [],
  });
}

/** Relays, what brings back the rest of a claim, and everything else. */
export type DueKind = 'relays' | 'closes' | 'others';

/** Takes due jobs in hand: until `again` they are due for nobody else. */
export async function takeDueJobs(
  tx: Tx,
  due: {
    readonly chain: ChainKey;
    readonly what: DueKind;
    readonly now: Date;
    readonly again: Date;
  },
  limit: number,
): Promise<Job[]> {
  const rows = await tx.rows<Row>({
    name: 'keeper_take_due',
    text: `update keeper_jobs set due_at = $4
      where id in (
        select id from keeper_jobs
        where chain = $1 and state = 'open' and (purpose = 'relay') = $2
          and (purpose = 'close') = $6 and due_at <= $3
        order by due_at limit $5 for update skip locked)
      returning ${columns}`,
    values: [due.chain, due.what === 'relays', due.now, due.again, limit, due.what === 'closes'],
  });
  return rows.map(jobOf);
}

export async function findJob(
  tx: Tx,
  of: { readonly chain: ChainKey; readonly escrow: string; readonly verb: KeeperVerb },
): Promise<Job | null> {
  const [row] = await tx.rows<Row>({
    name: 'keeper_find_job',
    text: `select ${columns} from keeper_jobs where chain = $1 and escrow = $2 and verb = $3`,
    values: [of.chain, of.escrow, of.verb],
  });
  return row === undefined ? null : jobOf(row);
}

export type NewAsked = Pick<
  Job,
  'chain' | 'escrow' | 'swapId' | 'leg' | 'accountId' | 'reserve' | 'makesAccount' | 'signature'
> & {
  readonly verb: 'claim' | 'fund';
  readonly purpose: 'relay' | 'fund';
  readonly secret: Uint8Array | null;
  readonly secretVersion: number | null;
  readonly at: Date;
  /** The beginning of the day that it counts for. */
  readonly since: Date;
};

/**
 * What was asked for, due now: a job of its own, or the one there is made to land. A funding that
 * is asked for again is as new.
 */
export async function insertAsked(tx: Tx, job: NewAsked): Promise<number> {
  const { chain, escrow, verb, purpose, swapId, leg, accountId, makesAccount, since } = job;
  const { reserve, secret, secretVersion, signature, at } = job;
  const [row] = await tx.rows<{ id: number }>({
    name: 'keeper_insert_asked',
    text: `insert into keeper_jobs as job
        (chain, escrow, verb, purpose, swap_id, leg, account_id, makes_account, reserve, secret,
         secret_version, signature, state, due_at, created_at, relayed_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'open', $13, $13, $13)
      on conflict (chain, escrow, verb) do update
        set purpose = $4, makes_account = $8, reserve = $9, secret = $10, secret_version = $11,
          signature = $12, state = 'open', due_at = $13, relayed_at = $13,
          created_at = case when $4 = 'fund' then $13 else job.created_at end,
          failures = 0, last_failure = null,
          relays = case when job.relayed_at >= $14 then job.relays + 1 else 1 end
      returning id`,
    values: [
      ...[chain, escrow, verb, purpose, swapId, leg, accountId, makesAccount],
      ...[reserve.toString(), secret, secretVersion, signature, at, since],
    ],
  });
  return (row as { id: number }).id;
}

/** Looked at again at `dueAt`. `failure` null: it did not fail. */
export async function putOffJob(
  tx: Tx,
  id: number,
  again: { readonly dueAt: Date; readonly failure: string | null },
): Promise<void> {
  await tx.rows({
    name: 'keeper_put_off',
    text: `update keeper_jobs set due_at = $2,
        failures = case when $3::text is null then 0 else failures + 1 end, last_failure = $3
      where id = $1 and state = 'open'`,
    values: [id, again.dueAt, again.failure],
  });
}

type Whole = Pick<Database, 'transaction'>;

/**
 * Drops a job whose secret nobody was known to have. False: it is public by now, so that the job is
 * needed, or something signed for it has not left yet. What takes up public secrets locks the swap
 * before its jobs, too: either it finds the job dropped, or this finds the secret.
 */
export function dropUnlessPublic(db: Whole, id: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [swap] = await tx.rows({
      name: 'keeper_lock_secret',
      text: `select id from swaps
        where id = (select swap_id from keeper_jobs where id = $1) and secret is null for update`,
      values: [id],
    });
    return swap !== undefined && (await endUnlessKept(tx, id, 'dropped'));
  });
}

/**
 * Kept no more for it from here on: neither coins nor its secret. It stays open while something
 * signed for it has not left: nobody else would send it, nor free its nonce.
 */
export async function endJob(db: Whole, id: number, state: 'done' | 'dropped'): Promise<void> {
  await db.transaction((tx) => endUnlessKept(tx, id, state));
}

/** Whoever keeps something for a job locks its row, `for key share`: he is waited for here. */
async function endUnlessKept(tx: Tx, id: number, state: 'done' | 'dropped'): Promise<boolean> {
  await tx.rows({
    name: 'keeper_lock_job',
    text: 'select id from keeper_jobs where id = $1 for update',
    values: [id],
  });
  const rows = await tx.rows({
    name: 'keeper_end_job',
    text: `update keeper_jobs set state = $2, reserve = 0, secret = null, secret_version = null
      where id = $1 and state = 'open' and not exists (
        select 1 from keeper_attempts where job_id = $1 and sent_at is null
          and fate in ('unknown', 'pending', 'mined'))
      returning id`,
    values: [id, state],
  });
  return rows.length === 1;
}

/**
 * For what was just signed, and beside other that may be mined no less than before. Without such,
 * what nobody asked for held nothing: others may have been promised it meanwhile. False: it has
 * ended, and nothing is kept for it any more.
 */
export async function keepReserve(
  tx: Tx,
  id: number,
  of: { readonly reserve: bigint; readonly attemptId: number; readonly makesAccount: boolean },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_keep_reserve',
    text: `update keeper_jobs set reserve = case
          when purpose in ('relay', 'fund') or exists (select 1 from keeper_attempts
            where job_id = $1 and id <> $3 and fate in ('unknown', 'pending', 'mined'))
          then greatest(reserve, $2) else $2 end,
        makes_account = makes_account or $4
      where id = $1 and state = 'open' returning id`,
    values: [id, of.reserve.toString(), of.attemptId, of.makesAccount],
  });
  return rows.length === 1;
}

/** The swap knows the secret by now. */
export async function forgetSecret(tx: Tx, id: number): Promise<void> {
  await tx.rows({
    name: 'keeper_forget_secret',
    text: `update keeper_jobs set secret = null, secret_version = null where id = $1`,
    values: [id],
  });
}

/** What is sealed under another key of the server's than this one; waits for what is in use. */
export function sealedNotOf(
  tx: Tx,
  of: 'attempts' | 'jobs',
  { version, after, limit }: NotUnder<number>,
) {
  return tx.rows<SealedRow<number> & { readonly version: number }>({
    name: `keeper_sealed_not_of_${of}`,
    text:
      of === 'attempts'
        ? `select id, sealed, sealed_version as version from keeper_attempts
            where sealed is not null and sealed_version <> $1 and id > $2
            order by id limit $3 for update`
        : `select id, secret as sealed, secret_version as version from keeper_jobs
            where secret is not null and secret_version <> $1 and id > $2
            order by id limit $3 for update`,
    values: [version, after, limit],
  });
}

export async function resealRow(
  tx: Tx,
  of: 'attempts' | 'jobs',
  { id, sealed }: SealedRow<number>,
  version: number,
): Promise<void> {
  await tx.rows({
    name: `keeper_reseal_${of}`,
    text:
      of === 'attempts'
        ? `update keeper_attempts set sealed = $2, sealed_version = $3 where id = $1`
        : `update keeper_jobs set secret = $2, secret_version = $3 where id = $1`,
    values: [id, sealed, version],
  });
}

/** Open jobs of a chain by purpose. */
export function countOpenJobs(tx: Tx, chain: ChainKey) {
  return tx.rows<{ purpose: Purpose; count: number }>({
    name: 'keeper_count_open',
    text: `select purpose, count(*)::int as count from keeper_jobs
      where chain = $1 and state = 'open' group by purpose`,
    values: [chain],
  });
}
