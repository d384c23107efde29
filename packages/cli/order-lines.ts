// Lines about an order until there is a swap, for people and for programs, and the words of the last
// line of a terminal.

import { isoTime } from '@parley/sdk/people.ts';
import { shownAmount } from '@parley/trader/assets.ts';
import { type Cli, tell } from '@parley/trader/io.ts';
import type { OrderEvent } from '@parley/trader/orders/agree.ts';
import { keepsLimit, type Order } from '@parley/trader/orders/order.ts';
import type { Session } from '@parley/trader/session.ts';
import { deadlineOf } from '@parley/trader/show.ts';
import { type Desk, shortId } from './drive.ts';

export type Phases = ReturnType<typeof phasesOf>;

/** Where each of so many orders is. A phase is asked for its words; null: it settles. */
export function phasesOf(all: number) {
  const at = new Map<string, () => string | null>();
  let ended = 0;
  return {
    isMany: all > 1,
    size: () => [...at.values()].filter((words) => words() !== null).length,
    set: (id: string, words: () => string | null) => void at.set(id, words),
    delete: (id: string) => {
      if (at.delete(id)) ended += 1;
    },
    words: () => {
      const [only] = at.values();
      if (all <= 1) return only?.() ?? '';
      const asking = [...at.values()].filter((words) => words() !== null).length;
      return `${ended} of ${all} ended, ${asking} ask, ${at.size - asking} settle`;
    },
  };
}

const leftOf = (until: number, now: number) => `${Math.max(0, until - now)} s left`;

/** The name before a line, where there are many. */
export const nameOf = ({ id, isNamed }: Pick<Order, 'id' | 'isNamed'>, isMany: boolean): string =>
  isMany && isNamed ? `${id.replace(/^id-/, '')}  ` : '';

export function tellerOf(
  cli: Cli,
  { now }: Pick<Session, 'now'>,
  { line }: Desk['lines'],
  phases: Phases,
  order: Order,
): (event: OrderEvent) => void {
  let until = 0;
  let quotes = 'no quote yet';
  const name = nameOf(order, phases.isMany);
  const waiting = () => `${quotes}, ${leftOf(until, now())}`;
  const say = (text: string) => {
    if (!cli.json) line(`${name}${text}`);
  };
  return (event) => {
    if (cli.json) tell(cli, jsonOf(order, event, now()), '');
    switch (event.step) {
      case 'asked':
        ({ until } = event);
        phases.set(order.id, waiting);
        return say(`asked ${event.rfqId}, waits for quotes until ${deadlineOf(until, now())}`);
      case 'quotes':
        quotes = quotesIn(order, event);
        // A terminal has it in its last line.
        return cli.isAsked && !phases.isMany ? undefined : say(quotes);
      case 'trouble': {
        const { threadId, told } = event;
        return say(`${threadId === null ? '' : `thread ${shortId(threadId)}: `}${told.sentence}`);
      }
      case 'accepted': {
        const { until: ends } = event;
        phases.set(order.id, () => `accepted, waits for the maker, ${leftOf(ends, now())}`);
        return say(`accepted, and waits for the maker until ${deadlineOf(ends, now())}`);
      }
      case 'agreed':
        return say(`agreed: swap ${event.swapId}`);
      case 'withdrawn':
        return say(`took the request ${event.rfqId} back`);
      case 'stands':
        return say(standsWords(event.rfqId));
    }
  };
}

function quotesIn(order: Order, { count, best }: Extract<OrderEvent, { step: 'quotes' }>): string {
  if (best === null) return 'no quote';
  const price = shownAmount(best.price, order.quote);
  const kept = keepsLimit(order, best.price) ? '' : ', which misses the bound';
  return `${count} ${count === 1 ? 'quote' : 'quotes'}, the best ${price}${kept}`;
}

function standsWords(rfqId: string | null): string {
  if (rfqId === null) {
    return 'the market may have the request: it ends by itself, or "parley trade resume" goes on';
  }
  return `the request ${rfqId}, or your acceptance on it, stands: "parley trade resume" goes on`;
}

/** One line for a program. */
function jsonOf(order: Order, event: OrderEvent, at: number): object {
  const id = order.isNamed ? order.id.replace(/^id-/, '') : null;
  switch (event.step) {
    case 'quotes': {
      const { step, count, best } = event;
      const found = best === null ? {} : { threadId: best.thread.id, price: best.price };
      const keeps = best !== null && keepsLimit(order, best.price);
      return { id, at, step, count, best: best === null ? null : { ...found, keeps } };
    }
    case 'trouble': {
      const { step, threadId, told } = event;
      return { id, at, step, threadId, code: told.code, text: told.sentence };
    }
    case 'asked':
    case 'accepted':
      return { id, at, ...event, until: isoTime(event.until) };
    case 'agreed':
    case 'withdrawn':
    case 'stands':
      return { id, at, ...event };
  }
}
