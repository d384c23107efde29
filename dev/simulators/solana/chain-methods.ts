// RPC calls about the chain itself: slots, blocks, blockhashes, fees.

import type { Method } from './account-methods.ts';
import { type Block, blockAt, blockhashAge, isUsable, type Ledger } from './ledger.ts';
import {
  bankOf,
  commitmentOf,
  configAt,
  inContext,
  nodeVersion,
  textAt,
  wholeAt,
} from './params.ts';
import { rpcCodes, SolanaRpcError } from './rpc-error.ts';
import { transactionJson } from './transaction-json.ts';

/** A block of the last few hundred; older ones are not kept. */
function blockOf(ledger: Ledger, slot: bigint): Block | null {
  return ledger.blocks.find((block) => BigInt(block.slot) === slot) ?? null;
}

function missing(slot: bigint): SolanaRpcError {
  return new SolanaRpcError(
    rpcCodes.slotSkipped,
    `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  );
}

function mustBeThere(slot: bigint, { slot: newest }: Block): void {
  if (slot <= newest) return;
  throw new SolanaRpcError(rpcCodes.notAvailable, `Block not available for slot ${slot}`);
}

function getBlock(ledger: Ledger, params: readonly unknown[]): unknown {
  const slot = wholeAt(params, 0);
  const config = configAt(params, 1);
  mustBeThere(slot, blockAt(ledger, commitmentOf(config)));
  const block = blockOf(ledger, slot);
  if (block === null) throw missing(slot);
  const head = {
    blockHeight: block.height,
    blockTime: block.time,
    blockhash: block.blockhash,
    parentSlot: block.parent,
    previousBlockhash: block.previousBlockhash,
    ...(config.rewards === false ? {} : { rewards: [] }),
  };
  if (config.transactionDetails === 'none') return head;
  return { ...head, transactions: block.transactions.map((each) => transactionJson(each, config)) };
}

export const chainMethods: Readonly<Record<string, Method>> = {
  getSlot: (ledger, params) => bankOf(ledger, configAt(params, 0)).slot,
  getBlockHeight: (ledger, params) => bankOf(ledger, configAt(params, 0)).height,
  getBlock,
  getBlockTime: (ledger, params) => {
    const slot = wholeAt(params, 0);
    mustBeThere(slot, blockAt(ledger, 'processed'));
    const block = blockOf(ledger, slot);
    if (block === null) throw missing(slot);
    return block.time;
  },
  // Transactions are kept longer than their blocks, and callers ask this to find them.
  getFirstAvailableBlock: () => 0,
  getLatestBlockhash: (ledger, params) => {
    const block = bankOf(ledger, configAt(params, 0));
    const { blockhash, height } = block;
    return inContext(block, { blockhash, lastValidBlockHeight: height + blockhashAge });
  },
  isBlockhashValid: (ledger, params) => {
    const block = bankOf(ledger, configAt(params, 1));
    return inContext(block, isUsable(ledger, textAt(params, 0), block));
  },
  getRecentPrioritizationFees: ({ blocks }) =>
    blocks.slice(-150).map(({ slot }) => ({ slot, prioritizationFee: 0 })),
  getGenesisHash: ({ genesis }) => genesis,
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': nodeVersion, 'feature-set': 0 }),
};
