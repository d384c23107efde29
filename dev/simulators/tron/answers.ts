// The answers of java-tron's HTTP servlets, as JSON:
// framework/src/main/java/org/tron/core/services/ http/*Servlet.java; documented in
// tronprotocol/documentation-en, docs/api/http.

import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { balanceOf, bare, freeNetUsed, isContract, metaOf } from './accounts.ts';
import type { Block, StoredTransaction } from './blocks.ts';
import { readStored, type TronChain, type View } from './chain.ts';
import { type Call, callOf, type Info, type Ledger, logOf, outcome, runCall } from './execution.ts';
import {
  buildRaw,
  type ContractKind,
  contractSchemas,
  deployedAddress,
  rawToJson,
  reference,
  type Transaction,
  transactionOf,
} from './messages.ts';
import { constantEnergyLimit, defaultExpirationMs, parameters } from './parameters.ts';
import {
  base58Address,
  FormatError,
  fromJson,
  type Json,
  type JsonObject,
  type Message,
  parseAddress,
} from './protobuf.ts';
import { invalid, Refusal } from './refusal.ts';

export type Asked = {
  readonly chain: TronChain;
  readonly view: View;
  readonly body: JsonObject;
  readonly visible: boolean;
  readonly nowMs: () => number;
};

function shownAddress(hex: string, visible: boolean): string {
  return visible ? base58Address(hexToBytes(hex)) : hex;
}

/** A text of the node: as it is where `visible`, else its bytes in hex. */
export function shownText(text: string, visible: boolean): string {
  return visible ? text : bytesToHex(utf8ToBytes(text));
}

export function textOf(body: JsonObject, name: string): string {
  const value = body[name];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new FormatError(`"${name}" is not a string`);
}

function addressOf({ body, visible }: Asked, name: string): string | null {
  const text = textOf(body, name);
  return text === '' ? null : bare(parseAddress(text, visible), name);
}

/** Util.printTransactionToJSON. */
export function transactionJson(tx: Transaction, visible: boolean): JsonObject {
  const owner = tx.contract.owner_address as Uint8Array | undefined;
  const made = tx.kind === 'CreateSmartContract' && owner !== undefined;
  return {
    visible,
    txID: tx.txid,
    ...(made ? { contract_address: bytesToHex(deployedAddress(tx.txid, owner)) } : {}),
    raw_data: rawToJson(tx, visible),
    raw_data_hex: bytesToHex(tx.rawBytes),
    ...(tx.signatures.length > 0 ? { signature: tx.signatures.map(bytesToHex) } : {}),
  };
}

export function storedJson(stored: StoredTransaction, visible: boolean): JsonObject {
  const { visible: _, ...json } = transactionJson(readStored(stored), visible);
  return { ret: [{ contractRet: stored.contractRet }], ...json };
}

export function blockJson(block: Block, visible: boolean, detail = true): JsonObject {
  const { header, id, witness_signature, transactions } = block;
  const rawData = {
    number: header.number,
    txTrieRoot: header.txTrieRoot,
    witness_address: shownAddress(header.witness_address, visible),
    parentHash: header.parentHash,
    version: header.version,
    timestamp: header.timestamp,
  };
  const body = transactions.map((stored) => storedJson(stored, visible));
  return {
    blockID: id,
    block_header: { raw_data: rawData, witness_signature },
    ...(detail && body.length > 0 ? { transactions: body } : {}),
  };
}

export function infoJson(info: Info, visible: boolean): JsonObject {
  if (!visible) return info as unknown as JsonObject;
  const log = info.log?.map((each) => ({
    ...each,
    address: shownAddress(`41${each.address}`, true),
  }));
  return {
    ...(info as unknown as JsonObject),
    ...(info.contract_address
      ? { contract_address: shownAddress(info.contract_address, true) }
      : {}),
    ...(log === undefined ? {} : { log }),
    ...(info.resMessage ? { resMessage: Buffer.from(info.resMessage, 'hex').toString() } : {}),
  };
}

/** A transaction that refers to the newest block and lasts a minute, for somebody to sign. */
function unsigned(asked: Asked, kind: ContractKind, contract: Message, rest: Message): Transaction {
  const { header, id } = asked.chain.tip('head');
  const ref = reference(BigInt(header.number), id);
  const permission = asked.body.Permission_id ?? asked.body.permission_id ?? 0;
  const extra = textOf(asked.body, 'extra_data');
  const data = asked.visible ? utf8ToBytes(extra) : hexToBytes(extra);
  const raw = {
    ref_block_bytes: hexToBytes(ref.bytes),
    ref_block_hash: hexToBytes(ref.hash),
    expiration: BigInt(header.timestamp + defaultExpirationMs),
    timestamp: BigInt(asked.nowMs()),
    data,
    ...rest,
  };
  return transactionOf(buildRaw(kind, contract, raw, BigInt(permission as number)), []);
}

export async function createTransaction(asked: Asked): Promise<JsonObject> {
  const contract = fromJson(contractSchemas.TransferContract, asked.body, asked.visible);
  const from = bare(contract.owner_address as Uint8Array, 'ownerAddress');
  const to = bare(contract.to_address as Uint8Array, 'toAddress');
  const amount = (contract.amount ?? 0n) as bigint;
  await asked.chain.look('head', async ({ state }) => {
    const held = balanceOf(state, from);
    if (to === from) throw invalid('Cannot transfer TRX to yourself.');
    if (held === null) throw invalid('Validate TransferContract error, no OwnerAccount.');
    if (amount <= 0n) throw invalid('Amount must be greater than 0.');
    if (isContract(state, to)) throw invalid('Cannot transfer TRX to a smartContract.');
    const isNew = balanceOf(state, to) === null;
    const fee = isNew ? BigInt(parameters.getCreateNewAccountFeeInSystemContract) : 0n;
    if (held < amount + fee) {
      throw invalid('Validate TransferContract error, balance is not sufficient.');
    }
  });
  return transactionJson(unsigned(asked, 'TransferContract', contract, {}), asked.visible);
}

/** `data`, or the selector of a signature and its parameter. */
function triggerOf({ body, visible }: Asked): Message {
  const signature = textOf(body, 'function_selector');
  const selector = bytesToHex(keccak_256(utf8ToBytes(signature))).slice(0, 8);
  const data = signature === '' ? textOf(body, 'data') : selector + textOf(body, 'parameter');
  return fromJson(contractSchemas.TriggerSmartContract, { ...body, data }, visible);
}

export async function triggerSmartContract(asked: Asked): Promise<JsonObject> {
  const contract = triggerOf(asked);
  bare(contract.owner_address as Uint8Array, 'ownerAddress');
  const to = bare(contract.contract_address as Uint8Array, 'contractAddress');
  await asked.chain.look('head', async ({ state }) => {
    if (!isContract(state, to)) throw invalid('No contract or not a valid smart contract');
  });
  const rest = { fee_limit: BigInt((asked.body.fee_limit ?? 0) as number) };
  const tx = unsigned(asked, 'TriggerSmartContract', contract, rest);
  return { result: { result: true }, transaction: transactionJson(tx, asked.visible) };
}

type Simulated = Awaited<ReturnType<typeof runCall>> & { readonly tx: Transaction };

async function simulate(asked: Asked): Promise<Simulated> {
  const { chain, view } = asked;
  const creates = textOf(asked.body, 'contract_address') === '';
  const contract = triggerOf(asked);
  const tx = unsigned(asked, 'TriggerSmartContract', contract, {});
  const result = await chain.look(view, async (ledger, block) => {
    const call = creates ? creation(ledger, asked, contract, tx.txid) : constantCall(ledger, tx);
    return runCall(ledger, call, constantEnergyLimit, tx.txid, block);
  });
  return { ...result, tx };
}

function constantCall({ state }: Ledger, tx: Transaction): Call {
  const to = bare(tx.contract.contract_address as Uint8Array, 'contractAddress');
  if (!isContract(state, to)) throw invalid('Smart contract is not exist.');
  return callOf(state, tx);
}

/** Without a contract address, `data` is the code of one that is tried. */
function creation({ state }: Ledger, asked: Asked, contract: Message, txid: string): Call {
  const made = {
    origin_address: contract.owner_address as Uint8Array,
    bytecode: (contract.data ?? new Uint8Array()) as Uint8Array,
    call_value: BigInt((asked.body.call_value ?? 0) as number),
  };
  const whole = { owner_address: contract.owner_address as Uint8Array, new_contract: made };
  return callOf(state, { kind: 'CreateSmartContract', contract: whole, txid });
}

/** The exceptions of the machine, by contractResult: Wallet.callConstantContract hands it on. */
const exceptions: Readonly<Record<string, string>> = {
  ILLEGAL_OPERATION: 'IllegalOperationException',
  OUT_OF_ENERGY: 'OutOfEnergyException',
  BAD_JUMP_DESTINATION: 'BadJumpDestinationException',
  STACK_TOO_SMALL: 'StackTooSmallException',
  STACK_TOO_LARGE: 'StackTooLargeException',
};

export async function triggerConstantContract(asked: Asked): Promise<JsonObject> {
  const { tx, ...result } = await simulate(asked);
  const { contractRet, words } = outcome(result);
  const thrown = exceptions[contractRet];
  if (thrown !== undefined) {
    const name = `class org.tron.core.vm.program.Program$${thrown}`;
    throw new Refusal('OTHER_ERROR', `${name} : ${words}`);
  }
  const failed = result.failure !== 'none';
  const message = failed ? { message: shownText(words, asked.visible) } : {};
  const logs = result.logs.map(logOf);
  return {
    result: { result: true, ...message },
    energy_used: Number(result.energyUsed),
    constant_result: [bytesToHex(result.output)],
    ...(logs.length === 0 ? {} : { logs: logs as unknown as Json }),
    transaction: {
      ret: [failed ? { ret: 'FAILED' } : {}],
      ...transactionJson(tx, asked.visible),
    },
  };
}

export function getAccount(asked: Asked): Promise<JsonObject> {
  const hex = addressOf(asked, 'address');
  return asked.chain.look(asked.view, async ({ state }) => {
    const balance = hex === null ? null : balanceOf(state, hex);
    if (hex === null || balance === null) return {};
    const meta = metaOf(state, hex);
    const address = shownAddress(`41${hex}`, asked.visible);
    const keys = [{ address, weight: 1 }];
    return {
      address,
      ...(isContract(state, hex) ? { type: 'Contract' } : {}),
      ...(balance === 0n ? {} : { balance }),
      ...(meta.createdAtMs === 0 ? {} : { create_time: meta.createdAtMs }),
      ...(meta.operatedAtMs ? { latest_opration_time: meta.operatedAtMs } : {}),
      ...(meta.freeNetUsed ? { free_net_usage: meta.freeNetUsed } : {}),
      ...(meta.freeNetUsedAtMs ? { latest_consume_free_time: meta.freeNetUsedAtMs } : {}),
      owner_permission: { permission_name: 'owner', threshold: 1, keys },
      active_permission: [
        {
          type: 'Active',
          id: 2,
          permission_name: 'active',
          threshold: 1,
          operations: '7fff1fc0033efb0f000000000000000000000000000000000000000000000000',
          keys,
        },
      ],
    };
  });
}

export function getAccountResource(asked: Asked): Promise<JsonObject> {
  const hex = addressOf(asked, 'address');
  return asked.chain.look(asked.view, async ({ state }, block) => {
    if (hex === null || balanceOf(state, hex) === null) return {};
    const used = freeNetUsed(metaOf(state, hex), block.timestampMs);
    return {
      ...(used === 0 ? {} : { freeNetUsed: used }),
      freeNetLimit: parameters.getFreeNetLimit,
      TotalNetLimit: parameters.getTotalNetLimit,
      TotalEnergyLimit: parameters.getTotalEnergyLimit,
    };
  });
}

export function getContract(asked: Asked): Promise<JsonObject> {
  const hex = addressOf(asked, 'value');
  return asked.chain.look(asked.view, async ({ state }) => {
    if (hex === null) return {};
    const stored = state.get(`contract/${hex}`);
    if (stored === undefined) {
      // Another contract made it; java-tron names that one as its origin, too.
      if (!state.get(`code/${hex}`)) return {};
      const contract_address = shownAddress(`41${hex}`, asked.visible);
      return { contract_address, consume_user_resource_percent: 100 };
    }
    const json = JSON.parse(stored) as Record<string, Json>;
    for (const name of ['origin_address', 'contract_address']) {
      json[name] = shownAddress(json[name] as string, asked.visible);
    }
    return json;
  });
}

export async function getContractInfo(asked: Asked): Promise<JsonObject> {
  const contract = await getContract(asked);
  if (Object.keys(contract).length === 0) return {};
  const hex = addressOf(asked, 'value');
  return asked.chain.look(asked.view, async ({ state }) => ({
    smart_contract: contract,
    runtimecode: state.get(`code/${hex}`) ?? '',
    contract_state: {},
  }));
}
