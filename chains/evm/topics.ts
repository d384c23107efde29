// The topics of the contracts' events, from their ABI.

import { encodeEventTopics } from 'viem/utils';
import { escrowAbi, factoryAbi } from '../../contracts/evm/artifacts/abi.ts';

export const fundedTopic = encodeEventTopics({ abi: factoryAbi, eventName: 'EscrowFunded' })[0];
export const claimedTopic = encodeEventTopics({ abi: escrowAbi, eventName: 'EscrowClaimed' })[0];
export const refundedTopic = encodeEventTopics({ abi: escrowAbi, eventName: 'EscrowRefunded' })[0];
