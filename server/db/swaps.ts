// Swaps with their legs: one statement reads everything a swap's state is made of.

import type { Deadlines } from '../../core/deadlines.ts';
import { type EscrowFacts, holdsPayment, nothingSeen } from '../../core/facts.ts';
import type { ChainKey, Family } from '../../core/families.ts';
import type { Hashlock, Secret } from '../../core/hashlock.ts';
import type { Rules } from '../../core/rules.ts';
import type { SwapStatus } from '../../core/status.ts';
import type { Clocks, Leg, SwapState } from '../../core/swap.ts';
import type { Lane } from '../../core/terms.ts';
import { funderOf, initiatorOf, type LegName, type Party } from '../../core/trade.ts';
import type { Tx } from './database.ts';
import { factsOf, type StoredFacts } from './escrows.ts';
import type { ScheduledView } from './scheduled-refunds.ts';

/** An escrow that a leg moved off after an address was corrected. */
export type FormerEscrow = {
  readonly leg: LegName;
  readonly address: string;
  readonly facts: EscrowFacts;
  /** Whether the keeper sent its refund, as last seen. */
  readonly refundedByKeeper: boolean;
  readonly scheduled: ScheduledView | null;
};

export type Swap = {
  readonly id: string;
  readonly threadId: string;
  readonly rfqId: string;
  readonly makerId: string;
  readonly takerId: string;
  readonly long: LegName;
  readonly initiator: Party;
  /** Unix seconds. */
  readonly agreedAt: number;
  /** Those it was agreed under; null = agreed before they were kept. */
  readonly rules: Rules | null;
  /** As last stored: a cache of core/status.ts. */
  readonly status: SwapStatus;
  readonly dueAt: number | null;
  readonly done: boolean;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly state: SwapState;
  readonly tokens: { readonly a: string | null; readonly b: string | null };
  readonly redeemScripts: { readonly a: string | null; readonly b: string | null };
  /** Of the current escrows, on chains that have lanes. */
  readonly lanes: { readonly a: Lane | null; readonly b: Lane | null };
  /** Which legs' claim or refund, as last seen, the keeper sent. */
  readonly byKeeper: {
    readonly claimed: { readonly a: boolean; readonly b: boolean };
    readonly refunded: { readonly a: boolean; readonly b: boolean };
  };
  readonly former: readonly FormerEscrow[];
  /** Signed refunds kept for the current escrows. */
  readonly scheduled: { readonly a: ScheduledView | null; readonly b: ScheduledView | null };
  /** Clocks of the legs' chains as last seen, Unix seconds; 0 = never seen. */
  readonly chainClocks: { readonly a: number; readonly b: number };
};

type Row = {
  id: string;
  thread_id: string;
  rfq_id: string;
  hashlock: Hashlock;
  maker_id: string;
  taker_id: string;
  long_leg: LegName;
  status: SwapStatus;
  secret: Secret | null;
  lapsed: boolean;
  agreed_at: number;
  rules: Rules | null;
  initiator_fund_by: number;
  expires_at: number;
  counterparty_fund_by: number;
  reveal_by: number;
  due_at: number | null;
  done: boolean;
  revision: number;
  created_at: Date;
  updated_at: Date;
  leg: LegName;
  chain: ChainKey;
  family: Family;
  asset_id: string;
  token: string | null;
  amount: string;
  timelock: number;
  required_confirmations: number;
  payout_address: string | null;
  payout_pubkey: string | null;
  refund_address: string | null;
  refund_pubkey: string | null;
  escrow: string | null;
  facts: StoredFacts | null;
  redeem_script: string | null;
  lane: Lane | null;
  clock: number | null;
  scheduled_count: number | null;
  lowest_fee_rate: number | null;
  highest_fee_rate: number | null;
  sent_txid: string | null;
  kept_claim: boolean;
  kept_refund: boolean;
  former: FormerRow[] | null;
};

type FormerRow = {
  readonly address: string;
  readonly facts: StoredFacts;
  readonly keptRefund: boolean;
  readonly scheduled: ScheduledView | null;
};

const columns = `s.id, s.thread_id, s.rfq_id, s.hashlock, s.maker_id, s.taker_id, s.long_leg,
    s.status, s.secret, s.lapsed, s.agreed_at, s.rules, s.initiator_fund_by, s.expires_at,
    s.counterparty_fund_by, s.reveal_by, s.due_at, s.done, s.revision, s.created_at, s.updated_at,
    l.leg, l.chain, l.family, l.asset_id, l.token, l.amount, l.timelock,
    l.required_confirmations, l.payout_address, l.payout_pubkey, l.refund_address,
    l.refund_pubkey, l.escrow, e.facts, e.redeem_script, e.terms -> 'lane' as lane,
    h.clock, r.count as scheduled_count,
    r.lowest_fee_rate, r.highest_fee_rate, r.sent_txid,
    exists (select 1 from keeper_attempts k
      where k.chain = l.chain and k.txid = e.facts -> 'claimed' ->> 'txid') as kept_claim,
    exists (select 1 from keeper_attempts k
      where k.chain = l.chain and k.txid = e.facts -> 'refunded' ->> 'txid') as kept_refund,
    (select json_agg(json_build_object('address', f.address, 'facts', f.facts,
          'keptRefund', exists (select 1 from keeper_attempts k
            where k.chain = f.chain and k.txid = f.facts -> 'refunded' ->> 'txid'),
          'scheduled', case when fr.escrow is not null then json_build_object(
            'count', fr.count, 'lowestFeeRate', fr.lowest_fee_rate,
            'highestFeeRate', fr.highest_fee_rate, 'sentTxid', fr.sent_txid) end)
        order by f.created_at, f.address)
      from escrows f
        left join scheduled_refunds fr on fr.chain = f.chain and fr.escrow = f.address
      where f.swap_id = l.swap_id and f.leg = l.leg and f.address is distinct from l.escrow
    ) as former`;

const joins = `join legs l on l.swap_id = s.id
  left join escrows e on e.chain = l.chain and e.address = l.escrow
  left join chain_heads h on h.chain = l.chain
  left join scheduled_refunds r on r.chain = l.chain and r.escrow = l.escrow`;

/** The swap, null when there is none. */
export async function swapById(tx: Tx, id: string): Promise<Swap | null> {
  const rows = await tx.rows<Row>({
    name: 'swap_by_id',
    text: `select ${columns} from swaps s ${joins} where s.id = $1 order by l.leg`,
    values: [id],
  });
  return rows.length === 0 ? null : swapOf(rows);
}

/** Those that there are, by id. */
export async function swapsByIds(tx: Tx, ids: readonly string[]): Promise<Swap[]> {
  const rows = await tx.rows<Row>({
    name: 'swaps_by_ids',
    text: `select ${columns} from swaps s ${joins} where s.id = any($1::uuid[])
      order by s.id, l.leg`,
    values: [ids],
  });
  return [...Map.groupBy(rows, ({ id }) => id).values()].map(swapOf);
}

/** Locks the swap's row until the transaction ends; what is read after that cannot move. */
export async function lockSwap(tx: Tx, id: string): Promise<Swap | null> {
  const rows = await tx.rows({
    name: 'swap_lock',
    text: `select 1 from swaps where id = $1 for update`,
    values: [id],
  });
  return rows.length === 0 ? null : swapById(tx, id);
}

export type SwapPage = {
  readonly accountId: string;
  readonly status: SwapStatus | null;
  /** The last id of the page before; null = from the newest. */
  readonly before: string | null;
  readonly limit: number;
};

/** Swaps of one account, newest first. */
export async function swapsOfAccount(tx: Tx, page: SwapPage): Promise<Swap[]> {
  const rows = await tx.rows<Row>({
    name: 'swaps_of_account',
    text: `select ${columns}
      from (
        (select * from swaps where maker_id = $1
            and ($2::text is null or status = $2) and ($3::uuid is null or id < $3)
          order by id desc limit $4)
        union all
        (select * from swaps where taker_id = $1
            and ($2::text is null or status = $2) and ($3::uuid is null or id < $3)
          order by id desc limit $4)
        order by id desc limit $4
      ) s ${joins}
      order by s.id desc, l.leg`,
    values: [page.accountId, page.status, page.before, page.limit],
  });
  const swaps: Swap[] = [];
  for (let at = 0; at < rows.length; at += 2) swaps.push(swapOf(rows.slice(at, at + 2)));
  return swaps;
}

function swapOf(rows: readonly Row[]): Swap {
  const [a, b] = rows;
  if (a === undefined || b === undefined || a.leg !== 'a' || b.leg !== 'b') {
    throw new Error(`swap ${a?.id} has not two legs`);
  }
  const deadlines: Deadlines = {
    initiatorFundBy: a.initiator_fund_by,
    expiresAt: a.expires_at,
    counterpartyFundBy: a.counterparty_fund_by,
    revealBy: a.reveal_by,
    refundAt: { a: a.timelock, b: b.timelock },
  };
  const { secret, lapsed, hashlock } = a;
  return {
    id: a.id,
    threadId: a.thread_id,
    rfqId: a.rfq_id,
    makerId: a.maker_id,
    takerId: a.taker_id,
    long: a.long_leg,
    initiator: initiatorOf(a.long_leg),
    agreedAt: a.agreed_at,
    rules: a.rules,
    status: a.status,
    dueAt: a.due_at,
    done: a.done,
    revision: a.revision,
    createdAt: a.created_at,
    updatedAt: a.updated_at,
    state: { hashlock, legs: { a: legOf(a), b: legOf(b) }, deadlines, secret, lapsed },
    tokens: { a: a.token, b: b.token },
    redeemScripts: { a: a.redeem_script, b: b.redeem_script },
    lanes: { a: a.lane, b: b.lane },
    byKeeper: {
      claimed: { a: a.kept_claim, b: b.kept_claim },
      refunded: { a: a.kept_refund, b: b.kept_refund },
    },
    former: [...formerOf(a), ...formerOf(b)],
    scheduled: { a: scheduledOf(a), b: scheduledOf(b) },
    chainClocks: { a: a.clock ?? 0, b: b.clock ?? 0 },
  };
}

function legOf(row: Row): Leg {
  return {
    leg: row.leg,
    chain: row.chain,
    family: row.family,
    assetId: row.asset_id,
    amount: BigInt(row.amount),
    funder: funderOf(row.leg),
    long: row.leg === row.long_leg,
    timelock: row.timelock,
    requiredConfirmations: row.required_confirmations,
    payoutAddress: row.payout_address,
    refundAddress: row.refund_address,
    payoutPubkey: row.payout_pubkey,
    refundPubkey: row.refund_pubkey,
    escrow: row.escrow,
    facts: row.facts === null ? nothingSeen : factsOf(row.facts),
    strayed: formerOf(row).some(({ facts }) => holdsPayment(facts, BigInt(row.amount))),
  };
}

function scheduledOf(row: Row): ScheduledView | null {
  const { scheduled_count: count, lowest_fee_rate, highest_fee_rate, sent_txid: sentTxid } = row;
  if (count === null || lowest_fee_rate === null || highest_fee_rate === null) return null;
  return { count, lowestFeeRate: lowest_fee_rate, highestFeeRate: highest_fee_rate, sentTxid };
}

function formerOf(row: Row): FormerEscrow[] {
  return (row.former ?? []).map(({ address, facts, keptRefund, scheduled }) => ({
    leg: row.leg,
    address,
    facts: factsOf(facts),
    refundedByKeeper: keptRefund,
    scheduled,
  }));
}

/** The clocks to judge by: ours now, the chains' as last seen. */
export function clocksOf(swap: Swap, nowMs: number): Clocks {
  return { wall: Math.floor(nowMs / 1000), ...swap.chainClocks };
}

/** Which side an account is on; null for a stranger. */
export function partyOf(swap: Swap, accountId: string): Party | null {
  if (swap.makerId === accountId) return 'maker';
  return swap.takerId === accountId ? 'taker' : null;
}

/** Whether a swap that is not done and has not expired has this party; `id` null: any. */
export async function isPartyOfOpen(
  tx: Tx,
  accountId: string,
  id: string | null,
): Promise<boolean> {
  const rows = await tx.rows(
    id === null
      ? {
          name: 'any_open_swap',
          text: `
            (select from swaps where maker_id = $1 and not done and status <> 'expired' limit 1)
            union all
            (select from swaps where taker_id = $1 and not done and status <> 'expired' limit 1)`,
          values: [accountId],
        }
      : {
          name: 'party_of_open_swap',
          text: `
            select from swaps
            where id = $2 and not done and status <> 'expired'
              and (maker_id = $1 or taker_id = $1)`,
          values: [accountId, id],
        },
  );
  return rows.length > 0;
}

export type NewSwap = {
  readonly id: string;
  readonly threadId: string;
  readonly rfqId: string;
  readonly hashlock: Hashlock;
  readonly makerId: string;
  readonly takerId: string;
  readonly long: LegName;
  readonly status: SwapStatus;
  readonly agreedAt: number;
  readonly rules: Rules;
  readonly deadlines: Deadlines;
  readonly dueAt: number | null;
  readonly at: Date;
};

export async function insertSwap(tx: Tx, swap: NewSwap): Promise<void> {
  await tx.rows({
    name: 'swap_insert',
    text: `insert into swaps
        (id, thread_id, rfq_id, hashlock, maker_id, taker_id, long_leg, status, agreed_at,
         initiator_fund_by, counterparty_fund_by, reveal_by, due_at, created_at, updated_at,
         expires_at, rules)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15, $16)`,
    values: [
      swap.id,
      swap.threadId,
      swap.rfqId,
      swap.hashlock,
      swap.makerId,
      swap.takerId,
      swap.long,
      swap.status,
      swap.agreedAt,
      swap.deadlines.initiatorFundBy,
      swap.deadlines.counterpartyFundBy,
      swap.deadlines.revealBy,
      swap.dueAt,
      swap.at,
      swap.deadlines.expiresAt,
      JSON.stringify(swap.rules),
    ],
  });
}

/**
 * Stores what a reconcile came to; the caller holds the row's lock. `at` is null where its parties
 * read no more of it than before: that is no update of the swap.
 */
export async function updateSwap(
  tx: Tx,
  swap: {
    id: string;
    status: SwapStatus;
    secret: Secret | null;
    lapsed: boolean;
    dueAt: number | null;
    done: boolean;
    at: Date | null;
  },
): Promise<void> {
  await tx.rows({
    name: 'swap_update',
    text: `update swaps set status = $2, secret = coalesce(secret, $3), lapsed = lapsed or $4,
        due_at = $5, done = $6, revision = revision + 1,
        updated_at = coalesce($7, updated_at)
      where id = $1`,
    values: [swap.id, swap.status, swap.secret, swap.lapsed, swap.dueAt, swap.done, swap.at],
  });
}

/** Counts a change of the legs; the caller holds the row's lock. */
export async function touchSwap(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.rows({
    name: 'swap_touch',
    text: `update swaps set revision = revision + 1, updated_at = $2 where id = $1`,
    values: [id, at],
  });
}

/** Swaps that time alone may have changed, the longest due first. */
export async function dueSwaps(
  tx: Tx,
  wall: number,
  limit: number,
): Promise<{ id: string; chains: ChainKey[] }[]> {
  return tx.rows({
    name: 'swaps_due',
    text: `select id, array(select chain from legs where swap_id = swaps.id) as chains
      from swaps where due_at <= $1 order by due_at limit $2`,
    values: [wall, limit],
  });
}

/** When the next swap is due, in Unix seconds; null = none is. */
export async function nextSwapDue(tx: Tx): Promise<number | null> {
  const [row] = await tx.rows<{ due_at: number }>({
    name: 'swaps_next_due',
    text: `select due_at from swaps where due_at is not null order by due_at limit 1`,
    values: [],
  });
  return row?.due_at ?? null;
}

/** Looks at a swap again at `dueAt` (Unix seconds); the next reconcile computes it anew. */
export async function makeDue(tx: Tx, id: string, dueAt: number): Promise<void> {
  await tx.rows({
    name: 'swap_make_due',
    text: `update swaps set due_at = $2 where id = $1`,
    values: [id, dueAt],
  });
}
