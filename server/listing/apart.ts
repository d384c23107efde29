// Looks at strangers' tokens, apart from everything else: in threads that are killed when one takes
// too much time or memory, so that no token's code holds up the market. A thread makes one look at
// a time, is used again, and ends when none is wanted for a while.

import { Worker } from 'node:worker_threads';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { type Inspection, LookRanOut, type PowerRules } from '../../chains/tokens/inspection.ts';
import { type Fact, ParleyError, type RefusalCode } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import type { ChainSettings } from '../settings/chains.ts';

export const apartLimits = {
  /** As many as background looks: a thread is some 50 MB while it is there. */
  threads: 4,
  /** A plain token's look works for half a second; waiting for nodes does not count. */
  workMs: 10_000,
  /** V8 kills no thread inside JSON.parse: `mostParts` of chains/nodes bounds answers before. */
  memoryMb: 128,
  /** Beside it, as that counts none: answers of nodes, and a VM's memory (energy buys 10 MB). */
  buffersMb: 128,
  /** Between two looks at how long one has worked, and at its buffers. */
  watchMs: 200,
  /** A thread that is not wanted for so long ends: to begin one takes a second of a processor. */
  idleMs: 60_000,
} as const;

export type ApartLimits = { readonly [Name in keyof typeof apartLimits]: number };

export type Given = { readonly chains: readonly ChainSettings[]; readonly chainTimeoutMs: number };
export type Asked = {
  readonly chain: ChainKey;
  readonly token: string;
  readonly rules: PowerRules;
};
export type Answer =
  | { readonly inspection: Inspection }
  | { readonly ranOut: string }
  | {
      readonly refused: {
        readonly code: RefusalCode;
        readonly message: string;
        readonly facts: Readonly<Record<string, Fact>>;
      };
    }
  | { readonly fault: unknown };

export type Apart = {
  adapters(all: ReadonlyMap<ChainKey, ChainAdapter>): ReadonlyMap<ChainKey, ChainAdapter>;
  close(): Promise<void>;
};

export function createApart(given: Given, limits: ApartLimits = apartLimits): Apart {
  const places = createPlaces(limits.threads);
  const idle = new Map<Worker, NodeJS.Timeout>();
  const all = new Set<Worker>();
  const wake = (worker: Worker) => {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  };
  const take = async (signal: AbortSignal): Promise<Worker> => {
    const [next] = idle.keys();
    if (next !== undefined) {
      wake(next);
      return next;
    }
    const worker = newThread(given, limits);
    all.add(worker);
    worker.on('exit', () => {
      wake(worker);
      all.delete(worker);
    });
    try {
      await isReady(worker, limits, signal);
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    return worker;
  };
  const giveBack = (worker: Worker) => {
    idle.set(worker, setTimeout(() => void worker.terminate(), limits.idleMs).unref());
  };
  const look = async (asked: Asked, signal: AbortSignal): Promise<Inspection> => {
    await places.enter(signal);
    try {
      const worker = await take(signal);
      try {
        const answer = await answerOf(worker, asked, limits, signal);
        giveBack(worker);
        return read(answer);
      } catch (error) {
        if (!idle.has(worker)) await worker.terminate();
        throw error;
      }
    } finally {
      places.leave();
    }
  };
  const apart = (adapter: ChainAdapter): ChainAdapter => {
    if (adapter.inspect === undefined) return adapter;
    const { chain } = adapter;
    const inspect = (token: string, rules: PowerRules, signal: AbortSignal) =>
      look({ chain, token, rules }, signal);
    return { ...adapter, inspect };
  };
  return {
    adapters: (adapters) => new Map([...adapters].map(([key, each]) => [key, apart(each)])),
    close: async () => {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function newThread(given: Given, { memoryMb }: ApartLimits): Worker {
  const worker = new Worker(new URL('./looking.ts', import.meta.url), {
    workerData: given,
    // It has its settings; what else the process was started with is none of its business.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: memoryMb / 8 },
  });
  worker.unref();
  // Of one that nobody waits for: it ends, and that is all.
  worker.on('error', () => {});
  return worker;
}

/** When it has read its code. No token's has run by then, so what fails says nothing of one. */
async function isReady(
  worker: Worker,
  { memoryMb }: ApartLimits,
  signal: AbortSignal,
): Promise<void> {
  await messageOf(worker, signal, new Error(`no thread for looks begins within ${memoryMb} MB`));
}

async function answerOf(
  worker: Worker,
  asked: Asked,
  { workMs, memoryMb, buffersMb, watchMs }: ApartLimits,
  signal: AbortSignal,
): Promise<Answer> {
  const ranOut = new AbortController();
  const end = (what: string) =>
    ranOut.abort(new LookRanOut(`a look at it takes more than ${what}`));
  const before = worker.performance.eventLoopUtilization();
  const watching = setInterval(() => {
    // Known of a thread that hangs too: it is counted from outside.
    const { active } = worker.performance.eventLoopUtilization(before);
    if (active > workMs) end(`${workMs / 1_000} s of computing`);
    const ofBuffers = ({ external_memory: bytes }: { readonly external_memory: number }) => {
      if (bytes > buffersMb * 2 ** 20) end(`${buffersMb} MB of buffers`);
    };
    worker.getHeapStatistics().then(ofBuffers, () => {});
  }, watchMs);
  try {
    const until = AbortSignal.any([signal, ranOut.signal]);
    const full = new LookRanOut(`a look at it takes more than ${memoryMb} MB`);
    const answer = messageOf<Answer>(worker, until, full);
    worker.postMessage(asked);
    return await answer;
  } finally {
    clearInterval(watching);
  }
}

/** Its next one. Throws `full` where its memory has run out. */
async function messageOf<Message>(
  worker: Worker,
  signal: AbortSignal,
  full: Error,
): Promise<Message> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Message>();
  const stopped = () => reject(signal.reason);
  const failed = (error: Error & { code?: string }) =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? full : error);
  const ended = () => reject(new Error('the thread for looks at tokens has ended'));
  signal.addEventListener('abort', stopped, { once: true });
  worker.on('message', resolve).on('error', failed).on('exit', ended);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', stopped);
    worker.off('message', resolve).off('error', failed).off('exit', ended);
  }
}

function read(answer: Answer): Inspection {
  if ('inspection' in answer) return answer.inspection;
  if ('ranOut' in answer) throw new LookRanOut(answer.ranOut);
  if ('fault' in answer) throw answer.fault;
  const { code, message, facts } = answer.refused;
  throw new ParleyError(code, message, facts);
}

function createPlaces(most: number) {
  const waiting = new Set<() => void>();
  let taken = 0;
  return {
    enter: async (signal: AbortSignal) => {
      signal.throwIfAborted();
      if (taken < most) {
        taken += 1;
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stopped = () => {
        // Unless it has just been given a place, which it then leaves as everybody does.
        if (waiting.delete(resolve)) reject(signal.reason);
      };
      waiting.add(resolve);
      signal.addEventListener('abort', stopped, { once: true });
      await promise.finally(() => signal.removeEventListener('abort', stopped));
    },
    leave: () => {
      const [next] = waiting;
      if (next === undefined) taken -= 1;
      else {
        waiting.delete(next);
        next();
      }
    },
  };
}
