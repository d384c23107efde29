// Whose turn it is to sign on a chain. A turn ends by the database's own clock, unless another is
// given, whatever became of who has it; nothing is kept that was signed out of turn.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

/**
 * False while somebody else has it: nobody is interrupted. Nor while the turn before was of the
 * same kind and somebody of the other waits: relays, refused ones too, and all else take turns.
 */
export async function takeTurn(
  tx: Tx,
  chain: ChainKey,
  holder: string,
  how: { readonly relays: boolean; readonly milliseconds: number; readonly clock: Date | null },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_take_turn',
    text: `insert into keeper_turns as t (chain, holder, relays, until)
      values ($1, $2, $3, coalesce($5, clock_timestamp()) + $4 * interval '1 millisecond')
      on conflict (chain) do update
        set holder = excluded.holder, relays = excluded.relays, until = excluded.until,
          relays_wait = case when $3 then null else t.relays_wait end,
          others_wait = case when $3 then t.others_wait end
        where (t.holder is null or t.until < coalesce($5, clock_timestamp()))
          and (t.relays <> $3
            or coalesce(case when $3 then t.others_wait else t.relays_wait end, 'epoch')
              < coalesce($5, clock_timestamp()))
      returning chain`,
    values: [chain, holder, how.relays, how.milliseconds, how.clock],
  });
  return rows.length === 1;
}

/** Says that somebody waits for a turn; said again as long as that is so. */
export async function awaitTurn(
  tx: Tx,
  chain: ChainKey,
  how: { readonly relays: boolean; readonly milliseconds: number; readonly clock: Date | null },
): Promise<void> {
  const column = how.relays ? 'relays_wait' : 'others_wait';
  await tx.rows({
    name: `keeper_await_turn_${column}`,
    text: `update keeper_turns
      set ${column} = coalesce($3, clock_timestamp()) + $2 * interval '1 millisecond'
      where chain = $1 and coalesce(${column}, 'epoch')
        < coalesce($3, clock_timestamp()) + $2 / 2 * interval '1 millisecond'`,
    values: [chain, how.milliseconds, how.clock],
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
