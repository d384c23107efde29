// A TRON chain in memory, on top of the node's newest block: java-tron lends no state itself.

import { randomBytes, randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Account, type Address, bytesToUnprefixedHex } from '@ethereumjs/util';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type AddOpcode, createTvm, type RunState } from '../../../contracts/tron/tvm/engine.ts';
import { slotKey, TvmState } from '../../../contracts/tron/tvm/state.ts';
import { ParleyError } from '../../../core/errors.ts';
import { LookRanOut } from '../../tokens/inspection.ts';
import { bytesOf } from '../../tokens/words.ts';
import { tronAddressOf, tronHex } from '../address.ts';
import { type Http, TronRefusal } from '../http.ts';
import { accountOf, codeAt, headBlock, storageAt, type Trial } from '../node.ts';
import type { Watch } from '../watch.ts';

/** Energy of one call. USDT's dearest transfer uses 130,000, and a funding 60,000 more. */
export const mostEnergy = 1_000_000n;
/** Energy of one look at a token: ten seconds of a processor. A plain token's takes a tenth. */
const mostEnergyAltogether = 10_000_000n;
/** Instead of 1: a loop of little else would keep a processor longer than its energy is worth. */
const jumpEnergy = 50;
/** Work between two rests, in which the process does its other work. */
const workMs = 20;
/** Work of one look; a plain token's takes a tenth. Longer is read, not worked. */
const mostWorkMs = 5_000;
const longestStepMs = 50;

export type ForkCall = {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  /** Seconds after the newest block; default 0. */
  readonly later?: number;
};

export type Fork = {
  readonly state: ForkState;
  readonly now: number;
  /** What the call would do; its changes stay, unless it fails. */
  call(call: ForkCall): Promise<Trial>;
  /** What it would do; nothing stays. */
  look(call: ForkCall): Promise<Trial>;
  traced(call: ForkCall): Promise<{ readonly trial: Trial; readonly words: readonly Word[] }>;
  /** Whether code of this address (20 bytes in hex) ran in the name of another. */
  readonly delegated: ReadonlySet<string>;
  /** 20 bytes in hex that nobody has ever used: a fixed one could be treated better. */
  stranger(): string;
};

/** Operations of a TVM that need more of a chain than is here: TRC-10, stakes, votes, prices. */
const absent = [0x48, 0x49, 0x4a, 0xd0, 0xd1, ...range(0xd5, 0xdf)];
/** Whoever asks for these could tell a fork from a chain, and behave while it is tried. */
const telling = [0x3a, 0x40, 0x41, 0x44, 0x45];
const beyond = [...absent, ...telling];

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** Forks of one block: each begins as the node has it, and one that was given up is no more use. */
export type Forks = {
  readonly now: number;
  readonly source: Source;
  fork(): Promise<Fork>;
};

export async function openForks(watch: Watch, signal: AbortSignal): Promise<Forks> {
  const { number, timestampMs } = await headBlock(watch.http, 'head', signal);
  const now = Math.floor(timestampMs / 1_000);
  const source = nodeSource(watch.http, signal);
  const budget: Budget = { energy: mostEnergyAltogether, workMs: 0, restedAt: 0, steppedAt: 0 };
  const at = { number: BigInt(number + 1), now };
  return { now, source, fork: () => openFork(watch, source, at, budget, signal) };
}

type Budget = { energy: bigint; workMs: number; restedAt: number; steppedAt: number };

async function openFork(
  { chain, deployment }: Watch,
  source: Source,
  { number, now }: { readonly number: bigint; readonly now: number },
  budget: Budget,
  signal: AbortSignal,
): Promise<Fork> {
  const state = new ForkState(source);
  const delegated = new Set<string>();
  const rest = async () => {
    const at = performance.now();
    const stepMs = at - budget.steppedAt;
    if (stepMs < longestStepMs) budget.workMs += stepMs;
    if (budget.workMs > mostWorkMs) {
      throw new LookRanOut(`trying it takes more than ${mostWorkMs / 1_000} s of computing`);
    }
    budget.steppedAt = at;
    if (at - budget.restedAt > workMs) {
      await setImmediate();
      budget.restedAt = performance.now();
      budget.steppedAt = budget.restedAt;
    }
    if (signal.aborted) throw outOfTime(chain);
  };
  const tvm = await createTvm(state, deployment.chainId, {
    cancun: true,
    operations: operations(),
    jump: { energy: jumpEnergy, before: rest },
    onMessage: async ({ to, codeAddress, delegatecall }) => {
      if (to === undefined) return rest();
      const code = bytesToHex(codeAddress.bytes);
      refusePrecompiled(code);
      if (delegatecall) delegated.add(code);
      return rest();
    },
  });
  const call = async ({ from, to, data, later = 0 }: ForkCall): Promise<Trial> => {
    if (budget.energy < mostEnergy) {
      throw new LookRanOut(`trying it takes more than ${mostEnergyAltogether} energy`);
    }
    const result = await tvm.run({
      caller: bare(from),
      to: bare(to),
      value: 0n,
      data: hexToBytes(data),
      energyLimit: mostEnergy - BigInt(randomInt(Number(mostEnergy) / 5)),
      txid: randomBytes(32),
      block: { number, timestamp: BigInt(now + later) },
    });
    budget.energy -= result.energyUsed;
    const failed = result.failure === 'other' ? result.message : result.failure;
    return {
      failure: result.failure === 'none' ? null : failed,
      output: bytesToHex(result.output),
      energy: result.energyUsed,
    };
  };
  const look = async (wanted: ForkCall): Promise<Trial> => {
    await state.checkpoint();
    const trial = await call(wanted);
    await state.revert();
    return trial;
  };
  const traced = async (wanted: ForkCall) => {
    const words = new Map<string, Word>();
    state.trace = words;
    const trial = await look(wanted);
    state.trace = null;
    return { trial, words: [...words.values()] };
  };
  const stranger = () => {
    const address = bytesToHex(randomBytes(20));
    state.invent(address);
    return address;
  };
  return { state, now, call, look, traced, delegated, stranger };
}

function bare(address: string): Uint8Array {
  return hexToBytes(tronHex(address).slice(2));
}

function operations(): AddOpcode[] {
  const push = (opcode: number, opcodeName: string, logic: AddOpcode['logicFunction']) => ({
    opcode,
    opcodeName,
    baseFee: 2,
    logicFunction: logic,
  });
  const zero = ({ stack }: RunState) => stack.push(0n);
  return [
    // TRON's compiler asks for both at the head of every function that takes no TRC-10.
    push(0xd2, 'CALLTOKENVALUE', zero),
    push(0xd3, 'CALLTOKENID', zero),
    push(0xd4, 'ISCONTRACT', async ({ stack, stateManager }: RunState) => {
      const hex = stack.pop().toString(16).padStart(40, '0').slice(-40);
      const key = `code/${hex}`;
      const state = stateManager as ForkState;
      await state.loadAccount(hex);
      stack.push(state.get(key) === undefined ? 0n : 1n);
    }),
    ...beyond.map((opcode) =>
      push(opcode, `BEYOND_${opcode.toString(16)}`, () => {
        throw new ForkLimit(
          `it uses the operation 0x${opcode.toString(16)}, which cannot be tried`,
        );
      }),
    ),
  ];
}

/** 1, 2 and 4 to 8 are as on other chains; 3, 9 and 10 are TRON's own, and so are those far up. */
const common = new Set([0, 1, 2, 4, 5, 6, 7, 8]);

function refusePrecompiled(address: string): void {
  if (!address.startsWith('0'.repeat(32))) return;
  const number = Number.parseInt(address, 16);
  if (common.has(number)) return;
  const shown = `0x${number.toString(16)}`;
  throw new ForkLimit(`it uses the built-in contract ${shown}, which cannot be tried`);
}

/** Reads of one look at a token: one that touches more is no plain token. */
export const mostReads = 400;
/** Code of all contracts together. java-tron takes 500 kB in a transaction at the most. */
const mostCodeBytes = 2 ** 20;

/** What is asked for cannot be known here: it says nothing against a token, nor for it. */
export class ForkLimit extends Error {
  constructor(words: string) {
    super(words);
    this.name = 'ForkLimit';
  }
}

export type Source = {
  /** Decimal sun, or undefined for an address that was never used. */
  account(address: string): Promise<string | undefined>;
  code(address: string): Promise<string | undefined>;
  storage(address: string, slot: string): Promise<string>;
};

export function nodeSource(http: Http, signal: AbortSignal): Source {
  let reads = 0;
  let codeBytes = 0;
  const known = new Map<string, Promise<unknown>>();
  const read = <T>(what: string, key: string, ask: () => Promise<T>): Promise<T> => {
    const before = known.get(key) as Promise<T> | undefined;
    const answer = before ?? readOnce(what, ask);
    known.set(key, answer);
    return answer;
  };
  const readOnce = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
    reads += 1;
    if (reads > mostReads)
      throw new ForkLimit(`it reads more than ${mostReads} words and accounts`);
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TronRefusal)) throw error;
      throw new ForkLimit(`the ${http.chain} node refuses to read ${what}: ${error.message}`);
    }
  };
  const shown = (address: string) => tronAddressOf(bytesOf(address));
  return {
    account: (address) =>
      read('an account', `account/${address}`, async () =>
        (await accountOf(http, shown(address), signal))?.balance.toString(),
      ),
    code: (address) =>
      read('code', `code/${address}`, async () => {
        const code = await codeAt(http, shown(address), signal);
        codeBytes += code?.length ?? 0;
        if (codeBytes <= mostCodeBytes) return code === null ? undefined : bytesToHex(code);
        throw new ForkLimit(`its contracts have more than ${mostCodeBytes} bytes of code`);
      }),
    storage: (address, slot) =>
      read('storage', `${address}/${slot}`, () => storageAt(http, address, slot, signal)),
  };
}

/** What a look that ran out of its time throws: nothing was learnt of the token. */
export function outOfTime(chain: string): ParleyError {
  const sentence = `a token on ${chain} could not be looked at in the time given`;
  return new ParleyError('chain_timeout', sentence, { chain });
}

/** A word of storage: address and slot in hex. */
export type Word = { readonly address: string; readonly slot: string };

/** Addresses below this are precompiled contracts or nothing at all; no account is asked for. */
const lowest = '0'.repeat(32);

export class ForkState extends TvmState {
  /** Words of storage read since it was set, in order and each once; null: nobody looks. */
  trace: Map<string, Word> | null = null;
  private readonly source: Source;
  /** Keys that are as the node has them, or were changed here. */
  private readonly known = new Map<string, Promise<void>>();

  constructor(source: Source) {
    super();
    this.source = source;
  }

  /** An address that nobody ever used, without asking. */
  invent(address: string): void {
    this.load({ [`account/${address}`]: '0' });
    this.known.set(`account/${address}`, Promise.resolve());
    this.known.set(`code/${address}`, Promise.resolve());
  }

  async read({ address, slot }: Word): Promise<bigint> {
    await this.word(address, slot);
    return BigInt(`0x${this.get(slotKey(address, Buffer.from(slot, 'hex'))) ?? '0'}`);
  }

  async overwrite({ address, slot }: Word, value: bigint): Promise<void> {
    const key = slotKey(address, Buffer.from(slot, 'hex'));
    await this.word(address, slot);
    this.set(key, value === 0n ? undefined : value.toString(16));
  }

  override async getAccount(address: Address): Promise<Account | undefined> {
    await this.loadAccount(bytesToUnprefixedHex(address.bytes));
    return super.getAccount(address);
  }

  override async getCode(address: Address): Promise<Uint8Array> {
    await this.loadAccount(bytesToUnprefixedHex(address.bytes));
    return super.getCode(address);
  }

  override async getStorage(address: Address, slot: Uint8Array): Promise<Uint8Array> {
    const word = { address: bytesToUnprefixedHex(address.bytes), slot: bytesToUnprefixedHex(slot) };
    this.trace?.set(`${word.address}/${word.slot}`, word);
    await this.word(word.address, word.slot);
    return super.getStorage(address, slot);
  }

  override async putStorage(address: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    await this.word(bytesToUnprefixedHex(address.bytes), bytesToUnprefixedHex(slot));
    return super.putStorage(address, slot, value);
  }

  async loadAccount(address: string): Promise<void> {
    if (address.startsWith(lowest)) return;
    await this.fetched(`account/${address}`, () => this.source.account(address));
    await this.fetched(`code/${address}`, () => this.source.code(address));
  }

  private word(address: string, slot: string): Promise<void> {
    return this.fetched(slotKey(address, Buffer.from(slot, 'hex')), async () => {
      const value = (await this.source.storage(address, slot)).replace(/^0+/, '');
      return value === '' ? undefined : value;
    });
  }

  private fetched(key: string, ask: () => Promise<string | undefined>): Promise<void> {
    const before = this.known.get(key);
    if (before !== undefined) return before;
    const asked = ask().then((value) => this.load({ [key]: value ?? null }));
    this.known.set(key, asked);
    return asked;
  }
}
