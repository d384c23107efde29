// The watchtower at work: on each chain that has a gas key, what is to be done is found by index,
// taken in hand and tended. A pass takes no input, may end anywhere and may run in several
// processes. It has loops of its own, so that nothing of it holds up what follows the chains or
// answers requests.

import { within } from '../chains/nodes/time-limit.ts';
import { ParleyError } from '../core/errors.ts';
import type { ChainKey } from '../core/families.ts';
import { inParallel } from '../host/in-parallel.ts';
import * as bounds from './bounds.ts';
import { retireKeys } from './db/attempts.ts';
import {
  countOpenJobs,
  type DueKind,
  type Job,
  nextDueJob,
  purposes,
  putOffJob,
  takeDueJobs,
} from './db/jobs.ts';
import { keySums } from './db/sums.ts';
import { fillGaps } from './gaps.ts';
import type { Desk, Gas, Parts } from './port.ts';
import { funderOf, relayClaim, relayFunding } from './relay.ts';
import { isPassing, realTime, TooShort } from './sign.ts';
import { dayOf } from './spending.ts';
import { tend } from './tend.ts';

export type Watchtower = {
  readonly desk: Desk;
  start(): void;
  /** Something was stored of a swap: what it makes due is looked for at once. */
  ring(): void;
  /** Ends what runs; nothing is lost, because a pass may end anywhere. */
  stop(): Promise<void>;
  /** What `start` does once, for whoever asks for passes instead. */
  begin(): Promise<void>;
  /** One pass of everything on one chain; returns how many jobs were tended. */
  pass(chain: ChainKey): Promise<number>;
};

type Bell = { ring: () => void };
const newBell = (): Bell => ({ ring: () => {} });

/** On one chain. */
type Post = {
  readonly gas: Gas;
  /** Each ends the pause before a next look: at relays, and at all else. */
  readonly bells: { readonly relays: Bell; readonly others: Bell };
  readAtMs: number;
  /** The UTC day and the reason that the log has told already. */
  told: string;
};

/** When jobs were last looked for that another server had no key for, and all were found. */
type Missed = { lookedAtMs: number };

export function createWatchtower(deps: Parts): Watchtower {
  const stopping = new AbortController();
  const { signal } = stopping;
  const posts = new Map<ChainKey, Post>();
  for (const [chain, gas] of deps.gas) {
    const bells = { relays: newBell(), others: newBell() };
    posts.set(chain, { gas, bells, readAtMs: -Infinity, told: '' });
  }
  const loops: Promise<void>[] = [];
  const chains = [...posts.keys()];
  const missed: Missed = { lookedAtMs: -Infinity };
  const finding = newBell();
  const wake = (chain: ChainKey) => {
    const bells = posts.get(chain)?.bells;
    bells?.relays.ring();
    bells?.others.ring();
  };
  return {
    desk: deskOf(deps, wake),
    begin: () => begin(deps, posts),
    pass: async (chain) => {
      const post = posts.get(chain);
      if (post === undefined) throw new Error(`there is no gas key on "${chain}"`);
      await find(deps, posts, missed);
      const relays = await passOf(deps, post, 'relays', signal);
      const others = await ownPass(deps, post, signal);
      await freeNonces(deps, post, signal);
      await measure(deps, post, signal);
      return relays + others;
    },
    start: () => {
      if (loops.length > 0 || chains.length === 0) return;
      let began = false;
      const found = async () => {
        if (!began) await begin(deps, posts);
        began = true;
        const most = await find(deps, posts, missed);
        if (most > 0) for (const chain of chains) wake(chain);
        return most >= bounds.takenUpAtOnce ? 0 : bounds.findPauseMs;
      };
      loops.push(loop(deps, 'found', signal, finding, found));
      for (const post of posts.values()) {
        const relays = () => dueOf(deps, post, 'relays', signal);
        const others = async () => {
          const waitMs = await dueOf(deps, post, 'others', signal);
          await freeNonces(deps, post, signal);
          await measure(deps, post, signal);
          return waitMs;
        };
        const { chain } = post.gas.account;
        const { bells } = post;
        loops.push(loop(deps, `${chain} relays`, signal, bells.relays, relays));
        loops.push(loop(deps, chain, signal, bells.others, others));
      }
    },
    ring: () => finding.ring(),
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

/** What is signed is sent at once; a pass would find it by itself. */
function deskOf(deps: Parts, wake: (chain: ChainKey) => void): Desk {
  return {
    claim: async (asking) => {
      const answer = await relayClaim(deps, asking);
      for (const chain of deps.gas.keys()) wake(chain);
      return answer;
    },
    fund: async (asking) => {
      const answer = await relayFunding(deps, asking);
      for (const chain of deps.gas.keys()) wake(chain);
      return answer;
    },
    fundsBySignature: async () => (leg) => typeof funderOf(deps.gas, leg) !== 'string',
  };
}

function limited({ signingTime = realTime }: Parts, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, signingTime.limit(bounds.jobMs)]);
}

/**
 * A pass where something is due. Returns for how long nothing more is: whoever makes a job in this
 * process rings, and one that another made is theirs to begin with.
 */
async function dueOf(
  deps: Parts,
  post: Post,
  what: 'relays' | 'others',
  stop: AbortSignal,
): Promise<number> {
  const due = await nextDueJob(deps.db, post.gas.account.chain, what === 'relays');
  const restMs = due === null ? bounds.idlePauseMs : due.getTime() - deps.now();
  if (restMs > 0) return Math.min(Math.max(restMs, bounds.pauseMs), bounds.idlePauseMs);
  const done = await (what === 'relays'
    ? passOf(deps, post, what, stop)
    : ownPass(deps, post, stop));
  return done >= bounds.jobsAPass ? 0 : bounds.pauseMs;
}

/** Runs `look` for ever; it returns for how long it need not. */
async function loop(
  deps: Parts,
  name: string,
  stop: AbortSignal,
  bell: Bell,
  look: () => Promise<number>,
): Promise<void> {
  const { pause } = deps.signingTime ?? realTime;
  let failures = 0;
  while (!stop.aborted) {
    let wait: number = bounds.pauseMs;
    const early = new AbortController();
    // Set before the look: what rings during it is heard.
    bell.ring = () => early.abort();
    try {
      wait = await look();
      failures = 0;
    } catch (error) {
      if (stop.aborted) break;
      failures += 1;
      wait = Math.min(bounds.pauseMs * 2 ** failures, bounds.longestPauseMs);
      deps.log.warn({ keeper: name, failures, waitMs: wait, err: error }, 'a keeper’s look failed');
    }
    const signal = AbortSignal.any([stop, early.signal]);
    if (wait > 0) await pause(wait, signal).catch(() => {});
  }
}

/** A chain may have got its key, or another one, since the last start. */
async function begin(deps: Parts, posts: ReadonlyMap<ChainKey, Post>): Promise<void> {
  await deps.market.takeUpAnew(deps.db);
  for (const [chain, { gas }] of posts) await retireKeys(deps.db, chain, gas.account.address);
}

/** Takes up what is new, on all chains. */
async function find(
  deps: Parts,
  posts: ReadonlyMap<ChainKey, Post>,
  missed: Missed,
): Promise<number> {
  const { market } = deps;
  const now = new Date(deps.now());
  const limit = bounds.takenUpAtOnce;
  const chains = [...posts.keys()];
  let most = await market.takeUpRevealed(deps.db, chains, now, limit);
  // A clock that was set back must not silence it.
  const age = Math.abs(now.getTime() - missed.lookedAtMs);
  if (age >= bounds.missedEverySeconds * 1_000) {
    const { mostFailed } = bounds;
    const above = new Map(chains.map((chain) => [chain, neverLostAbove(deps, chain)]));
    const made = await market.takeUpMissed(deps.db, { mostFailed, above }, now, limit);
    if (made < limit) missed.lookedAtMs = now.getTime();
    most = Math.max(most, made);
  }
  for (const chain of posts.keys()) {
    const leavesRest = deps.adapters.get(chain)?.family === 'solana';
    for (const purpose of leavesRest ? (['refund', 'close'] as const) : (['refund'] as const)) {
      most = Math.max(most, await market.takeUpExpired(deps.db, { chain, now, purpose }, limit));
    }
  }
  return most;
}

/** No claim of a later timelock is given up for it, whatever the clock of its chain. */
function neverLostAbove(deps: Parts, chain: ChainKey): number {
  const wall = Math.floor(deps.now() / 1000);
  return wall + (deps.adapters.get(chain)?.policy.driftSeconds ?? 0);
}

/** What has no haste at all waits until nothing else is due. */
async function ownPass(deps: Parts, post: Post, stop: AbortSignal): Promise<number> {
  const done = await passOf(deps, post, 'others', stop);
  return done > 0 ? done : passOf(deps, post, 'closes', stop);
}

async function passOf(deps: Parts, post: Post, what: DueKind, stop: AbortSignal): Promise<number> {
  stop.throwIfAborted();
  const { chain } = post.gas.account;
  const now = deps.now();
  const again = new Date(now + bounds.inHandSeconds * 1_000);
  const due = { chain, what, now: new Date(now), again };
  const most = what === 'closes' ? bounds.closesAPass : bounds.jobsAPass;
  const jobs = await takeDueJobs(deps.db, due, most);
  await inParallel(jobs, bounds.lanes, async (job) => {
    if (!stop.aborted) await tendOne(deps, post, job, stop);
  });
  return jobs.length;
}

/** Whatever ends it is this job's own trouble: it is put off, and the others go on. */
async function tendOne(deps: Parts, post: Post, job: Job, stop: AbortSignal): Promise<void> {
  try {
    await tend(deps, post.gas, job, limited(deps, stop));
  } catch (error) {
    if (stop.aborted) return;
    const { seconds, failure } = restOf(job, error);
    tellOf(deps, post, job, failure, error);
    const dueAt = new Date(deps.now() + seconds * 1_000);
    await putOffJob(deps.db, job.id, { dueAt, failure }).catch(() => {});
  }
}

function restOf(job: Job, error: unknown): { seconds: number; failure: string } {
  if (error instanceof TooShort) {
    const { short: failure } = error;
    return { seconds: failure === 'busy' ? bounds.lookAgainSeconds : bounds.poorSeconds, failure };
  }
  const backoff = bounds.firstBackoffSeconds * 2 ** Math.min(job.failures, 20);
  const most = bounds.longestBackoffSeconds[job.purpose];
  const failure = error instanceof ParleyError ? error.code : 'fault';
  const isSoon = failure === 'nothing_there' || (error instanceof ParleyError && isPassing(error));
  const seconds = isSoon ? bounds.firstBackoffSeconds : Math.min(backoff, most);
  return { seconds, failure };
}

function tellOf(deps: Parts, post: Post, job: Job, failure: string, error: unknown): void {
  const { chain, swapId, leg, verb, purpose } = job;
  const facts = { chain, swapId, leg, verb, purpose, failure };
  if (failure === 'busy') return;
  if (error instanceof TooShort) {
    // Once a day and reason: it goes on until then.
    const told = `${dayOf(deps.now()).toISOString()} ${failure}`;
    if (post.told === told) return;
    post.told = told;
    deps.log.warn(facts, 'the keeper may spend no more for now: parties send for themselves');
    return;
  }
  const known = error instanceof ParleyError;
  // A refusal of a chain may quote what was sent.
  if (known) deps.log.warn(facts, 'a job of the keeper is put off');
  else deps.log.error({ ...facts, fault: (error as Error).name }, 'a job of the keeper failed');
}

/** What keeps nonces from being freed keeps nothing else. */
async function freeNonces(deps: Parts, { gas }: Post, stop: AbortSignal): Promise<void> {
  try {
    await fillGaps(deps, gas, limited(deps, stop));
  } catch (error) {
    if (stop.aborted) throw error;
    const failure = error instanceof ParleyError ? error.code : (error as Error).name;
    deps.log.warn({ chain: gas.account.chain, failure }, 'nonces that nothing has are not freed');
  }
}

async function measure(deps: Parts, post: Post, stop: AbortSignal): Promise<void> {
  const { gas } = post;
  const { account, lowBalance, dailyCap } = gas;
  const { chain, address } = account;
  const now = deps.now();
  // A clock that was set back must not silence it.
  if (Math.abs(now - post.readAtMs) < bounds.balanceEveryMs) return;
  post.readAtMs = now;
  const signal = limited(deps, stop);
  const balance = await within(signal, chain, account.balance(signal));
  const since = dayOf(deps.now());
  const sums = await keySums(deps.db, { chain, since, accountId: null, except: null });
  const { gauges } = deps;
  gauges.balance.set({ chain }, Number(balance));
  gauges.reserved.set({ chain }, Number(sums.relayReserved));
  gauges.spentToday.set({ chain }, Number(sums.spent));
  for (const purpose of purposes) gauges.jobs.set({ chain, purpose }, 0);
  for (const { purpose, count } of await countOpenJobs(deps.db, chain)) {
    gauges.jobs.set({ chain, purpose }, count);
  }
  if (balance - sums.reserved >= lowBalance) return;
  const facts = { chain, address, balance: `${balance}`, reserved: `${sums.reserved}` };
  deps.log.warn({ ...facts, dailyCap: `${dailyCap}` }, 'a gas key has little left');
}
