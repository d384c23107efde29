// Stand-ins for launchpads on a Solana test chain: instructions of the token programs that carry
// their mint as a launchpad's do, one called by itself and one by another program.

import type { InstructionSource } from '@parley/tokens/launches.ts';
import { associatedTokenProgram, type TokenProgram, tokenProgram } from '../programs.ts';

/** InitializeMint2: every mint of the program is a launch. */
export function mintsOf(program: TokenProgram): InstructionSource {
  return { program, discriminator: '14', mintAccount: 0, account: program };
}

/** InitializeAccount3, which the associated token program calls: its second account is the mint. */
export const newHoldings: InstructionSource = {
  program: tokenProgram,
  discriminator: '12',
  mintAccount: 1,
  account: associatedTokenProgram,
};
