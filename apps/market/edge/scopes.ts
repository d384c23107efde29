// Which scope a key needs for each operation of `/v1` that changes something: the one list of it.
// The specification (part 5) names three of each; operations that it does not know, such as taking
// quotes back, are part of the same work and need the same scope. A test holds the list to all
// operations of the description: a new one has to say which it is.

import type { Scope } from '@parley/core/scopes.ts';

const lists: Readonly<Record<Scope, string>> = {
  taker: 'createRfq cancelRfq listAsset',
  maker: 'quoteRfq quoteMany withdrawQuote withdrawQuotes publishLevels withdrawLevels',
  /** Any valid key: so the specification has it of threads, swaps, wallets, webhooks, broadcast. */
  read:
    'proposePrice acceptPrice setAddress buildFund buildClaim buildRefund scheduleRefunds' +
    ' broadcast proveEvmWallet proveTronWallet proveBitcoinWallet proveSolanaWallet' +
    ' removeWallet registerWebhook deleteWebhook pingWebhook',
};

const needed = new Map(
  (Object.keys(lists) as Scope[]).flatMap((scope) =>
    lists[scope].split(' ').map((operationId) => [operationId, scope] as const),
  ),
);

/** `read` = any valid key will do; undefined of one that nobody thought of. */
export const scopeFor = (operationId: string): Scope | undefined => needed.get(operationId);
