// First topics of the contract's events, hex with 0x. Pure.

import { type Hex, toEventSelector } from 'viem';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { DecodedCall } from './calls.ts';

function topicOf(name: 'Funded' | 'Claimed' | 'Refunded'): Hex {
  const event = escrowsAbi.find((item) => item.type === 'event' && item.name === name);
  if (event === undefined) throw new Error(`no event ${name}`);
  return toEventSelector(event as Extract<(typeof escrowsAbi)[number], { type: 'event' }>);
}

/** `Funded(id, terms, lane, counter)`: the hashlock is the first word of its data. */
export const fundedTopic = topicOf('Funded');
/** `Claimed(id, secret)`. */
export const claimedTopic = topicOf('Claimed');
export const refundedTopic = topicOf('Refunded');

export const topicOfVerb: Readonly<Record<DecodedCall['verb'], Hex>> = {
  fund: fundedTopic,
  claim: claimedTopic,
  refund: refundedTopic,
};
