// `parley trade sell`, `buy`, `resume` and `--from-file`: a trade by one command, from the question
// to the end of the swap.

import { resolve } from 'node:path';
import { queue } from '@parley/core/queue.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Level } from '@parley/sdk/types.ts';
import { catalogueOf } from '@parley/trader/assets.ts';
import { shortages } from '@parley/trader/deal.ts';
import { alone } from '@parley/trader/driving.ts';
import { misused, needsYou, statuses, toldOf } from '@parley/trader/failures.ts';
import { answer, type Cli, jsonOf, note, tell } from '@parley/trader/io.ts';
import {
  closeOrder,
  type KeptOrder,
  mustBeSame,
  openOrders,
  orderIn,
  readOrder,
} from '@parley/trader/orders/kept.ts';
import {
  directionOf,
  type Order,
  type OrderWords,
  orderOf,
  orderWords,
  type Side,
} from '@parley/trader/orders/order.ts';
import { writePrivate } from '@parley/trader/places.ts';
import {
  accountOf,
  inSession,
  marketOf,
  type Session,
  signedIn,
  unlocked,
} from '@parley/trader/session.ts';
import { ageOf, tableOf } from '@parley/trader/show.ts';
import { dueSwaps } from '@parley/trader/swaps.ts';
import { places } from '../drive.ts';
import { nameOf, phasesOf } from '../order-lines.ts';
import {
  isOver,
  type OrderDesk,
  openOrderDesk,
  type Result,
  type Trading,
  tellResult,
  worstOf,
} from '../orders.ts';
import { levelWords } from './levels.ts';
import { pairLines } from './market.ts';
import { rowsOfFile } from './order-file.ts';
import { parted } from './swaps.ts';

const dryRunWords = 'This was a dry run, which asks no maker.';

type Given = {
  readonly atLeast?: string;
  readonly atMost?: string;
  readonly wait?: number;
  readonly settled?: number;
  readonly id?: string;
  readonly dryRun?: true;
};

const single = (cli: Cli, side: Side, words: Omit<OrderWords, 'side'>, given: Given) =>
  inSession(cli, async (session) => {
    const { wait: waitSeconds, dryRun, ...bounds } = given;
    const order = orderOf(session, { ...words, side, ...bounds, waitSeconds });
    if (dryRun === true) return planned(cli, session, order);
    mustBeBounded(cli, [order]);
    return traded(cli, session, [order], { mayAsk: true, atOnce: 1 });
  });

export const sell = (
  cli: Cli,
  amount: string,
  base: string,
  _for: string,
  quote: string,
  given: Given,
) => single(cli, 'sell', { amount, base, quote }, given);

export const buy = (
  cli: Cli,
  amount: string,
  base: string,
  _with: string,
  quote: string,
  given: Given,
) => single(cli, 'buy', { amount, base, quote }, given);

/** Without a person who is asked each price is bounded. Throws Failure `not_asked`. */
function mustBeBounded(cli: Cli, orders: readonly Order[]): void {
  const free = orders.find(({ limit }) => limit === null);
  if (free === undefined || (cli.isAsked && !cli.yes)) return;
  const bound = free.side === 'sell' ? '--at-least' : '--at-most';
  const sentence = `"${orderWords(free)}" has no bound, and --yes names none: give ${bound}`;
  throw needsYou('not_asked', sentence);
}

export const resume = (cli: Cli, names: readonly string[]) =>
  inSession(cli, async (session) => {
    const open = await openOrders(session);
    const wanted = names.length === 0 ? open : names.map((name) => `id-${name}`);
    const orders: Order[] = [];
    const unread: unknown[] = [];
    for (const id of wanted) {
      try {
        const kept = await readOrder(session, id);
        if (kept === null)
          throw needsYou('unknown_trade', `no trade "${id.replace(/^id-/, '')}" is open`);
        orders.push(orderIn(session, kept));
      } catch (error) {
        if (names.length > 0) throw error;
        // The others have deadlines.
        note(cli, messageOf(error));
        unread.push(error);
      }
    }
    if (orders.length === 0 && unread.length > 0) throw unread[0];
    if (orders.length > 0) {
      const status = await traded(cli, session, orders, { mayAsk: false, atOnce: orders.length });
      const faults = unread.map((error) => ({ status: statuses[toldOf(error).class] }));
      return worstOf([{ status }, ...faults]);
    }
    answer(cli, { results: [] }, 'no trade is open');
    return statuses.done;
  });

type Batch = {
  readonly fromFile?: string;
  readonly atOnce: number;
  readonly results?: string;
} & Pick<Given, 'dryRun'>;

export const trade = (cli: Cli, { fromFile, atOnce, results, dryRun }: Batch) =>
  inSession(cli, async (session) => {
    if (fromFile === undefined) {
      throw misused('"trade" wants sell, buy or resume, or --from-file FILE');
    }
    if (results !== undefined && resolve(results) === resolve(fromFile)) {
      throw misused('--results would be written over the trades that are left');
    }
    const orders = await rowsOfFile(session, fromFile);
    mustBeBounded({ ...cli, isAsked: false }, orders);
    if (dryRun === true) {
      const rows = orders.map((order) => ({ id: order.id.slice(3), what: orderWords(order) }));
      const table = tableOf(
        ['trade', 'what'],
        rows.map(({ id, what }) => [id, what]),
      );
      return answer(cli, { orders: rows }, `${table}\n${dryRunWords}`);
    }
    return traded(cli, session, orders, { mayAsk: true, atOnce, results });
  });

type How = {
  readonly mayAsk: boolean;
  readonly atOnce: number;
  readonly results?: string | undefined;
};

async function traded(
  cli: Cli,
  session: Session,
  orders: readonly Order[],
  { mayAsk, atOnce, results: file }: How,
): Promise<number> {
  // A name that is taken is refused before a passphrase is asked for.
  await keptOf(session, orders);
  const signed = await signedIn(session);
  const own = await unlocked(cli, session);
  return alone(own, async () => {
    // Another process may have traded them until now.
    const { kept, unread } = await keptOf(session, orders);
    const phases = phasesOf(orders.length);
    const desk = openOrderDesk(cli, { session, signed, own, kept, unread, mayAsk, phases });
    const isMany = orders.length > 1;
    const results: Result[] = [];
    const untold: unknown[] = [];
    const inTurn = queue();
    const told = async (order: Order, result: Result) => {
      results.push(result);
      tellResult(cli, result, nameOf(order, isMany), isMany);
      if (file !== undefined) await writePrivate(file, results.map(lineOf).join(''));
      // Told before: if this process ends in between, it is told again and not traded again.
      const now = isOver(result) ? await readOrder(session, order.id) : null;
      if (now !== null) await closeOrder(session, now);
    };
    const one = async (order: Order) => {
      const result = await desk.run(order);
      // A disk that is full ends no other trade: their swaps have deadlines.
      await inTurn(() => told(order, result)).catch((error: unknown) => untold.push(error));
    };
    const ended = new AbortController();
    const signal = AbortSignal.any([cli.signal, ended.signal]);
    try {
      await besides(cli, { session, signed, own, kept }, desk, signal);
      await desk.begin(orders);
      const room = places(atOnce);
      await Promise.all(orders.map((order) => room(() => one(order))));
    } finally {
      ended.abort();
      await desk.end();
    }
    if (isMany) tellSum(cli, results);
    if (untold.length > 0) throw untold[0];
    return worstOf(results);
  });
}

const lineOf = (result: Result) => `${jsonOf(result)}\n`;

/** A file that cannot be read holds up no other trade. Throws Failure `other_trade`. */
async function keptOf(session: Session, orders: readonly Order[]) {
  const kept = new Map<string, KeptOrder>();
  const unread = new Map<string, unknown>();
  for (const order of orders) {
    const before = await readOrder(session, order.id).catch((error: unknown) => {
      unread.set(order.id, error);
      return null;
    });
    if (before === null) continue;
    mustBeSame(before, order);
    kept.set(order.id, before);
  }
  return { kept, unread };
}

/**
 * Swaps of before that were funded: one process settles, and their deadlines do not wait for the
 * trades of now. They are driven until those have ended.
 */
async function besides(
  cli: Cli,
  { session, signed, own, kept }: Pick<Trading, 'session' | 'signed' | 'own' | 'kept'>,
  desk: OrderDesk,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { due } = await dueSwaps(cli, session, own.store, signed.client, []);
    const requests = new Set([...kept.values()].map(({ rfqId }) => rfqId));
    const others = due.filter(({ trade: { rfqId } }) => !requests.has(rfqId));
    const { free, fundings } = await parted(session, own, others);
    const { length: count } = fundings;
    if (count > 0) note(cli, `agreed before and not begun: ${count}. "parley settle" funds them`);
    // An interruption is no news of theirs.
    for (const swap of free) desk.drive(swap, undefined, signal).catch(() => {});
  } catch (error) {
    cli.signal.throwIfAborted();
    note(cli, `swaps of before are not looked at: ${messageOf(error)}`);
  }
}

function tellSum(cli: Cli, results: readonly Result[]): void {
  const counts = new Map<string, number>();
  for (const { is } of results) counts.set(is, (counts.get(is) ?? 0) + 1);
  const words = [...counts].map(([is, count]) => `${count} ${is}`).join(', ');
  tell(cli, { step: 'sum', ...Object.fromEntries(counts) }, `${results.length} trades: ${words}`);
}

/** The dry run of a trade shows its pair and the prices that makers name now. It posts nothing. */
async function planned(cli: Cli, session: Session, order: Order): Promise<void> {
  const { keyless } = await marketOf(session);
  const names = await catalogueOf(session, keyless);
  const { base, quote, baseAmount, side } = order;
  const ids = { baseAssetId: names.idOf(base.name), quoteAssetId: names.idOf(quote.name) };
  const query = { direction: directionOf(side), ...ids };
  const amount = baseAmount.toString();
  const [pair, { levels }] = await Promise.all([
    keyless.pair(query),
    keyless.levels({ ...query, baseAmount: amount, limit: shownLevels }),
  ]);
  const lacking = await lackingOf(session, order);
  const now = session.now();
  const head = ['up to', `${quote.name} each`, 'at least', 'maker', 'settled', 'ends'];
  const rows = levels.map((each: Level) => [
    ...levelWords(each, base, quote),
    ageOf(each.expiresAt, now),
  ]);
  const lines = [
    `${orderWords(order)}; waits ${order.waitSeconds} seconds for quotes`,
    ...pairLines(session, pair),
    ...lacking.map((text) => `lacking: ${text}`),
    'makers would quote, and bind themselves to nothing:',
    tableOf(head, rows),
    dryRunWords,
  ];
  answer(cli, { order: orderWords(order), pair, levels, lacking }, lines.join('\n'));
}

const shownLevels = 5;

/** By the addresses of the account: no passphrase is asked for. */
async function lackingOf(session: Session, { side, base, quote, baseAmount, limit }: Order) {
  const account = await accountOf(session);
  const at = (chain: string) => account?.addresses[chain];
  const inBase = { own: base, amount: baseAmount };
  const inQuote = { own: quote, amount: limit ?? 0n };
  const sides =
    side === 'sell' ? { gives: inBase, gets: inQuote } : { gives: inQuote, gets: inBase };
  const wallet = ({ own: { chain } }: typeof inBase) => {
    const address = at(chain);
    return address === undefined ? null : { family: session.chain(chain).family, address };
  };
  const gives = wallet(sides.gives);
  const gets = wallet(sides.gets);
  if (gives === null || gets === null) return ['no account is signed in: "parley login"'];
  return (await shortages(session, sides, { gives, gets })).map(({ text }) => text);
}
