// What is left of a run, in words that do not depend on what was drawn: every row of every table,
// what every receiver heard, what is on the chains. Two runs ended alike when these are the same.

import { isDeepStrictEqual } from 'node:util';
import { unpacked } from '../../server/edge/idempotency/replies.ts';
import { chainNamed } from './parts.ts';
import type { World } from './world.ts';

export type Row = Record<string, unknown>;

export type Snapshot = {
  /** Ids that were there before the run keep their names. */
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  readonly heard: Readonly<Record<string, readonly unknown[]>>;
  readonly chains: Readonly<Record<string, readonly unknown[]>>;
};

export type Reading = {
  /** Without instants: a run that was ended goes on later. */
  readonly timeless?: boolean;
  /** What of a table is the same however often the client began anew. */
  readonly only?: Readonly<Record<string, (row: Row) => Row | null>>;
  /** What all rows of a table come to, in their place. */
  readonly sums?: Readonly<Record<string, (rows: readonly Row[]) => Row>>;
};

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)/g;

/** Seconds from the moment of a look, and blocks up to it. */
const looksAgain = /"(due_at|confirmations)":\d+/g;

/** Orders by their numbers, which have gaps where something was rolled back. */
const numbered: Readonly<Record<string, string>> = {
  outbox: 'id',
  feed_log: 'seq',
  deliveries: 'position',
};
/** Drawn, sealed with what was drawn, or counted by the database. */
const drawn: Readonly<Record<string, readonly string[]>> = {
  // Of a sequence that no ending takes back.
  feed_log: ['number'],
  // As long as what was drawn is when packed.
  kept_replies: ['bytes'],
  api_keys: ['hash', 'prefix'],
  webhooks: ['secret'],
  escrows: ['created_xact'],
  delivery_attempts: ['milliseconds'],
  // A token shall not know when it is looked at.
  assets: ['next_check_at'],
  // How often somebody looked.
  swaps: ['revision'],
  // One that was begun when the process ended counts too.
  webhook_hosts: ['sent'],
  messages: ['attempts', 'key_version'],
};

export async function rawTables(world: World): Promise<Map<string, Row[]>> {
  const names = await world.real.rows<{ name: string }>({
    name: 'matrix_tables',
    text: `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_name <> 'migrations' order by 1`,
    values: [],
  });
  const text = names
    .map(({ name }) => `select '${name}' as name, to_jsonb(t) as row from ${name} t`)
    .join(' union all ');
  const rows = await world.real.rows<{ name: string; row: Row }>({
    name: 'matrix_rows',
    text,
    values: [],
  });
  const tables = new Map<string, Row[]>(names.map(({ name }) => [name, []]));
  for (const { name, row } of rows) tables.get(name)?.push(row);
  return tables;
}

function readable(name: string, row: Row): Row {
  const fields = { ...row };
  for (const field of drawn[name] ?? []) fields[field] = '(drawn)';
  if (name === 'idempotency') {
    const bytes = Buffer.from(String(row.reply).slice(2), 'hex');
    fields.reply = row.key_version === null ? JSON.parse(unpacked(bytes).toString()) : '(sealed)';
  }
  const { body } = fields;
  if (typeof body === 'string' && body.startsWith('{')) fields.body = JSON.parse(body);
  return fields;
}

function ordered(name: string, rows: readonly Row[]): Row[] {
  const by = numbered[name];
  if (by === undefined) return [...rows];
  const sorted = [...rows].sort((one, other) => Number(one[by]) - Number(other[by]));
  return sorted.map((row, at) => ({ ...row, [by]: at }));
}

/** Names new ids by the order of their first appearance. */
function namer(known: ReadonlySet<string>) {
  const names = new Map<string, string>();
  return (text: string): string =>
    text.replace(uuid, (id) => {
      if (known.has(id)) return id;
      const name = names.get(id) ?? `#${names.size + 1}`;
      names.set(id, name);
      return name;
    });
}

export function idsIn(tables: ReadonlyMap<string, readonly Row[]>): Set<string> {
  return new Set(JSON.stringify([...tables.values()]).match(uuid) ?? []);
}

export async function snapshotOf(
  world: World,
  known: ReadonlySet<string>,
  { timeless = false, only = {}, sums = {} }: Reading,
): Promise<Snapshot> {
  const name = namer(known);
  const masked = (text: string) =>
    text.replace(uuid, (id) => (known.has(id) ? id : '#')).replace(instant, '@');
  const named = (value: unknown): unknown => {
    const text = name(JSON.stringify(value));
    return JSON.parse(timeless ? text.replace(instant, '@').replace(looksAgain, '"$1":"@"') : text);
  };
  const tables: Record<string, Row[]> = {};
  for (const [table, raw] of await rawTables(world)) {
    const rows = table in sums ? [sums[table]?.(raw) ?? {}] : raw;
    const kept = ordered(table, rows)
      .map((row) => readable(table, row))
      .flatMap((row) => (only[table] ?? ((same: Row) => same))(row) ?? []);
    const texts = kept.map((row) => ({ row, text: masked(JSON.stringify(row)) }));
    texts.sort((one, other) => (one.text < other.text ? -1 : one.text > other.text ? 1 : 0));
    const rowsOf = texts.map(({ row }) => named(row) as Row);
    tables[table] = numbered[table] === undefined ? inOrder(rowsOf) : rowsOf;
  }
  const heard: Record<string, unknown[]> = {};
  for (const path of [...world.hooks.keys()].sort()) {
    const bodies = world.receiver.heard(path).map(({ body }) => JSON.parse(body) as unknown);
    heard[path] = bodies.map(named);
  }
  return { tables, heard, chains: chainsOf(world) };
}

const inOrder = (rows: readonly Row[]): Row[] =>
  rows
    .map((row) => JSON.stringify(row))
    .sort()
    .map((text) => JSON.parse(text));

/** Every transaction that the chains have, wherever. */
function chainsOf({ nodes }: World): Record<string, unknown[]> {
  const entries = nodes.map(({ chain }) => {
    const mined = [...chain.about.values()].flat();
    const all = [...mined, ...chain.mempool.values()];
    const shown = all.map(({ tx }) => [tx.verb, tx.escrow, tx.by, tx.amount, tx.secret]);
    return [chain.chain, shown.map((each) => JSON.stringify(each)).sort()] as const;
  });
  return Object.fromEntries(entries);
}

/** Where two differ, in a few words each; none = they are the same. */
export function differences(right: Snapshot, found: Snapshot): string[] {
  return (['tables', 'heard', 'chains'] as const).flatMap((part) => {
    const names = [...new Set([...Object.keys(right[part]), ...Object.keys(found[part])])];
    return names.flatMap((name) => lost(name, right[part][name] ?? [], found[part][name] ?? []));
  });
}

function lost(name: string, right: readonly unknown[], found: readonly unknown[]): string[] {
  if (isDeepStrictEqual(right, found)) return [];
  const texts = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row));
  const [wanted, had] = [texts(right), texts(found)];
  const missing = wanted.filter((each) => !had.includes(each));
  const extra = had.filter((each) => !wanted.includes(each));
  const counts = `${name}: ${wanted.length} rows expected, ${had.length} found`;
  const some = (rows: readonly string[]) => rows.slice(0, 2).map((each) => each.slice(0, 700));
  return [
    counts,
    ...some(missing).map((each) => `  missing ${each}`),
    ...some(extra).map((each) => `  besides ${each}`),
  ];
}

/** Secrets that lie open where they must not. */
export async function openSecrets(world: World): Promise<string[]> {
  const tables = await rawTables(world);
  const places = [...tables].map(([name, rows]) => [name, JSON.stringify(rows)] as const);
  places.push(['the log', world.log.join('\n')]);
  const isShown = (secret: string) =>
    world.nodes.some(({ chain }) => [...chain.shown.values()].includes(secret));
  return [...world.secrets].flatMap(([secret, until]) => {
    if (until === 'shown' && isShown(secret)) return [];
    const forms = formsOf(secret);
    const where = places.filter(([, text]) => forms.some((form) => text.includes(form)));
    return where.map(([name]) => `${secret.slice(0, 12)}… lies open in ${name}`);
  });
}

/** As it is, as bytes of the database, and in base64. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const own = /^[0-9a-f]{64}$/.test(secret) ? [Buffer.from(secret, 'hex').toString('base64')] : [];
  return [secret, bytes.toString('hex'), ...own];
}

/** Whether the chain has the same from anybody twice. */
export function twiceOnChain(world: World): string[] {
  return world.nodes.flatMap(({ chain: { chain } }) => {
    const spends = [...chainNamed(world, chain).about.values()].flat();
    const ids = spends.map(({ txid }) => txid);
    return ids.length === new Set(ids).size ? [] : [`${chain} has a transaction twice`];
  });
}
