// The common names, from one place. Node has the file store beside them (index-node.ts).

// biome-ignore lint/performance/noBarrelFile: a program takes them all, and a page one file each.
export { accept, keepToFund } from './agree.ts';
export { type Book, openBook } from './book.ts';
export type { Chains } from './chains.ts';
export { type ParleyClient, parleyClient } from './client.ts';
export { type Driven, drive } from './drive.ts';
export {
  codeOf,
  ParleyApiError,
  QuoteError,
  SettleError,
  StoreError,
  VerificationError,
  WalletError,
} from './errors.ts';
export { type BookChange, type MakerFeed, makerFeed } from './feed.ts';
export { linkWallet, mintKey } from './keys.ts';
export { formatAmount, formatPrice, parseAmount } from './people.ts';
export { pin } from './pin.ts';
export { scheduleClaims, scheduleRefunds } from './scheduled-spends.ts';
export { fundingsTogether } from './settle/fund-together.ts';
export { giveUp, settle } from './settle.ts';
export { settleMany } from './settle-many.ts';
export { bitcoinSource, devPolicies, evmSource, solanaSource, tronSource } from './sources.ts';
export { indexedDbStore } from './stores/indexed-db.ts';
export { memoryStore } from './stores/memory.ts';
export type { Store } from './stores/store.ts';
export type { OwnTrade, PinnedAsset } from './trade.ts';
export { type Verdict, verdictOf } from './verdict.ts';
export { verifySwap } from './verify.ts';
export { verifyMaterial } from './verify-material.ts';
export { verifyRelease } from './verify-release.ts';
export { bitcoinWallet } from './wallets/bitcoin.ts';
export { coreCoins, esploraCoins } from './wallets/coins.ts';
export { evmWallet } from './wallets/evm.ts';
export { solanaWallet } from './wallets/solana.ts';
export { tronWallet } from './wallets/tron.ts';
export { verifyWebhook, WebhookError } from './webhooks.ts';
