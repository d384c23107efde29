// First topics of the contract's events.

export { claimedTopic, fundedTopic, refundedTopic } from '../escrows/topics.ts';
