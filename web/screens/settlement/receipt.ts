// What a person keeps of a swap that has ended, as a text. Pure.

import { isoTime } from '../../../sdk/people.ts';
import type { LegView, SwapView } from '../../engine/types.ts';
import type { Listed } from '../../parts/labels.ts';
import { amountsOf } from './shown.ts';
import { factsOf, sidesOf } from './situation.ts';

/** Lines of `name: value`; times in UTC. It holds no secret. */
export function receiptOf(swap: SwapView, product: string, listed: readonly Listed[]): string {
  const { own, other } = sidesOf(swap);
  const { gives, gets } = amountsOf({ swap }, listed);
  const lines = [
    `${product}: receipt of swap ${swap.id}`,
    `Agreed: ${isoTime(swap.agreedAt)}`,
    `Ended: ${swap.end?.end ?? 'not yet'}${swap.end === null ? '' : ` (${swap.end.status})`}`,
    ...legLines('Given', gives, own),
    ...legLines('Received', gets, other),
  ];
  return `${lines.join('\n').replaceAll('\u00a0', ' ').replaceAll('\u202f', ' ')}\n`;
}

function legLines(what: string, amount: string, leg: LegView): string[] {
  const { funded, claimed, refunded } = factsOf(leg);
  const line = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`  ${name}: ${value}`];
  const { token } = leg.asset;
  return [
    '',
    `${what}: ${refunded === null ? '' : 'nothing, paid back: '}${amount} on ${leg.chain}`,
    ...line('Token', token ?? undefined),
    ...line('Escrow', leg.escrow ?? undefined),
    ...line('Own address', leg.ownAddress),
    ...line('Paid in', funded?.txid),
    ...line('Collected', claimed?.txid),
    ...line('Paid back', refunded?.txid),
  ];
}
