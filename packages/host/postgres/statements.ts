// Statements as functions of a transaction and their arguments, prepared by name.
//
// In the text `$2` is the second argument, and `$2.id` its `id`, or that of each record in it.
// `:id` and `:lane.number` are fields of the one argument that has them. Before `::jsonb` a value
// is sent as JSON. Values put in by `${}` are part of the text. A column "a.b" is the field `b` of
// the object `a`. A column "a?.b" makes `a` null, too, where the first of its columns is.

/** `name` is unique to `text`: the server prepares it once a connection. */
export type Statement = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Numeric columns are amounts, read as bigint; else as text. */
  readonly hasMoney?: boolean;
  /** Not prepared: the server plans it for these values. */
  readonly isPlannedAnew?: true;
  /** Makes a row of its values, which are in the order of these columns; absent: by their names. */
  readonly shape?: (columns: readonly string[]) => (values: readonly unknown[]) => unknown;
};

/** Runs statements, inside a transaction where one is open. Rows as objects by column name. */
export type Tx = {
  rows<Row>(statement: Statement): Promise<Row[]>;
};

type Call<Args extends readonly unknown[], Result> = (tx: Tx, ...args: Args) => Promise<Result>;

/** A statement as its module defines it. `places`: the sources of `$1`, `$2` and so on. */
export type Defined = Pick<Statement, 'name' | 'text' | 'isPlannedAnew'> & {
  readonly places: readonly string[];
};

/** Every statement of the modules that are loaded, by its call: for checks of them all. */
export const defined = new Map<unknown, Defined>();

/**
 * Planned for its values each time. One plan for all values takes a filter that may be absent for
 * one that leaves few rows, and then sorts all that an index has in order.
 */
export function plannedAnew<Args extends readonly unknown[], Result>(
  call: Call<Args, Result>,
): Call<Args, Result> {
  const known = defined.get(call);
  if (known !== undefined) defined.set(call, { ...known, isPlannedAnew: true });
  return (tx, ...args) =>
    call({ rows: (statement) => tx.rows({ ...statement, isPlannedAnew: true }) }, ...args);
}

/** A tag for the text of a statement. */
type Sql<Result> = (text: TemplateStringsArray, ...parts: readonly string[]) => Result;
type Row = Record<string, unknown>;
type Value = (args: readonly unknown[]) => unknown;

const placeholder = /(?:\$(\d+)(?:\.(\w+))?|(?<![:\w]):([a-z]\w*(?:\.\w+)*))(::jsonb(?:\[\])?)?/gi;

/** `::jsonb` of a value, `::jsonb[]` of each. Whole numbers of money become decimal strings. */
function toJson(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  try {
    return JSON.stringify(value);
  } catch {
    // It has money in it, or is no JSON at all. A function for each value costs five times as much.
    return JSON.stringify(value, money);
  }
}

const money = (_: string, each: unknown) => (typeof each === 'bigint' ? String(each) : each);

function fieldOf(name: string, path: readonly string[], args: readonly unknown[]): unknown {
  const [field = '', ...below] = path;
  const records = args.filter(isRecord).filter((each) => field in each);
  if (new Set(records.map((each) => each[field])).size > 1) {
    throw new Error(`statement ${name} was given more than one ${field}`);
  }
  let value: unknown = records[0];
  for (const key of [field, ...below]) {
    if (value === null) return null;
    if (!isRecord(value) || !(key in value)) {
      throw new Error(`statement ${name} was given no ${path.join('.')}`);
    }
    value = value[key];
  }
  return value;
}

function columnOf(records: unknown, field: string): unknown {
  if (Array.isArray(records)) return records.map((each) => each[field]);
  return (records as Row | null)?.[field] ?? null;
}

const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function statement(name: string, source: string) {
  const places: string[] = [];
  const values: Value[] = [];
  const text = source.trim().replaceAll(placeholder, (place, nth, field, path, json = '') => {
    if (!places.includes(place)) {
      places.push(place);
      values.push(readerOf(name, { nth: nth - 1, field, path: path?.split('.') }, json));
    }
    return `$${places.indexOf(place) + 1}${json}`;
  });
  const shape = /"\w+\??\.\w/.test(text) ? createShape() : undefined;
  const run = (tx: Tx, args: readonly unknown[]): Promise<Row[]> => {
    const given = values.map((value) => value(args));
    return tx.rows<Row>({ name, text, values: given, hasMoney: true, ...(shape && { shape }) });
  };
  return { run, definition: { name, text, places } };
}

type Place = { readonly nth: number; readonly field?: string; readonly path?: readonly string[] };

function readerOf(name: string, { nth, field, path }: Place, json: string): Value {
  const plain: Value = (args) => {
    if (path !== undefined) return fieldOf(name, path, args);
    return field === undefined ? args[nth] : columnOf(args[nth], field);
  };
  if (json === '') return plain;
  return json === '::jsonb'
    ? (args) => toJson(plain(args))
    : (args) => (plain(args) as unknown[]).map(toJson);
}

/** Objects below the row's: their parent, their name, and the column that is null where they are. */
type Below = { readonly into: number; readonly name: string; readonly unless: number };
type Field = { readonly into: number; readonly name: string };

/** A statement has the same columns each time: they are read once. */
function createShape(): NonNullable<Statement['shape']> {
  let made: ((values: readonly unknown[]) => Row) | undefined;
  return (columns) => (made ??= shapeOf(columns));
}

function shapeOf(columns: readonly string[]): (values: readonly unknown[]) => Row {
  const objects: Below[] = [];
  const places = new Map<string, number>();
  const fields = columns.map((column, nth): Field => {
    const keys = column.split('.');
    const name = keys.pop()!;
    let into = -1;
    let path = '';
    for (const key of keys) {
      path += `${key}.`;
      const unless = key.endsWith('?') ? nth : -1;
      const at = places.get(path) ?? objects.push({ into, name: key.replace('?', ''), unless }) - 1;
      places.set(path, at);
      into = at;
    }
    return { into, name };
  });
  return (values) => nested(values, objects, fields);
}

function nested(
  values: readonly unknown[],
  objects: readonly Below[],
  fields: readonly Field[],
): Row {
  const whole: Row = {};
  const made: (Row | null)[] = [];
  const at = (place: number) => (place < 0 ? whole : (made[place] ?? null));
  for (const { into, name, unless } of objects) {
    const parent = at(into);
    const own = parent === null || (unless >= 0 && values[unless] === null) ? null : {};
    if (parent !== null) parent[name] = own;
    made.push(own);
  }
  for (let nth = 0; nth < fields.length; nth += 1) {
    const { into, name } = fields[nth]!;
    const parent = at(into);
    if (parent !== null) parent[name] = values[nth];
  }
  return whole;
}

const define =
  <Args extends readonly unknown[], Result>(name: string, answer: (rows: Row[]) => unknown) =>
  (parts: TemplateStringsArray, ...inserted: readonly string[]): Call<Args, Result> => {
    const { run, definition } = statement(name, String.raw({ raw: parts }, ...inserted));
    const call: Call<Args, Result> = async (tx, ...args) => answer(await run(tx, args)) as Result;
    defined.set(call, definition);
    return call;
  };

const first = ([row]: Row[]): unknown => (row === undefined ? null : Object.values(row)[0]);

type Of<Args extends readonly unknown[], Result> = Sql<Call<Args, Result>>;

/** Answers nothing. */
export const none = <Args extends readonly unknown[] = []>(name: string): Of<Args, void> =>
  define(name, () => undefined);

/** All rows. */
export const many = <Args extends readonly unknown[], Row>(name: string): Of<Args, Row[]> =>
  define(name, (rows) => rows);

/** The first row; null without one. */
export const one = <Args extends readonly unknown[], Row>(name: string): Of<Args, Row | null> =>
  define(name, ([row]) => row ?? null);

/** The only row of a statement that always has one. */
export const only = <Args extends readonly unknown[], Row>(name: string): Of<Args, Row> =>
  define(name, ([row]) => {
    if (row === undefined) throw new Error(`statement ${name} answered no row`);
    return row;
  });

/** The first column of all rows. */
export const list = <Args extends readonly unknown[], Value>(name: string): Of<Args, Value[]> =>
  define(name, (rows) => rows.map((row) => first([row])));

/** The first column of the first row; null without one. */
export const value = <Args extends readonly unknown[], Value>(
  name: string,
): Of<Args, Value | null> => define(name, first);

/** The same of a number; 0 without a row. */
export const count = <Args extends readonly unknown[] = []>(name: string): Of<Args, number> =>
  define(name, (rows) => first(rows) ?? 0);

/** Whether the first column of the first row is true. */
export const is = <Args extends readonly unknown[] = []>(name: string): Of<Args, boolean> =>
  define(name, (rows) => first(rows) === true);

/** The number of rows that it answered or, for a change, changed. */
export const changed = <Args extends readonly unknown[] = []>(name: string): Of<Args, number> =>
  define(name, (rows) => rows.length);

/** Whether it answered a row. */
export const did = <Args extends readonly unknown[] = []>(name: string): Of<Args, boolean> =>
  define(name, (rows) => rows.length > 0);

/** The same call, which asks nothing where there is nothing to ask for. */
export const unlessEmpty =
  <Args extends readonly [readonly unknown[], ...(readonly unknown[])], Result>(
    call: Call<Args, Result>,
    nothing: Result,
  ): Call<Args, Result> =>
  async (tx, ...args) =>
    args[0].length === 0 ? nothing : call(tx, ...args);

/**
 * Ids below a cursor, or above it; null: all. A condition that may be absent is not one of an index,
 * and every page would read those before it.
 */
export const below = (column: string, cursor: string): string =>
  `${column} < coalesce(${cursor}::uuid, '${'f'.repeat(8)}-ffff-ffff-ffff-${'f'.repeat(12)}')`;
export const above = (column: string, cursor: string): string =>
  `${column} > coalesce(${cursor}::uuid, '00000000-0000-0000-0000-000000000000')`;

/** Rows found by this condition alone, whatever is asked of them then: no index of that is taken. */
export const foundFirst = (table: string, where: string): string =>
  `(select * from ${table} where ${where} offset 0)`;

/** Columns by their names here: `columns('madeAt', 'r.')` is `r.made_at as "madeAt"`. */
export function columns(names: string, of = '', into = ''): string {
  const column = (name: string) =>
    `${of}${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${into}${name}"`;
  return names.trim().split(/\s+/).map(column).join(', ');
}
