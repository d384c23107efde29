// Follows every configured launchpad: a launched token becomes a candidate, due at once, and how
// far it was read is stored with it in one transaction. So a process may end anywhere: an unstored
// launch is read again, and a token that is known is not added twice. One of several processes has
// a launchpad in hand; no lock is held while a node is waited for.

import type { LaunchPage, LaunchReader } from '@parley/tokens/launches.ts';
import { addCandidate, countPendingOf } from '../../db/candidates.ts';
import {
  advanceLaunchpad,
  knownTokens,
  type LaunchpadHour,
  type LaunchpadState,
  openLaunchpad,
  postponeLaunchpad,
  takeLaunchpad,
} from '../../db/launchpads.ts';
import { notifyWork } from '../../db/work.ts';
import type { Deps } from '../../ports/deps.ts';
import { uuidv7 } from '../../ports/ids.ts';
import { longestNodePassMs, type Service, service, services } from '../../ports/service.ts';
import type { LaunchpadSettings } from '../../settings/launchpads.ts';
import { candidateForMs, mostLaunched } from '../bounds.ts';
import { leaseMs, mostSecondsBack, readMs, tryAgainMs } from './bounds.ts';

const hourMs = 3_600_000;
/** Between two looks, where the setting for chains asks for less. */
const leastPauseMs = 1_000;
/**
 * The share of that pause without a poll, so that several processes poll no more often than one.
 */
const restShare = 0.8;

function pauseMsOf({ settings }: Deps): number {
  return Math.max(leastPauseMs, settings.followIntervalMs);
}

/** The result of a poll. `more`: the next one may follow at once; `idle`: it was not due here. */
export type Look = 'more' | 'done' | 'failed' | 'idle';

export type Launchpads = Omit<Service, 'ring'> & {
  look(name: string): Promise<Look>;
};

type Followed = LaunchpadSettings & { readonly reader: LaunchReader; readonly key: string };

type Memory = { readonly opened: Set<string>; readonly failing: Set<string> };

export function createLaunchpads(deps: Deps): Launchpads {
  const { settings } = deps;
  const followed = new Map(settings.launchpads.map((each) => [each.name, followedOf(deps, each)]));
  const memory: Memory = { opened: new Set(), failing: new Set() };
  const look = async (name: string, signal = new AbortController().signal): Promise<Look> => {
    const launchpad = followed.get(name);
    if (launchpad === undefined) throw new Error(`no launchpad "${name}" is configured`);
    return lookAt(deps, launchpad, memory, signal);
  };
  const each = [...followed.keys()].map((name) =>
    service(deps, {
      name: `launchpad ${name}`,
      everyMs: pauseMsOf(deps),
      mostPassMs: longestNodePassMs,
      pass: async (signal) => ((await look(name, signal)) === 'more' ? 'now' : undefined),
    }),
  );
  const { start, stop } = services(each);
  return { look: (name) => look(name), start, stop };
}

function followedOf({ adapters }: Deps, settings: LaunchpadSettings): Followed {
  const { name, chain, source } = settings;
  const reader = adapters.get(chain)?.launches;
  if (reader === undefined) {
    throw new Error(`launchpad "${name}": no chain "${chain}" with tokens is served here`);
  }
  return { ...settings, reader, key: JSON.stringify([chain, source]) };
}

async function lookAt(
  deps: Deps,
  launchpad: Followed,
  { opened, failing }: Memory,
  signal: AbortSignal,
): Promise<Look> {
  const { db, metrics, log } = deps;
  const { name, key } = launchpad;
  const now = deps.now();
  const leaseEnds = new Date(now + leaseMs);
  // Once: a process with other settings may have taken it over since.
  if (!opened.has(name)) await openLaunchpad(db, name, key, new Date(now));
  opened.add(name);
  const state = await takeLaunchpad(db, name, key, new Date(now), leaseEnds);
  if (state === null) return 'idle';
  try {
    const found = await readNext(deps, launchpad, state, signal);
    if (!(await store(deps, launchpad, found, leaseEnds))) return 'idle';
    tell(deps, launchpad, state, found);
    failing.delete(name);
    return found.isMore ? 'more' : 'done';
  } catch (error) {
    // Given back, so that another process or the next start need not wait.
    const dueAt = new Date(deps.now() + (signal.aborted ? 0 : tryAgainMs));
    await postponeLaunchpad(db, name, leaseEnds, dueAt);
    if (signal.aborted) return 'failed';
    metrics.launchpadFailures.inc({ launchpad: name });
    if (!failing.has(name)) {
      log.warn({ launchpad: name, err: error }, 'a launchpad cannot be read; it is tried again');
    }
    failing.add(name);
    return 'failed';
  }
}

type Found = {
  readonly page: LaunchPage;
  /** New, a contract, and within the limits of an hour and of those that wait. */
  readonly tokens: readonly string[];
  readonly known: number;
  readonly hour: LaunchpadHour;
  readonly isMore: boolean;
};

async function readNext(
  deps: Deps,
  { name, chain, source, reader, mostAnHour }: Followed,
  state: LaunchpadState,
  signal: AbortSignal,
): Promise<Found> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
  const named = { ...source, launchpad: name };
  const page = await reader.read(named, state.position, mostSecondsBack, limit);
  const known = new Set(await knownTokens(deps.db, chain, page.tokens));
  const fresh = page.tokens.filter((each) => !known.has(each));
  const before = hourOf(state, deps.now());
  const share = Math.floor(mostLaunched / deps.settings.launchpads.length);
  const waiting = fresh.length === 0 ? 0 : await countPendingOf(deps.db, `launchpad:${name}`);
  const room = Math.min(mostAnHour - before.taken, share - waiting);
  const wanted = fresh.slice(0, Math.max(0, room));
  const tokens = await reader.existing(wanted, limit);
  const hour = {
    hourAt: before.hourAt,
    taken: before.taken + tokens.length,
    leftOut: before.leftOut + fresh.length - wanted.length,
  };
  const isSame = page.position.hash === state.position?.hash;
  return { page, tokens, known: known.size, hour, isMore: !page.isWhole && !isSame };
}

/** The hour that is counted in: another one begins when it is over. */
function hourOf({ hourAt, taken, leftOut }: LaunchpadHour, now: number): LaunchpadHour {
  const isOver = now >= hourAt.getTime() + hourMs || now < hourAt.getTime();
  return isOver ? { hourAt: new Date(now), taken: 0, leftOut: 0 } : { hourAt, taken, leftOut };
}

/** False where somebody else has it in hand by now, who will find the same. */
function store(
  deps: Deps,
  { name, chain }: Followed,
  { page, tokens, hour, isMore }: Found,
  leaseEnds: Date,
): Promise<boolean> {
  const at = new Date(deps.now());
  const givesUpAt = new Date(at.getTime() + candidateForMs);
  const dueAt = new Date(at.getTime() + (isMore ? 0 : pauseMsOf(deps) * restShare));
  return deps.db.transaction(async (tx) => {
    if (!(await advanceLaunchpad(tx, name, leaseEnds, dueAt, page.position, hour))) return false;
    // In one order for all, so that two that found the same do not wait for each other.
    for (const address of [...tokens].sort()) {
      await addCandidate(tx, {
        id: uuidv7(at.getTime(), deps.randomBytes),
        chain,
        address,
        source: `launchpad:${name}`,
        accountId: null,
        status: 'pending',
        reasons: [],
        createdAt: at,
        checkedAt: null,
        nextCheckAt: at,
        givesUpAt,
      });
    }
    if (tokens.length > 0) await notifyWork(tx, 'tokens');
    return true;
  });
}

function tell(
  { metrics, log }: Deps,
  { name, mostAnHour }: Followed,
  state: LaunchpadState,
  { page, tokens, known, hour }: Found,
): void {
  const fresh = page.tokens.length - known;
  const before = hour.hourAt.getTime() === state.hourAt.getTime() ? state.leftOut : 0;
  const leftOut = hour.leftOut - before;
  const skipped = page.skipped + fresh - tokens.length - leftOut;
  const counts = { taken: tokens.length, known, skipped, left_out: leftOut };
  for (const [outcome, count] of Object.entries(counts)) {
    metrics.launches.inc({ launchpad: name, outcome }, count);
  }
  if (before === 0 && leftOut > 0) {
    log.warn({ launchpad: name, mostAnHour }, 'a launchpad launches more than is taken');
  }
  if (tokens.length > 0) log.info({ launchpad: name, tokens: tokens.length }, 'new tokens');
}
