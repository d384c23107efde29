// Requests of a server without gas keys to a watchtower in a process of its own: a row each,
// answered or taken back, whichever is first. All by the database's clock, which both share.

import type { ChainKey } from '@parley/core/families.ts';
import type { LegName } from '@parley/core/trade.ts';
import { did, list, many, none, value } from '@parley/host/postgres/statements.ts';

type NewRow = {
  readonly id: string;
  readonly verb: 'claim' | 'fund';
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: LegName;
  readonly sealed: Buffer;
  readonly sealedVersion: number;
};
export type AskedRow = NewRow & { readonly chain: ChainKey };

/** Longer than anybody waits: the server that asked has ended. */
const forgotten = `asked_at < clock_timestamp() - interval '15 seconds'`;

/** An older row has no reader any more, and is sealed for nothing. */
export const forgetRows = none('keeper_asked_forget')`
  delete from keeper_asked where ${forgotten}`;

export const insertRow = none<[row: NewRow]>('keeper_ask')`
  with old as (delete from keeper_asked where ${forgotten})
    insert into keeper_asked (id, verb, account_id, swap_id, leg, sealed, sealed_version, asked_at)
    values (:id, :verb, :accountId, :swapId, :leg, :sealed, :sealedVersion, clock_timestamp())`;

type Waiting = {
  readonly chains: readonly ChainKey[];
  readonly patienceMs: number;
  /** So many of each chain. */
  readonly each: number;
  /** And of those, of each account. */
  readonly ofAccount: number;
  readonly except: readonly string[];
};

/** Those that wait on these chains, oldest first. */
export const waitingRows = many<[of: Waiting], AskedRow>('keeper_asked_waiting')`
  select id, verb, "accountId", "swapId", leg, sealed, "sealedVersion", chain from (
      select *, row_number() over (partition by chain order by asked_at) as at from (
        select a.id, a.verb, a.account_id as "accountId", a.swap_id as "swapId", a.leg, a.sealed,
          a.sealed_version as "sealedVersion", l.chain, a.asked_at,
          row_number() over (partition by l.chain, a.account_id order by a.asked_at) as own
        from keeper_asked a join legs l on l.swap_id = a.swap_id and l.leg = a.leg
        where a.answer is null and l.chain = any(:chains) and a.id <> all(:except::uuid[])
          and a.asked_at >= clock_timestamp() - :patienceMs * interval '1 millisecond') of_account
      where own <= :ofAccount) waiting
    where at <= :each order by asked_at`;

/** A transaction, or what only a key of the market's of this version opens; base64. */
export type StoredAnswer =
  | { readonly txid: string }
  | { readonly version: number; readonly sealed: string };

/** False: it was answered, or taken back. */
export const answerRow = did<[id: string, answer: StoredAnswer]>('keeper_answer')`
  update keeper_asked set answer = $2::jsonb, sealed = null, sealed_version = null
    where id = $1 and answer is null returning id`;

export const isAnswered = did<[id: string]>('keeper_is_answered')`
  select 1 from keeper_asked where id = $1 and answer is not null`;

/** From here on it gets no answer. Null: it has none. */
export const takeBack = value<[id: string], StoredAnswer>('keeper_take_back')`
  delete from keeper_asked where id = $1 returning answer`;

type Post = { readonly chain: ChainKey; readonly address: string };

export const notePost = none<[post: Post]>('keeper_note_post')`
  insert into keeper_posts (chain, address, seen_at)
    values (:chain, :address, clock_timestamp())
    on conflict (chain) do update set address = :address, seen_at = clock_timestamp()`;

/** The chains on which a watchtower was at work so lately. */
export const posts = list<[seconds: number], ChainKey>('keeper_posts_since')`
  select chain from keeper_posts
    where seen_at >= clock_timestamp() - $1 * interval '1 second'`;
