// What a server without gas keys asks a watchtower in a process of its own to send: a row each,
// answered or taken back, whichever is first. All by the database's clock, which both share.

import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import type { Tx } from '../port.ts';

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

/** What is older tells nobody anything any more, and is sealed for nothing. */
export async function forgetRows(tx: Tx): Promise<void> {
  const text = `delete from keeper_asked where ${forgotten}`;
  await tx.rows({ name: 'keeper_asked_forget', text, values: [] });
}

export async function insertRow(tx: Tx, row: NewRow): Promise<void> {
  const { id, verb, accountId, swapId, leg, sealed, sealedVersion } = row;
  await tx.rows({
    name: 'keeper_ask',
    text: `with old as (delete from keeper_asked where ${forgotten})
      insert into keeper_asked
        (id, verb, account_id, swap_id, leg, sealed, sealed_version, asked_at)
      values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())`,
    values: [id, verb, accountId, swapId, leg, sealed, sealedVersion],
  });
}

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
export function waitingRows(tx: Tx, of: Waiting): Promise<AskedRow[]> {
  return tx.rows<AskedRow>({
    name: 'keeper_asked_waiting',
    text: `select id, verb, "accountId", "swapId", leg, sealed, "sealedVersion", chain from (
        select *, row_number() over (partition by chain order by asked_at) as at from (
          select a.id, a.verb, a.account_id as "accountId", a.swap_id as "swapId", a.leg, a.sealed,
            a.sealed_version as "sealedVersion", l.chain, a.asked_at,
            row_number() over (partition by l.chain, a.account_id order by a.asked_at) as own
          from keeper_asked a join legs l on l.swap_id = a.swap_id and l.leg = a.leg
          where a.answer is null and l.chain = any($1) and a.id <> all($2::uuid[])
            and a.asked_at >= clock_timestamp() - $3 * interval '1 millisecond') of_account
        where own <= $5) waiting
      where at <= $4 order by asked_at`,
    values: [of.chains, of.except, of.patienceMs, of.each, of.ofAccount],
  });
}

/** A transaction, or what only a key of the market's of this version opens; base64. */
export type StoredAnswer =
  | { readonly txid: string }
  | { readonly version: number; readonly sealed: string };

/** False: it was answered, or taken back. */
export async function answerRow(tx: Tx, id: string, answer: StoredAnswer): Promise<boolean> {
  const text = `update keeper_asked set answer = $2, sealed = null, sealed_version = null
      where id = $1 and answer is null returning id`;
  const values = [id, JSON.stringify(answer)];
  return (await tx.rows({ name: 'keeper_answer', text, values })).length === 1;
}

export async function isAnswered(tx: Tx, id: string): Promise<boolean> {
  const text = 'select 1 from keeper_asked where id = $1 and answer is not null';
  return (await tx.rows({ name: 'keeper_is_answered', text, values: [id] })).length === 1;
}

/** From here on nobody answers it. Null: nobody has. */
export async function takeBack(tx: Tx, id: string): Promise<StoredAnswer | null> {
  const text = 'delete from keeper_asked where id = $1 returning answer';
  const [row] = await tx.rows<{ answer: StoredAnswer | null }>({
    name: 'keeper_take_back',
    text,
    values: [id],
  });
  return row?.answer ?? null;
}

type Post = { readonly chain: ChainKey; readonly address: string; readonly funds: boolean };

export async function notePost(tx: Tx, { chain, address, funds }: Post): Promise<void> {
  await tx.rows({
    name: 'keeper_note_post',
    text: `insert into keeper_posts (chain, address, funds, seen_at)
      values ($1, $2, $3, clock_timestamp())
      on conflict (chain) do update set address = $2, funds = $3, seen_at = clock_timestamp()`,
    values: [chain, address, funds],
  });
}

/** Of chains on which a watchtower was at work so lately. */
export function posts(tx: Tx, seconds: number): Promise<Pick<Post, 'chain' | 'funds'>[]> {
  return tx.rows({
    name: 'keeper_posts_since',
    text: `select chain, funds from keeper_posts
      where seen_at >= clock_timestamp() - $1 * interval '1 second'`,
    values: [seconds],
  });
}
