// Which contract holds the escrows of a TRON network, as the rules of a swap name it.

import { type Contract, digestHead } from '../../core/rules.ts';
import { parseTronAddress } from './address.ts';
import { escrowsCodeHash, type TronDeployment } from './plan.ts';

/** Its code is the same on every network, and pinned here: an instance is known by its address. */
export function tronContract({ contract }: TronDeployment): Contract {
  return { address: parseTronAddress(contract), version: digestHead(escrowsCodeHash) };
}
