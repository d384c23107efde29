// The webhook events, as they are delivered: specification part 6, decisions 7.

import Type, { type TObject, type TProperties } from 'typebox';
import { type SwapStatus, swapStatuses } from '../../../core/status.ts';
import { amount, dateTime, named, oneOf, uuid } from './common.ts';

export type WebhookEvent = { readonly when: string; readonly body: TObject };

function event(type: string, when: string, fields: TProperties): WebhookEvent {
  const name = type.replace(/(^|[._])([a-z])/g, (_all, _dot, letter: string) =>
    letter.toUpperCase(),
  );
  const envelope = { type: oneOf([type]), deliveryId: uuid, createdAt: dateTime };
  return { when, body: named(`${name}Event`, Type.Object({ ...envelope, ...fields })) };
}

function swapEvent(type: string, when: string, statuses: readonly SwapStatus[]) {
  return event(type, when, {
    swapId: uuid,
    status: oneOf(statuses),
  });
}

export const webhookEvents: Readonly<Record<string, WebhookEvent>> = {
  'quote.created': event('quote.created', 'a maker quoted your RFQ, or moved its price', {
    threadId: uuid,
    rfqId: uuid,
    quoteAmount: amount,
  }),
  'swap.agreed': event('swap.agreed', 'both sides accepted; the swap exists', {
    swapId: uuid,
    threadId: uuid,
  }),
  'swap.funded': swapEvent('swap.funded', 'a leg is funded at depth', [
    'initiator_funded',
    'counterparty_funded',
  ]),
  'secret.revealed': swapEvent('secret.revealed', 'the secret is public', ['initiator_claimed']),
  'swap.settled': swapEvent('swap.settled', "the counterparty's claim landed", [
    'counterparty_claimed',
  ]),
  'swap.refunded': swapEvent('swap.refunded', 'a leg was refunded', ['refunded']),
  'swap.half_settled': swapEvent(
    'swap.half_settled',
    'one leg was claimed, the other refunded at its timelock',
    ['half_settled'],
  ),
  'swap.reorged': swapEvent(
    'swap.reorged',
    'a chain took back what the status stood on; this is the status now',
    swapStatuses,
  ),
  ping: event('ping', 'the ping endpoint was called', { message: Type.String() }),
};
