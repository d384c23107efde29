// Swaps that are driven to their end in the background, as the command does
// it. The swaps to be driven are a file each: after a crash it goes on by itself, since deadlines
// do not wait for anybody's call.

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { codeOf, messageOf } from '@parley/sdk/errors.ts';
import { timedText } from '@parley/sdk/people.ts';
import { doubtsAfter, type ToldDoubt } from '@parley/sdk/settle/told.ts';
import type { Outcome, Progress, Shown } from '@parley/sdk/settle.ts';
import { idShape } from '@parley/sdk/stores/entries.ts';
import { driveSwap, rescueWriter, type Swap, turnOf } from '@parley/trader/driving.ts';
import { Failure, toldOf } from '@parley/trader/failures.ts';
import { namedFiles } from '@parley/trader/named-files.ts';
import type { Session, Unlocked } from '@parley/trader/session.ts';
import { dueSwaps } from '@parley/trader/swaps.ts';
import { type Foreign, foreign, placeIn, word } from './foreign.ts';
import { createTurns } from './turns.ts';

/** Where a swap is, as its driver said last. */
export type Driven = {
  readonly state: 'running' | 'ended' | 'stopped';
  readonly step: string;
  readonly txid: string | null;
  readonly said: Foreign;
  /** The doubts about the nodes. */
  readonly doubts: readonly Foreign[];
  /** Unix seconds. */
  readonly at: number;
};

export type Driver = {
  /** Begins it, unless it runs. On disk when it resolves. */
  drive(swapId: string): Promise<void>;
  of(swapId: string): Driven | null;
  /** Once it has ended or stands still, or after so long. */
  settled(swapId: string, ms: number): Promise<void>;
  /** It funds nothing any more. */
  stop(swapId: string): Promise<void>;
  /** Once nothing runs. */
  idle(): Promise<void>;
  /** The driver goes on with the swaps that were driven when the process before this one ended. */
  resume(): Promise<void>;
  close(): Promise<void>;
};

type Made = {
  /** The signal of the whole server. */
  readonly signal: AbortSignal;
  readonly session: Session;
  readonly own: Unlocked;
  readonly client: ParleyClient;
  readonly note: (text: string) => void;
  /** A swap is somewhere else than it was. */
  readonly changed: (swapId: string) => void;
};

type Running = { readonly stop: AbortController; readonly done: Promise<void> };

/** An ending server waits so long for its swaps. They go on with its next start. */
const closeMs = 5_000;
const againMs = 30_000;
const mostDriven = 50;
/** The limit of ended swaps in memory. */
const mostRemembered = 1_000;

export function createDriver({ signal, session, own, client, note, changed }: Made): Driver {
  const marks = namedFiles(join(session.places.data, 'mcp', 'driven'));
  const running = new Map<string, Running>();
  const last = new Map<string, Driven>();
  const turn = oneProcess(own);
  /** The second of two runs would go on where nobody could stop it, and fund a swap that was given
   * up. */
  const inTurn = createTurns();
  let isClosed = false;

  const noted = (swapId: string, change: Partial<Driven>) => {
    const before = last.get(swapId) ?? started(session.now());
    last.set(swapId, { ...before, ...change, at: session.now() });
    const [oldest] = last.keys();
    if (last.size > mostRemembered && oldest !== undefined) last.delete(oldest);
    const isSame = (['state', 'step', 'txid', 'doubts'] as const).every((name) =>
      isDeepStrictEqual(before[name], { ...before, ...change }[name]),
    );
    // Words alone change each time that it looks.
    if (!isSame) changed(swapId);
  };
  const rescue = rescueWriter(session, own, note);
  const run = async (swap: Swap, signal: AbortSignal) => {
    const { swapId } = swap;
    let told: readonly ToldDoubt[] = [];
    const shown = (each: Shown) => {
      told = doubtsAfter(told, each);
      const doubts = told.map(wordsOf);
      if (!isDeepStrictEqual(last.get(swapId)?.doubts, doubts)) noted(swapId, { doubts });
    };
    try {
      const result = await driveSwap({ session, own, client, signal, rescue }, swap, {
        progress: (progress) => noted(swapId, afterProgress(progress)),
        shown,
        trouble: ({ sentence: text }) =>
          noted(swapId, afterProgress({ step: 'trouble', text, txid: null })),
        ended: ({ end }) => noted(swapId, afterEnd(end)),
      });
      const isEnded = result.is === 'ended';
      noted(swapId, isEnded ? {} : { state: 'stopped', step: word(result.told.code) });
      if (isEnded) await marks.remove(swapId);
      note(`swap ${swapId}: ${isEnded ? 'ended' : 'stands still, and a person is needed'}`);
    } catch (error) {
      if (signal.aborted) return;
      const { code, sentence } = toldOf(error);
      noted(swapId, { state: 'stopped', step: word(code), said: foreign(timedText(sentence)) });
      note(`swap ${swapId}: ${code}`);
    } finally {
      await rescue.ended();
    }
  };
  /** The turn is taken; it is left when the swap ends. */
  const begin = (swap: Swap) => {
    const { swapId } = swap;
    last.set(swapId, started(session.now()));
    const stop = new AbortController();
    const done = run(swap, stop.signal).finally(() => {
      running.delete(swapId);
      turn.leave();
    });
    running.set(swapId, { stop, done });
  };
  const ended = async (swapId: string) => {
    const one = running.get(swapId);
    one?.stop.abort(new Error('given up'));
    await one?.done;
    await marks.remove(swapId);
  };
  const drive = (swapId: string) => inTurn(swapId, () => driven(swapId));
  const driven = async (swapId: string) => {
    mustBeId(swapId);
    if (running.size >= mostDriven && !running.has(swapId)) {
      const sentence = `${mostDriven} swaps are driven, as many as may be`;
      throw new Failure('needs_you', 'too_many_swaps', sentence);
    }
    await turn.take();
    let isBegun = false;
    try {
      const quiet = { signal, err: () => {} };
      const { due } = await dueSwaps(quiet, session, own.store, client, [swapId]);
      const [swap] = due;
      if (swap === undefined) throw unknownSwap(swapId);
      // One that was given up meanwhile goes on without the market.
      await ended(swapId);
      await marks.write(swapId, '{}\n');
      begin(swap);
      isBegun = true;
    } finally {
      if (!isBegun) turn.leave();
    }
  };
  /** Where another process of the profile settles now, again until that one has ended. */
  const takeUp = async (swapId: string): Promise<void> => {
    try {
      await drive(swapId);
    } catch (error) {
      note(`swap ${swapId} is not driven: ${messageOf(error)}`);
      if (codeOf(error) !== 'in_use' || isClosed) return;
      setTimeout(() => {
        if (!isClosed) void takeUp(swapId);
      }, againMs).unref();
    }
  };
  return {
    drive,
    stop: (swapId) => inTurn(swapId, () => ended(swapId)),
    of: (swapId) => last.get(swapId) ?? null,
    settled: async (swapId, ms) => {
      const one = running.get(swapId);
      if (one !== undefined) await Promise.race([one.done, after(ms)]);
    },
    resume: async () => {
      for (const swapId of await marks.ids()) {
        if (idShape.test(swapId)) await takeUp(swapId);
      }
    },
    idle: async () => {
      while (running.size > 0) await Promise.all([...running.values()].map(({ done }) => done));
    },
    close: async () => {
      isClosed = true;
      for (const { stop } of running.values()) stop.abort(new Error('the server ends'));
      const all = [...running.values()].map(({ done }) => done);
      await Promise.race([Promise.all(all), after(closeMs)]);
    },
  };
}

function mustBeId(swapId: string): void {
  if (idShape.test(swapId)) return;
  throw new Failure('usage', 'bad_id', 'a swap id has 1 to 64 letters, digits or dashes');
}

const unknownSwap = (swapId: string) =>
  new Failure('needs_you', 'unknown_swap', `swap ${swapId} is none of this profile`);

const started = (at: number): Driven => ({
  state: 'running',
  step: 'preparing',
  txid: null,
  said: foreign(''),
  doubts: [],
  at,
});

export function afterProgress({
  step,
  text,
  txid,
}: Pick<Progress, 'text' | 'txid'> & { readonly step: string }): Partial<Driven> {
  const sent = txid === null ? {} : { txid: placeIn(txid) };
  return { step: word(step), said: foreign(timedText(text)), ...sent };
}

export function afterEnd(end: Outcome['end']): Partial<Driven> {
  return { state: 'ended', step: word(end), said: foreign(end), doubts: [] };
}

/** A gate may be about both legs. */
export function wordsOf({ leg, code, sentence }: ToldDoubt): Foreign {
  return foreign(`${leg === null ? '' : `leg ${leg}: `}${code}: ${sentence}`);
}

/** One process a profile settles: it has the turn while anything runs, or is about to. */
function oneProcess(own: Unlocked) {
  let users = 0;
  let turn: ReturnType<typeof turnOf> | null = null;
  return {
    /** Throws Failure `in_use`. */
    take: async () => {
      users += 1;
      turn ??= turnOf(own);
      const wanted = turn;
      try {
        await wanted;
      } catch (error) {
        users -= 1;
        if (turn === wanted) turn = null;
        throw error;
      }
    },
    leave: () => {
      users -= 1;
      if (users > 0) return;
      void turn?.then((taken) => taken?.release());
      turn = null;
    },
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
