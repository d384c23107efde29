// Webhooks over HTTP: specification part 2 and 4, decisions 6.

import Type from 'typebox';
import type { WebhookRow } from '../../db/webhooks.ts';
import { dateTime, input, named, nextCursor, nullable, uuid } from './common.ts';

const shown = {
  id: uuid,
  url: Type.String(),
  events: Type.Array(Type.String(), { description: 'empty = all of them' }),
  enabled: Type.Boolean({
    description: 'false: it failed for a day and is sent nothing until a ping is answered 2xx',
  }),
};

export const registerBody = named(
  'RegisterWebhook',
  input({
    url: Type.String({ minLength: 1, description: 'https, at most 2 048 characters' }),
    events: Type.Optional(
      Type.Array(Type.String(), { maxItems: 50, description: 'left out or empty = all of them' }),
    ),
  }),
);

const webhook = named('Webhook', Type.Object(shown));

const listed = named(
  'ListedWebhook',
  Type.Object({
    ...shown,
    lastStatus: nullable(
      Type.Integer({ description: 'HTTP status of the last attempt; 0 = no answer' }),
    ),
    lastError: nullable(Type.String({ description: 'why there was no answer' })),
    lastDeliveryAt: nullable(dateTime),
  }),
);

export const registered = named(
  'RegisteredWebhook',
  Type.Object({
    webhook,
    secret: Type.String({ description: 'whsec_…, shown once: it signs every delivery' }),
  }),
);
export const webhookPage = named(
  'WebhookPage',
  Type.Object({ webhooks: Type.Array(listed), nextCursor }),
);
export const removed = named(
  'WebhookRemoved',
  Type.Object({ ok: Type.Boolean({ description: 'true: it is gone' }) }),
);
export const pinged = named(
  'Pinged',
  Type.Object({
    ok: Type.Boolean({ description: 'whether a 2xx came; lastStatus and lastError say more' }),
    deliveryId: uuid,
  }),
);

export function webhookOf({ id, url, events, enabled }: WebhookRow) {
  return { id, url, events: [...events], enabled };
}

export function listedOf(row: WebhookRow) {
  const { lastStatus, lastError, lastDeliveryAt } = row;
  const at = lastDeliveryAt?.toISOString() ?? null;
  return { ...webhookOf(row), lastStatus, lastError, lastDeliveryAt: at };
}
