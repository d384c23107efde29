// Swaps that differed at the first look, with what was seen of them, until they are looked at
// again. What cannot be looked at again is told as seen once: no difference is lost by it.

import type { ChainKey } from '../../core/families.ts';
import type { Finding, Findings } from './findings.ts';

/** Chains whose escrows, head, or whose sources' agreement could not be had for a swap. */
export type Unread = Readonly<Record<'reads' | 'clocks' | 'sources', Set<string>>>;

/** What one look at a swap found, and what it could not read for it. */
export type Look = {
  readonly found: readonly Finding[];
  readonly unread: Unread;
  /** The chain of each of its escrows, by address. */
  readonly chains: ReadonlyMap<string, ChainKey>;
};

/** Dangers that rows alone prove which nothing changes once they are written: told at once. */
const lasting: ReadonlySet<string> = new Set([
  'escrow_not_of_terms',
  'terms_differ',
  'secret_wrong',
]);

export type Suspects = {
  readonly size: number;
  ids(): string[];
  first(id: string, look: Look, findings: Pick<Findings, 'add'>): void;
  again(id: string, look: Look, findings: Pick<Findings, 'add'>): void;
  /** Those of these that were not looked at again; of all, where none are named. */
  tellLeft(findings: Pick<Findings, 'add'>, ids?: readonly string[]): void;
};

export function createSuspects(): Suspects {
  const known = new Map<string, readonly Finding[]>();
  return {
    get size() {
      return known.size;
    },
    ids: () => [...known.keys()],
    first: (id, { found }, findings) => {
      for (const each of found) if (lasting.has(each.what)) findings.add(each);
      if (found.some(({ what }) => !lasting.has(what))) known.set(id, found);
    },
    again: (id, look, findings) => {
      const before = known.get(id) ?? [];
      known.delete(id);
      const told = new Set(before.filter(({ what }) => lasting.has(what)).map(named));
      for (const each of look.found) if (!told.has(named(each))) findings.add(each);
      const twice = new Set(look.found.map(named));
      const isCut = look.found.some(({ what }) => what === 'ended' || what === 'part_time');
      const rest = before.filter((each) => {
        return !twice.has(named(each)) && (isCut || isUnsure(each, look));
      });
      tellOnce(rest, findings);
    },
    tellLeft: (findings, ids = [...known.keys()]) => {
      for (const id of ids) {
        tellOnce(known.get(id) ?? [], findings);
        known.delete(id);
      }
    },
  };
}

function named({ what, where }: Finding): string {
  return `${what} ${where}`;
}

/** Whether what it rests on could not be read at the second look. */
function isUnsure({ what, where, facts }: Finding, { unread, chains }: Look): boolean {
  if (what === 'sources_disagree') return unread.sources.has(String(facts.chain));
  const [, address = ''] = / escrow (\S+)$/.exec(where) ?? [];
  const chain = chains.get(address);
  if (chain !== undefined) return unread.reads.has(chain);
  return unread.reads.size + unread.clocks.size > 0;
}

function tellOnce(found: readonly Finding[], findings: Pick<Findings, 'add'>): void {
  for (const each of found) {
    if (lasting.has(each.what)) continue;
    const says = `${each.says} (seen once: it could not be looked at again)`;
    findings.add({ ...each, says, facts: { ...each.facts, seenOnce: true } });
  }
}
