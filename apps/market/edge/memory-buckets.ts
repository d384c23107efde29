// Buckets of one process: a restart opens every window afresh. Instants in milliseconds.

import type { Rule, Tally } from './budgets.ts';

/** Buckets of one rule, about 20 MB; when all windows are open the oldest is dropped for a new. */
const capacity = 100_000;

type Entry = { endsAt: number; used: number };

export type MemoryBuckets = {
  spend(rule: Rule, names: readonly string[], count?: number): Tally;
  giveBack(rule: Rule, names: readonly string[], count?: number): void;
};

export function createMemoryBuckets(now: () => number, most: number = capacity): MemoryBuckets {
  // By when they end, the first to end first: a window that opens again goes to the end.
  const kept = new Map<Rule['name'], Map<string, Entry>>();
  const entriesOf = ({ name }: Rule) => {
    let entries = kept.get(name);
    if (entries === undefined) {
      entries = new Map();
      kept.set(name, entries);
    }
    return entries;
  };
  return {
    spend: (rule, names, count = 1) => {
      const { limit, windowMs } = rule;
      const entries = entriesOf(rule);
      const at = now();
      const found = names.map((name) => openEntry(entries, name, at, windowMs));
      const allowed = found.every((entry) => (entry?.used ?? 0) + count <= limit);
      const buckets = names.map((name, place) => {
        let entry = found[place] ?? null;
        if (allowed) {
          entry ??= newEntry(entries, name, at, windowMs, most);
          entry.used += count;
        }
        if (entry === null) return { used: 0, leftMs: windowMs };
        return { used: entry.used, leftMs: entry.endsAt - at };
      });
      return { allowed, buckets };
    },
    giveBack: (rule, names, count = 1) => {
      for (const name of names) {
        const entry = openEntry(entriesOf(rule), name, now(), rule.windowMs);
        if (entry !== null && entry.used >= count) entry.used -= count;
      }
    },
  };
}

function openEntry(entries: Map<string, Entry>, name: string, at: number, windowMs: number) {
  const entry = entries.get(name);
  if (entry === undefined) return null;
  // A clock set back must not lengthen a window.
  return at < entry.endsAt && entry.endsAt - at <= windowMs ? entry : null;
}

function newEntry(
  entries: Map<string, Entry>,
  name: string,
  at: number,
  windowMs: number,
  most: number,
): Entry {
  entries.delete(name);
  // Two ended ones go for each that comes, so that they never pile up nor take long.
  let ended = 0;
  for (const [oldest, { endsAt }] of entries) {
    if (entries.size < most && (at < endsAt || ended === 2)) break;
    entries.delete(oldest);
    ended += 1;
  }
  const entry = { endsAt: at + windowMs, used: 0 };
  entries.set(name, entry);
  return entry;
}
