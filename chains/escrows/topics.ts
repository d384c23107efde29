// First topics of the contract's events, hex with 0x. Pure.

import type { Hex } from 'viem';
import { getAbiItem, toEventSelector } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { DecodedCall } from './calls.ts';

const topicOf = (name: 'Funded' | 'Claimed' | 'Refunded') =>
  toEventSelector(getAbiItem({ abi: escrowsAbi, name }));

/** `Funded(id, terms, lane, counter)`: the hashlock is the first word of its data. */
export const fundedTopic = topicOf('Funded');
export const claimedTopic = topicOf('Claimed');
export const refundedTopic = topicOf('Refunded');

export const topicOfVerb: Readonly<Record<DecodedCall['verb'], Hex>> = {
  fund: fundedTopic,
  claim: claimedTopic,
  refund: refundedTopic,
};
