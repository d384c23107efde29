// Blocks, prices and gas of a trial, as of a transaction: a token must not tell them apart.

import { randomBytes, randomInt } from 'node:crypto';
import { ParleyError } from '../../../core/errors.ts';
import { amountOf, fewMiB, quantity, type Rpc, RpcError } from '../../nodes/rpc.ts';
import { gasPrice, refused } from '../node.ts';

export type Surroundings = {
  readonly number: number;
  readonly timestamp: number;
  readonly baseFee: bigint | null;
  /** Every block has a number of chance (PREVRANDAO). */
  readonly random: boolean;
  /** For a unit of gas, drawn between the usual and one and a half of it. */
  readonly price: bigint;
};

const spacingSeconds = 12;
/** A transfer takes less than 100 000, one that also sells for its owner less than a million. */
export const stepGas = [1_100_000, 1_700_000] as const;
export const readGas = [300_000, 440_000] as const;
const milliCoin = 10n ** 15n;
const purseMilliCoins = [50, 3_000] as const;

export async function surroundingsOf(rpc: Rpc, signal: AbortSignal): Promise<Surroundings> {
  const method = 'eth_getBlockByNumber';
  const usual = await gasPrice(rpc, signal);
  const asking = rpc.call(method, ['latest', false], signal, fewMiB);
  const answer = await asking.catch((error: unknown) => {
    throw error instanceof RpcError ? refused(rpc, method, error) : error;
  });
  try {
    const head = answer as Readonly<Record<string, unknown>>;
    const baseFee = typeof head.baseFeePerGas === 'string' ? amountOf(head.baseFeePerGas) : null;
    // Base fees rise by an eighth at most.
    const least = ((baseFee ?? 0n) * 9n) / 8n;
    const price = (least > usual ? least : usual) + 1n;
    return {
      number: quantity(head.number),
      timestamp: quantity(head.timestamp),
      baseFee,
      random: /^0x0*$/.test(String(head.difficulty ?? '0x0')) && /[1-9a-f]/.test(mixOf(head)),
      price: price + (price * BigInt(randomInt(500))) / 1_000n,
    };
  } catch (cause) {
    throw new ParleyError(
      'chain_unavailable',
      `the ${rpc.chain} node gave a block that cannot be read`,
      { chain: rpc.chain, method },
      { cause },
    );
  }
}

function mixOf({ mixHash }: Readonly<Record<string, unknown>>): string {
  return String(mixHash ?? '0x').slice(2);
}

export function blockAfter(
  { number, timestamp, baseFee, random }: Surroundings,
  at: number,
  ahead: number,
): Readonly<Record<string, string>> {
  const time = timestamp + ahead + spacingSeconds * (at + 1);
  return {
    number: hex(number + 1 + at),
    time: hex(time),
    ...(baseFee === null ? {} : { baseFeePerGas: hex(baseFee - (baseFee * chance(100)) / 1_000n) }),
    ...(random ? { prevRandao: `0x${randomBytes(32).toString('hex')}` } : {}),
  };
}

export function purseFor({ price }: Surroundings, gas: bigint): string {
  const coins = BigInt(randomInt(...purseMilliCoins)) * milliCoin + chance(2 ** 40);
  return hex(2n * price * gas + coins);
}

export function stepGasOf(): bigint {
  return BigInt(randomInt(...stepGas));
}

export function readGasOf(): bigint {
  return BigInt(randomInt(...readGas));
}

export function walletGas(used: bigint): bigint {
  return (used * BigInt(randomInt(1_500, 1_800))) / 1_000n + chance(20_000);
}

function chance(below: number): bigint {
  return BigInt(randomInt(below));
}

export function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}
