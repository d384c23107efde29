// The names of events, which webhooks, the feed and those who ask for them agree on.

/** The events of a thread, and of quotes: an account may ask for them on the feed. */
export const feedTopics = [
  'quote.created',
  'thread.accepted',
  'thread.proposed',
  'thread.closed',
] as const;
export type FeedTopic = (typeof feedTopics)[number];

/** The events that a webhook can name. */
export const webhookTopics = [
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
  'ping',
] as const;
export type WebhookTopic = (typeof webhookTopics)[number];

/** Why a thread closed without a swap. */
export const closedReasons = [
  // The thread closed with its RFQ: the taker cancelled it, it expired, another maker's quote was
  // agreed.
  'cancelled',
  'expired',
  'agreed',
  // The maker withdrew its quote.
  'withdrawn',
  // The maker's connections had been gone for as long as it said (cancel on disconnect).
  'disconnected',
] as const;
export type ClosedReason = (typeof closedReasons)[number];
