// Everything that a server does by itself: a pass, again and again, one at a time. A transaction
// that commits work rings for it (work.ts); a slow poll finds work without a ring. The work of a
// pass needs no clock of this file: tests and simulations call it by hand.

import type { Deps } from './deps.ts';
import { passesOf } from './passes.ts';
import { type Work, workOf } from './work.ts';

/** The poll without a ring: overdue work is found so late where a notice was lost. */
export const pollMs = 10_000;
/** The same while this process hears of no notices. */
export const deafPollMs = 1_000;
/** A pass that failed is not repeated sooner, whoever rings; the wait doubles up to the other. */
export const failureMs = { least: 1_000, most: 30_000 } as const;
/** The same where people wait for what is sent: a database that is back is asked soon. */
export const sendingFailureMs = { least: 1_000, most: 2_000 } as const;
/** A pass that takes longer hangs (passes.ts): its statements end within 15 s each. */
const longestPassMs = 600_000;
/** The same where it asks others' nodes, which may be slow each time and yet answer. */
export const longestNodePassMs = 3_600_000;
/** The random part of a wait, so that processes that started together do not stay in step. */
const jitter = 0.1;

/** When the next pass is to be: `now`, or after so many milliseconds; else when the poll comes. */
export type Next = 'now' | number | undefined;

export type ServiceOptions = {
  readonly name: string;
  /** Ends early when the signal does, or finishes: `stop` waits for it. */
  readonly pass: (signal: AbortSignal) => Promise<Next>;
  /** Work that ends a wait, by this process or another. */
  readonly wokenBy?: readonly Work[];
  /**
   * Any process does the work that is heard of: those that are not the first wait so long for it to
   * be done.
   */
  readonly behindFirstMs?: number;
  /** A process that heard this meanwhile knows that it is done, and does not come at all. */
  readonly doneBy?: Work;
  /** Between two passes without a ring; default `pollMs`, less while no notices are heard. */
  readonly everyMs?: number;
  /** Leaves the database to others for as long as a pass took, and at least so long. */
  readonly restMs?: number;
  readonly failureMs?: { readonly least: number; readonly most: number };
  /** From when on a pass counts as one that hangs; default `longestPassMs`. */
  readonly mostPassMs?: number;
  /** Besides log and metric. */
  readonly failed?: () => void;
};

export type Service = {
  start(): void;
  ring(): void;
  /** No pass begins any more; resolves when the last one has ended. */
  stop(): Promise<void>;
};

type Needs = Pick<Deps, 'db' | 'log' | 'metrics' | 'randomBytes'>;

export function service(deps: Needs, options: ServiceOptions): Service {
  const { name, pass, wokenBy = [], everyMs, restMs, failed } = options;
  const { mostPassMs = longestPassMs, behindFirstMs = 0, doneBy } = options;
  const { least, most } = options.failureMs ?? failureMs;
  const work = workOf(deps.db);
  const stopping = new AbortController();
  const bell = createBell();
  const pulse = passesOf(deps.db).join(name);
  let running: Promise<void> | null = null;
  const leaving: (() => void)[] = [];
  let later: NodeJS.Timeout | undefined;

  const woken = (heard: boolean) => {
    if (behindFirstMs === 0 || !heard || work.isFirst()) return bell.ring();
    later ??= setTimeout(() => {
      later = undefined;
      bell.ring();
    }, behindFirstMs).unref();
  };
  const comeNoMore = () => {
    clearTimeout(later);
    later = undefined;
  };

  const poll = () => everyMs ?? (work.isHeard() ? pollMs : deafPollMs);
  const spread = (ms: number) => ms * (1 + (jitter * (deps.randomBytes(1)[0] ?? 0)) / 256);

  const rest = (ms: number) => {
    pulse.within(ms);
    return bell.rest(ms);
  };
  const wait = (ms: number) => {
    pulse.within(ms);
    return bell.wait(ms);
  };

  async function once(fails: Failures): Promise<void> {
    const began = performance.now();
    pulse.within(mostPassMs);
    let next: Next;
    try {
      next = await pass(stopping.signal);
      fails.over();
    } catch (error) {
      if (stopping.signal.aborted) return;
      failed?.();
      const waitMs = Math.min(least * 2 ** Math.min(fails.more(error), 20), most);
      return rest(spread(waitMs));
    }
    if (restMs !== undefined) await rest(Math.max(restMs, performance.now() - began));
    if (next === 'now') return;
    await wait(next === undefined ? spread(poll()) : Math.min(next, poll()));
  }

  async function run(): Promise<void> {
    const fails = countFailures(deps, name);
    while (!stopping.signal.aborted) await once(fails);
  }

  return {
    ring: bell.ring,
    start: () => {
      if (running !== null) return;
      if (wokenBy.length > 0) leaving.push(work.on(wokenBy, woken));
      if (doneBy !== undefined) leaving.push(work.on([doneBy], (heard) => heard && comeNoMore()));
      running = run();
    },
    stop: async () => {
      stopping.abort();
      for (const leave of leaving) leave();
      comeNoMore();
      bell.stop();
      await running;
      pulse.leave();
    },
  };
}

/** Several that start and stop together. */
export function services(all: readonly Service[]): Service {
  return {
    start: () => {
      for (const each of all) each.start();
    },
    ring: () => {
      for (const each of all) each.ring();
    },
    stop: async () => {
      await Promise.all(all.map((each) => each.stop()));
    },
  };
}

type Failures = {
  /** How many there were in a row before this one. */
  more(error: unknown): number;
  over(): void;
};

/** Told once a reason: a node that is down for a day is no news every half minute. */
function countFailures({ log, metrics }: Needs, name: string): Failures {
  let failures = 0;
  let told = '';
  return {
    more: (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      const level = reason === told ? 'debug' : 'warn';
      told = reason;
      failures += 1;
      log[level]({ service: name, failures, err: error }, 'a pass failed; it is tried again');
      metrics.passFailures.inc({ service: name });
      return failures - 1;
    },
    over: () => {
      if (failures > 0) log.info({ service: name, failures }, 'a pass that failed succeeds again');
      failures = 0;
      told = '';
    },
  };
}

type Bell = {
  ring(): void;
  /** Until somebody rings, or has rung since the last wait; at most `ms`. */
  wait(ms: number): Promise<void>;
  /** Rests so long whether or not a ring comes, and remembers a ring. */
  rest(ms: number): Promise<void>;
  /** From now on nothing is waited for. */
  stop(): void;
};

/** Waiting does not keep the process from ending. */
function createBell(): Bell {
  let bump = false;
  let stopped = false;
  let waiting: { readonly end: () => void; readonly hears: boolean } | null = null;

  const pause = (ms: number, hears: boolean) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waiting = null;
        if (hears) bump = false;
        resolve();
      };
      const timer = setTimeout(end, ms).unref();
      waiting = { end, hears };
      if (stopped || (hears && bump)) end();
    });

  return {
    ring() {
      bump = true;
      if (waiting?.hears) waiting.end();
    },
    wait: (ms) => pause(ms, true),
    rest: (ms) => pause(ms, false),
    stop() {
      stopped = true;
      waiting?.end();
    },
  };
}
