// RPC calls that send, try and look up transactions.

import { getBase58Encoder } from '@solana/kit';
import type { Method } from './account-methods.ts';
import { type Executed, simulate } from './execute.ts';
import { faucetTransfer } from './faucet.ts';
import { feeOf } from './fees.ts';
import { blockAt, type Commitment, isUsable, type Ledger, tipOf } from './ledger.ts';
import {
  addressAt,
  bankOf,
  type Config,
  commitmentOf,
  configAt,
  inContext,
  listAt,
  textAt,
  whole,
  wholeAt,
} from './params.ts';
import { invalidParams, rpcCodes, SolanaRpcError } from './rpc-error.ts';
import { transactionJson } from './transaction-json.ts';
import { errorWords } from './vm-errors.ts';
import { readWire, type Wire } from './wire.ts';

const mostSignatures = 1_000;
const mostStatuses = 256;
/** Transactions that may wait for one block. */
const mostPending = 5_000;

function wireAt(params: readonly unknown[], config: Config): Wire {
  const text = textAt(params, 0);
  const { encoding = 'base58' } = config;
  if (encoding === 'base64') return readWire(new Uint8Array(Buffer.from(text, 'base64')));
  if (encoding !== 'base58') throw invalidParams(`no encoding ${String(encoding)}`);
  try {
    return readWire(new Uint8Array(getBase58Encoder().encode(text)));
  } catch (error) {
    throw error instanceof SolanaRpcError ? error : invalidParams('invalid base58 encoding');
  }
}

/** Sends it into the next block. Throws as a node does when its preflight fails. */
export function submit(ledger: Ledger, wire: Wire, config: Config): string {
  if (config.skipPreflight !== true) preflight(ledger, wire, config);
  if (ledger.pending.size >= mostPending) {
    throw new SolanaRpcError(-32005, 'Node is behind: too many transactions wait');
  }
  ledger.pending.set(wire.signature, wire);
  return wire.signature;
}

function preflight(ledger: Ledger, wire: Wire, config: Config): void {
  const at = commitmentOf({ commitment: config.preflightCommitment ?? 'finalized' });
  const refuse = (message: string, err: unknown, logs: readonly string[], units: bigint) =>
    new SolanaRpcError(rpcCodes.preflightFailed, `Transaction simulation failed: ${message}`, {
      accounts: null,
      err,
      innerInstructions: null,
      logs,
      returnData: null,
      unitsConsumed: units,
      loadedAccountsDataSize: 0,
      replacementBlockhash: null,
    });
  const { signatures } = wire.transaction;
  if (Object.values(signatures).some((each) => each === null)) throw badSignature();
  if (ledger.history.has(wire.signature)) {
    throw refuse(errorWords('AlreadyProcessed'), 'AlreadyProcessed', [], 0n);
  }
  if (!isUsable(ledger, wire.message.lifetimeToken, blockAt(ledger, at))) {
    throw refuse(errorWords('BlockhashNotFound'), 'BlockhashNotFound', [], 0n);
  }
  const { err, meta } = simulate(ledger.svm, wire, true);
  if (err === 'SignatureFailure') throw badSignature();
  if (err !== null) throw refuse(errorWords(err), err, meta.logs(), meta.computeUnitsConsumed());
}

function badSignature(): SolanaRpcError {
  return new SolanaRpcError(rpcCodes.badSignature, 'Transaction signature verification failure');
}

function simulateTransaction(ledger: Ledger, params: readonly unknown[]): unknown {
  const config = configAt(params, 1);
  const unserved = ['accounts', 'innerInstructions', 'sigVerify'].find((name) => config[name]);
  if (unserved !== undefined) throw invalidParams(`${unserved} is not served here`);
  const wire = wireAt(params, config);
  const block = bankOf(ledger, config);
  const isKnown =
    config.replaceRecentBlockhash === true || isUsable(ledger, wire.message.lifetimeToken, block);
  if (!isKnown) return inContext(block, { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 });
  const { err, meta } = simulate(ledger.svm, wire, false);
  const unitsConsumed = meta.computeUnitsConsumed();
  return inContext(block, { err, logs: meta.logs(), unitsConsumed, fee: feeOf(wire) });
}

function levelOf(ledger: Ledger, { slot }: Executed): Commitment {
  if (slot <= blockAt(ledger, 'finalized').slot) return 'finalized';
  return slot <= blockAt(ledger, 'confirmed').slot ? 'confirmed' : 'processed';
}

export function isAt(ledger: Ledger, { slot }: Executed, commitment: Commitment): boolean {
  return slot <= blockAt(ledger, commitment).slot;
}

function statusOf(ledger: Ledger, signature: string): object | null {
  const done = ledger.history.get(signature);
  if (done === undefined) return null;
  const level = levelOf(ledger, done);
  const above = ledger.blocks.filter(({ slot }) => slot > done.slot).length;
  return {
    slot: done.slot,
    confirmations: level === 'finalized' ? null : above,
    err: done.err,
    status: done.err === null ? { Ok: null } : { Err: done.err },
    confirmationStatus: level,
  };
}

function signaturesForAddress(ledger: Ledger, params: readonly unknown[]): unknown {
  const config = configAt(params, 1);
  const at = commitmentOf(config);
  if (at === 'processed')
    throw invalidParams('Method does not support commitment below `confirmed`');
  const limit = Number(whole(config.limit ?? mostSignatures, 'limit'));
  if (limit < 1 || limit > mostSignatures) throw invalidParams(`limit is 1 to ${mostSignatures}`);
  // As Agave since 4.0, of whatever address they are.
  for (const name of ['before', 'until'] as const) {
    const signature = config[name];
    if (typeof signature !== 'string') continue;
    const known = ledger.history.get(signature);
    if (known !== undefined && isAt(ledger, known, at)) continue;
    throw new SolanaRpcError(rpcCodes.unknownSignature, `Transaction ${signature} not found`);
  }
  const list = ledger.byAddress.get(addressAt(params, 0)) ?? [];
  const found: object[] = [];
  let begun = config.before === undefined || config.before === null;
  for (const done of list.toReversed()) {
    if (done.signature === config.until || found.length === limit) break;
    if (begun && isAt(ledger, done, at)) {
      const { signature, slot, err, time: blockTime } = done;
      const confirmationStatus = levelOf(ledger, done);
      found.push({ signature, slot, err, blockTime, memo: null, confirmationStatus });
    }
    if (done.signature === config.before) begun = true;
  }
  return found;
}

function getTransaction(ledger: Ledger, params: readonly unknown[]): unknown {
  const config = typeof params[1] === 'string' ? { encoding: params[1] } : configAt(params, 1);
  const at = commitmentOf(config);
  if (at === 'processed')
    throw invalidParams('Method does not support commitment below `confirmed`');
  const done = ledger.history.get(textAt(params, 0));
  if (done === undefined || !isAt(ledger, done, at)) return null;
  return { slot: done.slot, blockTime: done.time, ...transactionJson(done, config) };
}

export const transactionMethods: Readonly<Record<string, Method>> = {
  sendTransaction: (ledger, params) => {
    const config = configAt(params, 1);
    return submit(ledger, wireAt(params, config), config);
  },
  simulateTransaction,
  getSignatureStatuses: (ledger, params) => {
    const list = listAt(params, 0, mostStatuses);
    const statuses = list.map((_, at) => statusOf(ledger, textAt(list, at)));
    return inContext(tipOf(ledger), statuses);
  },
  getSignaturesForAddress: signaturesForAddress,
  getTransaction,
  requestAirdrop: (ledger, params) => {
    const wire = faucetTransfer(tipOf(ledger), addressAt(params, 0), wholeAt(params, 1));
    return submit(ledger, wire, { skipPreflight: true });
  },
};
