// RPC calls about the chain itself: slots, blocks, blockhashes, fees.

import { getCompiledTransactionMessageDecoder } from '@solana/kit';
import type { Method } from './account-methods.ts';
import { feeOf } from './fees.ts';
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
import type { Wire } from './wire.ts';

const slotsPerEpoch = 432_000;

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
  switch (config.transactionDetails ?? 'full') {
    case 'none':
      return head;
    case 'signatures':
      return { ...head, signatures: block.transactions.map(({ signature }) => signature) };
    default:
      return {
        ...head,
        transactions: block.transactions.map((each) => transactionJson(each, config)),
      };
  }
}

function epochInfo(ledger: Ledger, params: readonly unknown[]) {
  const { slot, height } = bankOf(ledger, configAt(params, 0));
  return {
    absoluteSlot: slot,
    blockHeight: height,
    epoch: Math.floor(slot / slotsPerEpoch),
    slotIndex: slot % slotsPerEpoch,
    slotsInEpoch: slotsPerEpoch,
    transactionCount: ledger.history.size,
  };
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
  // What is in blocks is kept longer than they are: it is for that, that this is asked.
  getFirstAvailableBlock: () => 0,
  // kit asks for the height in it while it confirms.
  getEpochInfo: epochInfo,
  getLatestBlockhash: (ledger, params) => {
    const block = bankOf(ledger, configAt(params, 0));
    const { blockhash, height } = block;
    return inContext(block, { blockhash, lastValidBlockHeight: height + blockhashAge });
  },
  isBlockhashValid: (ledger, params) => {
    const block = bankOf(ledger, configAt(params, 1));
    return inContext(block, isUsable(ledger, textAt(params, 0), block));
  },
  getFeeForMessage: (ledger, params) => {
    const block = bankOf(ledger, configAt(params, 1));
    const bytes = Buffer.from(textAt(params, 0), 'base64');
    const message = getCompiledTransactionMessageDecoder().decode(bytes) as Wire['message'];
    const isKnown = isUsable(ledger, message.lifetimeToken, block);
    return inContext(block, isKnown ? feeOf({ message }) : null);
  },
  getRecentPrioritizationFees: ({ blocks }) =>
    blocks.slice(-150).map(({ slot }) => ({ slot, prioritizationFee: 0 })),
  getGenesisHash: ({ genesis }) => genesis,
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': nodeVersion, 'feature-set': 0 }),
};
