// The watchtower at work: on each chain that has a gas key, what is to be done is found by index,
// taken in hand and tended. A pass takes no input, may end anywhere and may run in several
// processes. Its loops hold up neither what follows the chains nor what answers requests.

import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { inParallel } from '@parley/host/in-parallel.ts';
import * as bounds from './bounds.ts';
import { retireKeys } from './db/attempts.ts';
import {
  countOpenJobs,
  type DueKind,
  type Job,
  nextDue,
  purposes,
  putOffJobs,
  takeDueJobs,
} from './db/jobs.ts';
import { keySums } from './db/sums.ts';
import { fillGaps } from './gaps.ts';
import type { Desk, Gas, Loop, Parts, TakenUp } from './port.ts';
import { ableOf, relayClaim, relayFunding, unfundable } from './relay.ts';
import { inFlight } from './sign.ts';
import { dayOf } from './spending.ts';
import { isPassing, realTime, TooShort } from './step.ts';
import { tend } from './tend.ts';

export type Watchtower = {
  readonly desk: Desk;
  start(): void;
  /** Ends what runs, without loss, because a pass may end anywhere. */
  stop(): Promise<void>;
  /** The first act of `start`, for a caller that asks for passes instead. */
  begin(): Promise<void>;
  /** One pass of everything on one chain; returns how many jobs were tended. */
  pass(chain: ChainKey): Promise<number>;
};

/** On one chain. */
type Post = {
  readonly gas: Gas;
  readonly loops: Readonly<Record<'relays' | 'others' | 'upkeep', Loop>>;
  readAtMs: number;
  /** The UTC day and the reason that the log has recorded already. */
  logged: string;
};
type Posts = ReadonlyMap<ChainKey, Post>;

/** When jobs were last searched that another server had no key for, and all were found. */
type Missed = { searchedAtMs: number };

export function createWatchtower(deps: Parts): Watchtower {
  const stopping = new AbortController();
  const posts: Posts = new Map([...deps.gas].map(([chain, gas]) => [chain, postOf(deps, gas)]));
  const missed: Missed = { searchedAtMs: -Infinity };
  let began = false;
  let isOpen = false;
  let mayCome = true;
  const soon = () => {
    if (isOpen) return bounds.pauseMs;
    return mayCome ? bounds.idlePauseMs : undefined;
  };
  const ringing = deps.loop({
    name: 'watchtower',
    pass: async () => {
      isOpen = await ringDue(deps, posts);
      return soon();
    },
  });
  // By itself: a search that fails keeps no found work from being done.
  const finding = deps.loop({
    name: 'watchtower search',
    pass: async () => {
      if (!began) await begin(deps, posts);
      began = true;
      const wasQuiet = !mayCome;
      const found = await find(deps, posts, missed);
      ({ mayCome } = found);
      if (found.most > 0 || (mayCome && wasQuiet)) ringing.ring();
      return found.most >= bounds.takenUpAtOnce ? 'now' : soon();
    },
  });
  const loops = [...posts.values()].flatMap((post) => Object.values(post.loops));
  loops.push(ringing, finding);
  return {
    desk: deskOf(deps, posts),
    begin: () => begin(deps, posts),
    pass: async (chain) => {
      const post = posts.get(chain);
      if (post === undefined) throw new Error(`there is no gas key on "${chain}"`);
      await find(deps, posts, missed);
      const relays = await passOf(deps, post, 'relays', stopping.signal);
      return relays + (await ownPass(deps, post, stopping.signal));
    },
    start: () => {
      if (posts.size > 0) for (const each of loops) each.start();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(loops.map((each) => each.stop()));
    },
  };
}

/** Loops for relays, for other jobs and for the key itself, which do not wait for each other. */
function postOf(deps: Parts, gas: Gas): Post {
  const { chain } = gas.account;
  const next = (done: number) => (done >= bounds.jobsAPass ? 'now' : undefined);
  // Rung for what is due.
  const everyMs = bounds.unrungPauseMs;
  const post: Post = {
    gas,
    loops: {
      relays: deps.loop({
        name: `watchtower ${chain} relays`,
        everyMs,
        pass: async (signal) => next(await passOf(deps, post, 'relays', signal)),
      }),
      others: deps.loop({
        name: `watchtower ${chain}`,
        everyMs,
        pass: async (signal) => next(await ownPass(deps, post, signal)),
      }),
      upkeep: deps.loop({
        name: `watchtower ${chain} upkeep`,
        everyMs: bounds.balanceEveryMs,
        pass: (signal) => keepUp(deps, post, signal),
      }),
    },
    readAtMs: -Infinity,
    logged: '',
  };
  return post;
}

/** A signed transaction is sent at once; a pass would find it by itself. */
function deskOf(deps: Parts, posts: Posts): Desk {
  return {
    claim: async (asking) => {
      const answer = await relayClaim(deps, asking);
      for (const { loops } of posts.values()) loops.relays.ring();
      return answer;
    },
    fund: async (asking) => {
      const answer = await relayFunding(deps, asking);
      for (const { loops } of posts.values()) loops.others.ring();
      return answer;
    },
    fundsBySignature: async () => {
      const chains = ableOf(deps.gas);
      return (leg) => unfundable(chains, leg) === null;
    },
    claimsOn: async () => ableOf(deps.gas),
  };
}

function limited({ signingTime = realTime }: Parts, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, signingTime.limit(bounds.jobMs)]);
}

/** A chain may have got its key, or another one, since the last start. */
async function begin(deps: Parts, posts: Posts): Promise<void> {
  await deps.market.takeUpAnew(deps.db);
  for (const [chain, { gas }] of posts) await retireKeys(deps.db, chain, gas.account.address);
}

/** Rings for what is due; returns whether any job is open. */
async function ringDue(deps: Parts, posts: Posts): Promise<boolean> {
  const open = await nextDue(deps.db, [...posts.keys()]);
  for (const { chain, isRelay, at } of open) {
    if (at.getTime() <= deps.now()) posts.get(chain)?.loops[isRelay ? 'relays' : 'others'].ring();
  }
  return open.length > 0;
}

/** Takes up what is new, on all chains. */
async function find(
  { db, market, ...deps }: Parts,
  posts: Posts,
  missed: Missed,
): Promise<TakenUp> {
  const now = new Date(deps.now());
  const limit = bounds.takenUpAtOnce;
  const chains = [...posts.keys()];
  const found = await market.takeUp(db, { chains, now }, limit);
  // A clock that was set back must not silence it.
  const age = Math.abs(now.getTime() - missed.searchedAtMs);
  if (age < bounds.missedEverySeconds * 1_000) return found;
  // No claim of a later timelock was given up for it, whatever the clock of its chain.
  const wall = Math.floor(now.getTime() / 1_000);
  const lost = (chain: ChainKey) => wall + (deps.adapters.get(chain)?.policy.driftSeconds ?? 0);
  const above = new Map(chains.map((chain) => [chain, lost(chain)]));
  const made = await market.takeUpMissed(db, { mostFailed: bounds.mostFailed, above }, now, limit);
  if (made < limit) missed.searchedAtMs = now.getTime();
  return { ...found, most: Math.max(found.most, made) };
}

async function ownPass(deps: Parts, post: Post, stop: AbortSignal): Promise<number> {
  const done = await passOf(deps, post, 'others', stop);
  await keepUp(deps, post, stop);
  return done;
}

async function keepUp(deps: Parts, post: Post, stop: AbortSignal): Promise<undefined> {
  await freeNonces(deps, post, stop);
  await measure(deps, post, stop);
}

async function passOf(deps: Parts, post: Post, what: DueKind, stop: AbortSignal): Promise<number> {
  stop.throwIfAborted();
  const { chain } = post.gas.account;
  const take = (isBusy: boolean) => {
    const now = new Date(deps.now());
    const again = new Date(deps.now() + bounds.inHandSeconds * 1_000);
    return takeDueJobs(deps.db, { chain, what, isBusy, now, again }, bounds.jobsAPass);
  };
  const waited = await passWaiting(deps, post, await urgentFirst(deps, await take(true)), stop);
  const jobs = await urgentFirst(deps, await take(false));
  const room = roomOf(deps, post, stop);
  await inParallel(jobs, bounds.lanes, (job) => tendOne(deps, post, job, { room, stop }));
  return waited + jobs.length;
}

/** Jobs of one chain by purpose, and within a purpose by the soonest timelock. */
async function urgentFirst({ market }: Parts, jobs: readonly Job[]): Promise<readonly Job[]> {
  const [{ chain } = { chain: '' }, other] = jobs;
  if (other === undefined) return jobs;
  const escrows = jobs.map(({ escrow }) => escrow);
  // A fault of one of them is that one's trouble.
  const timelocks = await market.timelocksOf(chain, escrows).catch(() => null);
  const timelockOf = ({ escrow }: Job) => timelocks?.get(escrow) ?? 0;
  const urgency = ({ purpose }: Job) => purposes.indexOf(purpose);
  return jobs.toSorted((a, b) => urgency(a) - urgency(b) || timelockOf(a) - timelockOf(b));
}

/** Whether nothing of the key is in flight, asked of the nodes once. */
type Room = () => Promise<boolean>;

function roomOf(deps: Parts, { gas }: Post, stop: AbortSignal): Room {
  let asked: Promise<boolean> | null = null;
  return () => {
    const asking = async () => {
      return (await inFlight(deps, { gas, signal: limited(deps, stop) })).length === 0;
    };
    asked ??= asking();
    return asked;
  };
}

/** Jobs that wait for what is in flight: the most urgent first, and no node is asked before. */
async function passWaiting(
  deps: Parts,
  post: Post,
  waiting: readonly Job[],
  stop: AbortSignal,
): Promise<number> {
  const { account } = post.gas;
  const left: number[] = [];
  // Each that is signed is in the way of the next; without nonces none is.
  const lanes = account.pendingNonce === undefined ? bounds.lanes : 1;
  await inParallel(waiting, lanes, async (job) => {
    const room = roomOf(deps, post, stop);
    // A node that does not answer fails the job, not the pass.
    const isFree = left.length === 0 && (await room().catch(() => true));
    if (isFree) await tendOne(deps, post, job, { room, stop });
    else left.push(job.id);
  });
  const dueAt = new Date(deps.now() + bounds.busySeconds * 1_000);
  if (left.length > 0) await putOffJobs(deps.db, left, { dueAt, failure: 'busy' });
  return waiting.length - left.length;
}

/** Any failure is this job's own trouble: it is put off, and the others go on. */
async function tendOne(
  deps: Parts,
  post: Post,
  job: Job,
  { room, stop }: { readonly room: Room; readonly stop: AbortSignal },
): Promise<void> {
  if (stop.aborted) return;
  try {
    await tend(deps, post.gas, job, room, limited(deps, stop));
  } catch (error) {
    if (stop.aborted) return;
    const { seconds, failure } = restOf(post, job, error);
    logOf(deps, post, job, failure, error);
    const dueAt = new Date(deps.now() + seconds * 1_000);
    await putOffJobs(deps.db, [job.id], { dueAt, failure }).catch(() => {});
  }
}

function restOf({ gas }: Post, job: Job, error: unknown): { seconds: number; failure: string } {
  if (error instanceof TooShort) {
    const { short: failure } = error;
    if (failure !== 'busy') return { seconds: bounds.poorSeconds, failure };
    // Without nonces the next read of its escrow tells no more than that.
    const hasNonces = gas.account.pendingNonce !== undefined;
    return { seconds: hasNonces ? bounds.busySeconds : bounds.lookAgainSeconds, failure };
  }
  const backoff = bounds.firstBackoffSeconds * 2 ** Math.min(job.failures, 20);
  const most = bounds.longestBackoffSeconds[job.purpose];
  const failure = error instanceof ParleyError ? error.code : 'fault';
  const isSoon = failure === 'nothing_there' || (error instanceof ParleyError && isPassing(error));
  const seconds = isSoon ? bounds.firstBackoffSeconds : Math.min(backoff, most);
  return { seconds, failure };
}

function logOf(deps: Parts, post: Post, job: Job, failure: string, error: unknown): void {
  const { chain, swapId, leg, verb, purpose } = job;
  const facts = { chain, swapId, leg, verb, purpose, failure };
  if (failure === 'busy') return;
  if (error instanceof TooShort) {
    // Once a day and reason: it goes on until then.
    const today = `${dayOf(deps.now()).toISOString()} ${failure}`;
    if (post.logged === today) return;
    post.logged = today;
    deps.log.warn(facts, 'the keeper may spend no more for now: parties send for themselves');
    return;
  }
  const known = error instanceof ParleyError;
  // A refusal of a chain may quote what was sent.
  if (known) deps.log.warn(facts, 'a job of the keeper is put off');
  else deps.log.error({ ...facts, fault: (error as Error).name }, 'a job of the keeper failed');
}

/** A failure to free nonces holds up no other work. */
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
  const sums = await keySums(deps.db, { chain, since, except: null });
  const { gauges } = deps;
  gauges.balance.set({ chain }, Number(balance));
  gauges.lowBalance.set({ chain }, Number(lowBalance));
  gauges.dailyCap.set({ chain }, Number(dailyCap));
  gauges.reserved.set({ chain }, Number(sums.reserved));
  gauges.spentToday.set({ chain }, Number(sums.spent));
  for (const purpose of purposes) gauges.jobs.set({ chain, purpose }, 0);
  for (const { purpose, count } of await countOpenJobs(deps.db, chain)) {
    gauges.jobs.set({ chain, purpose }, count);
  }
  if (balance - sums.reserved >= lowBalance) return;
  const facts = { chain, address, balance: `${balance}`, reserved: `${sums.reserved}` };
  deps.log.warn({ ...facts, dailyCap: `${dailyCap}` }, 'a gas key has little left');
}
