// The names of events: one list for webhooks, the feed, and those who ask for them.

/** Events of a thread, which an account is told of if it names them. */
export const threadTopics = ['thread.accepted', 'thread.proposed', 'thread.closed'] as const;

/** The events that an account may ask for on the feed. */
export const feedTopics = ['quote.created', ...threadTopics] as const;
export type FeedTopic = (typeof feedTopics)[number];

/** The only events that webhooks are told of, in the order in which they happen. */
export const webhookTopics = [
  'quote.created',
  'swap.agreed',
  'swap.funded',
  'secret.revealed',
  'swap.settled',
  'swap.refunded',
  'swap.half_settled',
  'swap.reorged',
  'swap.release',
  'swap.cosign',
  ...threadTopics,
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
