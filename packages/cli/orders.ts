// Trades orders side by side, each from its request to the end of its swap, and tells how each
// goes: a line for each change, and one result an order.

import { setTimeout as wait } from 'node:timers/promises';
import { queue } from '@parley/core/queue.ts';
import { mayBeFunded } from '@parley/sdk/stores/store.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import { type OwnAsset, pinnedAsset, shownAmount } from '@parley/trader/assets.ts';
import type { Ended, Swap } from '@parley/trader/driving.ts';
import { endedOf } from '@parley/trader/ended.ts';
import { type FailureClass, needsYou, statuses, toldOf } from '@parley/trader/failures.ts';
import { type Cli, failed, mustConfirm, tell } from '@parley/trader/io.ts';
import { acceptOffer, mustHold } from '@parley/trader/orders/accept.ts';
import { type AgreedOrder, type Asking, agreedOn } from '@parley/trader/orders/agree.ts';
import { type KeptOrder, readOrder } from '@parley/trader/orders/kept.ts';
import { directionOf, type Order, orderWords } from '@parley/trader/orders/order.ts';
import type { Session, SignedIn, Unlocked } from '@parley/trader/session.ts';
import { dueSwaps } from '@parley/trader/swaps.ts';
import { type Desk, openDesk } from './drive.ts';
import { type Phases, tellerOf } from './order-lines.ts';

/** How an order came out, as a program reads it. */
export type Result = {
  /** null: it has no name. */
  readonly id: string | null;
  readonly what: string;
  /** The end of its swap, or the class of what stopped it (docs/cli.md). */
  readonly is: 'received' | 'refunded' | 'lost' | 'nothing' | FailureClass;
  readonly status: number;
  readonly code: string | null;
  readonly sentence: string | null;
  readonly rfqId: string | null;
  readonly threadId: string | null;
  readonly swapId: string | null;
  /** For people, with the asset. */
  readonly price: string | null;
  /** It had ended before this run, which traded nothing. */
  readonly isEarlier: boolean;
};

export type Trading = {
  readonly session: Session;
  readonly signed: SignedIn;
  readonly own: Unlocked;
  /** One that is open or done already, by its id. */
  readonly kept: ReadonlyMap<string, KeptOrder>;
  /** Why the file of one cannot be read, by its id: it may have been traded, so it is not now. */
  readonly unread: ReadonlyMap<string, unknown>;
  /** Whether new requests may be posted. */
  readonly mayAsk: boolean;
  readonly phases: Phases;
};

const leastPauseMs = 1_500;
/** For each order that asks: all of them share the market's budget. */
const shareMs = 500;

export type OrderDesk = ReturnType<typeof openOrderDesk>;

export function openOrderDesk(cli: Cli, trading: Trading) {
  const { session, signed, own, phases } = trading;
  const desk = openDesk(cli, session, own, { client: signed.client, below: phases.words });
  const promises = new Map<string, { readonly asset: string; readonly amount: bigint }>();
  const promised = (of: OwnAsset) =>
    [...promises.values()]
      .filter(({ asset }) => asset === keyOf(of))
      .reduce((sum, { amount }) => sum + amount, 0n);
  const promise = (order: Order, price: bigint) => {
    const given = order.side === 'sell' ? order.base : order.quote;
    const amount = order.side === 'sell' ? order.baseAmount : price;
    promises.set(order.id, { asset: keyOf(given), amount });
  };
  /** An earlier run accepted for these, and has funded nothing: they come before new ones. */
  const begin = async (orders: readonly Order[]): Promise<void> => {
    for (const order of orders) {
      const { accepted = null, swapId = null } = trading.kept.get(order.id) ?? {};
      if (accepted === null) continue;
      const record = swapId === null ? null : await own.store.getSwap(swapId);
      const isOver = swapId !== null && (await endedOf(session, swapId)) !== null;
      if (!isOver && (record === null || !mayBeFunded(record))) {
        promise(order, BigInt(accepted.price));
      }
    }
  };
  // An order must know what the one before it takes of a wallet.
  const inTurn = queue();
  const run = async (order: Order): Promise<Result> => {
    let kept = trading.kept.get(order.id) ?? null;
    try {
      if (trading.unread.has(order.id)) throw trading.unread.get(order.id);
      const asking = askingOf(cli, trading, desk, { order, promise, promises, promised, inTurn });
      if (kept?.swapId == null) {
        if (trading.mayAsk && kept === null) await mustHold({ session, own, promised }, order);
        kept = await agreedOn(asking, order, kept);
      }
      const agreed = kept as AgreedOrder;
      const over = await endedOf(session, agreed.swapId);
      if (over !== null) {
        promises.delete(order.id);
        return { ...resultOf(order, agreed, over.end as Result['is'], null), isEarlier: true };
      }
      phases.set(order.id, () => null);
      const swap = await swapOf(cli, trading, agreed);
      const ended = await desk.drive(swap, ({ step }) => {
        if (step === 'funded') promises.delete(order.id);
      });
      if (ended.is === 'ended') promises.delete(order.id);
      return ofEnded(order, agreed, ended);
    } catch (error) {
      const told = cli.signal.aborted
        ? { class: 'interrupted' as const, code: 'interrupted', sentence: 'interrupted' }
        : toldOf(error);
      // Its request or price may have come since.
      const left = await readOrder(session, order.id).catch(() => null);
      // An acceptance that stands may still become a swap.
      if (left?.accepted == null) promises.delete(order.id);
      return resultOf(order, left ?? kept, told.class, told);
    } finally {
      phases.delete(order.id);
    }
  };
  return { ...desk, begin, run };
}

const keyOf = ({ chain, token }: OwnAsset) => `${chain} ${token}`;

type Sharing = {
  readonly order: Order;
  readonly promise: (order: Order, price: bigint) => void;
  readonly promises: Map<string, { readonly asset: string; readonly amount: bigint }>;
  readonly promised: (of: OwnAsset) => bigint;
  readonly inTurn: ReturnType<typeof queue>;
};

function askingOf(cli: Cli, trading: Trading, desk: Desk, sharing: Sharing): Asking {
  const { session, signed, own, mayAsk, phases } = trading;
  const { order, promise, promises, promised, inTurn } = sharing;
  const { client } = signed;
  const isFree = cli.yes || order.limit !== null;
  const confirm = (plan: readonly string[]) => {
    if (isFree && (cli.json || phases.isMany)) return Promise.resolve();
    const question = `${orderWords(order)}: accept? It binds you`;
    return desk.lines.quietFor(() => mustConfirm({ ...cli, yes: isFree }, plan, question));
  };
  return {
    session,
    client,
    signal: cli.signal,
    mayAsk,
    tell: tellerOf(cli, session, desk.lines, phases, order),
    pause: () =>
      wait(Math.max(leastPauseMs, shareMs * phases.size()), undefined, { signal: cli.signal }),
    tradeOf: (threadId) => own.store.getTrade(threadId),
    bodyOf: async ({ side, base, baseAmount, quote, minSettled }, ttlSeconds) => ({
      direction: directionOf(side),
      baseAssetId: (await pinnedAsset(client, base)).id,
      baseAmount: baseAmount.toString(),
      quoteAssetId: (await pinnedAsset(client, quote)).id,
      ttlSeconds,
      ...(minSettled === null ? {} : { minSettled }),
    }),
    accept: (of, offer, binding) =>
      inTurn(async () => {
        const bind = async () => {
          promise(of, offer.price);
          await binding();
        };
        promises.delete(of.id);
        await acceptOffer({ session, signed, own, promised, confirm }, of, offer, bind);
      }),
  };
}

/** With what a person has said of it since, where `settle` has begun it. */
async function swapOf(cli: Cli, trading: Trading, agreed: AgreedOrder): Promise<Swap> {
  const { session, signed, own, kept } = trading;
  const { swapId, accepted } = agreed;
  if (kept.get(agreed.id)?.swapId === swapId) {
    const { due } = await dueSwaps(cli, session, own.store, signed.client, [swapId]);
    if (due[0] !== undefined) return due[0];
  }
  const trade: OwnTrade | null = await own.store.getTrade(accepted.threadId);
  if (trade !== null) return { swapId, trade, withoutMarket: false };
  throw needsYou('unknown_swap', `the store of this profile does not know swap ${swapId}`);
}

function ofEnded(order: Order, agreed: AgreedOrder, ended: Ended): Result {
  if (ended.is === 'ended') return resultOf(order, agreed, ended.end, null);
  return resultOf(order, agreed, ended.told.class, ended.told);
}

function resultOf(
  order: Order,
  kept: KeptOrder | null,
  is: Result['is'],
  told: { readonly code: string; readonly sentence: string } | null,
): Result {
  const { accepted = null, rfqId = null, swapId = null } = kept ?? {};
  const isEnd = told === null;
  return {
    id: order.isNamed ? order.id.replace(/^id-/, '') : null,
    what: orderWords(order),
    is,
    status: isEnd
      ? statuses[is === 'received' ? 'done' : 'not_received']
      : statuses[is as FailureClass],
    code: told?.code ?? null,
    sentence: told?.sentence ?? null,
    rfqId,
    threadId: accepted?.threadId ?? null,
    swapId,
    price: accepted === null ? null : shownAmount(accepted.price, order.quote),
    isEarlier: false,
  };
}

/** Whether its swap has ended: then nothing is traded under its name any more. */
export const isOver = ({ is }: Result): boolean =>
  is === 'received' || is === 'refunded' || is === 'lost' || is === 'nothing';

/** From the worst on: where several orders ended, the status is that of the worst. */
const worst: readonly FailureClass[] = [
  'fault',
  'interrupted',
  'not_verified',
  'not_received',
  'local',
  'needs_you',
  'usage',
  'chain_unavailable',
  'market_unavailable',
  'refused',
  'no_quote',
];

export function worstOf(results: readonly Pick<Result, 'status'>[]): number {
  const all = new Set(results.map(({ status }) => status));
  const found = worst.find((each) => all.has(statuses[each]));
  return found === undefined ? statuses.done : statuses[found];
}

/** One result. The failure of a single trade is the error of the command. */
export function tellResult(cli: Cli, result: Result, name: string, isMany: boolean): void {
  const { is, code, what, price, swapId, sentence, isEarlier } = result;
  const earlier = isEarlier ? '  (of an earlier run: this one traded nothing)' : '';
  const at = price === null ? '' : ` at ${price}`;
  const swap = swapId === null ? '' : `, swap ${swapId}`;
  const why = sentence === null ? '' : `: ${sentence}`;
  const isError = !isMany && !isOver(result);
  const text = isError ? '' : `${name}${is}  ${what}${at}${swap}${why}${earlier}`;
  tell(cli, { step: 'result', ...result }, text);
  if (isError)
    failed(cli, { class: is as FailureClass, code: code ?? is, sentence: sentence ?? is });
}
