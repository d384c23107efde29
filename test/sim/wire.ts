// What lies between one process of the market and everything outside of it: every statement, commit
// and call of a node passes here, one at a time, the next chosen by the seed. Here a process dies
// (before what it asked for happens, or after), and connections to the database are lost.
//
// A dead process gets no answers any more: what it awaits stays open for ever, and what it had not
// committed is rolled back.

import type { Database, Statement, Tx } from '../../server/db/database.ts';
import type { Chance } from './chance.ts';

export type Fate = 'crash' | 'cut';

/** What is to happen at the `left`-th passage from now on; with `at`, of those of this name. */
export type Doom = {
  readonly fate: Fate;
  left: number;
  readonly when: 'before' | 'after';
  readonly at: string | null;
};

export type Wire = {
  readonly db: Database;
  /** A call of a node. */
  at<R>(name: string, call: () => R | Promise<R>): Promise<R>;
  /** This happens once. */
  doom(doom: Doom): void;
  /** Nothing of that happens any more. */
  spare(): void;
  /** Ends the process now. */
  kill(where: string): void;
  isDead(): boolean;
  /** Resolves at its death. */
  readonly died: Promise<string>;
};

class Dead extends Error {}

const lostConnection = () =>
  Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });

const never = <R>(): Promise<R> => new Promise(() => {});

/** Turns of the event loop in which whatever runs beside comes to what it asks for next. */
const quietTurns = 4;

export type WireParts = {
  readonly real: Database;
  readonly chance: Chance;
  readonly onFate: (fate: Fate, where: string) => void;
  /** Told the name of everything that passes. */
  readonly onPass?: (name: string) => void;
};

type Line = { take(): Promise<() => void> };

/** Who waits for the database, one served at a time. */
function createLine(chance: Chance): Line {
  const waiting: ((done: () => void) => void)[] = [];
  let busy = false;
  let planned = false;
  const serve = () => {
    planned = false;
    if (busy || waiting.length === 0) return;
    const [next] = waiting.splice(waiting.length > 1 ? chance.int(0, waiting.length - 1) : 0, 1);
    busy = true;
    next?.(() => {
      busy = false;
      plan();
    });
  };
  const plan = () => {
    if (planned || waiting.length === 0) return;
    planned = true;
    let turns = quietTurns;
    const turn = () => {
      turns -= 1;
      if (turns === 0) serve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  };
  return {
    take: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        plan();
      }),
  };
}

/** `isNode`: a call of a node, which has no connection to the database to lose. */
type Pass = <R>(name: string, work: () => R | Promise<R>, isNode?: boolean) => Promise<R>;

/** Work inside a real transaction: what was cut off or dies rolls back, whoever catches what. */
function transactionsOn({ pass, died }: { pass: Pass; died: Promise<string> }) {
  return async <R>(tx: Tx, work: (tx: Tx) => Promise<R>): Promise<R> => {
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
    const own: Tx = { rows: (statement) => guarded(statement.name, () => tx.rows(statement)) };
    const ended = died.then(() => Promise.reject(new Dead()));
    ended.catch(() => {});
    const result = await Promise.race([work(own), ended]);
    await guarded('commit', async () => {});
    return result;
  };
}

export function createWire({ real, chance, onFate, onPass }: WireParts): Wire {
  const line = createLine(chance);
  const dooms: Doom[] = [];
  const death = Promise.withResolvers<string>();
  const sessions = new Set<{ end(): void }>();
  let dead = false;

  const kill = (where: string) => {
    if (dead) return;
    dead = true;
    for (const each of sessions) each.end();
    death.resolve(where);
  };
  const drawn = (name: string, survives: boolean): Doom | undefined => {
    for (const each of dooms) if (each.at === null || name.endsWith(each.at)) each.left -= 1;
    const at = dooms.findIndex((each) => each.left <= 0 && !(survives && each.fate === 'cut'));
    const [due] = at === -1 ? [] : dooms.splice(at, 1);
    if (due !== undefined) onFate(due.fate, `${due.when} ${name}`);
    return due;
  };
  const strike = (due: Doom | undefined, when: Doom['when'], name: string) => {
    if (due?.when === when) {
      if (due.fate === 'cut') throw lostConnection();
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
    strike(due, 'after', name);
    return result;
  };
  /** In the line; what a dead process asked for is not answered. */
  const served = async <R>(work: () => Promise<R>): Promise<R> => {
    const done = await line.take();
    try {
      if (dead) throw new Dead();
      return await work();
    } catch (error) {
      if (dead || error instanceof Dead) return never();
      throw error;
    } finally {
      done();
    }
  };
  const within = transactionsOn({ pass, died: death.promise });
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
    rows: (statement) => served(() => pass(statement.name, () => rowsOf(statement))),
    // `begin` goes out with the first statement, which here saves time and nothing else.
    transaction: (work) =>
      served(() => pass('answer of commit', () => real.pipelined((tx) => within(tx, work)))),
    pipelined: (work) =>
      served(() =>
        pass('answer of commit', () =>
          real.pipelined((tx) =>
            within(tx, (own) => work({ rows: own.rows, atCommit: tx.atCommit })),
          ),
        ),
      ),
    session: () =>
      served(async () => {
        const own = await real.session();
        sessions.add(own);
        const rows = <Row>(statement: Statement) =>
          served(() =>
            pass(statement.name, () => own.rows<Row>(statement)).catch((error: unknown) => {
              own.end();
              throw error;
            }),
          );
        return { rows, lost: () => own.lost(), end: () => own.end() };
      }),
    // Nobody listens: then nothing is remembered between requests, and every one looks anew.
    listen: () => Promise.reject(lostConnection()),
    close: async () => {},
  };
  return {
    db,
    at: async (name, call) => {
      try {
        return await pass(name, call, true);
      } catch (error) {
        if (dead || error instanceof Dead) return never();
        throw error;
      }
    },
    doom: (each) => dooms.push(each),
    spare: () => {
      dooms.length = 0;
    },
    kill,
    isDead: () => dead,
    died: death.promise,
  };
}
