// Whole transactions under a fork's gas rules: EIP-2028 and EIP-7623 (Prague), EIP-2780 and
// EIP-7976.

import {
  createCustomCommon,
  Hardfork,
  Mainnet,
  type StateManagerInterface,
} from '@ethereumjs/common';
import { createEVM, type EVM } from '@ethereumjs/evm';
import { Account, Address, createAccount, hexToBytes } from '@ethereumjs/util';
import type { Hex } from 'viem';
import { createTvm } from '../../tron/testing/engine.ts';
import { TvmState } from '../../tron/testing/state.ts';

export type Fork = 'prague' | 'amsterdam';
export const FORKS = ['prague', 'amsterdam'] as const satisfies readonly Fork[];

type Rules = {
  readonly hardfork: Hardfork;
  readonly base: bigint;
  readonly recipient: bigint;
  readonly value: bigint;
  /** The floor's price of a byte that is zero, and of one that is not. */
  readonly floor: readonly [zero: bigint, other: bigint];
};

const RULES: Readonly<Record<Fork, Rules>> = {
  prague: { hardfork: Hardfork.Prague, base: 21_000n, recipient: 0n, value: 0n, floor: [10n, 40n] },
  amsterdam: {
    hardfork: Hardfork.Amsterdam,
    base: 12_000n,
    recipient: 3_000n,
    value: 6_000n,
    floor: [64n, 64n],
  },
};
/** The gas of a byte of calldata, zero or not (EIP-2028), on both. */
const CALLDATA = [4n, 16n] as const;
/** At most a fifth of what was used is given back (EIP-3529). */
const REFUND_SHARE = 5n;
/** Below 2^24, so that all of it is regular gas under EIP-8037 and no reservoir is needed. */
const GAS_LIMIT = 16_000_000n;
const CHAIN_ID = 31_337;

export type Transaction = {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: bigint;
  readonly at: bigint;
};

export type Chain = {
  readonly chainId: number;
  send(transaction: Transaction): Promise<number>;
  /** The address of a contract made by this init code; its cost is not counted. */
  create(initCode: Hex, at: bigint): Promise<Hex>;
  read(to: Hex, data: Hex, at: bigint): Promise<Hex>;
  /** Makes an account that has sent something before. */
  give(to: Hex, wei: bigint): Promise<void>;
  balance(of: Hex): Promise<bigint>;
  /** Lends an account code, as EIP-7702 does. */
  lend(to: Hex, code: Hex): Promise<void>;
  checkpoint(): Promise<void>;
  /** Undoes all since the last checkpoint, and takes that away. */
  revert(): Promise<void>;
};

export class MeasureError extends Error {
  readonly output: Hex;
  constructor(what: string, failure: string, bytes: Uint8Array) {
    const output: Hex = `0x${Buffer.from(bytes).toString('hex')}`;
    super(`${what} failed: ${failure}, output ${output}`);
    this.name = 'MeasureError';
    this.output = output;
  }
}

function priced(data: Uint8Array, [zero, other]: readonly [bigint, bigint]): bigint {
  const zeros = data.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  return BigInt(zeros) * zero + BigInt(data.length - zeros) * other;
}

/** The gas that a transaction takes before anything runs, and the least that it takes in the
 * end. */
function intrinsic(rules: Rules, data: Uint8Array, value: bigint): { gas: bigint; floor: bigint } {
  const base = rules.base + rules.recipient + (value > 0n ? rules.value : 0n);
  return { gas: base + priced(data, CALLDATA), floor: base + priced(data, rules.floor) };
}

function header(timestamp: bigint): object {
  return {
    header: {
      number: 1n,
      timestamp,
      coinbase: new Address(new Uint8Array(20).fill(0xcb)),
      difficulty: 0n,
      prevRandao: new Uint8Array(32),
      gasLimit: 36_000_000n,
      baseFeePerGas: 1n,
      getBlobGasPrice: () => 1n,
    },
  };
}

/** Precompiles, the sender, the receiver and the block's beneficiary are warm from the start. */
function begin(evm: EVM, { from, to }: { from: Hex; to?: Hex }): void {
  for (const precompile of evm.precompiles.keys()) evm.journal.addAlwaysWarmAddress(precompile);
  for (const warm of [from, to, `0x${'cb'.repeat(20)}`]) {
    if (warm !== undefined) evm.journal.addAlwaysWarmAddress(warm.slice(2).toLowerCase());
  }
  evm.stateGasReservoir = 0n;
}

function end(evm: EVM): void {
  evm.journal.cleanJournal();
  evm.stateManager.originalStorageCache.clear();
}

async function send(evm: EVM, rules: Rules, sent: Transaction): Promise<number> {
  const data = hexToBytes(sent.data);
  const value = sent.value ?? 0n;
  const { gas, floor } = intrinsic(rules, data, value);
  begin(evm, sent);
  const { execResult } = await evm.runCall({
    caller: new Address(hexToBytes(sent.from)),
    to: new Address(hexToBytes(sent.to)),
    value,
    data,
    gasLimit: GAS_LIMIT - gas,
    gasPrice: 1n,
    skipNonceIncrement: true,
    block: header(sent.at) as never,
  });
  end(evm);
  const { exceptionError, executionGasUsed, gasRefund = 0n, returnValue } = execResult;
  if (exceptionError) throw new MeasureError('transaction', exceptionError.error, returnValue);
  // new state that was undone in the same transaction is paid back into the reservoir (EIP-8037)
  const used = gas + executionGasUsed - evm.stateGasReservoir;
  const most = used / REFUND_SHARE;
  const paid = used - (gasRefund < most ? gasRefund : most);
  return Math.max(Number(paid), Number(floor));
}

export async function createChain(fork: Fork): Promise<Chain> {
  const rules = RULES[fork];
  const common = createCustomCommon({ chainId: CHAIN_ID }, Mainnet, { hardfork: rules.hardfork });
  const evm = (await createEVM({ common })) as EVM;
  const maker = new Address(new Uint8Array(20).fill(0xde));
  const run = async (to: Hex | undefined, data: Hex, at: bigint) => {
    begin(evm, { from: maker.toString() as Hex, ...(to === undefined ? {} : { to }) });
    const { execResult, createdAddress } = await evm.runCall({
      caller: maker,
      ...(to === undefined ? {} : { to: new Address(hexToBytes(to)) }),
      data: hexToBytes(data),
      gasLimit: 1_000_000_000n,
      gasPrice: 1n,
      block: header(at) as never,
    });
    end(evm);
    const { exceptionError, returnValue } = execResult;
    if (exceptionError) throw new MeasureError('call', exceptionError.error, returnValue);
    return { createdAddress, output: returnValue };
  };
  await evm.stateManager.putAccount(maker, new Account());
  return {
    chainId: CHAIN_ID,
    send: (transaction) => send(evm, rules, transaction),
    create: async (initCode, at) =>
      String((await run(undefined, initCode, at)).createdAddress) as Hex,
    read: async (to, data, at) => {
      const { output } = await run(to, data, at);
      return `0x${Buffer.from(output).toString('hex')}`;
    },
    give: (to, wei) =>
      evm.stateManager.putAccount(
        new Address(hexToBytes(to)),
        createAccount({ nonce: 1n, balance: wei }),
      ),
    balance: async (of) =>
      (await evm.stateManager.getAccount(new Address(hexToBytes(of))))?.balance ?? 0n,
    ...undoing(evm.stateManager),
  };
}

function undoing(state: StateManagerInterface): Pick<Chain, 'lend' | 'checkpoint' | 'revert'> {
  return {
    lend: (to, code) => state.putCode(new Address(hexToBytes(to)), hexToBytes(code)),
    checkpoint: () => state.checkpoint(),
    revert: () => state.revert(),
  };
}

const TRON_CHAIN_ID = 728_126_428;

/** The same on the TVM: `send` answers energy. */
export async function createTronChain(): Promise<Chain> {
  const state = new TvmState();
  const tvm = await createTvm(state, TRON_CHAIN_ID, { cancun: true });
  let made = 0;
  const run = async (from: Hex, to: Hex, { data, value = 0n, at }: Call, creates = false) => {
    const where = hexToBytes(to);
    const result = await tvm.run({
      caller: hexToBytes(from),
      ...(creates ? { to: null, creates: where } : { to: where }),
      value,
      data: hexToBytes(data),
      energyLimit: 10_000_000n,
      txid: new Uint8Array(32),
      block: { number: 60_000_000n, timestamp: at },
    });
    if (result.failure === 'none') return result;
    throw new MeasureError('transaction', result.failure, result.output);
  };
  const give = async (to: Hex, wei: bigint) => {
    state.set(`account/${to.slice(2).toLowerCase()}`, `${wei}`);
  };
  return {
    chainId: TRON_CHAIN_ID,
    send: async (sent) => Number((await run(sent.from, sent.to, sent)).energyUsed),
    create: async (initCode, at) => {
      made += 1;
      const address: Hex = `0x${`e${made}`.repeat(20)}`;
      await run(`0x${'de'.repeat(20)}`, address, { data: initCode, at }, true);
      return address;
    },
    give,
    read: async (to, data, at) => {
      const { output } = await run(`0x${'de'.repeat(20)}`, to, { data, at });
      return `0x${Buffer.from(output).toString('hex')}`;
    },
    balance: async (of) => BigInt(state.get(`account/${of.slice(2).toLowerCase()}`) ?? 0),
    ...undoing(state),
  };
}

type Call = Omit<Transaction, 'from' | 'to'>;
