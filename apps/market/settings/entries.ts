// A setting that is a list of objects: the text that anybody may have written, before and after its
// check.

import { jsonOf } from '@parley/core/unchecked.ts';

export type ReadonlyDeep<T> = T extends object
  ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
  : T;

export const closed = { additionalProperties: false } as const;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function shown(value: unknown): string {
  const text = jsonOf(value) ?? 'missing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

export type Parsed<T> = { readonly values: readonly T[]; readonly wrong: readonly string[] };

type Kind<T> = {
  readonly setting: string;
  readonly wanted: string;
  readonly least: number;
  readonly most: number;
  /** Fields that name an entry in a sentence, such as `entry 2 ("USD on ethereum")`. */
  readonly namedBy: readonly string[];
  /** The value, or the sentence that says what is wrong with it. */
  read(entry: Record<string, unknown>): T | string;
  isSame(one: T, other: T): boolean;
  /** The sentence about the second of two that are the same. */
  readonly twice: string;
};

export function entriesOf<T extends object>(given: unknown, kind: Kind<T>): Parsed<T> {
  const { setting, wanted, least, most } = kind;
  if (!Array.isArray(given) || given.length < least || given.length > most) {
    return { values: [], wrong: [`${setting} must be ${wanted}`] };
  }
  const wrong: string[] = [];
  const values: T[] = [];
  for (const [at, entry] of given.entries()) {
    const said = `${setting}, ${entryName(entry, at, kind.namedBy)}: `;
    const one = isObject(entry) ? kind.read(entry) : 'the entry must be an object';
    if (typeof one === 'string') {
      wrong.push(said + one);
      continue;
    }
    if (values.some((each) => kind.isSame(each, one))) wrong.push(said + kind.twice);
    values.push(one);
  }
  return { values, wrong };
}

function entryName(entry: unknown, at: number, fields: readonly string[]): string {
  const words = isObject(entry) ? fields.map((field) => entry[field]) : [];
  const name = words.filter((each) => typeof each === 'string').join(' on ');
  return `entry ${at + 1}${name === '' ? '' : ` (${shown(name)})`}`;
}

export function fieldFault(field: string, parse: () => unknown): string | null {
  try {
    parse();
    return null;
  } catch (error) {
    return `field "${field}": ${(error as Error).message}`;
  }
}
