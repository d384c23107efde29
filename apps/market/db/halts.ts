// Statements about halted chains and assets. A chain has a lock as an asset has one (listing.ts): a
// transaction that halts or resumes it holds the lock, one that relies on it or lists a token on it
// shares it.

import type { ChainKey } from '@parley/core/families.ts';
import { count, did, list, many, none, one } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';

export type Closing = {
  readonly reasons: readonly string[];
  /** RFC 3339. */
  readonly at: string;
  /** The checks say that it is for ever; a second check is to say so too. */
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
export const lockChain = none<[chain: ChainKey]>('halts_lock_chain')`
  select pg_advisory_xact_lock(hashtextextended('chain ' || $1, 0))`;

/** Waits while it is halted or resumed: a read behind it stays true. */
export const shareChain = none<[chain: ChainKey]>('halts_share_chain')`
  select pg_advisory_xact_lock_shared(hashtextextended('chain ' || $1, 0))`;

export const findHalt = one<[chain: ChainKey], Halt>('halts_find')`
  select chain, reason, at from halts where chain = $1`;

export const listHalts = many<[], Halt>('halts_list')`
  select chain, reason, at from halts order by chain`;

export const storeHalt = none<[of: Halt]>('halts_store')`
  insert into halts (chain, reason, at) values (:chain, :reason, :at)
    on conflict (chain) do update set reason = :reason, at = :at`;

export const dropHalt = none<[chain: ChainKey]>('halts_drop')`
  delete from halts where chain = $1`;

/** Whether any asset is of this chain. */
export const hasAssets = did<[chain: ChainKey]>('halts_has_assets')`
  select 1 from assets where chain = $1 limit 1`;

/** Chains that assets are of. */
export const chainsOfAssets = list<[limit: number], ChainKey>('halts_chains')`
  select distinct chain from assets order by chain limit $1`;

type Turned = { readonly id: string; readonly turned: boolean };

const setClosing = many<[chain: ChainKey, closing: Closing | null], Turned>('halts_set_closing')`
  with before as (select id, enabled from assets where chain = $1)
    update assets a
    set closings = case when $2::jsonb is null then a.closings - 'chain'
      else a.closings || jsonb_build_object('chain', $2::jsonb) end
    from before where before.id = a.id
    returning a.id, a.enabled <> before.enabled as turned`;

/** Holds every asset of the chain closed, or no longer: how many, and which open or close by it. */
export async function setChainClosing(
  tx: Tx,
  chain: ChainKey,
  closing: Closing | null,
): Promise<{ assets: number; turned: string[] }> {
  const rows = await setClosing(tx, chain, closing);
  const turned = rows.filter((each) => each.turned).map((each) => each.id);
  return { assets: rows.length, turned: turned.sort() };
}

const ordersOf = (side: 'base' | 'quote') =>
  list<[ids: readonly string[]], string>(`halts_with_orders_${side}`)`
  select a.id from unnest($1::uuid[]) a (id)
    where exists (select 1 from rfqs r
      where r.${side}_asset_id = a.id and r.status in ('open', 'negotiating') offset 0)
    order by a.id`;

/** Those of `ids` that RFQs name which have not ended, by side. */
export const withOrders = { base: ordersOf('base'), quote: ordersOf('quote') };

export type HaltedAsset = {
  readonly id: string;
  readonly chain: ChainKey;
  readonly symbol: string;
  /** RFC 3339. */
  readonly at: string;
};

/** Those that an operator has halted by themselves. */
export const haltedAssets = many<[limit: number], HaltedAsset>('halts_assets')`
  select id, chain, symbol, closings->'halt'->>'at' as at from assets
    where closings ? 'halt' order by chain, symbol, id limit $1`;

/** How many assets an operator has halted by themselves. */
export const countHaltedAssets = count('halts_count_assets')`
  select count(*) as halted from assets where closings ? 'halt'`;
