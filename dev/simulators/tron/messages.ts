// The protobuf messages of a TRON node that the simulator speaks, field numbers as in
// tronprotocol/protocol: core/Tron.proto, core/contract/{balance,smart}_contract.proto. The order
// of the lines is the order in which java-tron prints them as JSON.

import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import {
  decode,
  encode,
  FormatError,
  fromJson,
  type Json,
  type JsonObject,
  type Message,
  type Schema,
  toJson,
} from './protobuf.ts';

const TYPE_URL = 'type.googleapis.com/protocol.';

const paramSchema: Schema = {
  indexed: { no: 1, kind: 'bool' },
  name: { no: 2, kind: 'string' },
  type: { no: 3, kind: 'string' },
};
const entryKinds = {
  names: {
    0: 'UnknownEntryType',
    1: 'Constructor',
    2: 'Function',
    3: 'Event',
    4: 'Fallback',
    5: 'Receive',
    6: 'Error',
  },
};
const mutabilities = {
  names: { 0: 'UnknownMutabilityType', 1: 'Pure', 2: 'View', 3: 'Nonpayable', 4: 'Payable' },
};
const entrySchema: Schema = {
  anonymous: { no: 1, kind: 'bool' },
  constant: { no: 2, kind: 'bool' },
  name: { no: 3, kind: 'string' },
  inputs: { no: 4, kind: { message: () => paramSchema }, repeated: true },
  outputs: { no: 5, kind: { message: () => paramSchema }, repeated: true },
  type: { no: 6, kind: entryKinds },
  payable: { no: 7, kind: 'bool' },
  stateMutability: { no: 8, kind: mutabilities },
};
const abiSchema: Schema = {
  entrys: { no: 1, kind: { message: () => entrySchema }, repeated: true },
};

export const smartContractSchema: Schema = {
  origin_address: { no: 1, kind: 'address' },
  contract_address: { no: 2, kind: 'address' },
  abi: { no: 3, kind: { message: () => abiSchema } },
  bytecode: { no: 4, kind: 'bytes' },
  call_value: { no: 5, kind: 'int' },
  consume_user_resource_percent: { no: 6, kind: 'int' },
  name: { no: 7, kind: 'string' },
  origin_energy_limit: { no: 8, kind: 'int' },
  code_hash: { no: 9, kind: 'bytes' },
  trx_hash: { no: 10, kind: 'bytes' },
  version: { no: 11, kind: 'int' },
};

/** The three kinds of transaction that the simulator runs, by Transaction.Contract.ContractType. */
const contractKinds = {
  names: { 1: 'TransferContract', 30: 'CreateSmartContract', 31: 'TriggerSmartContract' },
} as const;
export type ContractKind = (typeof contractKinds.names)[keyof typeof contractKinds.names];

function kindOf(number: number): ContractKind | undefined {
  return (contractKinds.names as Readonly<Record<number, ContractKind>>)[number];
}

export const contractSchemas: Readonly<Record<ContractKind, Schema>> = {
  TransferContract: {
    amount: { no: 3, kind: 'int' },
    owner_address: { no: 1, kind: 'address' },
    to_address: { no: 2, kind: 'address' },
  },
  CreateSmartContract: {
    token_id: { no: 4, kind: 'int' },
    owner_address: { no: 1, kind: 'address' },
    call_token_value: { no: 3, kind: 'int' },
    new_contract: { no: 2, kind: { message: () => smartContractSchema } },
  },
  TriggerSmartContract: {
    data: { no: 4, kind: 'bytes' },
    token_id: { no: 6, kind: 'int' },
    owner_address: { no: 1, kind: 'address' },
    call_token_value: { no: 5, kind: 'int' },
    contract_address: { no: 2, kind: 'address' },
    call_value: { no: 3, kind: 'int' },
  },
};

const anySchema: Schema = {
  value: { no: 2, kind: 'bytes' },
  type_url: { no: 1, kind: 'string' },
};
const contractSchema: Schema = {
  parameter: { no: 2, kind: { message: () => anySchema } },
  type: { no: 1, kind: contractKinds },
  provider: { no: 3, kind: 'bytes' },
  ContractName: { no: 4, kind: 'bytes' },
  Permission_id: { no: 5, kind: 'int' },
};
export const rawSchema: Schema = {
  data: { no: 10, kind: 'bytes' },
  contract: { no: 11, kind: { message: () => contractSchema }, repeated: true },
  ref_block_bytes: { no: 1, kind: 'bytes' },
  ref_block_num: { no: 3, kind: 'int' },
  ref_block_hash: { no: 4, kind: 'bytes' },
  fee_limit: { no: 18, kind: 'int' },
  expiration: { no: 8, kind: 'int' },
  timestamp: { no: 14, kind: 'int' },
};
const transactionSchema: Schema = {
  raw_data: { no: 1, kind: { message: () => rawSchema } },
  signature: { no: 2, kind: 'bytes', repeated: true },
};
export const headerSchema: Schema = {
  number: { no: 7, kind: 'int' },
  txTrieRoot: { no: 2, kind: 'bytes' },
  witness_address: { no: 9, kind: 'address' },
  parentHash: { no: 3, kind: 'bytes' },
  version: { no: 10, kind: 'int' },
  timestamp: { no: 1, kind: 'int' },
};

export type Transaction = {
  readonly txid: string;
  readonly raw: Message;
  readonly rawBytes: Uint8Array;
  readonly signatures: readonly Uint8Array[];
  readonly kind: ContractKind;
  readonly contract: Message;
};

export function transactionOf(
  rawBytes: Uint8Array,
  signatures: readonly Uint8Array[],
): Transaction {
  const raw = decode(rawSchema, rawBytes);
  const [contract, second] = (raw.contract ?? []) as readonly Message[];
  if (contract === undefined || second !== undefined) throw new FormatError('not one contract');
  const kind = kindOf(Number(contract.type ?? 0n));
  const parameter = contract.parameter as Message | undefined;
  if (kind === undefined || parameter?.type_url !== `${TYPE_URL}${kind}`) {
    throw new FormatError('a contract type that this simulator does not run');
  }
  return {
    txid: bytesToHex(sha256(rawBytes)),
    raw,
    rawBytes,
    signatures,
    kind,
    contract: decode(contractSchemas[kind], (parameter.value ?? new Uint8Array()) as Uint8Array),
  };
}

/** The whole of `protocol.Transaction`, without results: bandwidth counts these bytes. */
export function transactionBytes({ raw, signatures }: Transaction): Uint8Array {
  return encode(transactionSchema, { raw_data: raw, signature: [...signatures] });
}

export function decodeTransaction(bytes: Uint8Array): Transaction {
  const { raw_data, signature } = decode(transactionSchema, bytes);
  if (raw_data === undefined) throw new FormatError('no raw_data');
  return transactionOf(
    encode(rawSchema, raw_data as Message),
    (signature ?? []) as readonly Uint8Array[],
  );
}

export function buildRaw(
  kind: ContractKind,
  contract: Message,
  rest: Message,
  permissionId: bigint,
): Uint8Array {
  const value = encode(contractSchemas[kind], contract);
  const number = Object.entries(contractKinds.names).find(([, name]) => name === kind)?.[0];
  const parameter = { type_url: `${TYPE_URL}${kind}`, value };
  return encode(rawSchema, {
    ...rest,
    contract: [{ type: BigInt(number ?? 0), parameter, Permission_id: permissionId }],
  });
}

/** `raw_data` in JSON: the contract's parameter is shown decoded. */
export function rawToJson({ raw, kind, contract }: Transaction, visible: boolean): JsonObject {
  const json = toJson(rawSchema, raw, visible) as Record<string, Json>;
  const [shown] = json.contract as readonly JsonObject[];
  const parameter = {
    value: toJson(contractSchemas[kind], contract, visible),
    type_url: `${TYPE_URL}${kind}`,
  };
  json.contract = [{ ...shown, parameter }];
  return json;
}

/** The result of Util.packTransaction for a transaction in JSON; `raw_data_hex` is not looked
 * at. */
export function packTransaction(json: JsonObject): Transaction {
  const visible = json.visible === true;
  const rawJson = (json.raw_data ?? {}) as JsonObject;
  const [shown] = (rawJson.contract ?? []) as readonly JsonObject[];
  const kind = shown?.type as ContractKind;
  const schema = contractSchemas[kind] as Schema | undefined;
  if (shown === undefined || schema === undefined) {
    throw new FormatError('no contract that this simulator runs');
  }
  const { value } = (shown.parameter ?? {}) as JsonObject;
  const contract = fromJson(schema, value as JsonObject, visible);
  const { contract: _, ...rest } = rawJson;
  const permissionId = BigInt((shown.Permission_id as number | undefined) ?? 0);
  const rawBytes = buildRaw(kind, contract, fromJson(rawSchema, rest, visible), permissionId);
  const signatures = ((json.signature ?? []) as readonly string[]).map((hex) => hexToBytes(hex));
  return transactionOf(rawBytes, signatures);
}

/** TransactionUtil / WalletUtil.generateContractAddress(Transaction): made of the id and the
 * owner. */
export function deployedAddress(txid: string, owner: Uint8Array): Uint8Array {
  const hash = keccak_256(concatBytes(hexToBytes(txid), owner));
  return concatBytes(Uint8Array.of(0x41), hash.slice(12));
}

/** BlockCapsule.BlockId: eight bytes of the number, then the header's SHA-256 from its ninth on. */
export function blockId(header: Message): string {
  const hash = bytesToHex(sha256(encode(headerSchema, header)));
  const number = header.number as bigint;
  return number.toString(16).padStart(16, '0') + hash.slice(16);
}

/** TransactionCapsule.setReference: the last two bytes of the number, the id's bytes 8 to 16. */
export function reference(number: bigint, id: string): { bytes: string; hash: string } {
  return { bytes: (number & 0xffffn).toString(16).padStart(4, '0'), hash: id.slice(16, 32) };
}
