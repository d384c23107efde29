// Claims and refunds signed beforehand, a fee bump schedule of each for an escrow, and the job that
// reads each when it is due.

import type { Bump, ScheduledVerb, Tried } from '@parley/chains/interface/scheduled.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { LegName } from '@parley/core/trade.ts';
import { columns, did, none, one } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { addJobs, type JobKind } from './jobs.ts';
import { notifying } from './work.ts';

type StoredBump = Omit<Bump, 'feeSats'> & { readonly feeSats: string };

export type Scheduled = {
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly verb: ScheduledVerb;
  readonly swapId: string;
  readonly leg: LegName;
  readonly bumps: readonly Bump[];
  readonly version: number;
  readonly sentTxid: string | null;
  readonly tried: Tried | null;
};

/** The jobs of a chain, whose `about` is a `ScheduledKey`. */
export const spendsOn = (chain: ChainKey, verb: ScheduledVerb): JobKind => `${verb} ${chain}`;
export type ScheduledKey = Pick<Scheduled, 'chain' | 'escrow' | 'verb' | 'swapId'>;
type Place = Pick<Scheduled, 'chain' | 'escrow' | 'verb'>;
const jobOf = ({ chain, escrow, verb }: Place) => `${spendsOn(chain, verb)} ${escrow}`;

/** As the party that signed them sees it. */
export type ScheduledView = {
  readonly count: number;
  /** Sat per vbyte. */
  readonly lowestFeeRate: number;
  readonly highestFeeRate: number;
  readonly sentTxid: string | null;
};

type Sent = Pick<Scheduled, 'sentTxid'>;
type Posted = Pick<Scheduled, 'chain' | 'escrow' | 'verb' | 'swapId' | 'leg' | 'bumps'> & {
  readonly accountId: string;
  readonly dueAt: Date;
  readonly at: Date;
};

const putRow = one<[row: Posted & Omit<ScheduledView, 'sentTxid'>, jobId: string], Sent>(
  'scheduled_put',
)`
  insert into scheduled_spends
      (chain, escrow, verb, swap_id, leg, rungs, count, lowest_fee_rate, highest_fee_rate,
       posted_at)
    values (:chain, :escrow, :verb, :swapId, :leg, :bumps::jsonb, :count, :lowestFeeRate,
      :highestFeeRate, :at)
    on conflict (chain, escrow, verb) do update
      set rungs = excluded.rungs, count = excluded.count,
        lowest_fee_rate = excluded.lowest_fee_rate,
        highest_fee_rate = excluded.highest_fee_rate, posted_at = excluded.posted_at,
        version = scheduled_spends.version + 1,
        sent_txid = case
          when excluded.rungs @> jsonb_build_array(
            jsonb_build_object('txid', scheduled_spends.sent_txid))
          then scheduled_spends.sent_txid end
      where scheduled_spends.rungs <> excluded.rungs
        or not exists (select from jobs where id = $2)
      returning sent_txid as "sentTxid"`;

type Stored = Omit<Scheduled, 'bumps'> & { readonly bumps: readonly StoredBump[] };

const find = one<[of: Place], Stored>('scheduled_find')`
  select ${columns('chain escrow verb swapId leg version sentTxid tried')}, rungs as bumps
    from scheduled_spends where chain = :chain and escrow = :escrow and verb = :verb`;

/** The schedule of that verb that is kept of an escrow. */
export async function findScheduled(tx: Tx, of: Place): Promise<Scheduled | null> {
  const row = await find(tx, of);
  if (row === null) return null;
  const bumps = row.bumps.map((each) => ({ ...each, feeSats: BigInt(each.feeSats) }));
  return { ...row, bumps };
}

/**
 * Keeps a fee bump schedule in the place of any former one of its escrow and verb, due from `dueAt` and not
 * before now, or when that one was. The same one again changes nothing, unless it had ended.
 */
export async function putScheduled(tx: Tx, posted: Posted): Promise<ScheduledView> {
  const { accountId, bumps, chain, escrow, verb, swapId, at } = posted;
  const rates = bumps.map(({ feeRateSatPerVbyte }) => feeRateSatPerVbyte);
  const lowestFeeRate = rates[0] ?? 0;
  const highestFeeRate = rates.at(-1) ?? 0;
  const view = { count: bumps.length, lowestFeeRate, highestFeeRate };
  const id = jobOf(posted);
  const put = await putRow(tx, { ...posted, ...view }, id);
  if (put === null) return { ...view, sentTxid: (await find(tx, posted))?.sentTxid ?? null };
  // A schedule that waits already comes first, however old a timelock somebody posts.
  const dueAt = new Date(Math.max(posted.dueAt.getTime(), at.getTime()));
  const about: ScheduledKey = { chain, escrow, verb, swapId };
  const kind = spendsOn(chain, verb);
  const job = { id, kind, accountId, about, sealed: null, keyVersion: null };
  await addJobs(tx, [{ ...job, dueAt }], at);
  return { ...view, sentTxid: put.sentTxid };
}

/**
 * Notes what is about to be sent, so that a crash after sending forgets nothing. False: another
 * schedule has been posted meanwhile, and nothing of this one is noted.
 */
export const noteSent = did<[of: Scheduled, note: Pick<Scheduled, 'sentTxid' | 'tried'>]>(
  'scheduled_note_sent',
)`
  update scheduled_spends set sent_txid = $2.sentTxid, tried = $2.tried::jsonb
    where chain = :chain and escrow = :escrow and verb = :verb and version = :version
    returning version`;

/** The signed claims of a swap are due, whoever has one in hand: its secret is public. */
export const wakeClaims = none<[swapId: string, at: Date]>('scheduled_wake_claims')`
  with woken as (update jobs set due_at = $2, attempts = attempts + 1
      from scheduled_spends s
      where s.swap_id = $1 and s.verb = 'claim'
        and jobs.id = 'claim ' || s.chain || ' ' || s.escrow
      returning jobs.id)
    select ${notifying('jobs')} from woken limit 1`;
