// A world of the crash matrix is prepared once, and copied for every run: a copy is the same
// database with the rows of that moment, which is ten times as quick as another database.

import type { Database } from '@parley/market/db/database.ts';
import { testDatabase } from '../../support/database.ts';
import { issue, newChain, policies } from '../chain.ts';
import { chanceOf } from '../chance.ts';
import { nodeWith } from '../node.ts';
import { createReceiver } from '../process.ts';
import type { Doom } from '../wire.ts';
import { sql } from '../world.ts';
import {
  chainNamed,
  gasFunds,
  gasKey,
  type Machine,
  type Parts,
  startMachine,
  tokenChain,
} from './machine.ts';

/** A world and the process that runs in it now. */
export type World = Parts & { market: Machine };

const epochMs = Date.UTC(2031, 0, 1);

function withMarket(parts: Parts, doom?: Doom): World {
  return Object.assign(parts, { market: startMachine(parts, doom) });
}

/** The sinks for what a world emits, still empty. */
const unheard = () => ({
  receiver: createReceiver(chanceOf(1), () => {}),
  told: [],
  log: [],
});

/** An empty market on Bitcoin and an EVM chain, and its first process. */
export async function openWorld(): Promise<World> {
  const database = await testDatabase({ connections: 3 });
  const nodes = (['bitcoin', 'evm'] as const).map((family) => {
    const about = { chain: `sim-${family}`, family, policy: policies[family] };
    return nodeWith(newChain(about, epochMs / 1_000));
  });
  const opened = withMarket({
    database,
    real: database.db,
    nodes,
    parties: [],
    launched: [],
    ...unheard(),
    hooks: new Map(),
    tokens: new Map(),
    secrets: new Map(),
    endedChats: new Set(),
    chance: chanceOf(3),
    nowMs: epochMs,
    processes: 0,
    encryptionKey: '5a'.repeat(32),
  });
  issue(chainNamed(opened, tokenChain), gasKey, gasFunds);
  return opened;
}

export type Prepared = {
  /** `doom`: where the first process of the copy ends. */
  readonly copy: (doom?: Doom) => Promise<World>;
  readonly drop: () => Promise<void>;
};

/** This world stands still from now on: copies are made of it, one at a time. */
export async function seal(world: World): Promise<Prepared> {
  await endMachine(world);
  const putBack = await keep(world.real);
  const copy = async (doom?: Doom) => {
    await putBack();
    const { nodes, hooks, tokens, launched, endedChats, secrets } = world;
    const own = structuredClone({ nodes, hooks, tokens, launched, endedChats, secrets });
    const copied = withMarket({ ...world, ...own, ...unheard(), chance: chanceOf(5) }, doom);
    for (const [path, secret] of copied.hooks) copied.receiver.expect(path, secret);
    return copied;
  };
  return { copy, drop: () => world.database.drop() };
}

export async function endMachine({ market }: World): Promise<void> {
  market.wire.kill('at the end');
  void market.stop().catch(() => {});
}

/** Another process on what the last one left. */
export function restart(world: World): void {
  void world.market.stop().catch(() => {});
  world.market = startMachine(world);
}

export const secondsOf = ({ nowMs }: World): number => Math.floor(nowMs / 1_000);

/** Puts every row back as it is now, once nobody is at work any more. */
async function keep(db: Database): Promise<() => Promise<void>> {
  // The operators' log only grows, and no process of a market writes it.
  const tables = await sql<{ name: string; columns: string }>(
    db,
    `select table_name as name,
        string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
      from information_schema.columns join information_schema.tables
        using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE' and is_generated = 'NEVER'
        and table_name <> 'operator_actions'
      group by table_name order by quote_ident(table_name)::regclass::oid`,
  );
  await sql(db, 'create schema kept');
  for (const { name } of tables) {
    await sql(db, `create table kept.${name} as table public.${name}`);
  }
  const sequences = await sql<{ name: string; last: number | null }>(
    db,
    `select sequencename as name, last_value as last from pg_sequences
      where schemaname = 'public'`,
  );
  // A table refers to what was made before it.
  const script = [
    ...tables.toReversed().map(({ name }) => `delete from public.${name}`),
    ...tables.map(
      ({ name, columns }) => `insert into public.${name} (${columns}) overriding system value
        select ${columns} from kept.${name}`,
    ),
    ...sequences.map(
      ({ name, last }) => `perform setval('public.${name}', ${last ?? 1}, ${last !== null})`,
    ),
  ];
  // A column may be called as something of the language.
  const block = `do $$ #variable_conflict use_column\nbegin ${script.join(';\n')}; end $$`;
  return async () => {
    await idle(db);
    await sql(db, block);
  };
}

/** Transactions that a dead process had begun are rolled back by then. */
async function idle(db: Database): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const busy = await sql(
      db,
      `select 1 from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
    );
    if (busy.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('somebody still works in the database');
}
