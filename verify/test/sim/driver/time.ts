// Virtual time for one process: timers, clocks and limits of everything that is loaded into it run
// by the simulation alone. Time goes on only when all that needs no time has been done, so that a
// seed decides every interleaving.

export type Timer = { atMs: number; order: number; work: (() => void) | null; isQuiet: boolean };

const inTurn = globalThis.setImmediate;
const time = { nowMs: 0, order: 0, heap: [] as Timer[] };

export const nowMs = () => time.nowMs;
export const nowSeconds = () => Math.floor(time.nowMs / 1_000);

/** Forgets what was planned before: a seed begins with nothing. */
export function beginTime(atMs: number): void {
  time.nowMs = atMs;
  time.order = 0;
  time.heap = [];
}

const isBefore = (one: Timer, other: Timer) =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

function plan(timer: Timer): void {
  const { heap } = time;
  let at = heap.push(timer) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Timer;
    if (!isBefore(timer, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = timer;
}

function takeFirst(): Timer | undefined {
  const { heap } = time;
  const [first] = heap;
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const right = left + 1;
    const isRight = right < heap.length && isBefore(heap[right] as Timer, heap[left] as Timer);
    const least = isRight ? right : left;
    if (least >= heap.length || !isBefore(heap[least] as Timer, last)) break;
    heap[at] = heap[least] as Timer;
    at = least;
  }
  heap[at] = last;
  return first;
}

/** `isQuiet`: no work waits for it, so what follows need not wait for anybody either. */
export function later(ms: number, work: () => void, isQuiet = false): Timer {
  time.order += 1;
  const timer = { atMs: time.nowMs + Math.max(0, ms), order: time.order, work, isQuiet };
  plan(timer);
  return timer;
}

export const wait = (ms: number) => new Promise<void>((resolve) => later(ms, resolve));

const turn = () => new Promise<void>((resolve) => inTurn(resolve));

type Outside = () => Promise<void> | null;
let besides: Outside = () => null;

/** Work of another process, for which time stands still; null: it has none. */
export function outside(work: Outside): void {
  besides = work;
}

async function settled(): Promise<void> {
  await turn();
  for (let work = besides(); work !== null; work = besides()) {
    await work;
    await turn();
  }
}

/** Whether it was over; false: no work is planned any more, or that time has come. */
export async function runUntil(isOver: () => boolean, untilMs: number): Promise<boolean> {
  for (;;) {
    await settled();
    if (isOver()) return true;
    for (;;) {
      if ((time.heap[0]?.atMs ?? Number.POSITIVE_INFINITY) > untilMs) return false;
      const timer = takeFirst();
      if (timer === undefined || timer.work === null) continue;
      time.nowMs = timer.atMs;
      timer.work();
      if (!timer.isQuiet) break;
    }
  }
}

type Work = (...args: unknown[]) => void;

/** From here on this process has no other time. */
export function takeOverTime(): void {
  const put = (on: object, name: string, value: unknown) =>
    Object.defineProperty(on, name, { value, configurable: true, writable: true });
  const timeout = (work: Work, ms = 0, ...args: unknown[]) => later(ms, () => work(...args));
  const clear = (timer: Timer | null | undefined) => {
    if (timer) timer.work = null;
  };
  put(globalThis, 'setTimeout', timeout);
  put(globalThis, 'clearTimeout', clear);
  put(globalThis.performance, 'now', nowMs);
  put(Date, 'now', nowMs);
  put(AbortSignal, 'timeout', (ms: number) => {
    const limit = new AbortController();
    later(ms, () => limit.abort(new DOMException('it took too long', 'TimeoutError')));
    return limit.signal;
  });
  put(AbortSignal, 'any', (signals: readonly AbortSignal[]) => {
    const any = new AbortController();
    for (const each of signals) {
      const end = () => any.abort(each.reason);
      if (each.aborted) end();
      else each.addEventListener('abort', end, { once: true });
    }
    return any.signal;
  });
}
