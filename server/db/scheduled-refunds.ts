// Signed refunds, a fee bump schedule for each escrow: kept, taken in hand by one process a chain,
// given back.

import type { Bump, Tried } from '../../chains/interface/scheduled.ts';
import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import { columns, did, is, list, many, none, one, value } from '../../host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { notifying } from './work.ts';

export type StoredBump = Omit<Bump, 'feeSats'> & { readonly feeSats: string };

export type Scheduled = {
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly swapId: string;
  readonly leg: LegName;
  readonly bumps: readonly Bump[];
  readonly version: number;
  readonly sentTxid: string | null;
  readonly tried: Tried | null;
};

/** As the funder of the leg sees it. */
export type ScheduledView = {
  readonly count: number;
  /** Sat per vbyte. */
  readonly lowestFeeRate: number;
  readonly highestFeeRate: number;
  readonly sentTxid: string | null;
};

type Sent = Pick<Scheduled, 'sentTxid'>;
type Posted = Pick<Scheduled, 'chain' | 'escrow' | 'swapId' | 'leg' | 'bumps'> & {
  /**
   * The account that it belongs to: those of one account are not read more often than those of
   * another.
   */
  readonly accountId: string;
  readonly dueAt: number;
  readonly at: Date;
};

const putRow = one<[row: Posted & Omit<ScheduledView, 'sentTxid'>], Sent>('scheduled_put')`
  with put as (insert into scheduled_refunds
      (chain, escrow, swap_id, leg, rungs, count, lowest_fee_rate, highest_fee_rate, due_at,
       posted_at, account_id)
    values (:chain, :escrow, :swapId, :leg, :bumps::jsonb, :count, :lowestFeeRate,
      :highestFeeRate, :dueAt, :at, :accountId)
    on conflict (chain, escrow) do update
      set rungs = excluded.rungs, count = excluded.count, account_id = excluded.account_id,
        due_at = least(scheduled_refunds.due_at, excluded.due_at),
        lowest_fee_rate = excluded.lowest_fee_rate,
        highest_fee_rate = excluded.highest_fee_rate, posted_at = excluded.posted_at,
        version = scheduled_refunds.version + 1,
        sent_txid = case
          when excluded.rungs @> jsonb_build_array(
            jsonb_build_object('txid', scheduled_refunds.sent_txid))
          then scheduled_refunds.sent_txid end
      where scheduled_refunds.due_at is null or scheduled_refunds.rungs <> excluded.rungs
        or scheduled_refunds.account_id <> excluded.account_id
      returning sent_txid)
    select sent_txid as "sentTxid", ${notifying('refunds')} from put`;

const sentOf = one<[of: Pick<Scheduled, 'chain' | 'escrow'>], Sent>('scheduled_sent')`
  select sent_txid as "sentTxid" from scheduled_refunds where chain = :chain and escrow = :escrow`;

const keptOf = value<[chain: ChainKey, escrow: string], StoredBump[]>('scheduled_rungs')`
  select rungs as bumps from scheduled_refunds where chain = $1 and escrow = $2`;

/**
 * Keeps a fee bump schedule in the place of any former one of its escrow, due from `dueAt` (Unix
 * seconds) and not before now, or when that one was. The same one again changes nothing, unless it
 * had ended.
 */
export async function putScheduled(tx: Tx, posted: Posted): Promise<ScheduledView> {
  const { bumps, at } = posted;
  const rates = bumps.map(({ feeRateSatPerVbyte }) => feeRateSatPerVbyte);
  const lowestFeeRate = rates[0] ?? 0;
  const highestFeeRate = rates.at(-1) ?? 0;
  const view = { count: bumps.length, lowestFeeRate, highestFeeRate };
  // A ladder that waits already comes first, however old a timelock somebody posts.
  const dueAt = Math.max(posted.dueAt, Math.floor(at.getTime() / 1000));
  const put = await putRow(tx, { ...posted, ...view, dueAt });
  const { sentTxid } = put ?? (await sentOf(tx, posted)) ?? { sentTxid: null };
  return { ...view, sentTxid };
}

/** The schedule that is kept of an escrow; none: empty. */
export async function bumpsKept(tx: Tx, chain: ChainKey, escrow: string): Promise<Bump[]> {
  return read((await keptOf(tx, chain, escrow)) ?? []);
}

function read(bumps: readonly StoredBump[]): Bump[] {
  return bumps.map((each) => ({ ...each, feeSats: BigInt(each.feeSats) }));
}

/** Those of the chains with a schedule that is due, whoever may have it in hand. */
export const chainsDue = list<[chains: readonly ChainKey[], wall: number], ChainKey>(
  'scheduled_chains_due',
)`
  select each.chain from unnest($1::text[]) as each (chain)
    where exists (
      select 1 from scheduled_refunds r where r.chain = each.chain and r.due_at <= $2)`;

/** When the next schedule of these chains is due, in Unix seconds; null = none is. */
export const nextScheduled = value<[chains: readonly ChainKey[]], number>('scheduled_next')`
  select min(next.due_at) as due_at from unnest($1::text[]) as each (chain), lateral
    (select due_at from scheduled_refunds r
      where r.chain = each.chain and due_at is not null order by due_at limit 1) next`;

type Taking = { chain: ChainKey; wall: number; leasedUntil: number; limit: number };

const lockRefunds = is<[chain: ChainKey]>('scheduled_lock')`
  select pg_try_advisory_xact_lock(hashtextextended('refunds of ' || $1, 0))`;

type StoredScheduled = Omit<Scheduled, 'bumps'> & { readonly bumps: readonly StoredBump[] };

const takeRows = many<[about: Taking], StoredScheduled>('scheduled_take')`
  with in_turn as (
      select escrow from (
        select escrow, due_at,
          row_number() over (partition by account_id order by due_at, escrow) as nth
        from scheduled_refunds where chain = :chain and due_at <= :wall) each
      order by nth, due_at, escrow limit (:limit::int + 1) / 2),
    longest as (
      select escrow from scheduled_refunds
      where chain = :chain and due_at <= :wall and escrow not in (select escrow from in_turn)
      order by due_at, escrow limit :limit::int - (select count(*) from in_turn))
    update scheduled_refunds set leased_until = :leasedUntil
    where chain = :chain
      and escrow in (select escrow from in_turn union all select escrow from longest)
      and not exists (
        select 1 from scheduled_refunds where chain = :chain and leased_until > :wall)
    returning ${columns('chain escrow swapId leg version sentTxid tried')}, rungs as bumps`;

/**
 * Takes what is due on a chain in hand: in one half of the places the longest due, a second one of
 * an account only where the first of every other is in hand too, and so on; in the other half the
 * longest due of all, so that many with a single one starve none with many. It takes none while
 * another process has any of that chain. A process that dies has them until `leasedUntil` (Unix
 * seconds).
 */
export async function takeScheduled(tx: Tx, about: Taking): Promise<Scheduled[]> {
  if (!(await lockRefunds(tx, about.chain))) return [];
  return (await takeRows(tx, about)).map((row) => ({ ...row, bumps: read(row.bumps) }));
}

/**
 * Notes what is about to be sent, so that a crash after sending forgets nothing. False: another
 * schedule has been posted meanwhile, and nothing of this one is noted.
 */
export const noteSentRefund = did<[of: Scheduled, note: Pick<Scheduled, 'sentTxid' | 'tried'>]>(
  'scheduled_note_sent',
)`
  update scheduled_refunds set sent_txid = $2.sentTxid, tried = $2.tried::jsonb
    where chain = :chain and escrow = :escrow and version = :version
    returning version`;

type After = { readonly dueAt: number | null; readonly tried?: Tried | null };
type GivenBack = Scheduled & Required<After> & { readonly isTried: boolean };

const giveBack = none<[of: GivenBack]>('scheduled_give_back')`
  update scheduled_refunds set leased_until = null,
      due_at = case when version = :version then :dueAt else due_at end,
      tried = case when version = :version and :isTried then :tried::jsonb else tried end
    where chain = :chain and escrow = :escrow`;

/**
 * Gives a schedule back, due again at `dueAt` (Unix seconds); null: it has ended. Without `tried`
 * that stays as it is.
 */
export const giveBackScheduled = (tx: Tx, of: Scheduled, after: After): Promise<void> =>
  giveBack(tx, { ...of, ...after, isTried: after.tried !== undefined });
