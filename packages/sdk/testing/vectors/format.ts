// Tests only: vectors as JSON. A refused case is the honest one with a change (RFC 6902).

import { VerificationError } from '../../errors.ts';
import { alterations } from '../honest.ts';

export type Change =
  | { readonly op: 'replace' | 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

export type Refusal = Readonly<Record<'field' | 'expected' | 'got', string>>;
export type Refused = { readonly why: string; readonly change: readonly Change[] } & Refusal;

type Tree = Record<string, unknown>;

/** A copy with the changes; lists are changed at a number, or at `-` for their end. */
export function changed<T>(value: T, changes: readonly Change[]): T {
  const copy = { whole: structuredClone(value) as unknown };
  for (const change of changes) {
    const names = ['whole', ...change.path.split('/').slice(1)];
    const last = names.pop() as string;
    const holder = names.reduce((all: unknown, name) => (all as Tree)[name], copy) as Tree;
    if (change.op === 'remove') {
      if (Array.isArray(holder)) holder.splice(Number(last), 1);
      else delete holder[last];
    } else if (Array.isArray(holder) && last === '-') holder.push(change.value);
    else if (Array.isArray(holder) && change.op === 'add') {
      holder.splice(Number(last), 0, change.value);
    } else holder[last] = change.value;
  }
  return copy.whole as T;
}

export const replace = (path: string, value: unknown): Change => ({ op: 'replace', path, value });

/** The kinds of alterations that are told apart by a reader: the others add bytes alone. */
const told = ['last character', 'more', 'flipped', 'shorter', 'longer', 'something', 'absent'];

/** One change for each field: its last character, one more, one item less or more, and absence. */
export function fieldChanges(value: unknown, root: string) {
  return [...alterations(value)].flatMap(({ path, how, value: whole }) => {
    const names = path.split(/[.[\]]+/).filter((name) => name !== '');
    const at = names.reduce((all: unknown, name) => (all as Tree | undefined)?.[name], whole);
    if (path === '' || !told.includes(how) || (how === 'longer' && !Array.isArray(at))) return [];
    const pointer = `${root}/${names.join('/')}`;
    const change: Change =
      how === 'absent' ? { op: 'remove', path: pointer } : replace(pointer, at);
    return [{ path, how, change }];
  });
}

/** A reason may name each byte that differs: its beginning tells enough. */
const mostReason = 200;

/** Throws what is no VerificationError. */
export function asRefusal(error: unknown): Refusal {
  if (!(error instanceof VerificationError)) throw error;
  const { field } = error;
  const [expected, got] = [error.expected, error.got].map((each) => {
    return String(each).slice(0, mostReason);
  }) as [string, string];
  return { field, expected, got };
}

/** Why it is refused. Throws where it is not, or not by a VerificationError. */
export function refusalOf(name: string, check: () => unknown): Refusal {
  try {
    check();
  } catch (error) {
    return asRefusal(error);
  }
  throw new Error(`${name} was believed`);
}

const mostLineWidth = 110;

/** JSON whose short parts stand on one line each. Amounts are decimal strings. */
export function textOf(value: unknown): string {
  const plain: unknown = JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each)),
  );
  return `${written(plain, '')}\n`;
}

function written(value: unknown, indent: string): string {
  const short = JSON.stringify(value);
  const isLeaf = typeof value !== 'object' || value === null;
  if (isLeaf || indent.length + short.length <= mostLineWidth) return short;
  const inner = `${indent} `;
  const [open, parts, close] = Array.isArray(value)
    ? ['[', value.map((each) => written(each, inner)), ']']
    : ['{', Object.entries(value).map(([name, each]) => `"${name}":${written(each, inner)}`), '}'];
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${indent}${close}`;
}
