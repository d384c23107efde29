// The events of a webhook, in the order in which they happen.

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
