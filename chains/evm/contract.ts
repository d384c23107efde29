// Which contract holds the escrows of an EVM chain, as the rules of a swap name it.

import { type Contract, digestHead } from '../../core/rules.ts';
import { parseEvmAddress } from './address.ts';
import type { EvmDeployment } from './plan.ts';

/** The factory by its code, which pins the escrows that it makes. */
export function evmContract({ factory, factoryCodeHash }: EvmDeployment): Contract {
  return { address: parseEvmAddress(factory), version: digestHead(factoryCodeHash) };
}
