// Breaks every guard of the contract, one after the other, and sees a test fail. A mutation that no
// test notices is printed, and the exit status is 1.
//
//   node contracts/escrows/mutations.ts [part of a name]     about 5 s for each mutation

import { isEntry } from '../evm/entry.ts';
import { type Mutation, tryMutations } from './mutate.ts';
import { batches } from './mutations/batches.ts';
import { opening, ways } from './mutations/funding.ts';
import { names } from './mutations/reading.ts';
import { settling } from './mutations/settling.ts';
import { tokens, within } from './mutations/tokens.ts';

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  ...ways,
  ...opening,
  ...settling,
  ...batches,
  ...within,
  ...names,
  ...tokens,
};

if (isEntry(import.meta.url)) await tryMutations(MUTATIONS);
