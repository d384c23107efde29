// Secrets that a run must not leave behind: by name, and the search for each of them in everything
// that the run wrote.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Database } from '@parley/market/db/database.ts';
import { base58 } from '@scure/base';

export type Secrets = ReadonlyMap<string, string>;

/** `note` keeps a value under a name, and makes one up where none is given. */
export function secretsOfRun(): {
  readonly secrets: Secrets;
  note(what: string, value?: string): string;
} {
  const secrets = new Map<string, string>();
  return {
    secrets,
    note: (what, value = randomBytes(16).toString('hex')) => {
      secrets.set(`${what} ${secrets.size}`, value);
      return value;
    },
  };
}

/** Base64 of bytes wherever they stand among others: the letters that are theirs alone. */
function base64Within(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((before * 8) / 6), whole);
  });
}

/** The same text in other letters: escapes of JSON undone, and words of base58 as hex. */
function unwrapped(text: string): string {
  const plain = text.replace(/\\u00([0-9a-f]{2})/gi, (_, byte: string) =>
    String.fromCharCode(Number.parseInt(byte, 16)),
  );
  const words = new Set(text.match(/[1-9A-HJ-NP-Za-km-z]{43,2000}/g));
  const read = [...words].map((word) => Buffer.from(base58.decode(word)).toString('hex'));
  return [plain.replaceAll('-', '+').replaceAll('_', '/'), ...read].join('\n');
}

/** The forms of bytes: in hex, in base64, as they are, as numbers one by one, and as one number. */
function formsOf(bytes: Buffer): string[] {
  const numbers = [...bytes].map(String).join(',');
  const whole = BigInt(`0x${bytes.toString('hex')}`).toString();
  return [bytes.toString('hex'), ...base64Within(bytes), bytes.toString('latin1'), numbers, whole];
}

/** Names of the secrets in the text, as they are or in any of the forms of their bytes. */
export function found(text: string, of: Secrets): string[] {
  if (of.size === 0) return [];
  const all = `${text}\n${unwrapped(text)}\n${text.replace(/\s/g, '')}`.toLowerCase();
  const sought = [...of].map(([what, value]) => ({ what, forms: allFormsOf(value) }));
  // One pass for all of them, and where it finds nothing no other is needed.
  const any = sought.flatMap(({ forms }) =>
    forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')),
  );
  if (!new RegExp(any.join('|')).test(all)) return [];
  return sought
    .filter(({ forms }) => forms.some((form) => all.includes(form)))
    .map(({ what }) => what);
}

/** In small letters. */
function allFormsOf(value: string): string[] {
  const isHex = /^(0x)?[0-9a-f]{64,}$/i.test(value);
  const read = isHex ? formsOf(Buffer.from(value.replace(/^0x/, ''), 'hex')) : [];
  return [value, ...formsOf(Buffer.from(value)), ...read].map((form) => form.toLowerCase());
}

/** Every row of every table as text. */
export async function rowsOfAll(db: Pick<Database, 'rows'>): Promise<string> {
  const tables = await db.rows<{ name: string }>({
    name: 'test_tables',
    text: `select tablename as name from pg_tables where schemaname = 'public'`,
    values: [],
  });
  assert.ok(tables.length > 10);
  const parts: string[] = [];
  for (const { name } of tables) {
    const text = `select t::text as row from ${name} t`;
    const rows = await db.rows<{ row: string }>({ name: `test_rows_${name}`, text, values: [] });
    parts.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return parts.join('\n');
}
