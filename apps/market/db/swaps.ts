// Swaps with their legs: one statement reads everything a swap's state is made of.

import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import type { ScheduledVerb } from '@parley/chains/interface/scheduled.ts';
import type { Deadlines } from '@parley/core/deadlines.ts';
import { type EscrowFacts, holdsPayment, nothingSeen } from '@parley/core/facts.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { Hashlock, Secret } from '@parley/core/hashlock.ts';
import { laneGraceSeconds } from '@parley/core/limits.ts';
import type { Rules } from '@parley/core/rules.ts';
import type { SwapStatus } from '@parley/core/status.ts';
import type { Clocks, Leg, SwapState } from '@parley/core/swap.ts';
import type { Lane } from '@parley/core/terms.ts';
import { funderOf, initiatorOf, type LegName, type Party } from '@parley/core/trade.ts';
import {
  below,
  columns,
  did,
  foundFirst,
  many,
  none,
  value,
} from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { factsOf, type StoredFacts } from './escrows.ts';
import type { ScheduledView } from './scheduled-spends.ts';

/** An escrow that a leg moved off after an address was corrected. */
export type FormerEscrow = {
  readonly leg: LegName;
  readonly address: string;
  readonly facts: EscrowFacts;
  /** Whether the keeper sent its refund, as last seen. */
  readonly refundedByKeeper: boolean;
  readonly scheduledRefunds: ScheduledView | null;
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
  /** Those it was agreed under. */
  readonly rules: Rules;
  /** As last stored: a cache of packages/core/status.ts. */
  readonly status: SwapStatus;
  readonly dueAt: number | null;
  readonly done: boolean;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly state: SwapState;
  readonly tokens: { readonly a: string | null; readonly b: string | null };
  readonly redeemScripts: { readonly a: string | null; readonly b: string | null };
  /** The lanes of the current escrows, on chains that have lanes. */
  readonly lanes: { readonly a: Lane | null; readonly b: Lane | null };
  /** The payees' signatures for them, where they are theirs. */
  readonly laneSignatures: { readonly a: string | null; readonly b: string | null };
  /** Which legs' claim or refund, as last seen, the keeper sent. */
  readonly byKeeper: {
    readonly claimed: { readonly a: boolean; readonly b: boolean };
    readonly refunded: { readonly a: boolean; readonly b: boolean };
  };
  readonly former: readonly FormerEscrow[];
  /** Signed claims and refunds kept for the current escrows. */
  readonly scheduled: Readonly<
    Record<ScheduledVerb, Readonly<Record<LegName, ScheduledView | null>>>
  >;
  /** Spends that a side was asked to sign with the other one, and has not. */
  readonly toCosign: Readonly<Record<LegName, readonly ScheduledVerb[]>>;
  /** Clocks of the legs' chains as last seen, Unix seconds; 0 = never seen. */
  readonly chainClocks: { readonly a: number; readonly b: number };
};

type Facts = { readonly facts: StoredFacts };

/** A swap and one of its legs. */
type Row = {
  readonly swap: Omit<
    Swap,
    | 'initiator'
    | 'state'
    | 'tokens'
    | 'redeemScripts'
    | 'lanes'
    | 'laneSignatures'
    | 'byKeeper'
    | 'former'
    | 'scheduled'
    | 'toCosign'
    | 'chainClocks'
  >;
  readonly state: Pick<SwapState, 'hashlock' | 'secret' | 'lapsed'>;
  readonly deadlines: Omit<Deadlines, 'refundAt'>;
  readonly leg: Omit<Leg, 'funder' | 'long' | 'facts' | 'strayed' | 'laneAwaitedUntil'>;
  readonly facts: StoredFacts | null;
  readonly token: string | null;
  readonly redeemScript: string | null;
  readonly lane: Lane | null;
  readonly laneSignature: string | null;
  /** When the escrow was planned, Unix seconds. */
  readonly plannedAt: number | null;
  readonly clock: number;
  readonly scheduledRefunds: ScheduledView | null;
  readonly scheduledClaims: ScheduledView | null;
  readonly toCosign: readonly ScheduledVerb[];
  readonly claimed: boolean;
  readonly refunded: boolean;
  readonly former: readonly (Omit<FormerEscrow, 'leg' | 'facts'> & Facts)[] | null;
};

const isByKeeper = (chain: string, verb: string) => `exists (select 1 from keeper_attempts k
    where k.chain = ${chain} and k.txid = ${verb} ->> 'txid' offset 0)`;

const ofSwap = 'id threadId rfqId makerId takerId agreedAt rules status dueAt done revision';
const ofLeg = `leg chain family assetId amount timelock requiredConfirmations payoutAddress
  refundAddress payoutPubkey refundPubkey payoutForm refundForm ownLane escrow`;

const ofSchedule = 'count lowestFeeRate highestFeeRate sentTxid';

const scheduledOf = (as: string, of: string, verb: ScheduledVerb) =>
  `left join lateral ${foundFirst('scheduled_spends', `${of} and verb = '${verb}'`)} ${as} on true`;
const ofLegEscrow = 'chain = l.chain and escrow = l.escrow';

const read = `${columns(`${ofSwap} createdAt updatedAt`, 's.', 'swap.')},
  s.long_leg as "swap.long", ${columns('hashlock secret lapsed', 's.', 'state.')},
  ${columns('initiatorFundBy expiresAt counterpartyFundBy revealBy', 's.', 'deadlines.')},
  ${columns(ofLeg, 'l.', 'leg.')}, l.token, e.facts, e.redeem_script as "redeemScript",
  e.terms -> 'lane' as lane, e.lane_signature as "laneSignature",
  floor(extract(epoch from e.created_at))::integer as "plannedAt", coalesce(h.clock, 0) as clock,
  ${columns(ofSchedule, 'r.', 'scheduledRefunds?.')},
  ${columns(ofSchedule, 'c.', 'scheduledClaims?.')},
  l.release_asked_at as "leg.release?.askedAt", l.released_at as "leg.release?.at",
  l.release_signature as "leg.release?.signature", l.shown_at is not null as "leg.shown",
  array(select k.verb from cosignings k
      where k.swap_id = l.swap_id and k.leg = l.leg and k.answer is null) as "toCosign",
  (select case when bool_or(coalesce(h.sent_at, h.authorized_at) is not null) then 'sent'
        else 'unknown' end
      from escrows h where h.swap_id = l.swap_id and h.leg = l.leg) as "leg.handed",
  ${isByKeeper('l.chain', "e.facts -> 'claimed'")} as claimed,
  ${isByKeeper('l.chain', "e.facts -> 'refunded'")} as refunded,
  (select json_agg(json_build_object('address', f.address, 'facts', f.facts,
        'refundedByKeeper', ${isByKeeper('f.chain', "f.facts -> 'refunded'")},
        'scheduledRefunds', case when fr.escrow is not null then json_build_object(
          'count', fr.count, 'lowestFeeRate', fr.lowest_fee_rate,
          'highestFeeRate', fr.highest_fee_rate, 'sentTxid', fr.sent_txid) end)
      order by f.created_at, f.address)
    from escrows f
      ${scheduledOf('fr', 'chain = f.chain and escrow = f.address', 'refund')}
    where f.swap_id = l.swap_id and f.leg = l.leg and f.address is distinct from l.escrow
  ) as former`;

const joins = `join legs l on l.swap_id = s.id
  left join escrows e on e.chain = l.chain and e.address = l.escrow
  left join chain_heads h on h.chain = l.chain
  ${scheduledOf('r', ofLegEscrow, 'refund')} ${scheduledOf('c', ofLegEscrow, 'claim')}`;

const rowsById = many<[id: string], Row>('swap_by_id')`
  select ${read} from swaps s ${joins} where s.id = $1 order by l.leg`;

/** The swap, null when there is none. */
export async function swapById(tx: Tx, id: string): Promise<Swap | null> {
  return swapsOf(await rowsById(tx, id))[0] ?? null;
}

const rowsByIds = many<[ids: readonly string[]], Row>('swaps_by_ids')`
  select ${read} from swaps s ${joins} where s.id = any($1::uuid[])
      and l.swap_id = any($1::uuid[]) order by s.id, l.leg`;

/** Those that there are, by id. */
export async function swapsByIds(tx: Tx, ids: readonly string[]): Promise<Swap[]> {
  return swapsOf(await rowsByIds(tx, ids));
}

const lockRow = did<[id: string]>('swap_lock')`
  select 1 from swaps where id = $1 for update`;

/** Locks the swap's row until the transaction ends; later reads of it cannot change. */
export async function lockSwap(tx: Tx, id: string): Promise<Swap | null> {
  return (await lockRow(tx, id)) ? swapById(tx, id) : null;
}

export type SwapPage = {
  readonly accountId: string;
  readonly status: SwapStatus | null;
  /** The last id of the page before; null = from the newest. */
  readonly before: string | null;
  readonly limit: number;
};

const ofParty = (party: Party) => `(select * from swaps where ${party}_id = :accountId
      and (:status::text is null or status = :status) and ${below('id', ':before')}
    order by id desc limit :limit)`;

const rowsOfAccount = many<[page: SwapPage], Row>('swaps_of_account')`
  select ${read}
    from (${ofParty('maker')} union all ${ofParty('taker')}
      order by id desc limit :limit) s ${joins}
    order by s.id desc, l.leg`;

/** Swaps of one account, newest first. */
export async function swapsOfAccount(tx: Tx, page: SwapPage): Promise<Swap[]> {
  return swapsOf(await rowsOfAccount(tx, page));
}

const swapsOf = (rows: readonly Row[]) =>
  [...Map.groupBy(rows, ({ swap }) => swap.id).values()].map(swapOf);

function swapOf([a, b]: readonly Row[]): Swap {
  if (a?.leg.leg !== 'a' || b?.leg.leg !== 'b') {
    throw new Error(`swap ${a?.swap.id} has not two legs`);
  }
  const of = <Value>(pick: (row: Row) => Value) => ({ a: pick(a), b: pick(b) });
  const deadlines = { ...a.deadlines, refundAt: of(({ leg }) => leg.timelock) };
  return {
    ...a.swap,
    initiator: initiatorOf(a.swap.long),
    state: { ...a.state, legs: of(legOf), deadlines },
    tokens: of(({ token }) => token),
    redeemScripts: of(({ redeemScript }) => redeemScript),
    lanes: of(({ lane }) => lane),
    laneSignatures: of(({ laneSignature }) => laneSignature),
    byKeeper: {
      claimed: of(({ claimed }) => claimed),
      refunded: of(({ refunded }) => refunded),
    },
    former: [...formerOf(a), ...formerOf(b)],
    scheduled: {
      claim: of(({ scheduledClaims }) => scheduledClaims),
      refund: of(({ scheduledRefunds }) => scheduledRefunds),
    },
    toCosign: of(({ toCosign }) => toCosign),
    chainClocks: of(({ clock }) => clock),
  };
}

function legOf(row: Row): Leg {
  const { leg, swap, facts, lane, laneSignature, plannedAt } = row;
  const awaitsLane = lane !== null && isOfPayee(lane) && laneSignature === null;
  return {
    ...leg,
    funder: funderOf(leg.leg),
    long: leg.leg === swap.long,
    ...(awaitsLane && { laneAwaitedUntil: (plannedAt ?? 0) + laneGraceSeconds }),
    facts: facts === null ? nothingSeen : factsOf(facts),
    strayed: formerOf(row).some((former) => holdsPayment(former.facts, leg.amount)),
  };
}

const formerOf = ({ leg: { leg }, former }: Row): FormerEscrow[] =>
  (former ?? []).map((each) => ({ leg, ...each, facts: factsOf(each.facts) }));

/** The clocks to judge by: ours now, the chains' as last seen. */
export function clocksOf(swap: Swap, nowMs: number): Clocks {
  return { wall: Math.floor(nowMs / 1000), ...swap.chainClocks };
}

/** Which side an account is on; null for a stranger. */
export function partyOf(swap: Swap, accountId: string): Party | null {
  if (swap.makerId === accountId) return 'maker';
  return swap.takerId === accountId ? 'taker' : null;
}

/** One that is not done, and whose escrows were seen to hold something. */
const isOpen = `not done and status <> 'expired' and exists
    (select from escrows e where e.swap_id = swaps.id and e.funding_seen_at is not null offset 0)`;

const hasOpen = did<[accountId: string]>('any_open_swap')`
  (select from swaps where maker_id = $1 and ${isOpen} limit 1)
    union all (select from swaps where taker_id = $1 and ${isOpen} limit 1)`;

const isOpenOf = did<[accountId: string, id: string]>('party_of_open_swap')`
  select from swaps where id = $2 and ${isOpen} and (maker_id = $1 or taker_id = $1)`;

/** Whether a swap that somebody funded and that is not done has this party; `id` null: any. */
export const isPartyOfOpen = (tx: Tx, accountId: string, id: string | null): Promise<boolean> =>
  id === null ? hasOpen(tx, accountId) : isOpenOf(tx, accountId, id);

type NewSwap = {
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
  /** Whether an amount is of high value to its asset, for who watches the market. */
  readonly highValue: boolean;
  readonly at: Date;
};

export const insertSwap = none<[swap: NewSwap]>('swap_insert')`
  insert into swaps
      (id, thread_id, rfq_id, hashlock, maker_id, taker_id, long_leg, status, agreed_at,
       initiator_fund_by, counterparty_fund_by, reveal_by, due_at, created_at, updated_at,
       expires_at, rules, high_value)
    values (:id, :threadId, :rfqId, :hashlock, :makerId, :takerId, :long, :status, :agreedAt,
      :deadlines.initiatorFundBy, :deadlines.counterpartyFundBy, :deadlines.revealBy, :dueAt, :at,
      :at, :deadlines.expiresAt, :rules::jsonb, :highValue)`;

/**
 * Stores what a reconcile came to; the caller holds the row's lock. `at` is null where its parties
 * read no more of it than before: that is no update of the swap.
 */
export const updateSwap = none<
  [
    swap: {
      id: string;
      status: SwapStatus;
      secret: Secret | null;
      lapsed: boolean;
      dueAt: number | null;
      done: boolean;
      at: Date | null;
    },
  ]
>('swap_update')`
  update swaps set status = :status, secret = coalesce(secret, :secret), lapsed = lapsed or :lapsed,
      due_at = :dueAt, done = :done, revision = revision + 1,
      updated_at = coalesce(:at, updated_at)
    where id = :id`;

/** Counts a change of the legs; the caller holds the row's lock. */
export const touchSwap = none<[id: string, at: Date]>('swap_touch')`
  update swaps set revision = revision + 1, updated_at = $2 where id = $1`;

/** Its last address came too late for the other side, and from this one. */
export const markNamedLate = none<[id: string, by: Party]>('swap_named_late')`
  update swaps set named_late_by = $2 where id = $1`;

/** Swaps that time alone may have changed, the longest due first. */
export const dueSwaps = many<[wall: number, limit: number], { id: string; chains: ChainKey[] }>(
  'swaps_due',
)`
  select id, array(select chain from legs where swap_id = swaps.id) as chains
    from swaps where due_at <= $1 order by due_at limit $2`;

/** When the next swap is due, in Unix seconds; null: no swap is due. */
export const nextSwapDue = value<[], number>('swaps_next_due')`
  select due_at from swaps where due_at is not null order by due_at limit 1`;

/** Looks at a swap again at `dueAt` (Unix seconds); the next reconcile computes it anew. */
export const makeDue = none<[id: string, dueAt: number]>('swap_make_due')`
  update swaps set due_at = $2 where id = $1`;
