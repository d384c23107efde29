// Every escrow that a leg ever had, with the facts of its last read.

import type { EscrowFacts, RentLeft } from '@parley/core/facts.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { columns, list, many, none, one, value } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { holdsLease } from './leases.ts';
import { notifying } from './work.ts';

export type StoredFacts = Omit<EscrowFacts, 'balance' | 'rentLeft'> & {
  readonly balance: string;
  readonly rentLeft?: StoredRent;
  /** Its funding was told as an event and is not shown now (settle/events.ts). */
  readonly fundingTold?: true;
};
type StoredRent = Omit<RentLeft, 'lamports'> & { readonly lamports: string };
type StoredTerms = Omit<EscrowTerms, 'amount'> & { readonly amount: string };

export type EscrowRow = {
  readonly chain: ChainKey;
  readonly address: string;
  readonly swapId: string;
  readonly leg: LegName;
  readonly terms: StoredTerms;
  readonly redeemScript: string | null;
  readonly facts: StoredFacts;
  readonly done: boolean;
  readonly sentAt: Date | null;
  /** See noteAuthorized. */
  readonly authorizedAt: Date | null;
  /** The payee's, for its lane. */
  readonly laneSignature: string | null;
  /** When a funding of it was first built. */
  readonly builtAt: Date | null;
};

const read = columns(
  'chain address swapId leg terms redeemScript facts done sentAt authorizedAt laneSignature builtAt',
);

/** The payee's signature for its lane: the first stays. */
export const keepLaneSignature = none<
  [escrow: { chain: ChainKey; address: string; signature: string }]
>('escrow_lane_signature')`
  update escrows set lane_signature = coalesce(lane_signature, :signature)
    where chain = :chain and address = :address`;

/** Notes that a funding of it was built. The first time stays. */
export const noteBuilt = none<[escrow: { chain: ChainKey; address: string; at: Date }]>(
  'escrow_note_built',
)`
  update escrows set built_at = coalesce(built_at, :at)
    where chain = :chain and address = :address`;

/** Notes that a funding of it was handed to the chain, at a time of its own: no two are the same. */
export const noteSent = value<[escrow: { chain: ChainKey; address: string; at: Date }], Date>(
  'escrow_note_sent',
)`
  update escrows set sent_at = greatest(:at, sent_at + interval '1 millisecond')
    where chain = :chain and address = :address returning sent_at`;

type Refused = {
  readonly chain: ChainKey;
  readonly address: string;
  readonly at: Date;
  /** As it was noted before. */
  readonly before: Date | null;
};

/** Takes that note back, and none of another funding: anybody may send bytes that nodes refuse. */
export const takeBackSent = none<[refused: Refused]>('escrow_take_back_sent')`
  update escrows set sent_at = :before
    where chain = :chain and address = :address and sent_at = :at`;

/**
 * Notes that somebody may hold the funder's signature for it: a text to sign was given, or a
 * signature was seen. The first time stays.
 */
export const noteAuthorized = none<[escrow: { chain: ChainKey; address: string; at: Date }]>(
  'escrow_note_authorized',
)`
  update escrows set authorized_at = coalesce(authorized_at, :at)
    where chain = :chain and address = :address`;

export function storedFacts(facts: EscrowFacts): StoredFacts {
  const rentLeft = storedRent(facts);
  return { ...bareFacts(facts), balance: facts.balance.toString(), ...(rentLeft && { rentLeft }) };
}

function storedRent({ rentLeft }: EscrowFacts): StoredRent | null {
  return rentLeft ? { ...rentLeft, lamports: rentLeft.lamports.toString() } : null;
}

export function factsOf(stored: StoredFacts): EscrowFacts {
  const { rentLeft } = stored;
  const rent = rentLeft && { rentLeft: { ...rentLeft, lamports: BigInt(rentLeft.lamports) } };
  return { ...bareFacts(stored), balance: BigInt(stored.balance), ...rent };
}

function bareFacts({
  funded,
  claimed,
  refunded,
  secret,
  empty,
  outcome,
}: StoredFacts | EscrowFacts) {
  return { funded, claimed, refunded, secret, empty, ...(outcome && { outcome }) };
}

export function termsOf(stored: StoredTerms): EscrowTerms {
  return { ...stored, amount: BigInt(stored.amount) };
}

type NewEscrow = Pick<EscrowRow, 'chain' | 'address' | 'swapId' | 'leg' | 'redeemScript'> & {
  readonly terms: EscrowTerms;
  readonly facts: EscrowFacts;
  readonly at: Date;
};

const insertRow = none<[row: Omit<NewEscrow, 'facts'>, facts: StoredFacts]>('escrow_insert')`
  with inserted as (insert into escrows
      (chain, address, swap_id, leg, terms, redeem_script, facts, created_at)
    values (:chain, :address, :swapId, :leg, :terms::jsonb, :redeemScript, $2::jsonb, :at)
    on conflict (chain, address) do update
      set terms = excluded.terms, done = false, created_xact = pg_current_xact_id())
    select ${notifying('escrows')}`;

/**
 * An escrow that a leg had before keeps its facts. Its terms may differ in what the address does
 * not commit to: on Bitcoin, which address of the same key is paid.
 */
export const insertEscrow = (tx: Tx, { facts, ...row }: NewEscrow): Promise<void> =>
  insertRow(tx, row, storedFacts(facts));

/** All of a swap's escrows, oldest first. */
export const escrowsOfSwap = many<[swapId: string], EscrowRow>('escrows_of_swap')`
  select ${read} from escrows where swap_id = $1 order by created_at, address`;

/** The same of several swaps. */
export const escrowsOfSwaps = many<[swapIds: readonly string[]], EscrowRow>('escrows_of_swaps')`
  select ${read} from escrows where swap_id = any($1::uuid[]) order by created_at, address`;

/** The swap of an escrow, null when the address was never one. */
export const escrowAt = one<[chain: ChainKey, address: string], EscrowRow>('escrow_at')`
  select ${read} from escrows where chain = $1 and address = $2`;

/** Those of these addresses that are or were an escrow. */
export const escrowsAmong = many<[chain: ChainKey, addresses: readonly string[]], EscrowRow>(
  'escrows_among',
)`
  select ${read} from escrows where chain = $1 and address = any($2)`;

/** Which swaps these escrows belong to. */
export const swapsOfEscrows = list<[chain: ChainKey, addresses: readonly string[]], string>(
  'swaps_of_escrows',
)`
  select distinct swap_id from escrows where chain = $1 and address = any($2)`;

/** The escrows of these swaps on a chain whose swap is over. */
export const endedEscrows = many<
  [chain: ChainKey, swapIds: readonly string[]],
  Pick<EscrowRow, 'address' | 'swapId'>
>('escrows_ended')`
  select ${columns('address swapId')} from escrows
    where chain = $1 and swap_id = any($2::uuid[]) and done`;

/** The rent left in an escrow whose swap is over. Its other facts stay as they are. */
export const noteRentLeft = none<
  [escrow: { chain: ChainKey; address: string; facts: EscrowFacts }]
>('escrow_note_rent_left')`
  update escrows set facts = facts - 'rentLeft' || case when :facts::jsonb -> 'rentLeft' is null
      then '{}' else jsonb_build_object('rentLeft', :facts::jsonb -> 'rentLeft') end
    where chain = :chain and address = :address and done`;

type Update = Pick<EscrowRow, 'chain' | 'address' | 'done'> & {
  readonly facts: EscrowFacts;
  readonly fundingTold: boolean;
  /** The number of this process among those that share the following; null: it follows alone. */
  readonly follower: number | null;
  readonly at: Date;
};

/** The first time, whatever a reorganisation takes back. */
const firstAt = (column: string, isSo: string) =>
  `${column} = coalesce(${column}, case when ${isSo} then :at::timestamptz end)`;

const updateRow = none<[row: Omit<Update, 'facts'>, facts: StoredFacts]>('escrow_update')`
  with before as (select not :done and (done or (:follower::integer is not null
        and not ${holdsLease(':chain', ':follower')})) as announced
      from escrows where chain = :chain and address = :address),
    updated as (update escrows set facts = $2::jsonb, done = :done,
        ${firstAt('funding_seen_at', `$2::jsonb ->> 'funded' is not null`)},
        ${firstAt('funding_deep_at', `$2::jsonb -> 'funded' ->> 'deep' = 'true'`)},
        created_xact = case when (select announced from before) then pg_current_xact_id()
          else created_xact end
      where chain = :chain and address = :address)
    select ${notifying('escrows')} from before where announced`;

/**
 * Announced to the followers like a new one: an escrow that is followed again after it was done, and
 * one about which another process than its chain's follower stored something. That follower reads it
 * again: a change that it never saw may vanish from the chain without a word to it.
 */
export const updateEscrow = (tx: Tx, { facts, ...row }: Update): Promise<void> =>
  updateRow(tx, row, {
    ...storedFacts(facts),
    ...(row.fundingTold && { fundingTold: true as const }),
  });

export type InContract = {
  readonly chain: ChainKey;
  readonly contract: string;
  readonly followed: number;
  /** The number of those that hold a payment. */
  readonly funded: number;
  /** Unix seconds: the last moment from which one of them can be refunded. */
  readonly lastTimelock: number;
};

/** The escrows that are followed in each contract that holds those of many. */
export const openInContracts = many<[], InContract>('escrows_in_contracts')`
  select chain, split_part(address, ':', 1) as contract, count(*)::integer as followed,
      count(*) filter (where facts ->> 'balance' <> '0') as funded,
      max((terms ->> 'timelock')::bigint) as "lastTimelock"
    from escrows where not done and address like '%:%' group by 1, 2 order by 1, 2`;

/** Where a follower stands in the escrows of its chain. */
export type FollowedFrom = { readonly xact: string; readonly address: string };

export type FollowedRow = {
  readonly address: string;
  readonly swapId: string;
  readonly terms: StoredTerms;
  readonly requiredConfirmations: number;
  readonly agreedAt: number;
  readonly createdXact: string;
  /** Every transaction before it has ended: an older row can no longer appear. */
  readonly horizon: string;
};

/**
 * Escrows of a chain to follow, from a position on. Transactions commit out of order, so the next
 * read must begin at `horizon`, not at the last row.
 */
export const escrowsToFollow = many<
  [chain: ChainKey, from: FollowedFrom, limit: number],
  FollowedRow
>('escrows_to_follow')`
  select ${columns('address swapId terms', 'e.')}, l.required_confirmations as
      "requiredConfirmations", s.agreed_at as "agreedAt", e.created_xact::text as "createdXact",
      pg_snapshot_xmin(pg_current_snapshot())::text as horizon
    from escrows e
    join swaps s on s.id = e.swap_id
    join legs l on l.swap_id = e.swap_id and l.leg = e.leg
    where e.chain = $1 and not e.done and (e.created_xact, e.address) > (:xact::xid8, :address)
    order by e.created_xact, e.address limit $3`;
