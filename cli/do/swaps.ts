// `parley swaps`, `settle` and `refund`: agreed swaps, and their end.

import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParleyClient } from '../../sdk/client.ts';
import { messageOf } from '../../sdk/errors.ts';
import { pagesOf } from '../../sdk/pages.ts';
import { isoTime } from '../../sdk/people.ts';
import type { Outcome } from '../../sdk/settle.ts';
import { idShape } from '../../sdk/stores/entries.ts';
import { mayBeFunded, type SwapRecord } from '../../sdk/stores/store.ts';
import { givenLeg, type OwnTrade } from '../../sdk/trade.ts';
import type { Swap as MarketSwap } from '../../sdk/types.ts';
import { coinsAt } from '../chains.ts';
import type { Run } from '../command.ts';
import { chainsIn } from '../deal.ts';
import { alone, chainsOf, driveAll, type Swap, wordsOf } from '../drive.ts';
import { Failure, needsYou, statuses } from '../failures.ts';
import { answer, type Cli, mustConfirm, note } from '../io.ts';
import { readUpTo, writePrivate } from '../places.ts';
import {
  accountOf,
  inSession,
  marketOf,
  type Session,
  storeIn,
  type Unlocked,
  unlocked,
} from '../session.ts';
import { deadlineOf, tableOf } from '../show.ts';
import { watchAcceptances } from './acceptances.ts';

/** Lists are read in pages of this size. */
const pageSize = 100;
/** The pages of the market's list, the newest first. */
const mostPages = 20;
/** The limit of the whole list: claims wait for it. */
const listMs = 30_000;
const mostEndedBytes = 65_536;

type Kept = Pick<Unlocked['store'], 'swapIds' | 'getSwap' | 'getTrade'>;

export const settle: Run = (cli, { args }) =>
  inSession(cli, async (session) => {
    const own = await unlocked(cli, session);
    return alone(own, async () => {
      const client = await clientOf(cli, session);
      // Swaps that are named wait for nothing else.
      const whole = args.length === 0 ? client : null;
      const acceptances = await watchAcceptances(cli, session, whole);
      const { due, unread } = await dueSwaps(cli, session, own.store, client, args);
      const least = unread === 0 ? statuses.done : statuses.local;
      if (due.length === 0 && unread === 0) {
        answer(cli, { swaps: [] }, 'no swap of this profile is open');
      }
      const { free, fundings } = await parted(session, own, due);
      const asked = { swaps: fundings, confirm: () => mustWant(cli, session, own, fundings) };
      const driven =
        due.length === 0
          ? statuses.done
          : await driveAll(cli, session, own, free, { client, asked });
      if ((driven || least) !== statuses.done) return driven || least;
      const threads = new Set(due.map(({ trade }) => trade.threadId));
      return (await acceptances.areLeft(threads)) ? statuses.not_agreed : statuses.done;
    });
  });

/** null: no account is signed in. Claims and refunds need no market. */
async function clientOf(cli: Cli, session: Session): Promise<ParleyClient | null> {
  const withoutIt = (why: string) => {
    note(cli, `${why}: nothing is funded, claims and refunds go on`);
    return null;
  };
  try {
    const account = await accountOf(session);
    if (account !== null) return await marketOf(session, account.key);
  } catch (error) {
    return withoutIt(messageOf(error));
  }
  return withoutIt('nobody is signed in');
}

type DueSwaps = {
  readonly due: readonly Swap[];
  /** How many records could not be read: told, and in nobody's way. */
  readonly unread: number;
};

/** Those that are open, or those `wanted`. Throws Failure `unknown_swap` or `swaps_not_listed`. */
export async function dueSwaps(
  cli: Cli,
  session: Session,
  store: Kept,
  client: ParleyClient | null,
  wanted: readonly string[],
): Promise<DueSwaps> {
  const ended = await overIds(session);
  const isWanted = (id: string) => wanted.length === 0 || wanted.includes(id);
  const unread = new Set<string>();
  const readable = async <T>(id: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      if (isWanted(id)) unread.add(id);
      note(cli, `swap ${id} is left out: ${messageOf(error)}`);
      return null;
    }
  };
  const kept = (await store.swapIds()).filter((id) => wanted.includes(id) || !ended.has(id));
  const known = new Map<string, OwnTrade>();
  for (const id of kept) {
    const record = await readable(id, () => store.getSwap(id));
    if (record !== null) known.set(id, record.trade);
  }
  const { swaps, isWhole } = await marketSwaps(cli, client);
  for (const { id, threadId, status } of swaps) {
    if (known.has(id) || ended.has(id) || unread.has(id)) continue;
    const trade = await readable(id, () => store.getTrade(threadId));
    if (trade !== null) known.set(id, trade);
    else if (status === 'agreed' && !unread.has(id)) {
      note(cli, `swap ${id} was accepted elsewhere: this profile does not know its secret`);
    }
  }
  const strange = wanted.find((id) => !known.has(id) && !unread.has(id));
  // A market that is silent says of no swap that it is none, nor that none is open.
  if (!isWhole && (strange !== undefined || known.size + unread.size === 0)) {
    const what = strange === undefined ? 'no swap' : `swap ${strange}`;
    const sentence = `${what} is kept here, and the market lists none now: try again`;
    throw new Failure('market_unavailable', 'swaps_not_listed', sentence);
  }
  if (strange !== undefined) {
    throw needsYou('unknown_swap', `swap ${strange} is none of this profile: "parley swaps"`);
  }
  const given = new Set(await namesIn(givenUpFolder(session)));
  const due = [...known]
    .filter(([id]) => isWanted(id))
    .map(([swapId, trade]) => ({ swapId, trade, withoutMarket: given.has(swapId) }));
  return { due, unread: unread.size };
}

/** Whatever it answers, or does not: the swaps that are kept here are claimed and refunded all the
 * same. */
async function marketSwaps(
  cli: Cli,
  client: ParleyClient | null,
): Promise<{ readonly swaps: readonly MarketSwap[]; readonly isWhole: boolean }> {
  if (client === null) return { swaps: [], isWhole: true };
  const all: MarketSwap[] = [];
  const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(listMs)]);
  try {
    const ask = (from: object) => client.swaps({ limit: pageSize, ...from }, { signal });
    for await (const { swaps } of pagesOf(mostPages, ask)) {
      all.push(...swaps.filter((each) => isNamed(each.id) && isNamed(each.threadId)));
    }
  } catch (error) {
    cli.signal.throwIfAborted();
    note(cli, `the market does not list its swaps: ${messageOf(error)}. Those kept here go on`);
    return { swaps: all, isWhole: false };
  }
  return { swaps: all, isWhole: true };
}

const isNamed = (id: unknown) => typeof id === 'string' && idShape.test(id);

/** Only what is not funded yet is asked about: all else brings money back, and waits for nobody. */
async function parted(session: Session, { store }: Unlocked, due: readonly Swap[]) {
  const free: Swap[] = [];
  const fundings: Swap[] = [];
  for (const swap of due) {
    const record = await store.getSwap(swap.swapId);
    const isBegun = record !== null && (mayBeFunded(record) || isLate(record, session.now()));
    const isFree = swap.withoutMarket || record?.restored === true || isBegun;
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

function isLate(record: SwapRecord, now: number): boolean {
  return now > fundByOf(record);
}

function fundByOf({ swap: { deadlines, role } }: SwapRecord): number {
  return role === 'initiator' ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
}

type Funding = {
  readonly swapId: string;
  readonly trade: OwnTrade;
  readonly record: SwapRecord | null;
};

export async function fundingWords(
  session: Session,
  own: Unlocked,
  { swapId, trade, record }: Funding,
) {
  const { gives, gets } = chainsIn(trade);
  const from = await own.wallet(gives);
  const to = await own.wallet(gets);
  const lines = [
    `${swapId}: gives ${wordsOf(session, trade)}`,
    `  from ${coinsAt(from)}, refunded there, and paid at ${coinsAt(to)}`,
  ];
  if (record === null) {
    return [...lines, '  escrow and deadlines are verified before anything is funded'];
  }
  const leg = givenLeg(trade.party);
  const escrow = record.swap.legs[leg].escrow?.address ?? 'not set yet';
  const by = deadlineOf(fundByOf(record), session.now());
  return [...lines, `  into the escrow ${escrow}, by ${by}`];
}

export const refund: Run = (cli, { args: [id = ''], has }) =>
  inSession(cli, async (session) => {
    const own = await unlocked(cli, session);
    const record = await own.store.getSwap(id);
    if (has('raw')) return rawRefund(cli, session, own, id, record);
    return alone(own, async () => {
      const client = await clientOf(cli, session);
      const { due } = await dueSwaps(cli, session, own.store, client, [id]);
      const [swap] = due;
      if (swap === undefined) throw needsYou('unknown_swap', `swap ${id} is none of this profile`);
      const plan = [`${id}: ${wordsOf(session, swap.trade)}`, ...refundWords(session, record)];
      // A person who gave it up before is not asked again.
      if (!swap.withoutMarket) await mustConfirm(cli, plan, 'Give it up?');
      await giveUp(session, id);
      if (record === null) {
        // The store keeps nothing of it, so nothing of it was ever signed.
        const outcome = await endUnfunded(session, id);
        answer(cli, outcome, `${id}  given up before anything moved`);
        return statuses.not_received;
      }
      return driveAll(cli, session, own, [{ ...swap, withoutMarket: true }], { client: null });
    });
  });

export function refundWords(session: Session, record: SwapRecord | null): string[] {
  if (record === null) return ['nothing of it was funded: nothing will be'];
  const { trade, swap } = record;
  const from = deadlineOf(swap.deadlines.refundAt[givenLeg(trade.party)], session.now());
  return [
    mayBeFunded(record)
      ? `what you funded comes back to ${trade.refundTo.address}, from ${from}`
      : 'nothing of it was funded: nothing will be',
    'until then the other side may still claim it, by showing the secret',
  ];
}

async function rawRefund(
  cli: Cli,
  session: Session,
  own: Unlocked,
  swapId: string,
  record: SwapRecord | null,
): Promise<void> {
  if (record === null) throw needsYou('unknown_swap', `nothing is kept of swap ${swapId}`);
  const { rawSpend } = await import('../../sdk/rescue/raw.ts');
  const chains = await chainsOf(session, own, record.trade);
  const input = { swapId, chains, store: own.store, now: session.now, signal: cli.signal };
  const spend = await rawSpend(input, 'refund');
  const text = spend.is === 'signed' ? spend.raw : JSON.stringify(spend.call);
  if (spend.notBefore !== null) note(cli, `no node takes it before ${isoTime(spend.notBefore)}`);
  answer(cli, spend, text);
}

export const swaps: Run = (cli, { args: [wanted] }) =>
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
  readonly ended: Readonly<Record<string, unknown>> | null;
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
    const sentence = `nothing is kept of swap ${swapId}: "parley settle" begins what is agreed`;
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

const givenUpFolder = ({ places }: Session) => join(places.data, 'given-up');

/** The end of a swap that the store keeps nothing of. */
export async function endUnfunded(session: Session, swapId: string) {
  const outcome = { swapId, end: 'nothing', status: 'given up', at: session.now() } as const;
  const file = join(session.places.ended, `${swapId}.json`);
  await writePrivate(file, `${JSON.stringify(outcome)}\n`);
  return outcome;
}

/** On disk when it resolves: the swap is never funded after that. */
export async function giveUp(session: Session, swapId: string): Promise<void> {
  await writePrivate(join(givenUpFolder(session), `${swapId}.json`), '{}\n');
}

async function namesIn(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return (await readdir(folder))
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => name.slice(0, -'.json'.length));
}

const endedIds = ({ places }: Session) => namesIn(places.ended);

async function endedOf(session: Session, swapId: string): Promise<Listed['ended']> {
  const text = await readUpTo(join(session.places.ended, `${swapId}.json`), mostEndedBytes);
  return text === null ? null : (JSON.parse(text) as Listed['ended']);
}

/** Those that have ended, but for what is left in an escrow and may be refunded now. */
async function overIds(session: Session): Promise<Set<string>> {
  const over = new Set<string>();
  for (const swapId of await endedIds(session)) {
    const { remains = null } = ((await endedOf(session, swapId)) ?? {}) as Partial<Outcome>;
    if (remains === null || remains.refundableAt > session.now()) over.add(swapId);
  }
  return over;
}
