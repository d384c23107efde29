// Ladders of signed refunds, one an escrow: kept, taken in hand by one process a chain, given back.

import type { Rung, Tried } from '../../chains/interface/scheduled.ts';
import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import type { Tx } from './database.ts';
import { notifying } from './work.ts';

export type StoredRung = Omit<Rung, 'feeSats'> & { readonly feeSats: string };

export type Scheduled = {
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly swapId: string;
  readonly leg: LegName;
  readonly rungs: readonly Rung[];
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

/**
 * Keeps a ladder in the place of any former one of its escrow, due from `dueAt` (Unix seconds) and
 * not before now, or when that one was. The same one again changes nothing, unless it had ended.
 */
export async function putScheduled(
  tx: Tx,
  ladder: Pick<Scheduled, 'chain' | 'escrow' | 'swapId' | 'leg' | 'rungs'> & {
    /** Whose it is: those of one account have no more looks than those of another. */
    readonly accountId: string;
    readonly dueAt: number;
    readonly at: Date;
  },
): Promise<ScheduledView> {
  const { rungs } = ladder;
  const stored: StoredRung[] = rungs.map((each) => ({ ...each, feeSats: String(each.feeSats) }));
  const rates = rungs.map(({ feeRateSatPerVbyte }) => feeRateSatPerVbyte);
  const [lowestFeeRate = 0] = rates;
  const highestFeeRate = rates.at(-1) ?? 0;
  // What waits already comes first, however old a timelock somebody posts.
  const dueAt = Math.max(ladder.dueAt, Math.floor(ladder.at.getTime() / 1000));
  const [row] = await tx.rows<{ sent_txid: string | null }>({
    name: 'scheduled_put',
    text: `with put as (insert into scheduled_refunds
        (chain, escrow, swap_id, leg, rungs, count, lowest_fee_rate, highest_fee_rate, due_at,
         posted_at, account_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
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
      select sent_txid, ${notifying('refunds')} from put`,
    values: [
      ladder.chain,
      ladder.escrow,
      ladder.swapId,
      ladder.leg,
      JSON.stringify(stored),
      rungs.length,
      lowestFeeRate,
      highestFeeRate,
      dueAt,
      ladder.at,
      ladder.accountId,
    ],
  });
  const sentTxid = row === undefined ? await sentOf(tx, ladder) : row.sent_txid;
  return { count: rungs.length, lowestFeeRate, highestFeeRate, sentTxid };
}

async function sentOf(
  tx: Tx,
  { chain, escrow }: Pick<Scheduled, 'chain' | 'escrow'>,
): Promise<string | null> {
  const [row] = await tx.rows<{ sent_txid: string | null }>({
    name: 'scheduled_sent',
    text: `select sent_txid from scheduled_refunds where chain = $1 and escrow = $2`,
    values: [chain, escrow],
  });
  return row?.sent_txid ?? null;
}

/** The ladder that is kept of an escrow; none: empty. */
export async function rungsKept(tx: Tx, chain: ChainKey, escrow: string): Promise<Rung[]> {
  const [row] = await tx.rows<{ rungs: StoredRung[] }>({
    name: 'scheduled_rungs',
    text: `select rungs from scheduled_refunds where chain = $1 and escrow = $2`,
    values: [chain, escrow],
  });
  return read(row?.rungs ?? []);
}

function read(rungs: readonly StoredRung[]): Rung[] {
  return rungs.map((each) => ({ ...each, feeSats: BigInt(each.feeSats) }));
}

type Row = {
  chain: ChainKey;
  escrow: string;
  swap_id: string;
  leg: LegName;
  rungs: StoredRung[];
  version: number;
  sent_txid: string | null;
  tried: Tried | null;
};

/** Those of the chains with a ladder that is due, whoever may have it in hand. */
export async function chainsDue(
  tx: Tx,
  chains: readonly ChainKey[],
  wall: number,
): Promise<ChainKey[]> {
  const rows = await tx.rows<{ chain: ChainKey }>({
    name: 'scheduled_chains_due',
    text: `select each.chain from unnest($1::text[]) as each (chain)
      where exists (
        select 1 from scheduled_refunds r where r.chain = each.chain and r.due_at <= $2)`,
    values: [chains, wall],
  });
  return rows.map(({ chain }) => chain);
}

/** When the next ladder of these chains is due, in Unix seconds; null = none is. */
export async function nextScheduled(tx: Tx, chains: readonly ChainKey[]): Promise<number | null> {
  const [row] = await tx.rows<{ due_at: number | null }>({
    name: 'scheduled_next',
    text: `select min(next.due_at) as due_at from unnest($1::text[]) as each (chain), lateral
      (select due_at from scheduled_refunds r
        where r.chain = each.chain and due_at is not null order by due_at limit 1) next`,
    values: [chains],
  });
  return row?.due_at ?? null;
}

/**
 * Takes what is due on a chain in hand: in one half of the places the longest due, a second one of
 * an account only where the first of every other is in hand too, and so on; in the other half the
 * longest due of all, so that many with a single one starve none with many. None while another
 * process has any of that chain. A process that dies has them until `leasedUntil` (Unix seconds).
 */
export async function takeScheduled(
  tx: Tx,
  about: { chain: ChainKey; wall: number; leasedUntil: number; limit: number },
): Promise<Scheduled[]> {
  const [locked] = await tx.rows<{ ok: boolean }>({
    name: 'scheduled_lock',
    text: `select pg_try_advisory_xact_lock(hashtextextended('refunds of ' || $1, 0)) as ok`,
    values: [about.chain],
  });
  if (!locked?.ok) return [];
  const rows = await tx.rows<Row>({
    name: 'scheduled_take',
    text: `with in_turn as (
        select escrow from (
          select escrow, due_at,
            row_number() over (partition by account_id order by due_at, escrow) as nth
          from scheduled_refunds where chain = $1 and due_at <= $2) each
        order by nth, due_at, escrow limit ($4::int + 1) / 2),
      longest as (
        select escrow from scheduled_refunds
        where chain = $1 and due_at <= $2 and escrow not in (select escrow from in_turn)
        order by due_at, escrow limit $4::int - (select count(*) from in_turn))
      update scheduled_refunds set leased_until = $3
      where chain = $1
        and escrow in (select escrow from in_turn union all select escrow from longest)
        and not exists (
          select 1 from scheduled_refunds where chain = $1 and leased_until > $2)
      returning chain, escrow, swap_id, leg, rungs, version, sent_txid, tried`,
    values: [about.chain, about.wall, about.leasedUntil, about.limit],
  });
  return rows.map((row) => ({
    chain: row.chain,
    escrow: row.escrow,
    swapId: row.swap_id,
    leg: row.leg,
    rungs: read(row.rungs),
    version: row.version,
    sentTxid: row.sent_txid,
    tried: row.tried,
  }));
}

/**
 * Notes what is about to be sent, so that a crash after sending forgets nothing. False: another
 * ladder has been posted meanwhile, and nothing of this one is noted.
 */
export async function noteSentRefund(
  tx: Tx,
  { chain, escrow, version }: Scheduled,
  note: Pick<Scheduled, 'sentTxid' | 'tried'>,
): Promise<boolean> {
  const noted = await tx.rows<{ version: number }>({
    name: 'scheduled_note_sent',
    text: `update scheduled_refunds set sent_txid = $4, tried = $5
      where chain = $1 and escrow = $2 and version = $3
      returning version`,
    values: [chain, escrow, version, note.sentTxid, written(note.tried)],
  });
  return noted.length > 0;
}

const written = (tried: Tried | null) => (tried === null ? null : JSON.stringify(tried));

/**
 * Gives a ladder back, due again at `dueAt` (Unix seconds); null: it has ended. Without `tried`
 * that stays as it is.
 */
export async function giveBackScheduled(
  tx: Tx,
  { chain, escrow, version }: Scheduled,
  after: { readonly dueAt: number | null; readonly tried?: Tried | null },
): Promise<void> {
  await tx.rows({
    name: 'scheduled_give_back',
    text: `update scheduled_refunds set leased_until = null,
        due_at = case when version = $3 then $4 else due_at end,
        tried = case when version = $3 and $6 then $5 else tried end
      where chain = $1 and escrow = $2`,
    values: [
      chain,
      escrow,
      version,
      after.dueAt,
      written(after.tried ?? null),
      after.tried !== undefined,
    ],
  });
}
