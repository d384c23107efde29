// Trials in lanes that nobody has used. A funding's money behaves alike in any lane.

import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import type { EscrowTerms, Lane } from '@parley/core/terms.ts';
import { isOfPayee } from '../interface/lanes.ts';

const laneBytes = 12;

/** One of the 2^95 lanes of a funder. */
export function unusedLane(contract: string): Lane {
  const [first = 0, ...rest] = randomBytes(laneBytes);
  const number = bytesToHex(Uint8Array.of(first & 0x7f, ...rest));
  return { contract, number, counter: 1 };
}

/** Without its payee's lane, which only the payee's signature opens. */
export function inOwnLane(terms: EscrowTerms, contract: string): EscrowTerms {
  const { lane } = terms;
  return lane === undefined || !isOfPayee(lane) ? terms : { ...terms, lane: unusedLane(contract) };
}
