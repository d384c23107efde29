// First topics of the contract's events, hex without 0x as java-tron gives them. Pure.

import { toEventSelector } from 'viem';
import type { DecodedCall } from './plan.ts';

const terms = '(bytes32,address,address,address,uint256,uint256)';
const topicOf = (event: string) => toEventSelector(`event ${event}`).slice(2);

export const fundedTopic = topicOf(`EscrowFunded(bytes32,bytes32,${terms})`);
export const claimedTopic = topicOf('EscrowClaimed(bytes32,bytes32)');
export const refundedTopic = topicOf('EscrowRefunded(bytes32)');

export const ourTopics: ReadonlySet<string> = new Set([fundedTopic, claimedTopic, refundedTopic]);

export const topicOfVerb: Readonly<Record<DecodedCall['verb'], string>> = {
  fund: fundedTopic,
  claim: claimedTopic,
  refund: refundedTopic,
};
