// A TVM: @ethereumjs/evm with java-tron's prices, addresses and calls (prices.ts, README.md).

import { type Common, createCustomCommon, Hardfork, Mainnet } from '@ethereumjs/common';
import {
  createEVM,
  type EVM,
  type EVMOpts,
  getOpcodesForHF,
  type Message,
  paramsEVM,
} from '@ethereumjs/evm';
import { Address, bytesToUnprefixedHex, concatBytes } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import {
  BASE_ENERGY,
  ENERGY_FEE,
  EXP_BYTE_ENERGY,
  LATER_ENERGY,
  MAX_CALL_DEPTH,
  MEMORY_OPERATIONS,
  RESET_SSTORE,
  SET_SSTORE,
} from './prices.ts';
import { slotKey, type TvmState } from './state.ts';

/** First byte of every TRON address; as CREATE2's prefix it stands where Ethereum has 0xff. */
const PREFIX = new Uint8Array([0x41]);
/** PUSH0: chain parameter getAllowTvmShangHai. */
const EIPS = [3855];

type CustomOpcode = NonNullable<EVMOpts['customOpcodes']>[number];
type AddOpcode = Extract<CustomOpcode, { logicFunction: unknown }>;
type EnergyFunction = NonNullable<AddOpcode['gasFunction']>;

export type TvmLog = { address: Uint8Array; topics: Uint8Array[]; data: Uint8Array };

export type TvmCall = {
  readonly caller: Uint8Array;
  /** Null creates a contract at `creates`, its init code being `data`. */
  readonly to: Uint8Array | null;
  readonly creates?: Uint8Array;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly energyLimit: bigint;
  readonly txid: Uint8Array;
  /** Number and Unix seconds; BLOCKHASH knows the parent alone. */
  readonly block: {
    readonly number: bigint;
    readonly timestamp: bigint;
    readonly parentHash?: Uint8Array | undefined;
  };
};

export type TvmResult = {
  /** The failure; REVERT keeps the energy that is left; anything else has used all of it. */
  readonly failure: 'none' | 'revert' | 'out of energy' | 'other';
  readonly message: string;
  readonly energyUsed: bigint;
  readonly output: Uint8Array;
  readonly logs: readonly TvmLog[];
};

/** WalletUtil.generateContractAddress2: keccak256(0x41 ++ sender ++ salt ++ keccak256(code)). */
export function create2Address(sender: Uint8Array, salt: Uint8Array, code: Uint8Array): Uint8Array {
  return keccak_256(concatBytes(PREFIX, sender, salt, keccak_256(code))).slice(12);
}

/** TransactionUtil.generateContractAddress: here of the transaction's number of internal
 * creations. */
export function createAddress(txid: Uint8Array, nonce: bigint): Uint8Array {
  const counter = new Uint8Array(8);
  new DataView(counter.buffer).setBigUint64(0, nonce);
  return keccak_256(concatBytes(txid, counter)).slice(12);
}

function wordOf(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex'));
}

const sstoreEnergy: EnergyFunction = async (runState, energy) => {
  const [slot, next] = runState.stack.peek(2) as [bigint, bigint];
  if (runState.interpreter.isStatic()) return energy;
  const state = runState.stateManager as TvmState;
  const key = slotKey(bytesToUnprefixedHex(runState.interpreter.getAddress().bytes), wordOf(slot));
  const missing = state.get(key) === undefined && !state.written.has(key);
  const set = missing && next !== 0n;
  return energy + (set ? SET_SSTORE : RESET_SSTORE);
};

/** Program.getCallEnergy: the energy asked for, at most all that is left; Ethereum keeps 1/64. */
function handsOnAll(usual: EnergyFunction, asks: boolean): EnergyFunction {
  return async (runState, energy, common) => {
    const [asked] = runState.stack.peek(1) as [bigint];
    const cost = await usual(runState, energy, common);
    const left = runState.interpreter.getGasLeft() - cost;
    if (left >= 0n) runState.messageGasLimit = asks && asked < left ? asked : left;
    return cost;
  };
}

function operations(common: Common, memoryEnergy: number): CustomOpcode[] {
  const usual = getOpcodesForHF(common);
  const custom: AddOpcode[] = [];
  const add = (opcode: number, opcodeName: string, baseFee: number, change?: EnergyFunction) => {
    const logicFunction = usual.handlers.get(opcode);
    if (logicFunction === undefined) throw new Error(`no operation ${opcodeName}`);
    const gasFunction = change ?? usual.dynamicGasHandlers.get(opcode);
    custom.push({
      opcode,
      opcodeName,
      baseFee,
      logicFunction,
      ...(gasFunction === undefined ? {} : { gasFunction }),
    });
  };
  for (const [code, name] of Object.entries(MEMORY_OPERATIONS)) {
    add(Number(code), name, memoryEnergy);
  }
  for (const [code, [name, energy]] of Object.entries(BASE_ENERGY)) {
    const opcode = Number(code);
    const dynamic = usual.dynamicGasHandlers.get(opcode);
    const calls = opcode >= 0xf0 && dynamic !== undefined;
    const creates = name.startsWith('CREATE');
    const special = name === 'SSTORE' ? sstoreEnergy : undefined;
    add(opcode, name, energy, calls ? handsOnAll(dynamic, !creates) : special);
  }
  return custom;
}

export type Tvm = { run(call: TvmCall): Promise<TvmResult> };

type TvmOptions = {
  readonly memoryEnergy?: 0 | 1;
  /** TLOAD, TSTORE and MCOPY: chain parameter getAllowTvmCancun. */
  readonly cancun?: boolean;
};

const failures: Readonly<Record<string, TvmResult['failure']>> = {
  revert: 'revert',
  'out of gas': 'out of energy',
};

export async function createTvm(
  state: TvmState,
  chainId: number,
  { memoryEnergy = 1, cancun = false }: TvmOptions = {},
): Promise<Tvm> {
  const common = createCustomCommon({ chainId }, Mainnet, {
    hardfork: Hardfork.Istanbul,
    // Without it a revert would leave transient storage as it was.
    eips: cancun ? [...EIPS, 1153] : EIPS,
  });
  const params = {
    ...paramsEVM,
    1: { ...paramsEVM[1], stackLimit: MAX_CALL_DEPTH },
    607: { ...paramsEVM[607], expByteGas: EXP_BYTE_ENERGY },
  };
  // the operations below are found on a Common that has its prices
  common.updateParams(params);
  const evm = await createEVM({
    common,
    stateManager: state,
    params,
    customOpcodes: [
      ...operations(common, memoryEnergy),
      ...(cancun ? laterOperations(chainId) : []),
    ],
    allowUnlimitedContractSize: true,
    allowUnlimitedInitCodeSize: true,
  });
  return { run: (call) => run(evm, state, call) };
}

function laterOperations(chainId: number): AddOpcode[] {
  const later = createCustomCommon({ chainId }, Mainnet, { hardfork: Hardfork.Cancun });
  later.updateParams(paramsEVM);
  const usual = getOpcodesForHF(later);
  return Object.entries(LATER_ENERGY).map(([code, [opcodeName, baseFee]]) => {
    const opcode = Number(code);
    const logicFunction = usual.handlers.get(opcode);
    if (logicFunction === undefined) throw new Error(`no operation ${opcodeName}`);
    // MCOPY pays for memory as the other copies do; the others cost their price alone.
    const gasFunction = opcodeName === 'MCOPY' ? usual.dynamicGasHandlers.get(opcode) : undefined;
    const dynamic = gasFunction === undefined ? {} : { gasFunction };
    return { opcode, opcodeName, baseFee, logicFunction, ...dynamic };
  });
}

async function run(evm: EVM, state: TvmState, call: TvmCall): Promise<TvmResult> {
  let creations = 0n;
  state.written.clear();
  // a protected method of the engine, and the one place where TRON's addresses differ
  Reflect.set(evm, '_generateAddress', async (message: Message) => {
    const made = () => {
      if (message.depth === 0 && call.creates !== undefined) return call.creates;
      if (message.salt === undefined) return createAddress(call.txid, creations++);
      return create2Address(message.caller.bytes, message.salt, message.code as Uint8Array);
    };
    const address = new Address(made());
    state.underCreation = bytesToUnprefixedHex(address.bytes);
    return address;
  });
  const { number: own, parentHash } = call.block;
  const hashOf = (number: number) => (BigInt(number) + 1n === own ? parentHash : undefined);
  const getBlock = async (at: number) => ({ hash: () => hashOf(at) ?? new Uint8Array(32) });
  Reflect.set(evm, 'blockchain', { getBlock });
  const { execResult } = await evm.runCall({
    caller: new Address(call.caller),
    ...(call.to === null ? {} : { to: new Address(call.to) }),
    value: call.value,
    data: call.data,
    gasLimit: call.energyLimit,
    skipNonceIncrement: true,
    block: { header: header(call) } as never,
  });
  evm.journal.cleanJournal();
  Reflect.get(evm, 'transientStorage').clear();
  state.underCreation = '';
  const error = execResult.exceptionError?.error;
  for (const address of execResult.selfdestruct?.keys() ?? []) {
    if (error === undefined)
      await state.deleteAccount(new Address(Buffer.from(address.slice(2), 'hex')));
  }
  const failure = error === undefined ? 'none' : (failures[error] ?? 'other');
  return {
    failure,
    message: error ?? '',
    // everything but a revert takes all (VM.java: spendAllEnergy)
    energyUsed:
      failure === 'none' || failure === 'revert' ? execResult.executionGasUsed : call.energyLimit,
    output: execResult.returnValue,
    logs: (execResult.logs ?? []).map(([address, topics, data]) => ({ address, topics, data })),
  };
}

function header({ block }: TvmCall): object {
  return {
    ...block,
    coinbase: new Address(new Uint8Array(20)),
    baseFeePerGas: ENERGY_FEE,
    difficulty: 0n,
    prevRandao: new Uint8Array(32),
    gasLimit: 0n,
    getBlobGasPrice: () => undefined,
  };
}
