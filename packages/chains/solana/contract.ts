// Which program holds the escrows of a Solana cluster, as the rules of a swap name it.

import { type Contract, digestHead } from '@parley/core/rules.ts';
import type { SolanaDeployment } from './plan.ts';

export function solanaContract({ program, sha256 }: SolanaDeployment): Contract {
  return { address: program, version: digestHead(sha256) };
}
