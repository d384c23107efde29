// Whose turn it is to sign on a chain, and who waits for one. A turn ends, and a place in the queue
// lapses, by the database's own clock, unless another is given, whatever became of who has it;
// nothing is kept that was signed out of turn.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

/**
 * What is signed in it: again what was promised, the keeper's own, a relay that is asked for, a
 * funding that is asked for.
 */
export type TurnKind = 'promised' | 'own' | 'new' | 'fund';

/**
 * As the column has them. After a turn of one kind the next has it, and so on round; but a funding
 * only while nobody else waits.
 */
const kinds: readonly TurnKind[] = ['promised', 'own', 'new', 'fund'];
const last = kinds.indexOf('fund');
/** Which of two kinds is before the other after this turn, by number. */
const rank = (kind: string) =>
  `case when ${kind} = ${last} then ${last} else (${kind} - t.kind + ${last - 1}) % ${last} end`;

export type TurnAsked = {
  readonly kind: TurnKind;
  /** No turn lasts for longer, nor does a place count for longer unless it is said again. */
  readonly milliseconds: number;
  readonly clock: Date | null;
};

export type PlaceAsked = TurnAsked & {
  /** Who asked for what is to be signed, where a share is counted. */
  readonly accountId?: string | undefined;
};

/**
 * False while somebody else has it: nobody is interrupted. Nor while somebody waits who is before:
 * of the kind that comes sooner after the turn before, or of the same kind and waiting for longer.
 * Who has it already has it again: its answer may have been lost. A turn that ends later than any
 * may, and a place that lapses later, are of before the clock was set back, and count for nothing.
 */
export async function takeTurn(
  tx: Tx,
  chain: ChainKey,
  holder: string,
  { kind, milliseconds, lapseMs, clock }: TurnAsked & { readonly lapseMs: number },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_take_turn',
    text: `with taken as (
        insert into keeper_turns as t (chain, holder, kind, until)
        values ($1, $2, $3, coalesce($5, clock_timestamp()) + $4 * interval '1 millisecond')
        on conflict (chain) do update
          set holder = excluded.holder, kind = excluded.kind, until = excluded.until
          where t.holder = excluded.holder or (
            (t.holder is null or t.until < coalesce($5, clock_timestamp())
              or t.until > coalesce($5, clock_timestamp()) + $4 * interval '1 millisecond')
            and not exists (
              select 1 from keeper_waiters w
              where w.chain = $1 and w.holder <> $2 and w.until >= coalesce($5, clock_timestamp())
                and w.until <= coalesce($5, clock_timestamp()) + $6 * interval '1 millisecond'
                and (${rank('w.kind')}, w.ordinal) < (
                  ${rank('excluded.kind')},
                  coalesce((select ordinal from keeper_waiters where chain = $1 and holder = $2),
                    9223372036854775807))))
        returning chain),
      gone as (
        delete from keeper_waiters
        where chain = $1 and exists (select 1 from taken)
          and (holder = $2 or until < coalesce($5, clock_timestamp()) - interval '1 minute'
            or until > coalesce($5, clock_timestamp()) + interval '1 minute'))
      select chain from taken`,
    values: [chain, holder, kinds.indexOf(kind), milliseconds, clock, lapseMs],
  });
  return rows.length === 1;
}

/**
 * Takes a place in the queue, or keeps it, for so long: said again as long as somebody waits.
 * Returns how many of its kind are before it.
 */
export async function awaitTurn(
  tx: Tx,
  chain: ChainKey,
  holder: string,
  { kind, milliseconds, clock, accountId }: PlaceAsked,
): Promise<number> {
  const [row] = await tx.rows<{ before: number }>({
    name: 'keeper_await_turn',
    text: `with place as (
        insert into keeper_waiters (chain, holder, kind, until, account_id)
        values ($1, $2, $3, coalesce($5, clock_timestamp()) + $4 * interval '1 millisecond', $6)
        on conflict (chain, holder) do update set until = excluded.until
        returning ordinal)
      select count(w.holder) as before from place left join keeper_waiters w
        on w.chain = $1 and w.kind = $3 and w.ordinal < place.ordinal
          and w.until >= coalesce($5, clock_timestamp())
          and w.until <= coalesce($5, clock_timestamp()) + $4 * interval '1 millisecond'`,
    values: [chain, holder, kinds.indexOf(kind), milliseconds, clock, accountId ?? null],
  });
  return row?.before ?? 0;
}

export type Most = { readonly all: number; readonly ofAccount: number };

/** The same of one of whose kind only so many may wait. Returns whose are too many, if any are. */
export async function awaitTurnAmong(
  tx: Tx,
  chain: ChainKey,
  holder: string,
  { most, ...asked }: PlaceAsked & { readonly most: Most },
): Promise<number | keyof Most> {
  await lockQueue(tx, chain);
  const { kind, milliseconds, clock, accountId } = asked;
  const [row] = await tx.rows<{ all: number; own: number }>({
    name: 'keeper_count_waiters',
    text: `select count(*) as all, count(*) filter (where account_id = $5) as own
      from keeper_waiters
      where chain = $1 and kind = $2 and until >= coalesce($4, clock_timestamp())
        and until <= coalesce($4, clock_timestamp()) + $3 * interval '1 millisecond'`,
    values: [chain, kinds.indexOf(kind), milliseconds, clock, accountId ?? null],
  });
  if ((row?.own ?? 0) >= most.ofAccount) return 'ofAccount';
  if ((row?.all ?? 0) >= most.all) return 'all';
  return awaitTurn(tx, chain, holder, asked);
}

/** Until the end of the transaction nobody else does: what is counted in it stays so. */
async function lockQueue(tx: Tx, chain: ChainKey): Promise<void> {
  await tx.rows({
    name: 'keeper_lock_queue',
    text: `select pg_advisory_xact_lock(hashtextextended('turns to sign on ' || $1, 0))`,
    values: [chain],
  });
}

/** Who waits no longer gives up its place. */
export async function leaveQueue(tx: Tx, chain: ChainKey, holder: string): Promise<void> {
  await tx.rows({
    name: 'keeper_leave_queue',
    text: 'delete from keeper_waiters where chain = $1 and holder = $2',
    values: [chain, holder],
  });
}

/**
 * Ends the turn in the transaction that keeps what was signed in it; nobody else signs before it
 * commits. False: the turn was over, and what was signed must not be kept.
 */
export async function endTurn(
  tx: Tx,
  chain: ChainKey,
  holder: string,
  clock: Date | null,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_end_turn',
    text: `update keeper_turns set holder = null
      where chain = $1 and holder = $2 and until >= coalesce($3, clock_timestamp())
      returning chain`,
    values: [chain, holder, clock],
  });
  return rows.length === 1;
}
