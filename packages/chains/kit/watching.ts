// Whom an adapter follows. Escrows that are only read are kept as long as that takes.

import type { EscrowFacts } from '@parley/core/facts.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { WatchedEscrow } from '../interface/reading.ts';

export type Memory = {
  keep(escrow: WatchedEscrow): unknown;
  drop(address: string): void;
  owe(address: string): unknown;
};

type Methods = Pick<
  ChainAdapter,
  'watch' | 'unwatch' | 'changes' | 'look' | 'heads' | 'readEscrow'
>;

export type Watching = {
  readonly methods: Methods;
  keeping<T>(escrows: readonly WatchedEscrow[], work: () => Promise<T>): Promise<T>;
};

/** Escrows in one look: a leg's own, and those that it moved off, of which there are 19 at most. */
const mostEscrows = 50;

/** From `changes` and `look` of an adapter as if all that it keeps were watched. */
export function watching(
  { keep, drop, owe }: Memory,
  { changes, look }: Pick<ChainAdapter, 'changes' | 'look'>,
): Watching {
  const watched = new Set<string>();
  /** By address: how many look at it now. */
  const looking = new Map<string, number>();
  const letGo = (address: string) => {
    const left = (looking.get(address) ?? 1) - 1;
    if (left > 0) {
      looking.set(address, left);
      return;
    }
    looking.delete(address);
    if (!watched.has(address)) drop(address);
  };
  const keeping: Watching['keeping'] = async (escrows, work) => {
    if (escrows.length > mostEscrows) throw new Error(`${escrows.length} escrows in one look`);
    const kept: string[] = [];
    try {
      for (const each of escrows) {
        const { address } = each;
        keep(each);
        looking.set(address, (looking.get(address) ?? 0) + 1);
        kept.push(address);
      }
      return await work();
    } finally {
      for (const each of kept) letGo(each);
    }
  };
  const lookAt: Methods['look'] = (escrows, signal) =>
    keeping(escrows, () => look(escrows, signal));
  return {
    keeping,
    methods: {
      watch: (escrows) => {
        for (const each of escrows) {
          const { address } = each;
          keep(each);
          if (watched.has(address)) continue;
          watched.add(address);
          owe(address);
        }
      },
      unwatch: (addresses) => {
        for (const each of addresses) if (watched.delete(each) && !looking.has(each)) drop(each);
      },
      changes: async (signal) => {
        const { touched, ...read } = await changes(signal);
        return { ...read, touched: touched.filter((each) => watched.has(each)) };
      },
      look: lookAt,
      heads: async (signal) => (await lookAt([], signal)).heads,
      readEscrow: async (escrow, signal) => {
        const { facts } = await lookAt([escrow], signal);
        return facts[0] as EscrowFacts;
      },
    },
  };
}
