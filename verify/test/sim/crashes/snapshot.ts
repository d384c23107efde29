// The end of a run, in words that do not depend on what was drawn: every row of every table, what
// every receiver heard, what is on the chains. Two runs ended alike when these are the same.

import { isDeepStrictEqual } from 'node:util';
import { unpacked } from '@parley/market/edge/idempotency/replies.ts';
import { sql } from '../world.ts';
import type { World } from './copies.ts';

export type Row = Record<string, unknown>;

/** The contents of each table, receiver and chain. Ids that were there before keep their names. */
export type Snapshot = Readonly<Record<string, readonly unknown[]>>;

export type Reading = {
  /** Without instants: a run that was ended goes on later. */
  readonly timeless?: boolean;
  /** The part of a table that is the same however often the client began anew. */
  readonly only?: Readonly<Record<string, (row: Row) => Row | null>>;
  /** The sum of all rows of a table, in their place. */
  readonly sums?: Readonly<Record<string, (rows: readonly Row[]) => Row>>;
};

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)/g;

/** Seconds from the moment of a poll, and blocks up to it. */
const pollsAgain = /"(due_at|confirmations)":\d+/g;

/** Orders by their numbers, which have gaps where something was rolled back. */
const numbered: Readonly<Record<string, string>> = {
  outbox: 'id',
  feed_log: 'seq',
  deliveries: 'position',
  delivery_bodies: 'id',
};
/** Drawn, sealed with what was drawn, or counted by the database. */
const drawn: Readonly<Record<string, readonly string[]>> = {
  // A sequence that no ending takes back.
  feed_log: ['number'],
  // As long as what was drawn is when packed.
  kept_replies: ['bytes'],
  api_keys: ['hash', 'prefix'],
  webhooks: ['secret'],
  escrows: ['created_xact'],
  delivery_attempts: ['milliseconds'],
  // A token shall not know when it is checked.
  assets: ['next_check_at'],
  // How often somebody polled.
  swaps: ['revision'],
  // One that was begun when the process ended counts too.
  webhook_hosts: ['sent'],
  jobs: ['attempts', 'key_version'],
};

export async function rawTables({ real }: World): Promise<Map<string, Row[]>> {
  const names = await real.rows<{ name: string }>({
    name: 'matrix_tables',
    text: `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_name <> 'migrations' order by 1`,
    values: [],
  });
  const text = names
    .map(({ name }) => `select '${name}' as name, to_jsonb(t) as row from ${name} t`)
    .join(' union all ');
  const tables = new Map<string, Row[]>(names.map(({ name }) => [name, []]));
  for (const { name, row } of await sql<{ name: string; row: Row }>(real, text)) {
    tables.get(name)?.push(row);
  }
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

export function idsIn(tables: ReadonlyMap<string, readonly Row[]>): Set<string> {
  return new Set(JSON.stringify([...tables.values()]).match(uuid) ?? []);
}

export async function snapshotOf(
  world: World,
  known: ReadonlySet<string>,
  { timeless = false, only = {}, sums = {} }: Reading,
): Promise<Snapshot> {
  /** New ids, by the order of their first appearance. */
  const names = new Map<string, string>();
  const nameOf = (id: string) => {
    if (known.has(id)) return id;
    const name = names.get(id) ?? `#${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  const masked = (text: string) =>
    text.replace(uuid, (id) => (known.has(id) ? id : '#')).replace(instant, '@');
  const named = (text: string) => {
    const own = text.replace(uuid, nameOf);
    return timeless ? own.replace(instant, '@').replace(pollsAgain, '"$1":"@"') : own;
  };
  const found: Record<string, readonly unknown[]> = {};
  for (const [table, raw] of await rawTables(world)) {
    const rows = table in sums ? [sums[table]?.(raw) ?? {}] : raw;
    const texts = ordered(table, rows)
      .map((row) => readable(table, row))
      .flatMap((row) => (only[table] ?? ((same: Row) => same))(row) ?? [])
      .map((row) => JSON.stringify(row))
      .map((text) => ({ text, mask: masked(text) }))
      .sort((one, other) => (one.mask < other.mask ? -1 : one.mask > other.mask ? 1 : 0))
      .map(({ text }) => named(text));
    found[table] = table in numbered ? texts : texts.sort();
  }
  for (const path of [...world.hooks.keys()].sort()) {
    found[path] = world.receiver.heard(path).map(({ body }) => named(body));
  }
  // Every transaction that the chains have, wherever.
  for (const { chain } of world.nodes) {
    const all = [...[...chain.about.values()].flat(), ...chain.mempool.values()];
    const shown = all.map(({ tx }) => [tx.verb, tx.escrow, tx.by, tx.amount, tx.secret]);
    found[chain.chain] = shown.map((each) => JSON.stringify(each)).sort();
  }
  return found;
}

/** Where two differ, in a few words each; empty = they are the same. */
export function differences(right: Snapshot, found: Snapshot): string[] {
  const names = [...new Set([...Object.keys(right), ...Object.keys(found)])];
  return names.flatMap((name) => {
    const wanted = right[name] ?? [];
    const had = found[name] ?? [];
    if (isDeepStrictEqual(wanted, had)) return [];
    const some = (how: string, all: readonly unknown[], others: readonly unknown[]) => {
      const few = all.filter((each) => !others.includes(each)).slice(0, 2);
      return few.map((each) => `  ${how} ${String(each).slice(0, 700)}`);
    };
    const counts = `${name}: ${wanted.length} rows expected, ${had.length} found`;
    return [counts, ...some('missing', wanted, had), ...some('besides', had, wanted)];
  });
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

/** Whether a chain has the same from anybody twice. */
export function twiceOnChain({ nodes }: World): string[] {
  return nodes.flatMap(({ chain: { chain, about } }) => {
    const ids = [...about.values()].flat().map(({ txid }) => txid);
    return ids.length === new Set(ids).size ? [] : [`${chain} has a transaction twice`];
  });
}
