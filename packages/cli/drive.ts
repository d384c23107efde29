// Drives many swaps at once, and tells or draws how each goes.

import type { ParleyClient } from '@parley/sdk/client.ts';
import { doubtsAfter, timedText } from '@parley/sdk/settle/told.ts';
import { type Outcome, remainsWords } from '@parley/sdk/settle.ts';
import {
  driveSwap,
  type Ended,
  type Events,
  rescueWriter,
  type Swap,
  wordsOf,
} from '@parley/trader/driving.ts';
import { statuses, toldOf } from '@parley/trader/failures.ts';
import { type Cli, failed, note, tell } from '@parley/trader/io.ts';
import type { Session, Unlocked } from '@parley/trader/session.ts';
import { painter } from './painter.ts';
import { linesOf, type Now } from './progress.ts';

export type DrivingAll = {
  readonly client: ParleyClient | null;
  /** Those that a person is asked about. The others do not wait for the answer. */
  readonly asked?: Asked;
  /** Bitcoin of claims and refunds; default the own wallet. */
  readonly payout?: string | undefined;
};

export type Asked = {
  readonly swaps: readonly Swap[];
  /** Throws Failure `not_asked`, `declined`. */
  readonly confirm: () => Promise<void>;
};

/** More than these wait for one of them to end. */
const mostAtOnce = 50;
const drawMs = 1_000;

/** Resolves to the exit status of all of them, once each has ended or waits for a person. */
export async function driveAll(
  cli: Cli,
  session: Session,
  own: Unlocked,
  swaps: readonly Swap[],
  { client, asked, payout }: DrivingAll,
): Promise<number> {
  const paint = painter(cli);
  const drawn = new Map<string, Now>();
  const draw = () => {
    const at = session.now();
    paint.draw(linesOf([...drawn.values()], at, cli.columns ?? 80));
  };
  const timer = setInterval(draw, drawMs);
  const rescue = rescueWriter(session, own, (text) => note(cli, text));
  const driving = { session, own, client, payout, rescue, signal: cli.signal };
  try {
    const ended: Ended[] = [];
    const one = async (swap: Swap) => {
      ended.push(
        await driveSwap(driving, swap, teller(cli, session, swap, { paint, drawn, draw })),
      );
      drawn.delete(swap.swapId);
    };
    const room = places(mostAtOnce);
    const free = swaps.map((swap) => room(() => one(swap)));
    const { swaps: fundings, confirm } = asked ?? { swaps: [], confirm: async () => {} };
    const wanted = paint.quietFor(confirm).then(
      () => fundings.map((swap) => room(() => one(swap))),
      (error: unknown) => {
        cli.signal.throwIfAborted();
        const told = toldOf(error);
        failed(cli, told);
        return fundings.map(async ({ swapId }) => {
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

type Drawing = {
  readonly paint: ReturnType<typeof painter>;
  readonly drawn: Map<string, Now>;
  readonly draw: () => void;
};

/** The lines that are written where nothing is drawn over: changes, transactions and waits. */
function teller(cli: Cli, session: Session, swap: Swap, { paint, drawn, draw }: Drawing): Events {
  const { swapId, trade } = swap;
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
    progress: ({ step, state, leg, txid, text, code }) => {
      const said = timedText(text);
      set({ state, text: said });
      if (cli.json)
        return tell(cli, { swapId, at: session.now(), state, step, leg, txid, text, code }, '');
      const isDrawn = paint.isLive && step === 'waiting';
      const shown = `…${swapId.slice(-8)}  ${said}${txid === null ? '' : `  ${txid}`}`;
      if (!isDrawn) paint.line(shown);
      draw();
    },
    shown: (shown) => set({ shown, doubts: doubtsAfter(drawn.get(swapId)?.doubts ?? [], shown) }),
    trouble: ({ sentence, code }) => {
      set({ text: sentence });
      const at = session.now();
      if (cli.json) tell(cli, { swapId, at, step: 'trouble', code, text: sentence }, '');
      else paint.line(`…${swapId.slice(-8)}  ${sentence}`);
    },
    ended: (outcome) => {
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
