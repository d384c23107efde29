// Which contract holds the escrows of an EVM chain, as the rules of a swap name it.

import { deployment as pinned } from '../../contracts/escrows/artifacts/abi.ts';
import { type Contract, digestHead } from '../../core/rules.ts';
import { parseEvmAddress } from './address.ts';
import type { EvmDeployment } from './plan.ts';

/** By its init code: the code on chain holds the domain, so it differs between chains. */
export function evmContract({ contract }: Pick<EvmDeployment, 'contract'>): Contract {
  return { address: parseEvmAddress(contract), version: digestHead(pinned.initCode.keccak256) };
}
