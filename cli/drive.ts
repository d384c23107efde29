// Drives swaps to their end: runs `settle` of the SDK again after what passes by itself, and stops
// where a person is needed. All that is lost with the process is what the chains show anyway.

import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PartyChain } from '../sdk/chains.ts';
import type { ParleyClient } from '../sdk/client.ts';
import { ParleyApiError, SettleError, StoreError, VerificationError } from '../sdk/errors.ts';
import { doubtsAfter, type ToldDoubt, timedText } from '../sdk/settle/told.ts';
import { type Outcome, type Progress, remainsWords, type Shown, settle } from '../sdk/settle.ts';
import type { StoreLock } from '../sdk/stores/store.ts';
import type { OwnTrade } from '../sdk/trade.ts';
import { nameOfPinned, shownAmount } from './assets.ts';
import { escrowIndexOf } from './chains.ts';
import { sidesOf } from './deal.ts';
import { Failure, statuses, type Told, toldOf } from './failures.ts';
import { type Cli, failed, jsonOf, note, tell } from './io.ts';
import { painter } from './painter.ts';
import { writePrivate } from './places.ts';
import { linesOf, type Now } from './progress.ts';
import { keepRescue } from './rescue-file.ts';
import type { Session, Unlocked } from './session.ts';

/** One that is to be driven. */
export type Swap = {
  readonly swapId: string;
  readonly trade: OwnTrade;
  /** The drive funds nothing: it was given up, or comes from a rescue. */
  readonly withoutMarket: boolean;
};

export type Driving = {
  readonly client: ParleyClient | null;
  /** Those that a person is asked about. The others do not wait for the answer. */
  readonly asked?: Asked;
  /** Bitcoin of claims and refunds; default the own wallet. */
  readonly payout?: string | undefined;
  /** The doubts about the nodes of one swap, at each poll. */
  readonly doubted?: (swapId: string, doubts: readonly ToldDoubt[]) => void;
};

export type Asked = {
  readonly swaps: readonly Swap[];
  /** Throws Failure `not_asked`, `declined`. */
  readonly confirm: () => Promise<void>;
};

export type Ended =
  | (Outcome & { readonly is: 'ended' })
  | { readonly is: 'stopped'; readonly swapId: string; readonly told: Told };

/** A failed run is tried again after this pause, which doubles up to a minute. */
const leastPauseMs = 2_000;
const mostPauseMs = 60_000;
/** More than these wait for one of them to end. */
const mostAtOnce = 50;
const lockMs = 500;
const drawMs = 1_000;

/** One process a profile settles. Throws Failure `in_use`. */
export async function alone<T>({ store }: Pick<Unlocked, 'store'>, work: () => Promise<T>) {
  const lock: StoreLock | null | undefined = await store.lock?.(
    'parley settle',
    AbortSignal.timeout(lockMs),
  );
  if (lock === null) {
    const sentence = 'another parley of this profile settles swaps: end it first, or let it work';
    throw new Failure('local', 'in_use', sentence);
  }
  try {
    return await work();
  } finally {
    await lock?.release();
  }
}

/** Resolves to the exit status of all of them, once each has ended or waits for a person. */
export async function driveAll(
  cli: Cli,
  session: Session,
  own: Unlocked,
  swaps: readonly Swap[],
  driving: Driving,
): Promise<number> {
  const paint = painter(cli);
  const drawn = new Map<string, Now>();
  const draw = () => {
    const at = session.now();
    paint.draw(linesOf([...drawn.values()], at, cli.columns ?? 80));
  };
  const timer = setInterval(draw, drawMs);
  const rescue = rescueWriter(cli, session, own);
  try {
    const ended: Ended[] = [];
    const one = async (swap: Swap) => {
      const { doubted } = driving;
      const told = teller(cli, session, swap, { paint, drawn, draw, rescue, doubted });
      ended.push(await drive(cli, session, own, swap, driving, told));
      drawn.delete(swap.swapId);
    };
    const room = places(mostAtOnce);
    const free = swaps.map((swap) => room(() => one(swap)));
    const { swaps: asked, confirm } = driving.asked ?? { swaps: [], confirm: async () => {} };
    const wanted = paint.quietFor(confirm).then(
      () => asked.map((swap) => room(() => one(swap))),
      (error: unknown) => {
        cli.signal.throwIfAborted();
        const told = toldOf(error);
        failed(cli, told);
        return asked.map(async ({ swapId }) => {
          ended.push({ is: 'stopped', swapId, told });
        });
      },
    );
    await Promise.all([...free, wanted.then((all) => Promise.all(all))]);
    return statusOf(ended);
  } finally {
    clearInterval(timer);
    paint.end();
    await rescue.ended();
    if (cli.signal.aborted) note(cli, 'open swaps wait for "parley settle", and deadlines do not');
  }
}

/** So many at once, in their order; the others wait for one of them. */
function places(most: number) {
  const due: (() => void)[] = [];
  let taken = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (taken >= most) await new Promise<void>((begin) => due.push(begin));
    else taken += 1;
    try {
      return await work();
    } finally {
      const next = due.shift();
      if (next === undefined) taken -= 1;
      else next();
    }
  };
}

function statusOf(ended: readonly Ended[]): number {
  const stopped = ended.find((each) => each.is === 'stopped');
  if (stopped !== undefined) return statuses[stopped.told.class];
  const isPaid = ended.every((each) => each.is === 'ended' && each.end === 'received');
  return isPaid ? statuses.done : statuses.not_received;
}

/** After a change of what is open; a failure is told, and stops nothing. */
function rescueWriter(cli: Cli, session: Session, own: Unlocked) {
  let last: Promise<unknown> = Promise.resolve();
  return {
    due: () => {
      last = last
        .then(() => keepRescue(session, own))
        .catch((error: Error) => note(cli, `the rescue file is not written: ${error.message}`));
    },
    ended: () => last,
  };
}

type Teller = {
  readonly progress: (progress: Progress) => void;
  readonly shown: (shown: Shown) => void;
  readonly trouble: (told: Told) => void;
  readonly end: (outcome: Outcome) => Promise<void>;
};

type Drawing = {
  readonly paint: ReturnType<typeof painter>;
  readonly drawn: Map<string, Now>;
  readonly draw: () => void;
  readonly rescue: ReturnType<typeof rescueWriter>;
  readonly doubted: Driving['doubted'];
};

/** The lines that are written where nothing is drawn over: changes, transactions and waits. */
function teller(cli: Cli, session: Session, swap: Swap, drawing: Drawing): Teller {
  const { swapId, trade } = swap;
  const { paint, drawn, draw, rescue, doubted } = drawing;
  const what = wordsOf(session, trade);
  const set = (change: Partial<Now>) => {
    const before = drawn.get(swapId) ?? {
      swapId,
      what,
      state: 'preparing',
      text: '',
      shown: null,
      doubts: [],
    };
    drawn.set(swapId, { ...before, ...change } as Now);
  };
  set({});
  return {
    progress: (progress) => {
      // An error that only reports the interruption is no news.
      if (cli.signal.aborted) return;
      const { step, state, leg, txid, text, code } = progress;
      const said = timedText(text);
      set({ state, text: said });
      if (step === 'verified' || step === 'funded') rescue.due();
      if (cli.json)
        return tell(cli, { swapId, at: session.now(), state, step, leg, txid, text, code }, '');
      const isDrawn = paint.isLive && step === 'waiting';
      const shown = `…${swapId.slice(-8)}  ${said}${txid === null ? '' : `  ${txid}`}`;
      if (!isDrawn) paint.line(shown);
      draw();
    },
    shown: (shown) => {
      const doubts = doubtsAfter(drawn.get(swapId)?.doubts ?? [], shown);
      set({ shown, doubts });
      doubted?.(swapId, doubts);
    },
    trouble: ({ sentence, code }) => {
      set({ text: sentence });
      const at = session.now();
      if (cli.json) tell(cli, { swapId, at, step: 'trouble', code, text: sentence }, '');
      else paint.line(`…${swapId.slice(-8)}  ${sentence}`);
    },
    end: async (outcome) => {
      const file = join(session.places.ended, `${swapId}.json`);
      await writePrivate(file, `${jsonOf({ ...outcome, at: session.now(), what })}\n`);
      rescue.due();
      paint.clear();
      const { end, remains } = outcome;
      const left = remains === null ? '' : `; ${remainsWords(remains)}`;
      tell(cli, outcome, `${swapId}  ${endWords[end]}: ${what}${left}`);
    },
  };
}

const endWords: Readonly<Record<Outcome['end'], string>> = {
  received: 'received',
  refunded: 'REFUNDED, not received',
  lost: 'LOST, nothing received',
  nothing: 'NOTHING MOVED',
};

/** `0.01 bitcoin for 640 ethereum:USDC`. */
export function wordsOf(session: Session, trade: OwnTrade): string {
  const named = (side: 'base' | 'quote') => nameOfPinned(session, trade[side]);
  const { gives, gets } = sidesOf(trade, { base: named('base'), quote: named('quote') });
  return `${shownAmount(gives.amount, gives.own)} for ${shownAmount(gets.amount, gets.own)}`;
}

async function drive(
  cli: Cli,
  session: Session,
  own: Unlocked,
  swap: Swap,
  driving: Driving,
  told: Teller,
): Promise<Ended> {
  const { swapId, trade, withoutMarket } = swap;
  let pauseMs = leastPauseMs;
  for (;;) {
    try {
      const outcome = await settle({
        swapId,
        trade,
        store: own.store,
        now: session.now,
        signal: cli.signal,
        chains: await chainsOf(session, own, trade, driving),
        client: withoutMarket ? null : driving.client,
        onProgress: (progress) => {
          pauseMs = leastPauseMs;
          told.progress(progress);
        },
        onShown: told.shown,
      });
      await told.end(outcome);
      return { is: 'ended', ...outcome };
    } catch (error) {
      cli.signal.throwIfAborted();
      const trouble = toldOf(error);
      told.trouble(trouble);
      if (isForPerson(error)) return { is: 'stopped', swapId, told: trouble };
      await wait(pauseMs, undefined, { signal: cli.signal });
      pauseMs = Math.min(2 * pauseMs, mostPauseMs);
    }
  }
}

/** Nodes and wallets of both chains; for Bitcoin the key that the script names. */
export async function chainsOf(
  session: Session,
  own: Unlocked,
  trade: OwnTrade,
  { payout }: Pick<Driving, 'payout'> = {},
) {
  const chains: Record<string, PartyChain> = {};
  const pubkey = trade.refundTo.pubkey ?? trade.payTo.pubkey;
  for (const { chain } of [trade.base, trade.quote]) {
    const source = await session.source(chain);
    const isBitcoin = source.view.family === 'bitcoin' && pubkey !== null;
    const index = isBitcoin ? { index: escrowIndexOf(own.phrase, pubkey) } : {};
    const paid = isBitcoin && payout !== undefined ? { payout } : {};
    chains[chain] = { source, wallet: await own.wallet(chain, { ...index, ...paid }) };
  }
  return chains;
}

/** The errors that waiting and asking again do not mend. */
function isForPerson(error: unknown): boolean {
  if (error instanceof SettleError || error instanceof VerificationError) return true;
  if (error instanceof StoreError || error instanceof Failure) return true;
  if (error instanceof ParleyApiError) return !error.unreachable && error.status !== 409;
  const kind = error instanceof Error && 'kind' in error ? String(error.kind) : '';
  return /^(?:invalid|forbidden|absent)$/.test(kind);
}
