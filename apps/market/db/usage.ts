// The use of the database by this process: statements by name with the time they took, failures by
// class of SQLSTATE, and its pool. Plain numbers: two clock readings a statement.

import type pg from 'pg';

type StatementUse = { count: number; seconds: number };

export type DatabaseUsage = {
  /** By name, of which there are as many as statements in the source. */
  readonly statements: ReadonlyMap<string, StatementUse>;
  /** By the first two characters of SQLSTATE (PostgreSQL, appendix A); `other` without one. */
  readonly failures: ReadonlyMap<string, number>;
  /**
   * The durations of the statements; `bounds` in seconds, and the last count is of what took
   * longer.
   */
  readonly durations: { readonly bounds: readonly number[]; readonly counts: readonly number[] };
  /** Connections; `waiting`: callers that wait for one. */
  pool(): { readonly total: number; readonly idle: number; readonly waiting: number };
};

/** A read takes a millisecond, a statement is ended after ten seconds. */
const bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5] as const;

export type Metered = DatabaseUsage & {
  done(name: string, ms: number): void;
  failed(error: unknown): void;
};

export function createUsage(pool: pg.Pool): Metered {
  const statements = new Map<string, StatementUse>();
  const failures = new Map<string, number>();
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  return {
    statements,
    failures,
    durations: { bounds, counts },
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    done: (name, ms) => {
      const seconds = ms / 1_000;
      const use = statements.get(name) ?? { count: 0, seconds: 0 };
      if (use.count === 0) statements.set(name, use);
      use.count += 1;
      use.seconds += seconds;
      let at = 0;
      while (at < bounds.length && seconds > bounds[at]!) at += 1;
      counts[at]! += 1;
    },
    failed: (error) => {
      const { code } = (error ?? {}) as { code?: unknown };
      const kind =
        typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code.slice(0, 2) : 'other';
      failures.set(kind, (failures.get(kind) ?? 0) + 1);
    },
  };
}
