// A migration runs while processes of the version before go on: each file after the first is read,
// and refused where those could not live with it, or where it keeps everybody waiting.
// docs/upgrade.md has the rules, and what a file says where it may break one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { migrationsFolder, numberOf, ownMigrations } from './version.ts';

/** The rule tests a statement, lower case and on one line. `table` is what it works on. */
type Rule = { readonly of: RegExp | ((text: string) => boolean); readonly says: string };
const breaks = (text: string) => (rule: Rule) =>
  typeof rule.of === 'function' ? rule.of(text) : rule.of.test(text);

/** Whether one of several columns must be there and has no default. */
function isBareColumn(text: string): boolean {
  const [, ...columns] = text.split(/\badd column\b/);
  return columns.some((each) => /\bnot null\b/.test(each) && !/default|generated/.test(each));
}

/**
 * Statements that take away something the version before may read or write. `compatible from`
 * allows it.
 */
const taking: readonly Rule[] = [
  { of: /\bdrop column\b/, says: 'drops a column' },
  {
    of: /^drop (?:table|view|materialized view|sequence|type|function|schema|trigger)\b/,
    says: 'drops what others may use',
  },
  { of: /\brename\b/, says: 'renames' },
  { of: /\balter (?:column )?\w+ (?:set data )?type\b/, says: 'changes the type of a column' },
  { of: /\bset not null\b/, says: 'wants a value that others may leave out' },
  { of: /\balter (?:column )?\w+ drop default\b/, says: 'takes a default that others rely on' },
  { of: isBareColumn, says: 'adds a column that others do not fill' },
  { of: /\bdrop constraint\b.*\badd\b.*\bcheck\b/, says: 'checks what others write anew' },
  { of: /^truncate\b/, says: 'empties a table' },
];

/**
 * Statements that read or write a whole table under a lock. `small TABLE` allows it for that table.
 */
const waiting: readonly Rule[] = [
  { of: /^create (?:unique )?index (?!concurrently)/, says: 'builds an index while others wait' },
  {
    of: new RegExp(
      '\\badd (?:constraint \\w+ )?(?:check|foreign key|unique|primary key|exclude)\\b' +
        '(?!.*\\bnot valid\\b)',
    ),
    says: 'reads the whole table while others wait: add it `not valid`, validate it by another',
  },
  { of: /\bset not null\b/, says: 'reads the whole table while others wait' },
  { of: /\bstored\b/, says: 'writes the whole table anew' },
  {
    of: /\bdefault \(?(?:gen_random_uuid|random|clock_timestamp|nextval)\b/,
    says: 'writes the whole table anew: a default that differs by row',
  },
  { of: /\b(?:big)?serial\b/, says: 'writes the whole table anew' },
  { of: /^(?:update|delete)\b/, says: 'holds rows that others wait for' },
  { of: /^(?:lock|cluster|reindex|vacuum)\b/, says: 'keeps others waiting' },
];

const clean = (text: string) =>
  text
    .replace(/--.*$/gm, '')
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replace(/'(?:[^']|'')*'/g, "''")
    .toLowerCase()
    .split(';')
    .map((each) => each.replace(/\s+/g, ' ').trim())
    .filter(Boolean);

/** The table that a statement changes. */
function tableOf(statement: string): string {
  const found =
    /^alter table (?:if exists )?(?:only )?(\w+)/.exec(statement) ??
    /^create (?:unique )?index (?:.*? )?on (?:only )?(\w+)/.exec(statement) ??
    /^(?:lock(?: table)?|truncate(?: table)?|cluster|update|delete from) (\w+)/.exec(statement);
  return found?.[1] ?? '';
}

/** The faults of the files that a version adds, a sentence each. */
function faultsOf(name: string, text: string, known: readonly string[]): string[] {
  const statements = clean(text);
  const own = new Set(
    statements.flatMap((each) => /^create table (?:if not exists )?(\w+)/.exec(each)?.[1] ?? []),
  );
  const small = [...text.matchAll(/^-- small (\w+): ./gm)].map(([, table]) => table);
  const from = /^-- compatible from (\d{3}): ./m.exec(text)?.[1];
  const isAlone = /^-- no transaction: ./m.test(text);
  const told: string[] = [];
  if (from !== undefined && !known.some((each) => numberOf(each) === from && each < name)) {
    told.push(`compatible from ${from}, which is no migration before it`);
  }
  if (from === undefined && /^-- compatible from/m.test(text)) {
    told.push('names no version: -- compatible from 002: who stopped using it');
  }
  for (const each of statements) {
    const table = tableOf(each);
    const isNew = own.has(table);
    const takes = isNew || from !== undefined ? [] : taking.filter(breaks(each));
    const waits =
      isNew || small.includes(table) || each.startsWith('create table')
        ? []
        : waiting.filter(breaks(each));
    for (const { says } of [...takes, ...waits]) told.push(`${says}: ${each}`);
    const isConcurrent = / index concurrently /.test(each);
    if (isConcurrent !== isAlone) {
      told.push(
        isConcurrent
          ? `needs the line "-- no transaction: why": ${each}`
          : `stands with an index that is built concurrently, and may run twice: ${each}`,
      );
    }
  }
  for (const [, index] of statements.join(';').matchAll(/index concurrently (?!if)(\w+)/g)) {
    const dropped = `drop index concurrently if exists ${index}`;
    if (!statements.includes(dropped)) told.push(`needs before it: ${dropped}`);
  }
  return told.map((each) => `${name}: ${each}`);
}

test('the version before lives with every migration, and none keeps everybody waiting', () => {
  // The first makes the schema in an empty database, beside no other version.
  const wrong = ownMigrations
    .slice(1)
    .flatMap((name) =>
      faultsOf(name, readFileSync(new URL(name, migrationsFolder), 'utf8'), ownMigrations),
    );
  assert.deepEqual(wrong, []);
  const numbers = ownMigrations.map(numberOf);
  assert.equal(new Set(numbers).size, numbers.length, 'two migrations have one number');
  assert.ok(numbers.every((each) => /^\d{3}$/.test(each)));
});

/** The files of a made-up version, and the next one. */
const known = ['001.sql', '002_x.sql', '003_y.sql'];
const next = '004_z.sql';

const kept: Readonly<Record<string, string>> = {
  'a column that may be empty': 'alter table swaps add column a text, add column b int;',
  'a column with a default': 'alter table swaps add column a text not null default 0;',
  'a table of its own':
    'create table a (b int not null, c int generated always as (b) stored, check (b > 0));\n' +
    'create index on a (b);\nalter table a alter b set not null;',
  'a check that is validated elsewhere': 'alter table swaps add check (a > 0) not valid;',
  'an index': `-- no transaction: swaps is large
    drop index concurrently if exists i; create index concurrently i on swaps (a);`,
  'a small table': '-- small halts: a row a chain\ncreate index on halts (at);',
  'what nobody uses since':
    '-- compatible from 002: 003 reads another\nalter table s drop column a;',
  'words in a text or a comment': "-- drop column\ncomment on table swaps is 'rename to; lock';",
  'a function in place of another': 'create or replace function f() returns int as $$ x; $$;',
};
for (const [what, text] of Object.entries(kept)) {
  test(`a migration may have ${what}`, () => {
    assert.deepEqual(faultsOf(next, text, known), []);
  });
}

const refused: Readonly<Record<string, string>> = {
  'a dropped column': 'alter table swaps drop column a;',
  'a dropped table': 'drop table a;',
  'a renamed column': 'alter table swaps rename column a to b;',
  'another type': 'alter table swaps alter column a type bigint;',
  'a column that others do not fill': 'alter table swaps add column a text not null;',
  'one of two such': 'alter table swaps add column b int default 1, add column a int not null;',
  'a value that must be there': '-- small swaps: no\nalter table swaps alter a set not null;',
  'a default that ends': 'alter table swaps alter a drop default;',
  'a check in another’s place':
    'alter table swaps drop constraint c, add constraint c check (a > 1) not valid;',
  'an index that writers wait for': 'create index i on swaps (a);',
  'a check that is read under a lock': 'alter table swaps add check (a > 0);',
  'a foreign key that is read under a lock':
    'alter table swaps add constraint f foreign key (a) references b (c);',
  'a column that is computed and stored':
    'alter table swaps add column a int generated always as (b) stored;',
  'a default that differs by row': 'alter table swaps add column a uuid default gen_random_uuid();',
  'an emptied table': 'truncate swaps;',
  'a value that is looked for in all rows':
    '-- compatible from 002: 003 writes it\nalter table swaps alter a set not null;',
  'a column that counts by itself': 'alter table swaps add column a bigserial;',
  'every row changed at once': 'update swaps set a = 1;',
  'a lock': 'lock table swaps;',
  'an index inside of a transaction': 'create index concurrently i on swaps (a);',
  'an index that cannot be built twice':
    '-- no transaction: large\ncreate index concurrently i on swaps (a);',
  'more with an index': `-- no transaction: large
    drop index concurrently if exists i; create index concurrently i on swaps (a);
    update swaps set a = a + 1;`,
  'a version that is no migration': '-- compatible from 998: 998 is not here\nselect 1;',
  'no reason': '-- compatible from 002\nalter table swaps drop column a;',
};
for (const [what, text] of Object.entries(refused)) {
  test(`a migration may not have ${what}`, () => {
    assert.notDeepEqual(faultsOf(next, text, known), []);
  });
}
