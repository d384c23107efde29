// Every statement reads few rows of a market that has grown, by the plan that it got on a young one.
//
// A connection prepares a statement once and keeps its plan. On a few rows all plans cost the same,
// so PostgreSQL may take one that reads a whole table, and keeps it until the next analyze of that
// table. This test prepares all statements while tables have no rows or ten, fills them, and
// counts the buffers of each, and the rows that it passes without an index. A row that a whole index
// is read for costs a buffer: rows are stored in no order.

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { afterEach, test } from 'node:test';
import { type Defined, defined } from '@parley/host/postgres/statements.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import type { Session } from './database.ts';

/** Rows of each table when plans are made, then analyzed if there are any. */
const states = { 'no rows': 0, 'ten rows': 10 } as const;
const grown = 5_000;
/** Lists have twelve keys: PostgreSQL expects ten, and plans few anew. */
const keys = 12;
/** Twelve rows that change in nine indexes cost 320; a whole table costs 5 000. */
const mostBuffers = 400;
/** Rows that a statement may pass without an index. */
const mostPassed = 400;

/** Statements that may read more, by why. */
const readsMore: Readonly<Record<string, readonly string[]>> = {
  'the operator asks for all of them': [
    'accounts_by_abandoned',
    'accounts_by_settled',
    'doctor_waiting',
    'keeper_shown_attempts',
    'keeper_shown_stuck',
    'revoke_all_keys',
  ],
  'time is missing from the database, and all is looked at once': [
    'escrows_in_contracts',
    'escrows_pin_signable',
    'feed_empty',
    'feed_events_empty',
    'feed_events_jump',
    'legs_give_up_unfunded',
    'nonces_void',
    'threads_void_acceptances',
  ],
  'a person leaves, and what the account has open is counted once': ['account_open_trading'],
  'counts 1 000 rows at most': ['gauges_overdue'],
  'walks 1 000 settled swaps of each side at most, once a day': ['standings_count'],
  'one row for each webhook for which something waits': ['deliveries_claim', 'gauges_deliveries'],
  'one row for each socket that withdraws quotes when it is gone': [
    'switches_due',
    'switches_next',
  ],
  'passes RFQs whose threads are not deleted yet, which comes first': ['ended_rfqs_prune'],
  'rows of requests that are answered within 15 seconds': [
    'keeper_ask',
    'keeper_asked_forget',
    'keeper_asked_waiting',
  ],
  'a row for each chain': ['lease_renew'],
  'the operator looks for a key by its prefix': ['accounts_named'],
  'open jobs of the gas key of one chain': [
    'keeper_put_off',
    'keeper_reserved_behind',
    'keeper_sums',
  ],
};

/** Arguments of those that take no made-up ones, or show more with these. */
const given: Readonly<Record<string, readonly string[]>> = {
  candidates_due: ['now()', `'launchpads'`, 'now()', `array['bitcoin']`, '2'],
  candidates_list: [`'pending'`, '2'],
  gauges_limit: [`'5000'`],
  listing_bound_locks: [`'5000'`],
  tokens_are_due: ['now()', `array['bitcoin']`],
};

type Prepared = Defined & { readonly types: readonly string[] };
type Column = {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  /** The definition of its check. */
  readonly choices: string | null;
  readonly isUnique: boolean;
  readonly isRequired: boolean;
};
type Node = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Node[] };

let database: TestDatabase;
let session: Session;
let filler: Session;
let unique: readonly Unique[];

const rowsOf = <Row>(text: string, on = session): Promise<Row[]> =>
  on.rows({ name: '', text, values: [], isPlannedAnew: true });

afterEach(() => database.drop());

/** A grown market, and the plans that its statements got when it had `young` rows in each table. */
async function grownFrom(young: number): Promise<readonly Prepared[]> {
  database = await testDatabase();
  session = await database.db.session();
  filler = await database.db.session();
  const columns = await columnsOfAll();
  unique = await uniqueIndexes();
  await loosen();
  await fill(columns, 1, young);
  if (young > 0) await rowsOf('analyze', filler);
  else await fillSlowOnes(columns);
  await rowsOf('set plan_cache_mode = force_generic_plan');
  const prepared = await preparedOf(await statements());
  await fill(columns, young + 1, grown);
  return prepared;
}

/** Keys and their transactions are a few a minute: an analyze comes before they are many. */
async function fillSlowOnes(columns: readonly Column[]): Promise<void> {
  const tables = ['api_keys', 'keeper_attempts', 'keeper_jobs'];
  await fill(
    columns.filter(({ table }) => tables.includes(table)),
    grown + 1,
    grown + 10,
  );
  await rowsOf(`analyze ${tables}`, filler);
}

async function statements(): Promise<Defined[]> {
  for (const folder of ['./', '../../watchtower/db/']) {
    for (const file of await readdir(new URL(folder, import.meta.url))) {
      if (/(?<!\.test)\.ts$/.test(file)) await import(new URL(folder + file, import.meta.url).href);
    }
  }
  return [...defined.values()];
}

for (const [state, young] of Object.entries(states)) {
  test(`each statement reads few rows of a grown market by its plan of ${state}`, async () => {
    const more: Reading[] = [];
    for (const each of await grownFrom(young)) {
      const reading = await readingOf(each);
      if (reading.buffers > mostBuffers || reading.fault !== null) more.push(reading);
    }
    for (const { name } of more) needed.add(name);
    const unlisted = more.filter(({ name }) => !listed.includes(name));
    assert.deepEqual(unlisted.map(sentenceOf), []);
  });
}

test('each statement that may read more does', () => {
  assert.deepEqual(
    listed.filter((name) => !needed.has(name)),
    [],
  );
});

const listed = Object.values(readsMore).flat();
const needed = new Set<string>();

type Reading = { readonly name: string; readonly buffers: number; readonly fault: string | null };

const sentenceOf = ({ name, buffers, fault }: Reading) =>
  `${name} reads ${buffers} buffers${fault ?? ''}; ${mostBuffers} are allowed: it wants an index or a line of readsMore`;

/** The buffers that it reads with its arguments. It is rolled back. */
async function readingOf(of: Prepared): Promise<Reading> {
  const shown = 'verbose, format json';
  const executed = of.isPlannedAnew ? inlined(of) : executionOf(of);
  await rowsOf('begin');
  const outcome = await rowsOf<Explained>(
    `explain (analyze, buffers, timing off, ${shown}) ${executed}`,
  ).catch(refusedRow);
  await rowsOf('rollback');
  const [row] = outcome ?? (await rowsOf<Explained>(`explain (${shown}) ${executed}`));
  const plan = row!['QUERY PLAN'][0]!.Plan;
  const buffers = Number(plan['Shared Hit Blocks'] ?? 0) + Number(plan['Shared Read Blocks'] ?? 0);
  const walked = outcome === null ? walkedIn(plan) : passedIn(plan);
  walked.push(...strayedIn(plan));
  if (/hashed SubPlan/.test(JSON.stringify(plan))) walked.push('a hash of what a subquery reads');
  return {
    name: of.name,
    buffers,
    fault: walked.length === 0 ? null : `, by ${walked.join(', ')}`,
  };
}

type Explained = { readonly 'QUERY PLAN': readonly { readonly Plan: Node }[] };

/** Null: a constraint refuses the row that the arguments make, or a type their words. */
function refusedRow(error: unknown): null {
  if (/^2[23]/.test((error as { code?: string }).code ?? '')) return null;
  throw error;
}

/** Tables read row by row: a page of them is a buffer, however many rows it holds. */
function passedIn(node: Node): string[] {
  const rows = Number(node['Actual Rows'] ?? 0) + Number(node['Rows Removed by Filter'] ?? 0);
  const passed = rows * Number(node['Actual Loops'] ?? 0);
  const own = node['Node Type'] === 'Seq Scan' && passed > mostPassed;
  const below = (node.Plans ?? []).flatMap(passedIn);
  return own ? [`${passed} rows of ${node['Relation Name']} without an index`, ...below] : below;
}

/** Scans without a condition of their index, where no limit may end them. */
function walkedIn(node: Node): string[] {
  if (node['Node Type'] === 'Limit') return [];
  const isScan = node['Relation Name'] !== undefined && /Scan/.test(String(node['Node Type']));
  const own = isScan && !('Index Cond' in node) && !('Recheck Cond' in node);
  const below = (node.Plans ?? []).flatMap(walkedIn);
  return own ? [`all of ${node['Relation Name']}`, ...below] : below;
}

type Unique = {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
};

const uniqueIndexes = (): Promise<Unique[]> =>
  rowsOf(
    `select c.relname as table, i.relname as name, array_agg(a.attname::text) as columns
      from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
        join pg_attribute a on a.attrelid = c.oid and a.attnum = any(x.indkey)
      where x.indisunique and x.indpred is null and x.indexprs is null
        and c.relnamespace = 'public'::regnamespace
      group by c.relname, i.relname`,
    filler,
  );

/** An account has few of these, and few accounts are blocked: any index will do. */
const few = /^(accounts|api_keys|feed_switches|kept_replies|logins|sessions|wallets)$/;

const compared = (condition: unknown): string[] =>
  [...String(condition ?? '').matchAll(/(?:\(|\.)(\w+) (?:=|>=) /g)].map(([, column]) => column!);

/**
 * On a young market the index that finds one row costs as much as one that finds many, of which a
 * filter leaves one. Keys of the rows here have few each, so that no count of buffers shows it.
 */
function strayedIn(node: Node): string[] {
  const below = (node.Plans ?? []).flatMap(strayedIn);
  const table = node['Relation Name'];
  const conditions = compared(node['Index Cond'] ?? node['Recheck Cond']);
  const filters = / OR /.test(String(node.Filter)) ? [] : compared(node.Filter);
  const better = unique.find(
    ({ table: of, columns }) =>
      of === table &&
      columns.every((each) => conditions.includes(each) || filters.includes(each)) &&
      columns.some((each) => !conditions.includes(each)),
  );
  if (better === undefined || few.test(String(table))) return below;
  return [
    `${node['Index Name'] ?? 'a bitmap'} of ${table} where ${better.name} finds one row`,
    ...below,
  ];
}

const isRunnable = ({ text }: Defined) => /^(select|insert|update|delete|with|\()/.test(text);

async function preparedOf(all: readonly Defined[]): Promise<Prepared[]> {
  const runnable = all.filter(isRunnable);
  await rowsOf('begin');
  for (const { name, text } of runnable) {
    await rowsOf(`prepare "${name}" as ${text}`).catch((cause: unknown) => {
      throw new Error(`${name} cannot be prepared`, { cause });
    });
  }
  const found = await rowsOf<{ name: string; types: string[] }>(
    'select name, parameter_types::text[] as types from pg_prepared_statements',
  );
  const types = new Map(found.map((each) => [each.name, each.types]));
  const made = runnable.map((each) => ({ ...each, types: types.get(each.name)! }));
  for (const each of made) await rowsOf(`explain ${executionOf(each)}`);
  await rowsOf('commit');
  return made;
}

function executionOf(of: Prepared): string {
  const args = argumentsOf(of).join(', ');
  return `execute "${of.name}"${args === '' ? '' : `(${args})`}`;
}

function inlined(of: Prepared): string {
  const args = argumentsOf(of);
  return of.text.replaceAll(/\$(\d+)/g, (_, nth) => `(${args[Number(nth) - 1]})`);
}

const argumentsOf = ({ name, places, types }: Prepared): readonly string[] =>
  given[name] ?? types.map((type, at) => argumentOf(fieldIn(places[at]!), type));

const fieldIn = (place: string) => place.replace(/::.*/, '').split(/[.:]/).at(-1)!;

const id = (n: string | number) =>
  `('00000000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const hash = (n: string | number) => `decode(lpad(to_hex(${n}), 64, '0'), 'hex')`;
const seconds = 'extract(epoch from now())::bigint';

/** The number of the account that has the most, and of an RFQ, a swap and so on. */
const own = 7;
const isTime = /^(now|until|from|since|to|at|clock|wall|before|after)$/;
const words: Readonly<Record<string, readonly string[]>> = {
  chain: ['bitcoin'],
  chains: ['bitcoin', 'evm-dev'],
  families: ['bitcoin', 'evm'],
  family: ['bitcoin'],
  kind: ['email'],
  kinds: ['email', 'telegram'],
  pool: ['mint'],
  status: ['pending'],
  verb: ['claim'],
  way: ['email'],
};

function argumentOf(field: string, type: string, n = own): string {
  const said = words[field]?.map((word) => `'${word}'`);
  if (type.endsWith('[]')) {
    const each = type.slice(0, -2);
    const nth = Array.from({ length: keys }, (_, at) => argumentOf(field, each, n + at));
    return `array[${(type === 'text[]' ? said : undefined) ?? nth}]::${type}`;
  }
  const isNumber = /int|numeric|double/.test(type);
  if (isNumber) return isTime.test(field) ? `${seconds}::${type}` : '2';
  const made: Readonly<Record<string, string>> = {
    uuid: id(n),
    bytea: hash(n),
    'timestamp with time zone': 'now()',
    date: 'current_date',
    boolean: 'true',
    jsonb: `'{}'`,
    xid8: `'0'`,
    text: said?.[0] ?? `'x${n}'`,
  };
  return made[type] ?? assert.fail(`${field} is of the type ${type}`);
}

/** No analyze but the test's own, and no check, which made-up rows would have to keep. */
async function loosen(): Promise<void> {
  const changes = await rowsOf<{ text: string }>(
    `select format('alter table %s set (autovacuum_enabled = off)', oid::regclass) as text
        from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      union all select format('alter table %s drop constraint %I', conrelid::regclass, conname)
        from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace`,
    filler,
  );
  await rowsOf(changes.map(({ text }) => text).join('; '), filler);
}

/** Those that no default fills. */
function columnsOfAll(): Promise<Column[]> {
  return rowsOf(
    `select c.relname as table, a.attname as column, format_type(a.atttypid, -1) as type,
      (select string_agg(pg_get_constraintdef(k.oid), ' ') from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]) as choices,
      exists (select from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u')
        and k.conkey = array[a.attnum]) as "isUnique",
      a.attnotnull as "isRequired"
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and not a.attisdropped
        and a.attidentity = '' and a.attgenerated = '' and a.atttypid <> 'xid8'::regtype
        and c.relname not in ('migrations', 'heartbeat', 'server_key', 'feed_processes')
      order by c.relname, a.attnum`,
    filler,
  );
}

/** Tables of what an operator sets up. */
const fewRows = new Set([
  'assets',
  'chain_heads',
  'gaps',
  'halts',
  'launchpads',
  'keeper_posts',
  'keeper_turns',
]);
const mostOfFew = 5;
const accountColumns = /^(maker|taker)_id$/;

/** Rows from the number `from` on to `to`, in no order: 7919 is prime to their count. */
async function fill(columns: readonly Column[], from: number, to: number): Promise<void> {
  await rowsOf('set session_replication_role = replica', filler);
  for (const [table, all] of Map.groupBy(columns, (each) => each.table)) {
    const count = fewRows.has(table) ? mostOfFew : to - from + 1;
    if (fewRows.has(table) && from > 1) continue;
    const filled = all
      .map((each) => [`"${each.column}"`, filledWith(each)] as const)
      .filter(([, value]) => value !== null);
    const names = filled.map(([name]) => name);
    const values = filled.map(([, value]) => value);
    await rowsOf(
      `insert into ${table} (${names}) select ${values}
        from generate_series(1, ${count}) i, lateral (select ${from} + (i * 7919 % ${count}) as n) o
        on conflict do nothing`,
      filler,
    );
  }
}

/** Columns whose type does not say what fits. Null: left out. */
const fitting: Readonly<Record<string, string | null>> = {
  'escrows.facts': `jsonb_build_object('balance', (n % 2)::text)`,
  'escrows.terms': `jsonb_build_object('timelock', ${seconds} + n - ${grown / 2})`,
  'escrows.funding_seen_at': `case when n % 2 = 0 then now() end`,
  'feed_log.target_address': null,
  'hashlocks.hashlock': `lpad(to_hex(n), 64, '0')`,
  'keeper_jobs.verb': `'claim'`,
  'legs.leg': `'a'`,
  'levels.high_asset_id': id('n + 1'),
  'levels.low_asset_id': id('n'),
  'outbox.payload': `jsonb_build_object('swapId', ${id('n')})`,
  'outbox.topic': `(array['swap.agreed', 'feed.created', 'key.created'])[1 + n % 3]`,
  'rfqs.target_address': null,
  'swaps.secret': null,
  'threads.hashlock': null,
  'wallets.account_id': id('n'),
};

function filledWith({ table, column, type, choices, isUnique, isRequired }: Column): string | null {
  const fit = fitting[`${table}.${column}`];
  if (fit !== undefined) return fit;
  const words = /ARRAY\[(.*?)\]\)/.exec(choices ?? '')?.[1]?.match(/'[^']*'/g);
  if (words) return `(array[${words}])[1 + n % ${words.length}]`;
  if (column === 'chain') {
    return fewRows.has(table) && isUnique ? `'x' || n` : `(array['bitcoin', 'evm-dev'])[1 + n % 2]`;
  }
  if (type === 'uuid' && accountColumns.test(column) && !isUnique) {
    return `case when n % 3 = 0 then ${id(own)} else ${id('n')} end`;
  }
  if (/asset_id$/.test(column)) return id(`1 + n % ${mostOfFew}`);
  if (!isRequired && /^(timestamp|jsonb|bytea|bool)/.test(type)) return null;
  const value = madeOf(type, column);
  return column === 'due_at' && !isRequired ? `case when n % 10 = 0 then ${value} end` : value;
}

function madeOf(type: string, column: string): string {
  const isSeconds = /(_at|_by|timelock|clock|until|deadline)$/.test(column);
  const made: Readonly<Record<string, string>> = {
    uuid: id('n'),
    text: `'x' || n`,
    bytea: hash('n'),
    'timestamp with time zone': `now() + (n - ${grown / 2}) * interval '1 second'`,
    date: 'current_date - n',
    boolean: 'n % 10 = 0',
    jsonb: `'{}'::jsonb`,
    'text[]': `array['x' || n]`,
    bigint: isSeconds ? `${seconds} + n - ${grown / 2}` : 'n',
    integer: column === 'decimals' ? '6' : 'n',
    numeric: 'n',
    'double precision': 'n',
  };
  return made[type] ?? assert.fail(`${column} is of the type ${type}`);
}
