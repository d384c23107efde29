// Webhooks and their events over HTTP: specification part 2, 4 and 6, decisions 6 and 7.

import { closedReasons, type WebhookTopic } from '@parley/core/events.ts';
import { type SwapStatus, swapStatuses } from '@parley/core/status.ts';
import { legNames, parties } from '@parley/core/trade.ts';
import type { TProperties } from 'typebox';
import * as s from './common.ts';

/** `swap.half_settled` is SwapHalfSettled. */
export const titleOf = (type: string) =>
  type.replace(/(^|[._])([a-z])/g, (_all, _dot, letter: string) => letter.toUpperCase());

function event(type: string, when: string, fields: TProperties) {
  const envelope = {
    type: s.oneOf([type], 'which event it is'),
    deliveryId: s.as(s.deliveryId, 'UUID of the delivery; the same however often it is tried'),
    createdAt: s.instant('when it happened'),
  };
  return { when, body: s.model(`${titleOf(type)}Event`, `${when}.`, { ...envelope, ...fields }) };
}

const swapEvent = (type: string, when: string, statuses: readonly SwapStatus[]) =>
  event(type, when, { swapId: s.swapId, status: s.oneOf(statuses, 'of the swap now') });

const price = s.as(s.amount, 'the price, in base units of the quote asset', '250000000');

const quoteExpiresAt = s.optional(
  s.instant('where the price has an end of its own: from when on nobody may accept it'),
);
const role = s.oneOf(parties, 'which side of the thread you are');

/** By topic, and when each is sent. */
export const webhookEvents: Readonly<Record<WebhookTopic | 'ping', ReturnType<typeof event>>> = {
  'quote.created': event('quote.created', 'A maker quoted your RFQ, or moved its price', {
    threadId: s.threadId,
    rfqId: s.rfqId,
    quoteAmount: price,
    quoteExpiresAt,
  }),
  'swap.agreed': event('swap.agreed', 'Both sides accepted; the swap exists', {
    swapId: s.swapId,
    threadId: s.threadId,
  }),
  'swap.funded': swapEvent('swap.funded', 'A leg is funded at depth', [
    'initiator_funded',
    'counterparty_funded',
  ]),
  'secret.revealed': swapEvent('secret.revealed', 'The secret is public', ['initiator_claimed']),
  'swap.settled': swapEvent('swap.settled', "The counterparty's claim landed", [
    'counterparty_claimed',
  ]),
  'swap.refunded': swapEvent('swap.refunded', 'A leg was refunded', ['refunded']),
  'swap.half_settled': swapEvent(
    'swap.half_settled',
    'One leg was claimed, the other refunded at its timelock',
    ['half_settled'],
  ),
  'swap.reorged': swapEvent(
    'swap.reorged',
    'A chain took back what the status stood on; this is the status now',
    swapStatuses,
  ),
  'swap.release': event(
    'swap.release',
    'A side has given the swap up, or released a leg; only for who names this event',
    {
      swapId: s.swapId,
      leg: s.oneOf(legNames, 'which would have paid that side'),
      given: s.flag('whether its signature is there: the leg is refunded with it', true),
      status: s.oneOf(swapStatuses, 'of the swap now'),
    },
  ),
  'swap.cosign': event(
    'swap.cosign',
    'A side asks the other one to sign a spend with it, or that one has; only for who names this event',
    {
      swapId: s.swapId,
      leg: s.oneOf(legNames, 'whose escrow it spends'),
      verb: s.oneOf(['claim', 'refund'], 'which spend'),
      answered: s.flag('whether the other side has signed', true),
      status: s.oneOf(swapStatuses, 'of the swap now'),
    },
  ),
  'thread.accepted': event(
    'thread.accepted',
    'The other side accepted the price of a thread; only for who names this event',
    {
      threadId: s.threadId,
      rfqId: s.rfqId,
      role,
      quoteAmount: price,
      acceptanceExpiresAt: s.nullable(
        s.instant('when that acceptance lapses; null: both have accepted'),
      ),
      swapId: s.nullable(s.swapId, 'the swap; null: you have not accepted'),
    },
  ),
  'thread.proposed': event(
    'thread.proposed',
    'The taker named another price for your quote; only for who names this event',
    { threadId: s.threadId, rfqId: s.rfqId, quoteAmount: price, quoteExpiresAt },
  ),
  'thread.closed': event(
    'thread.closed',
    'A thread closed without a swap; only for who names this event',
    { threadId: s.threadId, rfqId: s.rfqId, role, reason: s.oneOf(closedReasons, 'why it closed') },
  ),
  ping: event('ping', 'The ping endpoint was called', {
    message: s.text('one plain sentence', 'ping'),
  }),
};

const url = 'https://example.com/hooks';
/** An unknown one is refused as `bad_event`. */
export const eventName = s.named(
  'WebhookEventName',
  s.told(s.text('the name of an event', 'swap.funded'), { enum: Object.keys(webhookEvents) }),
);
const shown = {
  id: s.webhookId,
  url: s.text('where events are sent', url),
  events: s.list('empty = all of them, but those that only who names them gets', eventName),
  enabled: s.flag(
    'false: it failed for a day and is sent nothing until a ping is answered 2xx',
    true,
  ),
};

export const registerBody = s.form('RegisterWebhook', 'Where your events are to be sent.', {
  url: s.text('https, at most 2 048 characters', url, { minLength: 1 }),
  events: s.optional(
    s.list('left out or empty = all of them, but those that only who names them gets', eventName, {
      maxItems: 50,
    }),
  ),
});

export const registered = s.model('RegisteredWebhook', 'A new webhook, and its secret.', {
  webhook: s.model('Webhook', 'Where events are sent.', shown),
  secret: s.text('shown once: it signs every delivery', `whsec_${'9fT2kLmQ'.repeat(4)}`),
});

export const webhookPage = s.model('WebhookPage', 'A page of your webhooks, newest first.', {
  webhooks: s.list(
    'the webhooks of this page',
    s.model('ListedWebhook', 'A webhook, and how its last delivery went.', {
      ...shown,
      lastStatus: s.nullable(s.int('HTTP status of the last attempt; 0 = no answer', 200)),
      lastError: s.nullable(s.text('why there was no answer', 'ECONNREFUSED')),
      lastDeliveryAt: s.nullable(s.instant('when the last attempt was made')),
    }),
  ),
  nextCursor: s.nextCursor,
});

export const removed = s.model('WebhookRemoved', 'What became of it.', {
  ok: s.flag('true: it is gone', true),
});

export const pinged = s.model('Pinged', 'How the test delivery went.', {
  ok: s.flag('whether a 2xx came; lastStatus and lastError say more', true),
  deliveryId: s.deliveryId,
});
