// Earlier answers of the market, by kind, so that requests speak of things that exist.

import type { Recall } from './values.ts';
import { kindOf } from './values.ts';

export type Memory = {
  /** Takes what is worth asking about again out of an answer. */
  learn(url: string, body: unknown): void;
  /** Keeps this value for good. */
  keep(kind: string, value: string): void;
  readonly recall: (recall: Recall) => string;
};

/** The values of a kind: those kept for good, and the last that were answered. */
type Known = { readonly kept: string[]; readonly recent: string[] };

const mostRecent = 24;
const longest = 2_000;

export function createMemory(): Memory {
  const kinds = new Map<string, Known>();
  const knownOf = (kind: string): Known => {
    const known = kinds.get(kind) ?? { kept: [], recent: [] };
    kinds.set(kind, known);
    return known;
  };
  const note = (kind: string, value: string) => {
    const { kept, recent } = knownOf(kind);
    if (value.length > longest || kept.includes(value) || recent.includes(value)) return;
    recent.push(value);
    if (recent.length > mostRecent) recent.shift();
  };
  const learn = (value: unknown, name: string, parent: string): void => {
    if (typeof value === 'string') note(name === 'id' ? parent : kindOf(name), value);
    if (Array.isArray(value)) {
      for (const each of value) learn(each, name, parent);
      return;
    }
    if (value === null || typeof value !== 'object') return;
    const owner = name === '' ? parent : kindOf(name);
    for (const [field, each] of Object.entries(value)) learn(each, field, owner);
  };
  return {
    learn: (url, body) =>
      learn(body, '', kindOf((url.split('?')[0] as string).split('/')[2] ?? '')),
    keep: (kind, value) => {
      knownOf(kindOf(kind)).kept.push(value);
    },
    recall: ({ kind, at }) => {
      const { kept, recent } = knownOf(kind);
      const turn = at % 4 < 3 ? [kept, recent] : [recent, kept];
      const from = turn.find((each) => each.length > 0);
      return from?.[Math.floor(at / 4) % from.length] ?? 'nothing';
    },
  };
}
