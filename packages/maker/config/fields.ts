// Reads one table of the settings, field by field. Every fault is noted with its path, so that one
// start tells all of them; a field that nobody asked for is one.

import { messageOf } from '@parley/sdk/errors.ts';

export type Faults = { note(path: string, sentence: string): void; readonly all: string[] };

export function newFaults(): Faults {
  const all: string[] = [];
  return { all, note: (path, sentence) => all.push(`${path}: ${sentence}`) };
}

type Range = { readonly least: number; readonly most: number };

/** A missing or wrong field reads as a fallback, and is noted. */
export type Fields = {
  has(name: string): boolean;
  fault(name: string, sentence: string): void;
  text(name: string): string;
  /** null: it is not there. */
  optional(name: string): string | null;
  list(name: string, range: { readonly most: number }): readonly unknown[];
  texts(name: string, range: { readonly most: number }): readonly string[];
  oneOf<Word extends string>(name: string, words: readonly Word[], fallback?: Word): Word;
  whole(name: string, range: Range, fallback?: number): number;
  /** Read by `read`, whose error is the fault; null: it is not there. */
  parsed<T>(name: string, read: (given: unknown) => T): T | null;
  /** The tables inside this one, by name. */
  tables(name: string, range: { readonly most: number }): readonly (readonly [string, unknown])[];
  part(name: string): Fields;
  /** Notes what nobody asked for. */
  end(): void;
};

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const longest = 4_096;

export function fieldsOf(value: unknown, path: string, faults: Faults): Fields {
  if (!isTable(value)) faults.note(path || 'the settings', 'must be a table');
  const table = isTable(value) ? value : {};
  const asked = new Set<string>();
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const take = (name: string): unknown => {
    asked.add(name);
    return table[name];
  };
  const fault = (name: string, sentence: string) => faults.note(at(name), sentence);

  const optional = (name: string): string | null => {
    const given = take(name);
    if (given === undefined) return null;
    if (typeof given === 'string' && given !== '' && given.length <= longest) return given;
    fault(name, `must be a text of 1 to ${longest} characters`);
    return null;
  };
  const text = (name: string): string => {
    const given = optional(name);
    if (given === null && table[name] === undefined) fault(name, 'is missing');
    return given ?? '';
  };
  const list = (name: string, { most }: { readonly most: number }): readonly unknown[] => {
    const given = take(name);
    if (given === undefined) return [];
    if (Array.isArray(given) && given.length <= most) return given;
    fault(name, `must be a list of at most ${most}`);
    return [];
  };
  return {
    has: (name: string) => table[name] !== undefined,
    fault,
    text,
    optional,
    list,
    oneOf: <Word extends string>(name: string, words: readonly Word[], fallback?: Word) => {
      const given = fallback !== undefined && table[name] === undefined ? fallback : take(name);
      asked.add(name);
      const found = words.find((each) => each === given);
      if (found === undefined) fault(name, `must be one of ${words.join(', ')}`);
      return found ?? (words[0] as Word);
    },
    whole: (name: string, { least, most }: Range, fallback?: number): number => {
      const given = take(name) ?? fallback;
      const isWhole = typeof given === 'number' && Number.isSafeInteger(given);
      if (isWhole && given >= least && given <= most) return given;
      fault(name, `must be a whole number from ${least} to ${most}`);
      return least;
    },
    texts: (name: string, range: { readonly most: number }): readonly string[] => {
      const given = list(name, range);
      const wrong = given.some((each) => typeof each !== 'string' || each === '');
      if (wrong) fault(name, 'must be a list of texts');
      return wrong ? [] : (given as string[]);
    },
    parsed: <T>(name: string, read: (given: unknown) => T): T | null => {
      const given = take(name);
      if (given === undefined) return null;
      try {
        return read(given);
      } catch (error) {
        fault(name, messageOf(error));
        return null;
      }
    },
    tables: (name: string, range: { readonly most: number }): readonly [string, unknown][] => {
      const given = take(name);
      if (given === undefined) return [];
      const named = isTable(given) ? Object.entries(given) : [];
      if (!isTable(given) || named.length > range.most) {
        fault(name, `must be at most ${range.most} tables`);
        return [];
      }
      return named;
    },
    part: (name: string): Fields => fieldsOf(take(name) ?? {}, at(name), faults),
    end: () => {
      for (const name of Object.keys(table)) {
        if (!asked.has(name)) fault(name, 'is no setting');
      }
    },
  };
}
