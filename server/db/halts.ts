// Statements about halted chains and assets. A chain has a lock as an asset has one (listing.ts):
// whoever halts or resumes it holds it, whoever relies on it or lists a token on it shares it.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type Closing = {
  readonly reasons: readonly string[];
  /** RFC 3339. */
  readonly at: string;
  /** The checks say that it is for ever; a second look is to say so too. */
  readonly rejected?: true;
};

export type Halt = {
  readonly chain: ChainKey;
  readonly reason: string;
  readonly at: Date;
};

/** With what an asset that is new on this chain begins: held closed where the chain is halted. */
export function closingsOfChain(chain: string): string {
  return `coalesce((select jsonb_build_object('chain', jsonb_build_object(
        'reasons', jsonb_build_array(reason),
        'at', to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
      from halts where halts.chain = ${chain}), '{}'::jsonb)`;
}

/** Waits for everybody who relies on it; until the end of the transaction nobody else may. */
export async function lockChain(tx: Tx, chain: ChainKey): Promise<void> {
  await tx.rows({
    name: 'halts_lock_chain',
    text: `select pg_advisory_xact_lock(hashtextextended('chain ' || $1, 0))`,
    values: [chain],
  });
}

/** Waits while it is halted or resumed: what is read behind it stays so. */
export async function shareChain(tx: Tx, chain: ChainKey): Promise<void> {
  await tx.rows({
    name: 'halts_share_chain',
    text: `select pg_advisory_xact_lock_shared(hashtextextended('chain ' || $1, 0))`,
    values: [chain],
  });
}

export async function findHalt(tx: Tx, chain: ChainKey): Promise<Halt | null> {
  const [row] = await tx.rows<Halt>({
    name: 'halts_find',
    text: 'select chain, reason, at from halts where chain = $1',
    values: [chain],
  });
  return row ?? null;
}

export async function listHalts(tx: Tx): Promise<Halt[]> {
  return tx.rows<Halt>({
    name: 'halts_list',
    text: 'select chain, reason, at from halts order by chain',
    values: [],
  });
}

export async function storeHalt(tx: Tx, { chain, reason, at }: Halt): Promise<void> {
  await tx.rows({
    name: 'halts_store',
    text: `insert into halts (chain, reason, at) values ($1, $2, $3)
      on conflict (chain) do update set reason = $2, at = $3`,
    values: [chain, reason, at],
  });
}

export async function dropHalt(tx: Tx, chain: ChainKey): Promise<void> {
  await tx.rows({
    name: 'halts_drop',
    text: 'delete from halts where chain = $1',
    values: [chain],
  });
}

/** Whether any asset is of this chain. */
export async function hasAssets(tx: Tx, chain: ChainKey): Promise<boolean> {
  const rows = await tx.rows({
    name: 'halts_has_assets',
    text: 'select 1 from assets where chain = $1 limit 1',
    values: [chain],
  });
  return rows.length > 0;
}

/** Chains that assets are of. */
export async function chainsOfAssets(tx: Tx, limit: number): Promise<ChainKey[]> {
  const rows = await tx.rows<{ chain: ChainKey }>({
    name: 'halts_chains',
    text: 'select distinct chain from assets order by chain limit $1',
    values: [limit],
  });
  return rows.map(({ chain }) => chain);
}

/** Holds every asset of the chain closed, or no longer: how many, and which open or close by it. */
export async function setChainClosing(
  tx: Tx,
  chain: ChainKey,
  closing: Closing | null,
): Promise<{ assets: number; turned: string[] }> {
  const rows = await tx.rows<{ id: string; turned: boolean }>({
    name: 'halts_set_closing',
    text: `with before as (select id, enabled from assets where chain = $1)
      update assets a
      set closings = case when $2::jsonb is null then a.closings - 'chain'
        else a.closings || jsonb_build_object('chain', $2::jsonb) end
      from before where before.id = a.id
      returning a.id, a.enabled <> before.enabled as turned`,
    values: [chain, closing === null ? null : JSON.stringify(closing)],
  });
  const turned = rows.filter((each) => each.turned).map((each) => each.id);
  return { assets: rows.length, turned: turned.sort() };
}

/** Those of `ids` that RFQs name which have not ended, by side. */
export async function withOrders(
  tx: Tx,
  side: 'base' | 'quote',
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>({
    name: `halts_with_orders_${side}`,
    text: `select a.id from unnest($1::uuid[]) a (id)
      where exists (select 1 from rfqs r
        where r.${side}_asset_id = a.id and r.status in ('open', 'negotiating'))
      order by a.id`,
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

/** How many assets an operator has halted by themselves. */
export async function countHaltedAssets(tx: Tx): Promise<number> {
  const [row] = await tx.rows<{ halted: number }>({
    name: 'halts_count_assets',
    text: `select count(*) as halted from assets where closings ? 'halt'`,
    values: [],
  });
  return row?.halted ?? 0;
}
