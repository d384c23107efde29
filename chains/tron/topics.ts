// First topics of the contract's events, hex without 0x as java-tron gives them. Pure.

import * as topics from '../escrows/topics.ts';

export const fundedTopic = topics.fundedTopic.slice(2);
export const claimedTopic = topics.claimedTopic.slice(2);
const refundedTopic = topics.refundedTopic.slice(2);

export const ourTopics: ReadonlySet<string> = new Set([fundedTopic, claimedTopic, refundedTopic]);

export const verbOfTopic = new Map([
  [fundedTopic, 'fund'],
  [claimedTopic, 'claim'],
  [refundedTopic, 'refund'],
] as const);

export const topicOfVerb = {
  fund: fundedTopic,
  claim: claimedTopic,
  refund: refundedTopic,
} as const;
