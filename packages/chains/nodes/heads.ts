// In which order the nodes of one chain are asked: as they are configured, and last those that are
// silent or stand still. It is an order only, since a node may lie about its head: a head says
// nothing against a node whose own block is of this moment, and each of them may still be asked.

import { type Client, type Order, oneSource, unlessAborted } from './sources.ts';
import { sleep } from './turn.ts';

/** `time`: Unix seconds. */
export type Head = { readonly height: number; readonly time: number };

export type HeadRules = {
  /** By which a node may be behind the best head. */
  readonly blocks: number;
  /** How old its head may be while the chain goes on. */
  readonly seconds: number;
  /** By one question, of the node at this place. */
  readonly read: (at: number, signal: AbortSignal) => Promise<Head>;
};

/** How the head of one of its nodes is read, and by how much it may be behind. */
export type HeadsBy<C> = Omit<HeadRules, 'read'> & {
  readonly read: (one: C, signal: AbortSignal) => Promise<Head>;
};

export function headRules<C extends Client>(
  by: HeadsBy<C> | undefined,
  client: () => C,
): HeadRules | undefined {
  return by && { ...by, read: (at, signal) => by.read(oneSource(client(), at), signal) };
}

/** All nodes are asked for their heads this often at most, and only when one is needed. */
export const headsEveryMs = 10_000;
/** Where one named none, all are asked again after this, then after twice as long, and so on. */
export const silentMs = 1_000;
/** For this long a call waits for heads. Those that come later count from the next call on. */
const waitMs = 1_000;
const headMs = 4_000;
/** No block is of a time to come, but for this much. */
const aheadSeconds = 2;

type Known = { readonly height: number; readonly isOfNow: boolean; readonly isSilent: boolean };

export function nodeOrder(
  count: number,
  rules: HeadRules | undefined,
  elapsedMs = () => performance.now(),
  now = () => Date.now() / 1_000,
) {
  const known: (Known | undefined)[] = [];
  /** Since the last look at heads, the latest one last. Without heads: until they answer. */
  let failed: number[] = [];
  /** The heads of those that were behind: they stay so until another one is heard. */
  const stood = new Map<number, number>();
  /** Looks in a row in which a node was silent. */
  let silentLooks = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading = Promise.resolve();

  const answered = (at: number) => {
    failed = failed.filter((each) => each !== at);
  };
  const hear = async (at: number, { read, seconds }: HeadRules, signal: AbortSignal) => {
    try {
      const { height, time } = await read(at, signal);
      const age = now() - time;
      const isInTime = age >= -aheadSeconds && age <= seconds;
      const isOfNow = isInTime && stood.get(at) !== height;
      known[at] = { height, isOfNow, isSilent: false };
      answered(at);
    } catch {
      known[at] = { height: -1, ...known[at], isOfNow: false, isSilent: true };
    }
  };
  const isOneSilent = () => known.some((head) => head?.isSilent);
  const pauseMs = () =>
    isOneSilent() ? Math.min(headsEveryMs, (silentLooks + 1) * silentMs) : headsEveryMs;
  const readAll = async (by: HeadRules) => {
    silentLooks = isOneSilent() ? silentLooks + 1 : 0;
    const until = AbortSignal.timeout(headMs);
    const over = new AbortController();
    const places = Array.from({ length: count }, (_, at) => at);
    const asking = places.map((at) => ({
      wasSilent: known[at]?.isSilent ?? false,
      heard: hear(at, by, until),
    }));
    const awaited = asking.filter(({ wasSilent }) => !wasSilent).map(({ heard }) => heard);
    await Promise.race([Promise.all(awaited), sleep(waitMs, over.signal).catch(() => {})]);
    over.abort();
  };
  const isWell = (at: number, best: number, { blocks }: HeadRules) => {
    const head = known[at];
    if (head === undefined || head.isSilent) return false;
    if (head.isOfNow || head.height >= best - blocks) return true;
    stood.set(at, head.height);
    return false;
  };

  return {
    now: async (signal: AbortSignal): Promise<Order> => {
      if (rules !== undefined && count > 1) {
        if (elapsedMs() - readAt >= pauseMs()) {
          readAt = elapsedMs();
          reading = readAll(rules);
        }
        await unlessAborted(reading, signal).catch(() => {});
      }
      const places = Array.from({ length: count }, (_, at) => at);
      const inTurn = [...places.filter((at) => !failed.includes(at)), ...failed];
      if (rules === undefined) return { first: inTurn, last: [] };
      const best = bestOf(known, rules);
      const first = inTurn.filter((at) => isWell(at, best, rules));
      const last = places.filter((at) => !first.includes(at));
      return first.length === 0 ? { first: last, last: [] } : { first, last };
    },
    answered,
    /** Not where the caller has ended it. */
    failed: (at: number, { aborted }: AbortSignal) => {
      if (aborted) return;
      answered(at);
      failed.push(at);
    },
  };
}

/** One of this moment, or one that another comes near; else the highest that any has named. */
function bestOf(known: readonly (Known | undefined)[], { blocks }: HeadRules): number {
  const heads = known
    .filter((each) => each !== undefined)
    .toSorted((one, other) => other.height - one.height);
  const isNear = (one: Known, other: Known) => Math.abs(one.height - other.height) <= blocks;
  const best =
    heads.find(({ isOfNow }) => isOfNow) ??
    heads.find((one) => heads.some((other) => other !== one && isNear(one, other))) ??
    heads[0];
  return best?.height ?? 0;
}
