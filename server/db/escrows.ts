// Every escrow that a leg ever had, with the facts of its last read.

import type { EscrowFacts, RentLeft } from '../../core/facts.ts';
import type { ChainKey } from '../../core/families.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { LegName } from '../../core/trade.ts';
import type { Tx } from './database.ts';
import { notifying } from './work.ts';

export type StoredFacts = Omit<EscrowFacts, 'balance' | 'rentLeft'> & {
  readonly balance: string;
  readonly rentLeft?: StoredRent;
  /** Its funding was told as an event and is not shown now (settle/events.ts). */
  readonly fundingTold?: true;
};
type StoredRent = Omit<RentLeft, 'lamports'> & { readonly lamports: string };
export type StoredTerms = Omit<EscrowTerms, 'amount'> & { readonly amount: string };

export type EscrowRow = {
  readonly chain: ChainKey;
  readonly address: string;
  readonly swap_id: string;
  readonly leg: LegName;
  readonly terms: StoredTerms;
  readonly redeem_script: string | null;
  readonly facts: StoredFacts;
  readonly done: boolean;
  readonly sent_at: Date | null;
  /** See noteAuthorized. */
  readonly authorized_at: Date | null;
};

const columns = `chain, address, swap_id, leg, terms, redeem_script, facts, done, sent_at,
  authorized_at`;

/** Notes that a funding of it was handed to the chain; null takes the note back. */
export async function noteSent(
  tx: Tx,
  escrow: { chain: ChainKey; address: string; at: Date | null },
): Promise<void> {
  await tx.rows({
    name: 'escrow_note_sent',
    text: `update escrows set sent_at = $3 where chain = $1 and address = $2`,
    values: [escrow.chain, escrow.address, escrow.at],
  });
}

/**
 * Notes that somebody may hold the funder's signature for it: a text to sign was given, or a
 * signature was seen. The first time stays.
 */
export async function noteAuthorized(
  tx: Tx,
  escrow: { chain: ChainKey; address: string; at: Date },
): Promise<void> {
  await tx.rows({
    name: 'escrow_note_authorized',
    text: `update escrows set authorized_at = coalesce(authorized_at, $3)
      where chain = $1 and address = $2`,
    values: [escrow.chain, escrow.address, escrow.at],
  });
}

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

function storedTerms(terms: EscrowTerms): StoredTerms {
  return { ...terms, amount: terms.amount.toString() };
}

export function termsOf(stored: StoredTerms): EscrowTerms {
  return { ...stored, amount: BigInt(stored.amount) };
}

/**
 * An escrow that a leg had before keeps its facts. Its terms may differ in what the address does
 * not commit to: on Bitcoin, which address of the same key is paid.
 */
export async function insertEscrow(
  tx: Tx,
  row: {
    chain: ChainKey;
    address: string;
    swapId: string;
    leg: LegName;
    terms: EscrowTerms;
    redeemScript: string | null;
    facts: EscrowFacts;
    at: Date;
  },
): Promise<void> {
  await tx.rows({
    name: 'escrow_insert',
    text: `with inserted as (insert into escrows
        (chain, address, swap_id, leg, terms, redeem_script, facts, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (chain, address) do update
        set terms = $5, done = false, created_xact = pg_current_xact_id())
      select ${notifying('escrows')}`,
    values: [
      row.chain,
      row.address,
      row.swapId,
      row.leg,
      JSON.stringify(storedTerms(row.terms)),
      row.redeemScript,
      JSON.stringify(storedFacts(row.facts)),
      row.at,
    ],
  });
}

/** All of a swap's escrows, oldest first. */
export async function escrowsOfSwap(tx: Tx, swapId: string): Promise<EscrowRow[]> {
  return tx.rows<EscrowRow>({
    name: 'escrows_of_swap',
    text: `select ${columns} from escrows where swap_id = $1 order by created_at, address`,
    values: [swapId],
  });
}

/** The same of several swaps. */
export async function escrowsOfSwaps(tx: Tx, swapIds: readonly string[]): Promise<EscrowRow[]> {
  return tx.rows<EscrowRow>({
    name: 'escrows_of_swaps',
    text: `select ${columns} from escrows
      where swap_id = any($1::uuid[]) order by created_at, address`,
    values: [swapIds],
  });
}

/** The swap of an escrow, null when the address was never one. */
export async function escrowAt(
  tx: Tx,
  chain: ChainKey,
  address: string,
): Promise<EscrowRow | null> {
  const [row] = await tx.rows<EscrowRow>({
    name: 'escrow_at',
    text: `select ${columns} from escrows where chain = $1 and address = $2`,
    values: [chain, address],
  });
  return row ?? null;
}

/** Those of these addresses that are or were an escrow. */
export async function escrowsAmong(
  tx: Tx,
  chain: ChainKey,
  addresses: readonly string[],
): Promise<EscrowRow[]> {
  return tx.rows<EscrowRow>({
    name: 'escrows_among',
    text: `select ${columns} from escrows where chain = $1 and address = any($2)`,
    values: [chain, addresses],
  });
}

/** Which swaps these escrows belong to. */
export async function swapsOfEscrows(
  tx: Tx,
  chain: ChainKey,
  addresses: readonly string[],
): Promise<string[]> {
  const rows = await tx.rows<{ swap_id: string }>({
    name: 'swaps_of_escrows',
    text: `select distinct swap_id from escrows where chain = $1 and address = any($2)`,
    values: [chain, addresses],
  });
  return rows.map((row) => row.swap_id);
}

/** What is left in an escrow whose swap is over. Of its other facts nothing changes by that. */
export async function noteRentLeft(
  tx: Tx,
  { chain, address, facts }: { chain: ChainKey; address: string; facts: EscrowFacts },
): Promise<void> {
  const rentLeft = storedRent(facts);
  await tx.rows({
    name: 'escrow_note_rent_left',
    text: `update escrows set facts = facts - 'rentLeft' || $3::jsonb
      where chain = $1 and address = $2 and done`,
    values: [chain, address, JSON.stringify(rentLeft ? { rentLeft } : {})],
  });
}

/** One that is followed again after it was done is announced to the followers like a new one. */
export async function updateEscrow(
  tx: Tx,
  row: {
    chain: ChainKey;
    address: string;
    facts: EscrowFacts;
    fundingTold: boolean;
    done: boolean;
  },
): Promise<void> {
  const facts: StoredFacts = {
    ...storedFacts(row.facts),
    ...(row.fundingTold && { fundingTold: true }),
  };
  await tx.rows({
    name: 'escrow_update',
    text: `with before as (select done from escrows where chain = $1 and address = $2),
      updated as (update escrows set facts = $3, done = $4,
          created_xact = case when done and not $4 then pg_current_xact_id() else created_xact end
        where chain = $1 and address = $2)
      select ${notifying('escrows')} from before where done and not $4`,
    values: [row.chain, row.address, JSON.stringify(facts), row.done],
  });
}

/** How many escrows are followed in each contract that holds those of many. */
export async function followedByContract(
  tx: Tx,
): Promise<{ chain: ChainKey; contract: string; count: number }[]> {
  return tx.rows({
    name: 'escrows_followed_by_contract',
    text: `select chain, split_part(address, ':', 1) as contract, count(*)::integer as count
      from escrows where not done and address like '%:%' group by 1, 2 order by 1, 2`,
    values: [],
  });
}

/** Where a follower stands in the escrows of its chain. */
export type FollowedFrom = { readonly xact: string; readonly address: string };

export type FollowedRow = {
  readonly address: string;
  readonly swap_id: string;
  readonly terms: StoredTerms;
  readonly required_confirmations: number;
  readonly agreed_at: number;
  readonly created_xact: string;
  /** Every transaction before it has ended: nothing older can still appear. */
  readonly horizon: string;
};

/**
 * Escrows of a chain to follow, from a position on. Transactions commit out of order, so the next
 * look must begin at `horizon`, not at the last row.
 */
export async function escrowsToFollow(
  tx: Tx,
  chain: ChainKey,
  from: FollowedFrom,
  limit: number,
): Promise<FollowedRow[]> {
  return tx.rows<FollowedRow>({
    name: 'escrows_to_follow',
    text: `select e.address, e.swap_id, e.terms, l.required_confirmations, s.agreed_at,
        e.created_xact::text, pg_snapshot_xmin(pg_current_snapshot())::text as horizon
      from escrows e
      join swaps s on s.id = e.swap_id
      join legs l on l.swap_id = e.swap_id and l.leg = e.leg
      where e.chain = $1 and not e.done and (e.created_xact, e.address) > ($2::xid8, $3)
      order by e.created_xact, e.address
      limit $4`,
    values: [chain, from.xact, from.address, limit],
  });
}
