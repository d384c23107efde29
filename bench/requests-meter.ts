// The cost of one request for a market in this process: processor time, the longest stretch in
// which nothing else could be done, exchanges with nodes, statements of SQL.

import { AsyncLocalStorage } from 'node:async_hooks';
import { ClientRequest } from 'node:http';
import pg from 'pg';
import { isMiniature } from './miniature.ts';
import { median } from './report.ts';

export type Figures = {
  readonly processorMs: number;
  readonly stallMs: number;
  /** Over HTTP, and the questions in them: a batch asks several. */
  readonly exchanges: number;
  readonly nodeCalls: number;
  readonly statements: number;
};

export type Meter = {
  /** The answer, and what it took under this name but for its stall. */
  measure<A>(name: string, work: () => Promise<A>): Promise<A>;
  /** The same with its stall alone, since to watch takes a whole processor. */
  watch<A>(name: string, work: () => Promise<A>): Promise<A>;
  /** Medians by name. */
  figures(): ReadonlyMap<string, Figures>;
};

/** The cost of the request alone: the questions that the dev chains of this process ask beside it
 * are not counted. */
const counting = new AsyncLocalStorage<{
  exchanges: number;
  nodeCalls: number;
  statements: number;
}>();

export function startMeter(): Meter {
  countExchanges();
  countStatements();
  const taken = new Map<string, Partial<Figures>[]>();
  const note = (name: string, figures: Partial<Figures>) => {
    taken.set(name, [...(taken.get(name) ?? []), figures]);
  };
  return {
    measure: async (name, work) => {
      const counts = { exchanges: 0, nodeCalls: 0, statements: 0 };
      const before = process.cpuUsage();
      const answer = await counting.run(counts, work);
      const { user, system } = process.cpuUsage(before);
      note(name, { processorMs: (user + system) / 1_000, ...counts });
      return answer;
    },
    watch: async (name, work) => {
      const watched = watchTurns();
      try {
        return await work();
      } finally {
        note(name, { stallMs: watched.end() });
      }
    },
    figures: () => new Map([...taken].map(([name, all]) => [name, mediansOf(all)])),
  };
}

/**
 * The longest stretch between two turns of the event loop, in this thread's processor time: the
 * other work of the machine is not a stall of the market. The loop turns without a rest for it.
 */
function watchTurns(): { end(): number } {
  const now = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let last = now();
  let longest = 0;
  // A miniature is not worth a processor.
  let goesOn = !isMiniature;
  const turn = () => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
    if (goesOn) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    end: () => {
      goesOn = false;
      return Math.max(longest, now() - last);
    },
  };
}

function mediansOf(all: readonly Partial<Figures>[]): Figures {
  const names = ['processorMs', 'stallMs', 'exchanges', 'nodeCalls', 'statements'] as const;
  return Object.fromEntries(
    names.map((name) => [name, median(all.flatMap((each) => each[name] ?? []))]),
  ) as Figures;
}

/** Everything that leaves by HTTP: the requests measured come in without a socket. */
function countExchanges(): void {
  const { prototype } = ClientRequest;
  const end = prototype.end as (...args: unknown[]) => unknown;
  Reflect.set(prototype, 'end', function counted(this: ClientRequest, ...args: unknown[]) {
    const counts = counting.getStore();
    if (counts !== undefined) {
      counts.exchanges += 1;
      counts.nodeCalls += questionsIn(args[0]);
    }
    return end.apply(this, args);
  });
}

function questionsIn(body: unknown): number {
  const isBatch = typeof body === 'string' && body.startsWith('[');
  return isBatch ? (JSON.parse(body) as unknown[]).length : 1;
}

function countStatements(): void {
  const { prototype } = pg.Client;
  const query = prototype.query as (...args: unknown[]) => unknown;
  Reflect.set(prototype, 'query', function counted(this: pg.Client, ...args: unknown[]) {
    const counts = counting.getStore();
    if (counts !== undefined) counts.statements += 1;
    return query.apply(this, args);
  });
}
