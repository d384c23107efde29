// The wire between one process of the market and everything outside of it: every statement, commit
// and call of a node passes here. Here a process dies (before what it asked for happens, or after),
// and connections to the database are lost. A dead process gets no answers any more: its calls stay
// open for ever, and its uncommitted work is rolled back.
//
// All processes wait for the database in one line: one is served at a time, and the seed picks
// which. Transactions commit out of order: one may be held back before its commit while others are
// served. A statement that waits for a lock of one held back lets it go on.

import type { Database, Session, Statement, Tx } from '@parley/market/db/database.ts';
import type { Chance } from './chance.ts';

export type Line = ReturnType<typeof createLine>;
type Turn = Awaited<ReturnType<Line['take']>>;

/** Turns of the event loop in which whatever runs beside comes to what it asks for next. */
const quietTurns = 4;

type Held = { left: number; resume(loose: boolean): void; readonly finished: Promise<void> };

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function quiet(): Promise<void> {
  for (let turn = 0; turn < quietTurns; turn += 1) await nextTurn();
}

async function waitsForLock(real: Database): Promise<boolean> {
  const waiting = await real.rows({
    name: 'sim_waits_for_lock',
    text: `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
    values: [],
  });
  return waiting.length > 0;
}

export function createLine(real: Database, chance: Chance) {
  const waiting: (() => void)[] = [];
  const held: Held[] = [];
  const settling = new Set<Promise<unknown>>();
  let busy = false;
  let planned = false;

  const serve = () => {
    if (busy) return;
    for (const each of [...held]) if (each.left <= 0) release(each);
    const [first] = held;
    if (waiting.length === 0 && first !== undefined) release(first);
    if (waiting.length === 0) return;
    for (const each of held) each.left -= 1;
    const [next] = waiting.splice(waiting.length > 1 ? chance.int(0, waiting.length - 1) : 0, 1);
    busy = true;
    next?.();
  };
  const release = (each: Held) => {
    held.splice(held.indexOf(each), 1);
    waiting.push(() => each.resume(false));
  };
  const plan = async () => {
    if (planned || busy) return;
    planned = true;
    await quiet();
    while (settling.size > 0) await Promise.all(settling).then(quiet);
    planned = false;
    serve();
  };
  const free = () => {
    busy = false;
    if (waiting.length > 0 || held.length > 0) void plan();
  };

  /** Those held back commit now, whoever is being served. */
  const letGo = async () => {
    if (held.length === 0) return;
    for (const each of held.splice(0)) {
      each.resume(true);
      await each.finished;
    }
    await quiet();
  };
  const run = async <R>(statement: () => Promise<R>): Promise<R> => {
    const running = statement();
    if (held.length === 0) return running;
    let isRunning = true;
    const end = () => {
      isRunning = false;
    };
    const ended = running.then(end, end);
    while (isRunning) {
      const waits = await Promise.race([ended.then(() => false), waitsForLock(real)]);
      if (waits && isRunning) await letGo();
    }
    return running;
  };

  const turnOf = () => {
    const finished = Promise.withResolvers<void>();
    let own: Held | null = null;
    let holds = true;
    let isOver = false;
    return {
      /** Runs a statement; those held back go on first where it waits for one of them. */
      run,
      /** Those held back go on first. */
      alone: letGo,
      /** Others are served; resolves when the turn goes on, after so many of them at the latest. */
      holdBack: (servings: number) =>
        new Promise<void>((resolve) => {
          own = {
            left: servings,
            finished: finished.promise,
            resume: (loose) => {
              // The holder died while it waited to go on.
              if (isOver) return loose ? undefined : free();
              holds = !loose;
              resolve();
            },
          };
          held.push(own);
          holds = false;
          free();
        }),
      end: () => {
        const at = own === null ? -1 : held.indexOf(own);
        if (at !== -1) held.splice(at, 1);
        isOver = true;
        finished.resolve();
        if (holds) free();
      },
    };
  };
  return {
    take: () =>
      new Promise<ReturnType<typeof turnOf>>((resolve) => {
        waiting.push(() => resolve(turnOf()));
        void plan();
      }),
    /** The line serves no other before that. */
    await: (settled: Promise<unknown>) => {
      const each: Promise<unknown> = settled.catch(() => {}).then(() => settling.delete(each));
      settling.add(each);
    },
    /** How many wait or are held back. */
    held: () => held.length,
  };
}

/** `wait`: its answer comes when `meanwhile` is over. */
export type DoomKind = 'crash' | 'cut' | 'wait';

/** The event at the `left`-th passage from now on; with `at`, of those of this name. */
export type Doom = {
  readonly kind: DoomKind;
  /** Passages count for as long as this holds. */
  readonly from?: () => boolean;
  /** Passages that come before, in turn. */
  readonly after?: string[];
  readonly meanwhile?: () => Promise<void>;
  left: number;
  readonly when: 'before' | 'after';
  readonly at: string | null;
};

export type Wire = ReturnType<typeof createWire>;

class Dead extends Error {}

const lostConnection = () =>
  Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });

const unlock: Statement = {
  name: 'sim_unlock',
  text: 'select pg_advisory_unlock_all()',
  values: [],
};

const never = <R>(): Promise<R> => new Promise(() => {});

export type WireParts = {
  readonly real: Database;
  readonly chance: Chance;
  /** The line of all processes on this database; without, this one is alone. */
  readonly line?: Line;
  readonly dooms?: Doom[];
  readonly onDoom: (kind: DoomKind, where: string) => void;
  /** By what it wrote, how many others are served before a commit; 0 = none. */
  readonly holdsBack?: (wrote: ReadonlySet<string>) => number;
  /** Told the name of everything that passes. */
  readonly onPass?: (name: string) => void;
  /** Told of every statement that wrote in a transaction, once that is committed. */
  readonly onStored?: (statement: Statement) => void;
};

/** `isNode`: a call of a node, which has no connection to the database to lose. */
type Pass = <R>(name: string, work: () => R | Promise<R>, isNode?: boolean) => Promise<R>;

type Parts = {
  pass: Pass;
  died: Promise<string>;
  holdsBack: (wrote: ReadonlySet<string>) => number;
};

const reads = /^\s*select/i;

/** A transaction on the real database, and where what it writes is listed. */
type Real = { readonly turn: Turn; readonly tx: Tx; readonly written: Statement[] };

/** Work inside a real transaction: a cut or a death rolls it back, whoever catches the error. */
function transactionsOn({ pass, died, holdsBack }: Parts) {
  return async <R>(
    { turn, tx, written }: Real,
    work: (tx: Tx) => Promise<R>,
    mayHold = true,
  ): Promise<R> => {
    let broken: unknown = null;
    const guarded = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
      if (broken !== null) throw broken;
      try {
        return await pass(name, run);
      } catch (error) {
        if (error instanceof Dead || (error as { code?: string }).code === '08006') broken = error;
        throw error;
      }
    };
    const rows = <Row>(statement: Statement) => {
      if (!reads.test(statement.text)) written.push(statement);
      return guarded(statement.name, () => turn.run(() => tx.rows<Row>(statement)));
    };
    const ended = died.then(() => Promise.reject(new Dead()));
    ended.catch(() => {});
    const result = await Promise.race([work({ rows }), ended]);
    const wrote = new Set(written.map(({ name }) => name));
    const servings = wrote.size > 0 && mayHold ? holdsBack(wrote) : 0;
    if (servings > 0) await Promise.race([turn.holdBack(servings), ended]);
    await guarded('commit', async () => {});
    return result;
  };
}

function isCounted({ from, after = [], at }: Doom, name: string): boolean {
  if (from?.() === false) return false;
  const [next] = after;
  if (next === undefined) return at === null || name.endsWith(at);
  if (name.endsWith(next)) after.shift();
  return false;
}

export function createWire(parts: WireParts) {
  const { real, chance, onDoom, onPass, onStored, holdsBack = () => 0 } = parts;
  const { line = createLine(real, chance), dooms = [] } = parts;
  const death = Promise.withResolvers<string>();
  const sessions = new Set<Session>();
  const underway = new Set<Promise<unknown>>();
  let dead = false;

  const endSession = (session: Session) => {
    sessions.delete(session);
    if (!session.lost()) line.await(session.rows(unlock).finally(() => session.end()));
  };
  /** Its locks are free before anybody else is served. */
  const kill = (where: string) => {
    if (dead) return;
    dead = true;
    death.resolve(where);
    for (const each of sessions) endSession(each);
    line.await(Promise.allSettled(underway));
  };
  const drawn = (name: string, survives: boolean): Doom | undefined => {
    for (const each of dooms) if (isCounted(each, name)) each.left -= 1;
    const at = dooms.findIndex((each) => each.left <= 0 && !(survives && each.kind === 'cut'));
    const [due] = at === -1 ? [] : dooms.splice(at, 1);
    if (due !== undefined) onDoom(due.kind, `${due.when} ${name}`);
    return due;
  };
  const strike = (due: Doom | undefined, when: Doom['when'], name: string) => {
    if (due?.when === when && due.kind !== 'wait') {
      if (due.kind === 'cut') throw lostConnection();
      kill(`${when} ${name}`);
    }
    if (dead) throw new Dead();
  };
  const pass: Pass = async (name, work, isNode = false) => {
    if (dead) throw new Dead();
    onPass?.(name);
    const due = drawn(name, isNode);
    strike(due, 'before', name);
    const result = await work();
    if (due?.kind === 'wait') await due.meanwhile?.();
    strike(due, 'after', name);
    return result;
  };
  /** In the line; a dead process's request is not answered. */
  const served = async <R>(work: (turn: Turn) => Promise<R>): Promise<R> => {
    const turn = await line.take();
    try {
      if (dead) throw new Dead();
      return await work(turn);
    } catch (error) {
      if (dead || error instanceof Dead) return never();
      throw error;
    } finally {
      turn.end();
    }
  };
  const within = transactionsOn({ pass, died: death.promise, holdsBack });
  const committed = async <R>(work: (written: Statement[]) => Promise<R>): Promise<R> => {
    const written: Statement[] = [];
    const running = work(written);
    underway.add(running);
    // Beside the answer, which a dead process does not get.
    const note = () => {
      for (const each of written) onStored?.(each);
    };
    running.then(note, () => {});
    return running.finally(() => underway.delete(running));
  };
  const keys = new Map<string, unknown[]>();
  /** No key changes here: each is looked up once, and every further look-up only waits its turn. */
  const rowsOf = async <Row>(statement: Statement): Promise<Row[]> => {
    if (statement.name !== 'find_live_keys') return real.rows<Row>(statement);
    const asked = JSON.stringify(statement.values[0]);
    const found = keys.get(asked) ?? (await real.rows<Row>(statement));
    keys.set(asked, found);
    return found as Row[];
  };
  const db: Database = {
    rows: (statement) =>
      served((turn) => pass(statement.name, () => turn.run(() => rowsOf(statement)))),
    // `begin` goes out with the first statement, which here saves time and nothing else.
    transaction: (work) =>
      served((turn) =>
        pass('answer of commit', () =>
          committed((written) => real.pipelined((tx) => within({ turn, tx, written }, work))),
        ),
      ),
    pipelined: (work) =>
      served((turn) =>
        pass('pipelined answer of commit', async () => {
          // A statement sent with the commit could wait for a lock unseen.
          await turn.alone();
          return committed((written) =>
            real.pipelined((tx) => {
              const { atCommit } = tx;
              const own = (guarded: Tx) => work({ rows: guarded.rows, atCommit });
              return within({ turn, tx, written }, own, false);
            }),
          );
        }),
      ),
    session: () =>
      served(async () => {
        const own = await real.session();
        sessions.add(own);
        const rows = <Row>(statement: Statement) =>
          served((turn) =>
            pass(statement.name, () => turn.run(() => own.rows<Row>(statement))).catch(
              (error: unknown) => {
                endSession(own);
                throw error;
              },
            ),
          );
        return { rows, lost: () => !sessions.has(own) || own.lost(), end: () => endSession(own) };
      }),
    // No process listens: then nothing is remembered between requests, and every one looks anew.
    listen: () => Promise.reject(lostConnection()),
    close: async () => {},
  };
  return {
    db,
    at: async <R>(name: string, call: () => R | Promise<R>): Promise<R> => {
      try {
        return await pass(name, call, true);
      } catch (error) {
        if (dead || error instanceof Dead) return never();
        throw error;
      }
    },
    /** No planned event happens any more. */
    spare: () => {
      dooms.length = 0;
    },
    kill,
    isDead: () => dead,
    died: death.promise,
  };
}
