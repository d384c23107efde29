// The leases of a process: of all that share one database, one follows a chain, and one has the
// swaps that time changes. The first process to ask takes what is free. A lease that moves by
// mistake costs work and breaks nothing: the holder reads again whatever anybody else stores
// (updateEscrow).

import type { Tx } from '../db/database.ts';
import {
  countOthers,
  endLeases,
  type Holder,
  hideHolder,
  leaseMs,
  overtakeLease,
  renewLeases,
  showHolder,
  type Taken,
  takeLeases,
} from '../db/leases.ts';
import type { Deps } from '../ports/deps.ts';
import { type Ear, type Joined, noticesOf } from '../ports/notices.ts';
import { service } from '../ports/service.ts';

/** Between renewals, and between looks for what is free: a death is noticed so late. */
const renewMs = 2_500;
/** A holder whose passes failed for so long lets another process try, by nodes of its own. */
const mostFailingMs = 15_000;
/** For so long after that it takes the lease no more. */
const abstainMs = 20_000;

export type Work = {
  readonly name: string;
  /** It is this process's from now on; `behindSeconds`: since it was last done to the end. */
  readonly taken: (behindSeconds: number) => void;
  /** It is another process's; told again and again. */
  readonly lost: () => void;
  /** How long its passes have been failing, 0 = they do not. */
  readonly failingMs: () => number;
  /** Since it was last done to the end. */
  readonly behindSeconds: () => number;
  /**
   * While another process follows: the hash of the stored head at which it has stood while the nodes
   * of this one went on, told once; null: it goes on.
   */
  readonly stoodAt: () => string | null;
};

export type Leases = {
  /** Whether its work is this process's now. */
  holds(name: string): boolean;
  /** Whether nobody else is known to have it, though its renewal may be late. */
  has(name: string): boolean;
  start(): void;
  /** Others are told that the leases are free. */
  stop(): Promise<void>;
  /** One renewal of what is held, and one look for what is free. */
  pass(): Promise<void>;
};

type Needs = Pick<Deps, 'db' | 'log' | 'metrics' | 'randomBytes'> & { readonly follower: number };

const namesOf = (works: readonly Work[]) => works.map(({ name }) => name);

/** `clock`: milliseconds, monotonic; it goes on while the process stands still. */
export function createLeases(
  deps: Needs,
  all: readonly Work[],
  clock: () => number = () => performance.now(),
): Leases {
  const { db, log, follower: holder } = deps;
  const held = new Set<string>();
  /** By name: until when it is not taken. */
  const abstaining = new Map<string, number>();
  let until = 0;
  let joined: Promise<Joined> | null = null;
  let isShown = false;
  const show = async (own: Tx) => {
    isShown = await showHolder(own, holder);
  };
  const ear: Ear = {
    begin: show,
    hear: () => {},
    lost: () => {
      isShown = false;
    },
    end: (own) => hideHolder(own, holder),
  };
  const by = async () => {
    joined ??= noticesOf(db).join(ear);
    const { isHeard } = await joined;
    const own = noticesOf(db).current();
    // Another connection held the lock: one of this process that was lost, or a look at it.
    if (!isShown && isHeard() && own !== null) await show(own);
    return { holder, isShown };
  };
  // The listening connection waits for no other.
  const tx = () => noticesOf(db).current() ?? db;

  const renew = async () => {
    const own = all.filter(({ name }) => held.has(name));
    if (own.length === 0) return;
    const began = clock();
    const now = own.map((each) => ({ name: each.name, behindSeconds: each.behindSeconds() }));
    const me = await by();
    const still = new Set(await renewLeases(tx(), now, me));
    until = began + leaseMs;
    const lost = own.filter(({ name }) => !still.has(name));
    if (lost.length === 0) return;
    for (const each of lost) {
      held.delete(each.name);
      each.lost();
    }
    log.info({ leases: namesOf(lost) }, 'another process follows from now on');
  };

  const handOver = async () => {
    const failing = all.filter((each) => held.has(each.name) && each.failingMs() >= mostFailingMs);
    if (failing.length === 0 || (await countOthers(tx(), holder)) === 0) return;
    for (const each of failing) {
      held.delete(each.name);
      abstaining.set(each.name, clock() + abstainMs);
      each.lost();
    }
    log.warn({ leases: namesOf(failing) }, 'passes fail here: another process may follow');
    await endLeases(tx(), namesOf(failing), holder);
  };

  const overtake = async (wanted: readonly Work[], free: readonly Taken[], me: Holder) => {
    const taken: Taken[] = [];
    for (const { name, stoodAt } of wanted) {
      const hash = free.some((each) => each.name === name) ? null : stoodAt();
      if (hash === null) continue;
      taken.push(...(await overtakeLease(tx(), { name, stoodAt: hash }, me)));
    }
    return taken;
  };

  const take = async () => {
    const wanted = all.filter(
      ({ name }) => !held.has(name) && (abstaining.get(name) ?? 0) <= clock(),
    );
    if (wanted.length === 0) return;
    const began = clock();
    const me = await by();
    const free = await takeLeases(tx(), namesOf(wanted), me);
    const taken = [...free, ...(await overtake(wanted, free, me))];
    const behind = new Map(taken.map(({ name, behindSeconds }) => [name, behindSeconds]));
    // The others are renewed before it is over.
    if (held.size === 0) until = began + leaseMs;
    for (const each of wanted) {
      const seconds = behind.get(each.name);
      if (seconds === undefined) {
        each.lost();
        continue;
      }
      held.add(each.name);
      each.taken(seconds);
    }
    if (taken.length > 0) {
      log.info({ leases: [...behind.keys()] }, 'this process follows from now on');
    }
  };

  const pass = async () => {
    await renew();
    await handOver();
    await take();
  };
  const renewing = service(deps, {
    name: 'leases',
    everyMs: renewMs,
    failureMs: { least: renewMs, most: renewMs },
    wokenBy: ['leases'],
    pass: async () => {
      await pass();
      return undefined;
    },
  });
  return {
    pass,
    has: (name) => held.has(name),
    holds: (name) => held.has(name) && clock() < until,
    start: renewing.start,
    stop: async () => {
      await renewing.stop();
      const own = [...held];
      held.clear();
      // Best effort: they are over soon by themselves.
      if (own.length > 0) await endLeases(db, own, holder).catch(() => {});
      (await joined)?.leave();
    },
  };
}
