// The swaps of a profile: those that are open, those that were given up, and how each has ended.

import { join } from 'node:path';
import { has } from '@parley/core/families.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Outcome } from '@parley/sdk/settle.ts';
import { idShape } from '@parley/sdk/stores/entries.ts';
import { mayBeFunded, type SwapRecord } from '@parley/sdk/stores/store.ts';
import { givenLeg, type OwnTrade } from '@parley/sdk/trade.ts';
import type { Swap as MarketSwap } from '@parley/sdk/types.ts';
import { coinsAt } from './chains.ts';
import { type Swap, wordsOf } from './driving.ts';
import { endedIds, endedOf, keepEnded } from './ended.ts';
import { Failure, needsYou } from './failures.ts';
import { type Cli, note } from './io.ts';
import { namedFiles } from './named-files.ts';
import type { Session, Unlocked } from './session.ts';
import { deadlineOf } from './show.ts';
import { chainsIn } from './sides.ts';

const pageSize = 100;
/** The pages of the market's list, the newest first. */
const mostPages = 20;
/** The limit of the whole list: claims wait for it. */
const listMs = 30_000;

export type Kept = Pick<Unlocked['store'], 'swapIds' | 'getSwap' | 'getTrade'>;
type Noting = Pick<Cli, 'err' | 'signal'>;

type DueSwaps = {
  readonly due: readonly Swap[];
  /** How many records could not be read: told, and in nobody's way. */
  readonly unread: number;
};

/** Those that are open, or those `wanted`. Throws Failure `unknown_swap` or `swaps_not_listed`. */
export async function dueSwaps(
  cli: Noting,
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
  const refunds = new Set(await refundsIn(session).ids());
  const wishes = new Set(await wishesIn(session).ids());
  const due = [...known]
    .filter(([id]) => isWanted(id))
    .map(([swapId, trade]) => {
      const givesUp = wishes.has(swapId);
      return { swapId, trade, givesUp, withoutMarket: refunds.has(swapId) && !givesUp };
    });
  return { due, unread: unread.size };
}

/**
 * The market's answer, or silence, decides no claim: the swaps that are kept here are claimed and
 * refunded all the same.
 */
export async function marketSwaps(
  cli: Noting,
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

export function isLate(record: SwapRecord, now: number): boolean {
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

const neverFunded = 'your leg was not funded, and never will be';

export function refundWords(session: Session, record: SwapRecord | null): string[] {
  if (record === null) return [neverFunded];
  const { trade, swap } = record;
  const from = deadlineOf(swap.deadlines.refundAt[givenLeg(trade.party)], session.now());
  return [
    mayBeFunded(record)
      ? `your funding comes back to ${trade.refundTo.address}, from ${from}`
      : neverFunded,
    'until then the other side may still claim it, by showing the secret',
  ];
}

export function giveUpWords(session: Session, record: SwapRecord | null): string[] {
  const sure =
    'you cannot take it back; once the secret is public the swap is claimed all the same';
  if (record === null || !mayBeFunded(record)) return [neverFunded, sure];
  const { trade, swap } = record;
  const leg = givenLeg(trade.party);
  const from = deadlineOf(swap.deadlines.refundAt[leg], session.now());
  const own = swap.legs[leg];
  const when =
    has(own, 'coins') && own.escrow?.terms.form === undefined
      ? `from ${from}, as a Bitcoin leg of P2WSH waits for its timelock`
      : `once the other side releases it, or from ${from}`;
  return [`your funding comes back to ${trade.refundTo.address} ${when}`, sure];
}

const refundsIn = ({ places }: Session) => namedFiles(join(places.data, 'given-up'));
const wishesIn = ({ places }: Session) => namedFiles(join(places.data, 'wishes'));

/** The end of a swap that the store keeps nothing of. */
export async function endUnfunded(session: Session, swapId: string) {
  const outcome = { swapId, end: 'nothing', status: 'given up', at: session.now() } as const;
  await keepEnded(session, swapId, outcome);
  return outcome;
}

/** On disk when it resolves: the swap is never funded after that, and the market hears of its claim alone. */
export async function giveUpAlone(session: Session, swapId: string): Promise<void> {
  await refundsIn(session).write(swapId, '{}\n');
}

/** On disk when it resolves: each drive says so to the other side, and funds nothing. */
export async function giveUp(session: Session, swapId: string): Promise<void> {
  await wishesIn(session).write(swapId, '{}\n');
}

/** Those that have ended, but for what is left in an escrow and may be refunded now. */
async function overIds(session: Session): Promise<Set<string>> {
  const over = new Set<string>();
  for (const swapId of await endedIds(session)) {
    const ended = (await endedOf(session, swapId)) as Partial<Outcome> | null;
    if (ended === null) continue;
    const { remains = null } = ended;
    if (remains === null || remains.refundableAt > session.now()) over.add(swapId);
  }
  return over;
}
