// Drives many swaps at once, and tells how each goes: a line for each change.

import type { ParleyClient } from '@parley/sdk/client.ts';
import { doubtsAfter, type ToldDoubt } from '@parley/sdk/settle/told.ts';
import { type Outcome, remainsWords, type SettleState, type Shown } from '@parley/sdk/settle.ts';
import { givenLeg } from '@parley/sdk/trade.ts';
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
import { oneLine } from '@parley/trader/show.ts';

export type DrivingAll = {
  readonly client: ParleyClient | null;
  /** Those that a person is asked about. The others do not wait for the answer. */
  readonly asked?: Asked;
  /** Bitcoin of claims and refunds; default the own wallet. */
  readonly payout?: string | undefined;
  /** Bitcoin: leaves no signed claims and refunds with the market. */
  readonly leaveNone?: true | undefined;
};

export type Asked = {
  readonly swaps: readonly Swap[];
  /** Throws Failure `not_asked`, `declined`. */
  readonly confirm: () => Promise<void>;
};

/** More than these wait for one of them to end. */
const mostAtOnce = 50;
const secondMs = 1_000;

export type Desk = ReturnType<typeof openDesk>;

/** Where swaps of one process are driven. `below`: words of the last line of a terminal. */
export function openDesk(
  cli: Cli,
  session: Session,
  own: Unlocked,
  { client, payout, leaveNone, below = () => '' }: DrivingAll & { readonly below?: () => string },
) {
  const now = new Map<string, Now>();
  const lines = quietLines(cli, () =>
    [below(), countdown(now, session.now())].filter(Boolean).join('   '),
  );
  const rescue = rescueWriter(session, own, (text) => note(cli, text));
  const driving = { session, own, client, payout, leaveNone, rescue };
  const begun = new Map<string, Promise<Ended>>();
  const one = async (swap: Swap, onProgress: Events['progress'], signal: AbortSignal) => {
    const events = teller(cli, session, swap, { lines, now });
    const progress: Events['progress'] = (each) => {
      onProgress(each);
      events.progress(each);
    };
    try {
      return await driveSwap({ ...driving, signal }, swap, { ...events, progress });
    } finally {
      now.delete(swap.swapId);
    }
  };
  return {
    lines,
    /** The same run for all that ask for a swap. Throws the signal's reason. */
    drive: (
      swap: Swap,
      onProgress: Events['progress'] = () => {},
      signal = cli.signal,
    ): Promise<Ended> => {
      const run = begun.get(swap.swapId) ?? one(swap, onProgress, signal);
      begun.set(swap.swapId, run);
      return run;
    },
    end: async () => {
      lines.end();
      await rescue.ended();
      const isLeft = cli.signal.aborted && begun.size > 0;
      if (isLeft) note(cli, 'open swaps wait for "parley settle", and deadlines do not');
    },
  };
}

/** Resolves to the exit status of all of them, once each has ended or waits for a person. */
export async function driveAll(
  cli: Cli,
  session: Session,
  own: Unlocked,
  swaps: readonly Swap[],
  all: DrivingAll,
): Promise<number> {
  const desk = openDesk(cli, session, own, all);
  try {
    const ended: Ended[] = [];
    const one = async (swap: Swap) => {
      ended.push(await desk.drive(swap));
    };
    const room = places(mostAtOnce);
    const free = swaps.map((swap) => room(() => one(swap)));
    const { swaps: fundings, confirm } = all.asked ?? { swaps: [], confirm: async () => {} };
    const wanted = desk.lines.quietFor(confirm).then(
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
    await desk.end();
  }
}

/** So many at once, in their order; the others wait for one of them. */
export function places(most: number) {
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

export function statusOf(ended: readonly Ended[]): number {
  const stopped = ended.find((each) => each.is === 'stopped');
  if (stopped !== undefined) return statuses[stopped.told.class];
  const isPaid = ended.every((each) => each.is === 'ended' && each.end === 'received');
  return isPaid ? statuses.done : statuses.not_received;
}

/** The state of a swap that is driven. */
export type Now = { readonly state: SettleState; readonly shown: Pick<Shown, 'swap' | 'trade'> };

type Due = { readonly swapId: string; readonly what: string; readonly at: number };

/** The next step due of one swap, by own deadlines; null: it is received. */
function dueOf(swapId: string, { state, shown: { swap, trade } }: Now): Due | null {
  const { deadlines, role } = swap;
  const own = givenLeg(trade.party);
  const isFirst = role === 'initiator';
  switch (state) {
    case 'preparing':
    case 'waiting_to_fund':
    case 'funding':
      return {
        swapId,
        what: 'fund by',
        at: isFirst ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy,
      };
    case 'revealing':
    case 'funded':
      return isFirst
        ? { swapId, what: 'claim by', at: deadlines.revealBy }
        : { swapId, what: 'refund from', at: deadlines.refundAt[own] };
    case 'claiming':
      return { swapId, what: 'claim by', at: deadlines.refundAt[own === 'a' ? 'b' : 'a'] };
    case 'refunding':
    case 'cancelling':
    case 'giving_up':
      return { swapId, what: 'refund from', at: deadlines.refundAt[own] };
    case 'received':
    case 'settled':
      return null;
  }
}

/** The time left to the nearest deadline of all swaps: `…12345678  fund by 0:12:07`. */
export function countdown(swaps: ReadonlyMap<string, Now>, now: number): string {
  const due = [...swaps].flatMap(([swapId, each]) => dueOf(swapId, each) ?? []);
  const [next] = due.filter(({ at }) => at > now).sort((a, b) => a.at - b.at);
  if (next === undefined) return '';
  const left = next.at - now;
  const minutes = new Date(left * 1_000).toISOString().slice(14, 19);
  return `${shortId(next.swapId)}  ${next.what} ${Math.floor(left / 3_600)}:${minutes}`;
}

/** The last letters differ: ids begin with their time. */
export const shortId = (swapId: string) => `…${swapId.slice(-8)}`;

/**
 * Lines to standard error; while a person is asked they wait. A person sees below them one more
 * that is drawn over every second.
 */
function quietLines(cli: Cli, below: () => string) {
  const held: string[] = [];
  let isQuiet = false;
  const draw = (text: string) => {
    if (cli.isAsked && !cli.json && !isQuiet) cli.err(`\r\u001b[K${oneLine(text)}`);
  };
  const timer = setInterval(() => draw(below()), secondMs);
  return {
    line: (text: string) => {
      draw('');
      if (isQuiet) held.push(text);
      else note(cli, oneLine(text));
    },
    clear: () => draw(''),
    end: () => {
      clearInterval(timer);
      draw('');
    },
    quietFor: async (work: () => Promise<void>): Promise<void> => {
      draw('');
      isQuiet = true;
      try {
        await work();
      } finally {
        isQuiet = false;
        for (const each of held.splice(0)) note(cli, oneLine(each));
      }
    },
  };
}

/** Changes, transactions, waits, and what is wrong with the nodes. */
function teller(
  cli: Cli,
  session: Session,
  swap: Swap,
  { lines, now }: { readonly lines: ReturnType<typeof quietLines>; readonly now: Map<string, Now> },
): Events {
  const { swapId, trade } = swap;
  const say = (text: string) => lines.line(`${shortId(swapId)}  ${text}`);
  let state: SettleState = 'preparing';
  let doubts: readonly ToldDoubt[] = [];
  let doubted = '';
  return {
    progress: ({ step, state: entered, leg, txid, text, code }) => {
      state = entered;
      if (cli.json) {
        tell(cli, { swapId, at: session.now(), state, step, leg, txid, text, code }, '');
      } else say(`${text}${txid === null ? '' : `  ${txid}`}`);
    },
    shown: (shown) => {
      now.set(swapId, { state, shown });
      doubts = doubtsAfter(doubts, shown);
      const before = doubted;
      doubted = doubts.map(({ sentence }) => sentence).join('; ');
      if (doubted !== before && doubted !== '') say(doubted);
    },
    trouble: ({ sentence, code }) => {
      const at = session.now();
      if (cli.json) tell(cli, { swapId, at, step: 'trouble', code, text: sentence }, '');
      else say(sentence);
    },
    ended: (outcome) => {
      const { end, remains } = outcome;
      const left = remains === null ? '' : `; ${remainsWords(remains)}`;
      lines.clear();
      tell(cli, outcome, `${swapId}  ${endWords[end]}: ${wordsOf(session, trade)}${left}`);
    },
  };
}

const endWords: Readonly<Record<Outcome['end'], string>> = {
  received: 'received',
  refunded: 'REFUNDED, not received',
  lost: 'LOST, you received nothing',
  nothing: 'NOTHING MOVED',
};
