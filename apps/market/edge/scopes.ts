// Which scope a key needs for an operation of `/v1`: the one list of it. The specification (part 5)
// names three of each; operations that it does not know, such as taking quotes back, are part of
// the same work and need the same scope. All others take any valid key.

import type { Scope } from '@parley/core/scopes.ts';

const needed: Readonly<Record<string, Scope>> = {
  createRfq: 'taker',
  cancelRfq: 'taker',
  listAsset: 'taker',
  quoteRfq: 'maker',
  quoteMany: 'maker',
  withdrawQuote: 'maker',
  withdrawQuotes: 'maker',
  publishLevels: 'maker',
  withdrawLevels: 'maker',
};

export const scopeFor = (operationId: string): Scope | undefined => needed[operationId];
