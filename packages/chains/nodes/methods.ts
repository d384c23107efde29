// All that nodes are asked, by name: an adapter that asks for something else does not compile. The
// doctor tries each of them (apps/market/doctor/needs.ts).

/** JSON-RPC of EVM chains. */
export const evmMethods = [
  'eth_call',
  'eth_chainId',
  'eth_config',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_sendRawTransaction',
] as const;
export type EvmMethod = (typeof evmMethods)[number];

/** JSON-RPC of Solana. */
export const solanaMethods = [
  'getBlock',
  'getBlockHeight',
  'getBlockTime',
  'getFirstAvailableBlock',
  'getGenesisHash',
  'getLatestBlockhash',
  'getMinimumBalanceForRentExemption',
  'getMultipleAccounts',
  'getRecentPrioritizationFees',
  'getSignatureStatuses',
  'getSignaturesForAddress',
  'getSlot',
  'getTokenLargestAccounts',
  'getTransaction',
  'isBlockhashValid',
  'sendTransaction',
  'simulateTransaction',
] as const;
export type SolanaMethod = (typeof solanaMethods)[number];

/** JSON-RPC of Bitcoin Core. */
export const coreMethods = [
  'estimatesmartfee',
  'getblock',
  'getblockchaininfo',
  'getblockcount',
  'getblockhash',
  'getblockheader',
  'getmempoolentry',
  'getmempoolinfo',
  'getrawmempool',
  'getrawtransaction',
  'gettxout',
  'gettxspendingprevout',
  'sendrawtransaction',
] as const;
export type CoreMethod = (typeof coreMethods)[number];

/** The methods that a customer's own wallet asks besides (packages/sdk/wallets/coins.ts). */
export type CoreWalletMethod = 'scantxoutset';

/** java-tron's HTTP API, by path. */
export const tronPaths = [
  'jsonrpc',
  'wallet/broadcasthex',
  'wallet/getaccount',
  'wallet/getaccountresource',
  'wallet/getblockbylimitnext',
  'wallet/getblockbynum',
  'wallet/getchainparameters',
  'wallet/getcontractinfo',
  'wallet/getnowblock',
  'wallet/gettransactionbyid',
  'wallet/gettransactionfrompending',
  'wallet/gettransactioninfobyblocknum',
  'wallet/gettransactioninfobyid',
  'wallet/triggerconstantcontract',
  'walletsolidity/getnowblock',
  'walletsolidity/gettransactioninfobyid',
  'walletsolidity/triggerconstantcontract',
] as const;
export type TronPath = (typeof tronPaths)[number];

/** The methods of java-tron's `/jsonrpc`. */
export type TronRpcMethod = 'eth_getLogs' | 'eth_getStorageAt';

/** Those that the market does without: fewer trials, wider estimates, no listing of tokens. */
export const spareMethods: ReadonlySet<string> = new Set([
  'eth_config',
  'eth_createAccessList',
  'getTokenLargestAccounts',
  'jsonrpc',
  'wallet/gettransactionfrompending',
]);
