// Which contract holds the escrows of a TRON network, as the rules of a swap name it.

import { deployment as pinned } from '../../contracts/escrows/artifacts/abi.ts';
import { type Contract, digestHead } from '../../core/rules.ts';
import { parseTronAddress } from './address.ts';
import type { TronDeployment } from './plan.ts';

/** By its init code: the code on chain holds the domain, so it differs between networks. */
export function tronContract({ contract }: TronDeployment): Contract {
  return { address: parseTronAddress(contract), version: digestHead(pinned.initCode.keccak256) };
}
