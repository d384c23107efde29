// Real words of nodes and gateways, by who says them, and what each means.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Meaning, meaningOf, type Said, saysFeeTooLow } from './answers.ts';

type Row = readonly [who: string, said: Said | string];

/** A text alone comes with the code of a node without one of its own. */
const saidIn = (said: Said | string): Said =>
  typeof said === 'string' ? { words: said, code: -32_000 } : said;
const of = (code: number | string, words: string, status = 200): Said => ({ words, code, status });

const table: Readonly<Record<Meaning, readonly Row[]>> = {
  'turned away': [
    ['Infura', of(-32_005, 'daily request count exceeded, request rate limited', 429)],
    ['Infura, HTTP 200', of(-32_005, 'project ID request rate exceeded')],
    ['Alchemy', of(429, 'Your app has exceeded its compute units per second capacity.')],
    ['Alchemy', of(429, 'Monthly capacity limit exceeded. Visit the dashboard to upgrade.')],
    ['QuickNode', of(-32_007, '50/second request limit reached - reduce calls per second')],
    ['QuickNode', of(-32_003, 'daily request limit reached - upgrade your account')],
    ['Ankr', of(-32_090, 'Too many requests, reason: call rate limit exhausted, retry in 10s')],
    ['Ankr', of(-32_029, 'rate limit exceeded')],
    ['publicnode', of(0, 'this key may not', 403)],
    ['BlastAPI', of(-32_097, 'Rate limit exceeded. Create a free account')],
    ['dRPC', of(15, 'Too many request, try again later')],
    ['Chainstack', of(-32_005, "You've exceeded the RPS limit available on the current plan.")],
    ['Cloudflare', of(0, 'error code: 1015', 429)],
    ['BSC data seeds', of(-32_005, 'limit exceeded')],
    ['proxyd', of(-32_016, 'over rate limit')],
    ['proxyd', of(-32_017, 'sender is over rate limit')],
    ['proxyd', of(-32_012, 'backend is over capacity')],
    ['Nethermind', of(-32_005, 'Too many concurrent requests')],
    ['Helius', of(-32_429, 'max usage reached')],
    ['Solana', of(429, 'Too many requests for a specific RPC call')],
    ['java-tron', of('', 'class java.lang.IllegalAccessException : lack of computing resources')],
    ['TronGrid', of('', 'exceeds the frequency limit(15), and the server is suspended')],
  ],
  busy: [
    ['op-geth', '429 Too Many Requests: {"error":{"code":-32016,"message":"over rate limit"}}'],
    ['op-geth', of(-32_005, '429 Too Many Requests: {"error":{"code":-32005}}')],
    ['a proxy', 'rate limit exceeded'],
    ['a proxy', of(-32_603, 'connection refused')],
    ['proxyd', of(-32_011, 'no backend is currently healthy to serve traffic')],
    ['proxyd', of(-32_011, 'no backends available for method')],
    ['proxyd', of(-32_010, 'backend offline')],
    ['proxyd', of(-32_013, 'backend returned an invalid response')],
    ['proxyd', of(-32_015, 'gateway timeout')],
    ['proxyd', of(-32_018, 'backend is currently not healthy to serve traffic')],
    ['Alchemy', of(-32_001, 'Unable to complete request at this time.')],
    ['dRPC', of(19, 'Temporary internal error. Please retry, trace-id: 1')],
    ['dRPC', of(30, 'Request timeout on the free tier, please upgrade your tier to the paid one')],
    ['dRPC', of(10, 'User balance exceeded')],
    ['Cloudflare', of(-32_046, 'Cannot fulfill request')],
    ['Cloudflare', of(0, '', 524)],
    ['geth', of(-32_002, 'request timed out')],
    ['geth', 'context deadline exceeded'],
    ['geth, Reth', 'txpool is full'],
    ['Erigon', 'INTERNAL_ERROR: pending sub-pool is full'],
    ['Erigon', 'INTERNAL_ERROR: baseFee sub-pool is full'],
    ['Nimbus', 'txErrorPoolIsFull'],
    ['Nethermind', of(-32_010, 'Syncing')],
    ['Nethermind', of(-32_016, 'eth_call timed out')],
    ['Besu', of(-32_008, 'Initial sync is still in progress')],
    ['Besu', of(-32_603, 'Internal error')],
    ['Besu', of(-32_603, 'Timeout expired')],
    ['Besu', of(-32_002, 'TxPool not enabled, or node not yet in sync')],
    ['Solana', of(-32_005, 'Node is behind by 3104 slots')],
    ['Solana', of(-32_005, 'Node is unhealthy')],
    ['Solana', of(-32_016, 'Minimum context slot has not been reached')],
    ['java-tron', of('SERVER_BUSY', 'server busy')],
    ['java-tron', of('NOT_ENOUGH_EFFECTIVE_CONNECTION', '65')],
    ['bitcoind', of(-28, 'Loading block index…')],
    ['bitcoind', of(0, 'Work queue depth exceeded')],
    ['Esplora', of('', 'sendrawtransaction RPC error: {"code":-28,"message":"Verifying blocks…"}')],
    ['mempool.space', of('', 'connect ECONNREFUSED')],
  ],
  barred: [
    ['Infura', 'project ID is disabled'],
    ['Ankr', of(-32_053, 'API key disabled, reason: low plan balance')],
    ['a provider', of(-32_001, 'the API key was revoked')],
  ],
  lagging: [
    ['geth', 'header not found'],
    ['geth', 'missing trie node 1f (path )'],
    ['anvil', of(-32_602, 'block not found')],
    ['Nethermind, Besu', of(-39_001, 'Unknown block')],
    ['java-tron', of('BLOCK_UNSOLIDIFIED', 'block unsolidified')],
  ],
  'other block': [
    ['Solana', of(-32_002, 'Transaction simulation failed: Blockhash not found')],
    ['java-tron', of('TAPOS_ERROR', 'Tapos check error.')],
  ],
  reverted: [
    ['a token, geth', of(3, 'execution reverted: transfer limit exceeded')],
    ['a token, Erigon', 'execution reverted: rate limit exceeded'],
    ['a token, Besu', 'Execution reverted: too many requests'],
    ['Nethermind', of(-32_015, 'VM execution error.')],
    ['Nethermind', of(-32_015, 'BadInstruction')],
    ['geth', 'gas required exceeds allowance (550000000)'],
    ['geth', 'invalid opcode: INVALID'],
    ['geth', 'max code size exceeded'],
    ['a program', of(-32_002, 'Transaction simulation failed: custom program error: 0x1')],
    ['a program', of(-32_002, 'Transaction simulation failed: account limit: try again later')],
  ],
  known: [
    ['geth, Reth', 'already known'],
    ['old geth, klaytn', 'known transaction: 1f2e'],
    ['Nethermind', of(-32_010, 'AlreadyKnown')],
    ['Besu', 'Known transaction'],
    ['Erigon', 'ALREADY_EXISTS: already known'],
    ['Erigon', 'INTERNAL_ERROR: existing tx with same hash'],
    ['Nimbus', 'txErrorAlreadyKnown'],
    ['OpenEthereum', of(-32_010, 'Transaction with the same hash was already imported.')],
    ['zkSync', 'known transaction. transaction with hash 0xab is already in the system'],
    ['Cosmos', 'tx already in mempool'],
    ['Cosmos', 'tx already exists in cache'],
    ['Solana', of(-32_002, 'Transaction simulation failed: already been processed')],
    ['java-tron', of('DUP_TRANSACTION_ERROR', 'Dup transaction.')],
  ],
  'too cheap': [
    ['geth, Reth', 'transaction underpriced'],
    ['geth', 'transaction underpriced: gas tip cap 1, minimum needed 25000000000'],
    ['geth', 'transaction gas price below minimum: gas tip cap 1, minimum needed 2'],
    ['geth, Reth', 'replacement transaction underpriced'],
    ['geth', 'max fee per gas less than block base fee: maxFeePerGas: 1, baseFee: 7'],
    ['Nethermind', of(-32_010, 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 7')],
    ['Nethermind', of(-32_010, 'FeeTooLowToCompete')],
    ['Nethermind', of(-32_010, 'ReplacementNotAllowed')],
    ['Besu', of(-32_009, 'Gas price below configured minimum gas price')],
    ['Besu', of(-32_009, 'Gas price below current base fee')],
    ['Besu', 'Replacement transaction underpriced'],
    ['Erigon', 'FEE_TOO_LOW: fee too low'],
    ['Erigon', 'FEE_TOO_LOW: underpriced'],
    ['Erigon', 'INTERNAL_ERROR: could not replace existing tx'],
    ['Nimbus', 'txErrorReplacementGasTooLow'],
    ['a proxy', 'fee too low, please retry with more'],
    ['OpenEthereum', of(-32_010, 'Transaction gas price supplied is too low. Minimal: 1, got: 0')],
    [
      'OpenEthereum',
      of(-32_010, 'Transaction gas price is too low. Try increasing the gas price.'),
    ],
    ['OpenEthereum', of(-32_010, 'Dropped due to limit. Try increasing the fee.')],
  ],
  no: [
    ['geth, Reth', 'nonce too low: next nonce 5, tx nonce 0'],
    ['Nethermind', of(-32_010, 'OldNonce, Current nonce: 5, nonce of rejected tx: 3.')],
    ['Besu', of(-32_001, 'Nonce too low')],
    ['Erigon', 'INTERNAL_ERROR: nonce too low'],
    ['Nimbus', 'txErrorNonceTooSmall'],
    ['OpenEthereum', of(-32_010, 'Transaction nonce is too low. Try incrementing the nonce.')],
    ['geth', 'nonce too high'],
    ['Nethermind', of(-32_010, 'GasLimitExceeded, Gas limit: 3, gas limit of rejected tx: 4.')],
    ['Nethermind', of(-32_010, 'gas limit reached')],
    ['geth', 'account limit exceeded: pooled 16 txs'],
    ['geth', 'in-flight transaction limit reached for delegated accounts'],
    ['geth', 'transaction blob limit exceeded'],
    ['geth, Reth', 'exceeds block gas limit'],
    ['geth', 'insufficient funds for gas * price + value: balance 429, tx cost 500, overshot 71'],
    ['geth', 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)'],
    ['geth', 'max priority fee per gas higher than max fee per gas'],
    ['geth', 'intrinsic gas too low: have 1, want 21000'],
    ['geth', 'unknown transaction type 5'],
    ['a node with a list', 'transfer limit exceeded'],
    ['such words, and a code of gateways', of(-32_005, 'account limit exceeded')],
    ['such words, and a code of gateways', of(-32_005, 'gas usage limit exceeded')],
    ['such words, and a code of gateways', of(-32_016, 'transfer limit exceeded')],
    ['such words, and more of them', 'nonce too low, please retry'],
    ['such words, and more of them', of(-32_003, 'insufficient funds, try again later')],
    ['Besu', of(-32_005, 'Transaction gas limit exceeds block gas limit')],
    ['Besu', of(-32_007, 'Sender account not authorized to send transactions')],
    ['Besu', of(-32_003, 'Intrinsic gas exceeds gas limit')],
    ['Infura, logs', of(-32_005, 'query returned more than 10000 results. Try with this range')],
    ['Alchemy, logs', of(-32_602, 'Log response size exceeded: make requests of 10 blocks')],
    ['dRPC, logs', of(35, 'ranges over 10000 blocks are not supported on freetier')],
    ['java-tron', of('CONTRACT_VALIDATE_ERROR', 'account limit exceeded, try again later')],
    ['java-tron', of('CONTRACT_EXE_ERROR', 'too many requests')],
    ['java-tron', of('', 'class java.lang.NullPointerException : null')],
    ['bitcoind', of(-26, 'min relay fee not met, 17 < 19')],
    ['bitcoind', of(-25, 'bad-txns-inputs-missingorspent')],
    ['bitcoind', of(-26, 'too-long-mempool-chain, too many unconfirmed ancestors [limit: 25]')],
    ['Esplora', of('', 'sendrawtransaction RPC error: {"code":-26,"message":"dust"}')],
  ],
};

for (const [meaning, rows] of Object.entries(table)) {
  test(`what nodes and providers say, and means: ${meaning}`, () => {
    for (const [who, said] of rows) {
      const shown = `${who}: ${JSON.stringify(said)}`;
      assert.equal(meaningOf(saidIn(said)), meaning, shown);
      // In the sentence of a refusal, too, which a market may have told.
      const { words } = saidIn(said);
      const sentence = `the evm-dev node refused the transaction: ${words}; and another one`;
      if (meaning === 'too cheap') assert.equal(saysFeeTooLow(sentence), true, shown);
      if (meaning === 'no') assert.equal(saysFeeTooLow(sentence), false, shown);
    }
  });
}
