// The receipt of a swap that has ended, as a text. Pure.

import { isoTime } from '@parley/sdk/people.ts';
import type { LegView, SwapView } from '../../engine/types.ts';
import type { Listed } from '../../parts/labels.ts';
import { text } from '../../texts/texts.ts';
import { amountsOf } from './shown.ts';
import { endOf, factsOf, sidesOf } from './situation.ts';

/** Lines of `name: value`; times in UTC. It holds no secret. */
export function receiptOf(swap: SwapView, product: string, listed: readonly Listed[]): string {
  const { own, other } = sidesOf(swap);
  const { gives, gets } = amountsOf({ swap }, listed);
  const lines = [
    `${product}: ${text('receipt.title', { id: swap.id })}`,
    text('receipt.agreed', { at: isoTime(swap.agreedAt) }),
    text(`receipt.end.${swap.end === null ? 'open' : endOf(swap)}`),
    ...legLines('given', gives, own),
    ...legLines('received', gets, other),
  ];
  return `${lines.join('\n').replaceAll('\u00a0', ' ').replaceAll('\u202f', ' ')}\n`;
}

function legLines(side: 'given' | 'received', amount: string, leg: LegView): string[] {
  const { funded, claimed, refunded } = factsOf(leg);
  const line = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`  ${name}: ${value}`];
  const { chain } = leg;
  const key = refunded === null ? (`receipt.${side}` as const) : (`receipt.${side}.back` as const);
  return [
    '',
    text(key, { amount, chain }),
    ...line(text('receipt.token'), leg.asset.token ?? undefined),
    ...line(text('receipt.escrow'), leg.escrow ?? undefined),
    ...line(text('receipt.own'), leg.ownAddress),
    ...line(text('receipt.locked'), funded?.txid),
    ...line(text('receipt.collected'), claimed?.txid),
    ...line(text('receipt.back'), refunded?.txid),
  ];
}
