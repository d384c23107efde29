// All that nodes are asked, by name: an adapter that asks for something else does not compile, nor
// does an operator's look at a node (apps/market/ops/node.ts) that leaves one out.

/** JSON-RPC of EVM chains. */
export type EvmMethod =
  | 'eth_call'
  | 'eth_chainId'
  | 'eth_createAccessList'
  | 'eth_estimateGas'
  | 'eth_feeHistory'
  | 'eth_gasPrice'
  | 'eth_getBalance'
  | 'eth_getBlockByNumber'
  | 'eth_getCode'
  | 'eth_getLogs'
  | 'eth_getStorageAt'
  | 'eth_getTransactionByHash'
  | 'eth_getTransactionCount'
  | 'eth_getTransactionReceipt'
  | 'eth_sendRawTransaction';

/** JSON-RPC of Solana. */
export type SolanaMethod =
  | 'getBlock'
  | 'getBlockHeight'
  | 'getBlockTime'
  | 'getFirstAvailableBlock'
  | 'getGenesisHash'
  | 'getLatestBlockhash'
  | 'getMinimumBalanceForRentExemption'
  | 'getMultipleAccounts'
  | 'getRecentPrioritizationFees'
  | 'getSignatureStatuses'
  | 'getSignaturesForAddress'
  | 'getSlot'
  | 'getTokenLargestAccounts'
  | 'getTransaction'
  | 'isBlockhashValid'
  | 'sendTransaction'
  | 'simulateTransaction';

/** JSON-RPC of Bitcoin Core. */
export type CoreMethod =
  | 'estimatesmartfee'
  | 'getbestblockhash'
  | 'getblock'
  | 'getblockchaininfo'
  | 'getblockcount'
  | 'getblockhash'
  | 'getblockheader'
  | 'getmempoolentry'
  | 'getmempoolinfo'
  | 'getrawmempool'
  | 'getrawtransaction'
  | 'gettxout'
  | 'gettxspendingprevout'
  | 'sendrawtransaction';

/** The methods that a customer's own wallet asks besides (packages/sdk/wallets/coins.ts). */
export type CoreWalletMethod = 'scantxoutset';

/** java-tron's HTTP API, by path. */
export type TronPath =
  | 'jsonrpc'
  | 'wallet/broadcasthex'
  | 'wallet/getaccount'
  | 'wallet/getaccountresource'
  | 'wallet/getblockbylimitnext'
  | 'wallet/getblockbynum'
  | 'wallet/getchainparameters'
  | 'wallet/getcontractinfo'
  | 'wallet/getnowblock'
  | 'wallet/gettransactionbyid'
  | 'wallet/gettransactionfrompending'
  | 'wallet/gettransactioninfobyblocknum'
  | 'wallet/gettransactioninfobyid'
  | 'wallet/triggerconstantcontract'
  | 'walletsolidity/getnowblock'
  | 'walletsolidity/gettransactioninfobyid'
  | 'walletsolidity/triggerconstantcontract';

/** The methods of java-tron's `/jsonrpc`. */
export type TronRpcMethod = 'eth_getLogs' | 'eth_getStorageAt';
