// What a webhook may be told of, in the order in which it happens.

export const webhookEvents = [
  'quote.created',
  'swap.agreed',
  'swap.funded',
  'secret.revealed',
  'swap.settled',
  'swap.refunded',
  'swap.half_settled',
  'swap.reorged',
  'thread.accepted',
  'thread.proposed',
  'thread.closed',
] as const;

export type WebhookEvent = (typeof webhookEvents)[number];
