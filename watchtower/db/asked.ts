// What a server without gas keys asks a watchtower in a process of its own to send: a row each,
// that is answered or taken back, whichever is first.

import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import type { Tx } from '../port.ts';

export type AskedRow = {
  readonly id: string;
  readonly verb: 'claim' | 'fund';
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: LegName;
  readonly sealed: Buffer;
  readonly sealedVersion: number;
};

export async function insertAskedRow(tx: Tx, row: AskedRow & { readonly at: Date }): Promise<void> {
  const { id, verb, accountId, swapId, leg, sealed, sealedVersion, at } = row;
  await tx.rows({
    name: 'keeper_ask',
    text: `insert into keeper_asked
        (id, verb, account_id, swap_id, leg, sealed, sealed_version, asked_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [id, verb, accountId, swapId, leg, sealed, sealedVersion, at],
  });
}

/** Those that wait, oldest first, on these chains; none asked before `since`. */
export function waitingRows(
  tx: Tx,
  of: { readonly chains: readonly ChainKey[]; readonly since: Date; readonly limit: number },
): Promise<AskedRow[]> {
  return tx.rows<AskedRow>({
    name: 'keeper_asked_waiting',
    text: `select a.id, a.verb, a.account_id as "accountId", a.swap_id as "swapId", a.leg,
        a.sealed, a.sealed_version as "sealedVersion"
      from keeper_asked a join legs l on l.swap_id = a.swap_id and l.leg = a.leg
      where a.answer is null and a.asked_at >= $2 and l.chain = any($1)
      order by a.asked_at limit $3`,
    values: [of.chains, of.since, of.limit],
  });
}

/** False: it was answered, or taken back. */
export async function answerRow(tx: Tx, id: string, answer: object): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_answer',
    text: `update keeper_asked set answer = $2, sealed = null, sealed_version = null
      where id = $1 and answer is null returning id`,
    values: [
      id,
      JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ],
  });
  return rows.length === 1;
}

export async function answerOf<Answer>(tx: Tx, id: string): Promise<Answer | null> {
  const [row] = await tx.rows<{ answer: Answer | null }>({
    name: 'keeper_answer_of',
    text: 'select answer from keeper_asked where id = $1',
    values: [id],
  });
  return row?.answer ?? null;
}

/** What is older tells nobody anything any more. */
export async function forgetRows(tx: Tx, before: Date): Promise<void> {
  await tx.rows({
    name: 'keeper_asked_forget',
    text: 'delete from keeper_asked where asked_at < $1',
    values: [before],
  });
}

export async function notePost(
  tx: Tx,
  of: { readonly chain: ChainKey; readonly address: string; readonly funds: boolean },
  at: Date,
): Promise<void> {
  await tx.rows({
    name: 'keeper_note_post',
    text: `insert into keeper_posts (chain, address, funds, seen_at) values ($1, $2, $3, $4)
      on conflict (chain) do update set address = $2, funds = $3, seen_at = $4`,
    values: [of.chain, of.address, of.funds, at],
  });
}

/** Chains on which a watchtower was at work since then. */
export function postsSince(tx: Tx, since: Date): Promise<{ chain: ChainKey; funds: boolean }[]> {
  return tx.rows({
    name: 'keeper_posts_since',
    text: 'select chain, funds from keeper_posts where seen_at >= $1',
    values: [since],
  });
}
