// One transaction applied to a state: its signer, the bandwidth and energy it burns, the work of a
// transfer or the TVM, and the receipt. Order and words as in java-tron's
// Manager.processTransaction, TransferActuator and VMActuator. Stakes are not simulated: all energy
// is paid for in TRX.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Tvm, TvmLog, TvmResult } from '@parley/contracts/tron/testing/engine.ts';
import type { TvmState } from '@parley/contracts/tron/testing/state.ts';
import { balanceOf, bare, credit, freeNetUsed, isContract, metaOf, setMeta } from './accounts.ts';
import {
  deployedAddress,
  smartContractSchema,
  type Transaction,
  transactionBytes,
} from './messages.ts';
import { parameters, resultBytes } from './parameters.ts';
import { base58Address, FormatError, type JsonObject, type Message, toJson } from './protobuf.ts';
import { invalid, Refusal } from './refusal.ts';

export type Ledger = { readonly state: TvmState; readonly tvm: Tvm };
export type BlockTime = {
  readonly number: bigint;
  readonly timestampMs: number;
  readonly parentHash?: string;
};

export type Log = { address: string; topics: string[]; data: string };
export type Info = {
  readonly id: string;
  readonly fee?: number;
  readonly blockNumber: number;
  readonly blockTimeStamp: number;
  readonly contractResult: readonly string[];
  readonly contract_address?: string;
  readonly receipt: JsonObject;
  readonly log?: readonly Log[];
  readonly result?: 'FAILED';
  readonly resMessage?: string;
};
export type Applied = { readonly info: Info; readonly contractRet: string };

function shown(hex: string): string {
  return base58Address(hexToBytes(hex));
}

const energyPrice = BigInt(parameters.getEnergyFee);

function number(message: Message, name: string): bigint {
  return (message[name] as bigint | undefined) ?? 0n;
}

/** Those that wait are applied again with each that comes, and when they are mined. */
const signedWell = new WeakSet<Transaction>();

/**
 * The signature must be of the owner's single key: neither changed permissions nor several signers
 * are simulated.
 */
function requireSignature(tx: Transaction): void {
  if (signedWell.has(tx)) return;
  const { rawBytes, signatures, contract } = tx;
  const [signature, second] = signatures;
  if (signature === undefined) throw new Refusal('SIGERROR', 'miss sig or contract');
  if (second !== undefined) throw new Refusal('SIGERROR', 'too many signatures');
  if (signature.length !== 65) {
    throw new Refusal('SIGERROR', `Signature size is ${signature.length}`);
  }
  const recovery = ((signature[64] as number) - 27) & 0xff;
  const header = recovery > 3 ? (signature[64] as number) : recovery;
  if (header > 3) throw new Refusal('SIGERROR', 'Header byte out of range');
  const owner = bytesToHex((contract.owner_address ?? new Uint8Array()) as Uint8Array);
  if (signerOf(sha256(rawBytes), signature, header) !== owner.slice(2)) {
    throw new Refusal('SIGERROR', `${shown(owner)} is not the signer`);
  }
  signedWell.add(tx);
}

function signerOf(hash: Uint8Array, signature: Uint8Array, recovery: number): string | null {
  try {
    const point = secp256k1.Signature.fromBytes(signature.subarray(0, 64), 'compact')
      .addRecoveryBit(recovery)
      .recoverPublicKey(hash);
    return bytesToHex(keccak_256(point.toBytes(false).subarray(1)).subarray(12));
  } catch {
    return null; // r or s out of range, or no such point
  }
}

type Burnt = { net: { usage: number; fee: number }; other: number };

/** Free bandwidth, or else TRX by the byte; a new account always costs TRX. */
function payBandwidth(state: TvmState, tx: Transaction, owner: string, nowMs: number): Burnt {
  const balance = balanceOf(state, owner);
  if (balance === null) throw invalid(`account [${shown(`41${owner}`)}] does not exist`);
  const memo = ((tx.raw.data ?? new Uint8Array()) as Uint8Array).length > 0;
  const other = memo ? parameters.getMemoFee : 0;
  const bytes = transactionBytes(tx).length + resultBytes;
  const used = freeNetUsed(metaOf(state, owner), nowMs);
  const free = !createsAccount(state, tx) && used + bytes <= parameters.getFreeNetLimit;
  const byByte = createsAccount(state, tx)
    ? parameters.getCreateAccountFee
    : bytes * parameters.getTransactionFee;
  const fee = free ? 0 : byByte;
  if (balance < BigInt(fee + other)) {
    throw new Refusal('BANDWITH_ERROR', 'Account resource insufficient error.');
  }
  credit(state, owner, -BigInt(fee + other), nowMs);
  if (free) setMeta(state, owner, { freeNetUsed: used + bytes, freeNetUsedAtMs: nowMs });
  setMeta(state, owner, { operatedAtMs: nowMs });
  return { net: { usage: free ? bytes : 0, fee }, other };
}

function createsAccount(state: TvmState, { kind, contract }: Transaction): boolean {
  if (kind !== 'TransferContract') return false;
  return balanceOf(state, bare(contract.to_address as Uint8Array, 'toAddress')) === null;
}

function transfer(state: TvmState, { contract }: Transaction, owner: string, nowMs: number) {
  const to = bare(contract.to_address as Uint8Array, 'toAddress');
  const amount = number(contract, 'amount');
  if (to === owner) throw invalid('Cannot transfer TRX to yourself.');
  if (amount <= 0n) throw invalid('Amount must be greater than 0.');
  if (isContract(state, to)) throw invalid('Cannot transfer TRX to a smartContract.');
  const isNew = balanceOf(state, to) === null;
  const fee = isNew ? parameters.getCreateNewAccountFeeInSystemContract : 0;
  if ((balanceOf(state, owner) ?? 0n) < amount + BigInt(fee)) {
    throw invalid('Validate TransferContract error, balance is not sufficient.');
  }
  credit(state, owner, -amount - BigInt(fee), nowMs);
  credit(state, to, amount, nowMs);
  return fee;
}

/** The most that a signed transaction may burn: its fee limit, and no more than the owner has. */
function energyLimitOf({ raw }: Transaction, balance: bigint, value: bigint): bigint {
  const feeLimit = number(raw, 'fee_limit');
  const most = BigInt(parameters.getMaxFeeLimit);
  if (feeLimit < 0n || feeLimit > most) throw invalid(`feeLimit must be >= 0 and <= ${most}`);
  const affordable = (balance - value) / energyPrice;
  const allowed = feeLimit / energyPrice;
  return allowed < affordable ? allowed : affordable;
}

export type Call = {
  readonly owner: string;
  readonly to: string | null;
  readonly creates?: string;
  readonly value: bigint;
  readonly data: Uint8Array;
};

export function callOf(state: TvmState, tx: Pick<Transaction, 'kind' | 'contract' | 'txid'>): Call {
  const { kind, contract, txid } = tx;
  const owner = bare(contract.owner_address as Uint8Array, 'ownerAddress');
  if (number(contract, 'call_token_value') !== 0n || number(contract, 'token_id') !== 0n) {
    throw invalid('TRC-10 tokens are not simulated');
  }
  const made = (contract.new_contract ?? {}) as Message;
  const value = number(kind === 'TriggerSmartContract' ? contract : made, 'call_value');
  if (value < 0n) throw invalid('callValue must be >= 0');
  if (value > 0n && balanceOf(state, owner) === null) {
    throw invalid('Validate InternalTransfer error, no OwnerAccount.');
  }
  if ((balanceOf(state, owner) ?? 0n) < value) {
    throw invalid('Validate InternalTransfer error, balance is not sufficient.');
  }
  if (kind === 'TriggerSmartContract') {
    const to = bare(contract.contract_address as Uint8Array, 'contractAddress');
    if (!isContract(state, to)) throw invalid('No contract or not a smart contract');
    return { owner, to, value, data: (contract.data ?? new Uint8Array()) as Uint8Array };
  }
  if (bare(made.origin_address as Uint8Array, 'originAddress') !== owner) {
    throw invalid('OwnerAddress is not equals OriginAddress');
  }
  const percent = number(made, 'consume_user_resource_percent');
  if (percent < 0n || percent > 100n) throw invalid('percent must be >= 0 and <= 100');
  const creates = bytesToHex(deployedAddress(txid, hexToBytes(`41${owner}`)).subarray(1));
  if (isContract(state, creates)) {
    throw invalid(`Trying to create a contract with existing contract address: 41${creates}`);
  }
  return {
    owner,
    to: null,
    creates,
    value,
    data: (made.bytecode ?? new Uint8Array()) as Uint8Array,
  };
}

export function runCall(
  { tvm }: Ledger,
  call: Call,
  energyLimit: bigint,
  txid: string,
  block: BlockTime,
): Promise<TvmResult> {
  return tvm.run({
    caller: hexToBytes(call.owner),
    to: call.to === null ? null : hexToBytes(call.to),
    ...(call.creates === undefined ? {} : { creates: hexToBytes(call.creates) }),
    value: call.value,
    data: call.data,
    energyLimit,
    txid: hexToBytes(txid),
    block: {
      number: block.number,
      timestamp: BigInt(Math.floor(block.timestampMs / 1_000)),
      parentHash: block.parentHash === undefined ? undefined : hexToBytes(block.parentHash),
    },
  });
}

const otherFailures: readonly (readonly [RegExp, string, string])[] = [
  [/invalid opcode/i, 'ILLEGAL_OPERATION', 'Invalid operation code'],
  [/invalid jump/i, 'BAD_JUMP_DESTINATION', 'Operation with pc is not a jump destination'],
  [/underflow/i, 'STACK_TOO_SMALL', 'Expected stack size is bigger than the actual one'],
  [/overflow/i, 'STACK_TOO_LARGE', 'Expected: overflow 1024 elements stack limit'],
];

export function outcome(result: TvmResult): { contractRet: string; words: string } {
  const { failure, message } = result;
  if (failure === 'none') return { contractRet: 'SUCCESS', words: '' };
  if (failure === 'revert') return { contractRet: 'REVERT', words: 'REVERT opcode executed' };
  if (failure === 'out of energy') {
    return { contractRet: 'OUT_OF_ENERGY', words: 'Not enough energy for operation executing' };
  }
  const known = otherFailures.find(([form]) => form.test(message));
  return { contractRet: known?.[1] ?? 'UNKNOWN', words: known?.[2] ?? `Unknown: ${message}` };
}

export function logOf({ address, topics, data }: TvmLog): Log {
  return { address: bytesToHex(address), topics: topics.map(bytesToHex), data: bytesToHex(data) };
}

/** Accounts that a call has touched for the first time have a time of birth. */
function noteContract(state: TvmState, tx: Transaction, call: Call, nowMs: number): void {
  const hex = call.creates;
  if (hex === undefined) return;
  setMeta(state, hex, { createdAtMs: nowMs });
  const contract = {
    ...(tx.contract.new_contract as Message),
    contract_address: hexToBytes(`41${hex}`),
    trx_hash: hexToBytes(tx.txid),
    code_hash: keccak_256((tx.contract.new_contract as Message).bytecode as Uint8Array),
  };
  const json = toJson(smartContractSchema, contract, false);
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
  state.set(`contract/${hex}`, JSON.stringify(json, plain));
}

/**
 * Throws Refusal, with the state half changed, where java-tron would not take the transaction into
 * a block; a contract that fails is a receipt like any other. The caller holds a checkpoint.
 * `shown`: the block that contracts see.
 */
export async function apply(
  ledger: Ledger,
  tx: Transaction,
  block: BlockTime,
  shown = block,
): Promise<Applied> {
  try {
    return await applied(ledger, tx, block, shown);
  } catch (error) {
    if (error instanceof FormatError) throw invalid(error.message);
    throw error;
  }
}

async function applied(
  ledger: Ledger,
  tx: Transaction,
  block: BlockTime,
  shown: BlockTime,
): Promise<Applied> {
  const { state } = ledger;
  const nowMs = block.timestampMs;
  requireSignature(tx);
  const owner = bare(tx.contract.owner_address as Uint8Array, 'ownerAddress');
  if (tx.kind === 'TransferContract' && balanceOf(state, owner) === null) {
    throw invalid('Validate TransferContract error, no OwnerAccount.');
  }
  const { net, other } = payBandwidth(state, tx, owner, nowMs);
  const netReceipt = {
    ...(net.usage === 0 ? {} : { net_usage: net.usage }),
    ...(net.fee === 0 ? {} : { net_fee: net.fee }),
  };
  const place = {
    id: tx.txid,
    blockNumber: Number(block.number),
    blockTimeStamp: nowMs,
  };
  const feeOf = (sum: number) => (sum === 0 ? {} : { fee: sum });
  if (tx.kind === 'TransferContract') {
    const fee = net.fee + other + transfer(state, tx, owner, nowMs);
    const info = { ...place, ...feeOf(fee), contractResult: [''], receipt: netReceipt };
    return { info, contractRet: 'SUCCESS' };
  }
  const call = callOf(state, tx);
  const limit = energyLimitOf(tx, balanceOf(state, owner) ?? 0n, call.value);
  const result = await runCall(ledger, call, limit, tx.txid, shown);
  const { contractRet, words } = outcome(result);
  if (result.failure === 'none') noteContract(state, tx, call, nowMs);
  const energyFee = result.energyUsed * energyPrice;
  credit(state, owner, -energyFee, nowMs);
  const used = Number(result.energyUsed);
  const receipt = {
    ...(used === 0 ? {} : { energy_fee: Number(energyFee), energy_usage_total: used }),
    ...netReceipt,
    result: contractRet,
  };
  const failed = { result: 'FAILED', resMessage: bytesToHex(utf8ToBytes(words)) } as const;
  const info: Info = {
    ...place,
    ...feeOf(net.fee + other + Number(energyFee)),
    contractResult: [bytesToHex(result.output)],
    contract_address: `41${call.to ?? call.creates}`,
    receipt,
    ...(result.logs.length === 0 || result.failure !== 'none'
      ? {}
      : { log: result.logs.map(logOf) }),
    ...(result.failure === 'none' ? {} : failed),
  };
  return { info, contractRet };
}
