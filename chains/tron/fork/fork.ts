// A TRON chain in memory, on top of the node's newest block: java-tron lends no state itself.

import { randomBytes, randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type AddOpcode, createTvm, type RunState } from '../../../contracts/tron/tvm/engine.ts';
import { LookRanOut } from '../../tokens/inspection.ts';
import { tronHex } from '../address.ts';
import { headBlock, type Trial } from '../node.ts';
import type { Watch } from '../watch.ts';
import { ForkLimit, nodeSource, outOfTime, type Source } from './source.ts';
import { ForkState, type Word } from './state.ts';

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
