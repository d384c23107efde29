// `parley swaps`, `settle`, `give-up` and `refund`: agreed swaps, and their end.

import type { ParleyClient } from '@parley/sdk/client.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { mayBeFunded, type SwapRecord } from '@parley/sdk/stores/store.ts';
import { alone, chainsOf, type Swap, wordsOf } from '@parley/trader/driving.ts';
import { type EndedSwap, endedIds, endedOf } from '@parley/trader/ended.ts';
import { needsYou, statuses } from '@parley/trader/failures.ts';
import { answer, type Cli, mustConfirm, note } from '@parley/trader/io.ts';
import {
  accountOf,
  inSession,
  marketOf,
  type Session,
  storeIn,
  type Unlocked,
  unlocked,
} from '@parley/trader/session.ts';
import { deadlineOf, tableOf } from '@parley/trader/show.ts';
import {
  dueSwaps,
  endUnfunded,
  fundingWords,
  giveUpAlone,
  giveUpWords,
  isLate,
  type Kept,
  giveUp as keepWish,
  marketSwaps,
  refundWords,
} from '@parley/trader/swaps.ts';
import { driveAll } from '../drive.ts';

type Settle = { readonly leaveNone?: true };

export const settle = (cli: Cli, wanted: readonly string[], { leaveNone }: Settle) =>
  inSession(cli, async (session) => {
    const own = await unlocked(cli, session);
    return alone(own, async () => {
      const client = await clientOf(cli, session);
      const { due, unread } = await dueSwaps(cli, session, own.store, client, wanted);
      const least = unread === 0 ? statuses.done : statuses.local;
      if (due.length === 0 && unread === 0) {
        answer(cli, { swaps: [] }, 'no swap of this profile is open');
      }
      const { free, fundings } = await parted(session, own, due);
      const asked = { swaps: fundings, confirm: () => mustWant(cli, session, own, fundings) };
      const driven =
        due.length === 0
          ? statuses.done
          : await driveAll(cli, session, own, free, { client, asked, leaveNone });
      return driven || least;
    });
  });

/** null: no account is signed in. Claims and refunds need no market. */
export async function clientOf(cli: Cli, session: Session): Promise<ParleyClient | null> {
  const withoutIt = (why: string) => {
    note(cli, `${why}: this program funds nothing, claims and refunds go on`);
    return null;
  };
  try {
    const account = await accountOf(session);
    if (account !== null) return await marketOf(session, account.key);
  } catch (error) {
    return withoutIt(messageOf(error));
  }
  return withoutIt('no account is signed in');
}

/** Only what is not funded yet is asked about: all else brings money back, and waits for nobody. */
export async function parted(session: Session, { store }: Unlocked, due: readonly Swap[]) {
  const free: Swap[] = [];
  const fundings: Swap[] = [];
  for (const swap of due) {
    const record = await store.getSwap(swap.swapId);
    const isBegun = record !== null && (mayBeFunded(record) || isLate(record, session.now()));
    const isFree = swap.withoutMarket || swap.givesUp || record?.restored === true || isBegun;
    (isFree ? free : fundings).push(swap);
  }
  return { free, fundings };
}

async function mustWant(cli: Cli, session: Session, own: Unlocked, fundings: readonly Swap[]) {
  const plan: string[] = [];
  for (const { swapId, trade } of fundings) {
    const record = await own.store.getSwap(swapId);
    plan.push(...(await fundingWords(session, own, { swapId, trade, record })));
  }
  const { length: count } = fundings;
  if (count === 0) return;
  await mustConfirm(cli, plan, `Fund ${count === 1 ? 'it' : `these ${count}`}, and settle`);
}

export const refund = (cli: Cli, id: string, { raw }: { readonly raw?: true }) =>
  inSession(cli, async (session) => {
    const own = await unlocked(cli, session);
    const record = await own.store.getSwap(id);
    if (raw === true) return rawRefund(cli, session, own, id, record);
    return alone(own, async () => {
      const { swap, client } = await dueSwap(cli, session, own, id);
      const plan = [`${id}: ${wordsOf(session, swap.trade)}`, ...refundWords(session, record)];
      // A person who gave it up before is not asked again.
      if (!swap.withoutMarket) await mustConfirm(cli, plan, 'Give it up?');
      await giveUpAlone(session, id);
      if (record === null) {
        // The store keeps nothing of it, so nothing of it was ever signed.
        const outcome = await endUnfunded(session, id);
        answer(cli, outcome, `${id}  given up before anything moved`);
        return statuses.not_received;
      }
      return driveAll(cli, session, own, [{ ...swap, withoutMarket: true }], { client });
    });
  });

export const giveUp = (cli: Cli, id: string) =>
  inSession(cli, async (session) => {
    const own = await unlocked(cli, session);
    return alone(own, async () => {
      const { swap, client } = await dueSwap(cli, session, own, id);
      const words = giveUpWords(session, await own.store.getSwap(id));
      const plan = [`${id}: ${wordsOf(session, swap.trade)}`, ...words];
      if (!swap.givesUp) await mustConfirm(cli, plan, 'Give it up, and send both coins back now?');
      await keepWish(session, id);
      const given = { ...swap, givesUp: true, withoutMarket: false };
      return driveAll(cli, session, own, [given], { client });
    });
  });

async function dueSwap(cli: Cli, session: Session, own: Unlocked, id: string) {
  const client = await clientOf(cli, session);
  const { due } = await dueSwaps(cli, session, own.store, client, [id]);
  const [swap] = due;
  if (swap === undefined) throw needsYou('unknown_swap', `swap ${id} is none of this profile`);
  return { swap, client };
}

async function rawRefund(
  cli: Cli,
  session: Session,
  own: Unlocked,
  swapId: string,
  record: SwapRecord | null,
): Promise<void> {
  if (record === null)
    throw needsYou('unknown_swap', `this profile keeps no record of swap ${swapId}`);
  const { rawSpend } = await import('@parley/sdk/rescue/raw.ts');
  const chains = await chainsOf(session, own, record.trade);
  const input = { swapId, chains, store: own.store, now: session.now, signal: cli.signal };
  const spend = await rawSpend(input, 'refund');
  const text = spend.is === 'signed' ? spend.raw : JSON.stringify(spend.call);
  if (spend.notBefore !== null) note(cli, `no node takes it before ${isoTime(spend.notBefore)}`);
  answer(cli, spend, text);
}

export const swaps = (cli: Cli, wanted: string | undefined) =>
  inSession(cli, async (session) => {
    const store = await storeIn(session);
    const kept = await store.swapIds();
    const all: Listed[] = [];
    for (const id of wanted === undefined ? kept : [wanted]) {
      const one = listed(session, store, id);
      all.push(
        await (wanted === undefined ? one.catch((error) => unreadable(cli, id, error)) : one),
      );
    }
    if (wanted === undefined) all.push(...(await notBegun(cli, session, store)));
    if (wanted !== undefined) {
      const [one] = all;
      return answer(cli, one, one === undefined ? '' : wholeOf(session, one));
    }
    const rows = all
      .sort((a, b) => b.agreedAt - a.agreedAt)
      .map(({ swapId, what, is, agreedAt }) => [swapId, what, is, isoTime(agreedAt)]);
    answer(cli, { swaps: all }, tableOf(['swap', 'gives', 'is', 'agreed'], rows));
  });

type Listed = {
  readonly swapId: string;
  readonly what: string;
  /** `agreed`: `settle` has not begun it; `open`, or how it ended. */
  readonly is: string;
  readonly agreedAt: number;
  readonly role: string | null;
  readonly legs: SwapRecord['swap']['legs'] | null;
  readonly deadlines: SwapRecord['swap']['deadlines'] | null;
  readonly ended: EndedSwap | null;
};

/** The swaps that were accepted here and agreed since. The store keeps nothing of such a swap
 * before `settle`. */
async function notBegun(cli: Cli, session: Session, store: Kept): Promise<Listed[]> {
  const account = await accountOf(session);
  if (account === null) return [];
  const client = await marketOf(session, account.key);
  const left = new Set([...(await store.swapIds()), ...(await endedIds(session))]);
  const nothing = { role: null, legs: null, deadlines: null, ended: null };
  const all: Listed[] = [];
  for (const { id: swapId, threadId, status, createdAt: at } of (await marketSwaps(cli, client))
    .swaps) {
    if (status !== 'agreed' || left.has(swapId)) continue;
    const trade = await store.getTrade(threadId);
    if (trade === null) continue;
    const agreedAt = Math.floor(Date.parse(at) / 1_000);
    all.push({ swapId, what: wordsOf(session, trade), is: 'agreed', agreedAt, ...nothing });
  }
  return all;
}

function unreadable(cli: Cli, swapId: string, error: unknown): Listed {
  note(cli, `swap ${swapId}: ${messageOf(error)}`);
  const nothing = { role: null, legs: null, deadlines: null, ended: null };
  return { swapId, what: '', is: 'unreadable', agreedAt: 0, ...nothing };
}

async function listed(session: Session, store: Kept, swapId: string): Promise<Listed> {
  const record = await store.getSwap(swapId);
  const ended = await endedOf(session, swapId);
  if (record === null && ended === null) {
    const sentence = `this profile keeps no record of swap ${swapId}: "parley settle" begins what is agreed`;
    throw needsYou('unknown_swap', sentence);
  }
  return {
    swapId,
    what: record === null ? String(ended?.what ?? '') : wordsOf(session, record.trade),
    is: ended === null ? 'open' : String(ended.end),
    agreedAt: record?.swap.agreedAt ?? 0,
    role: record?.swap.role ?? null,
    legs: record?.swap.legs ?? null,
    deadlines: record?.swap.deadlines ?? null,
    ended,
  };
}

function wholeOf(session: Session, { swapId, what, is, role, legs, deadlines }: Listed): string {
  const now = session.now();
  if (legs === null || deadlines === null) return `${swapId}  ${is}`;
  const lines = [legs.a, legs.b].map(
    ({ leg, chain, funder, escrow }) =>
      `leg ${leg}: funded by the ${funder} on ${chain}, escrow ${escrow?.address ?? 'not set'}, ` +
      `refund from ${deadlineOf(deadlines.refundAt[leg], now)}`,
  );
  return [`${swapId}  ${what}`, `${is}; you are the ${role}`, ...lines].join('\n');
}
