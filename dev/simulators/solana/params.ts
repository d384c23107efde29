// Reading the parameters of JSON-RPC calls.

import { type Address, isAddress } from '@solana/kit';
import { type Block, blockAt, type Commitment, commitments, type Ledger } from './ledger.ts';
import { invalidParams } from './rpc-error.ts';

export type Config = Readonly<Record<string, unknown>>;

export function addressAt(params: readonly unknown[], at: number): Address {
  const value = params[at];
  if (typeof value === 'string' && isAddress(value)) return value;
  throw invalidParams(`parameter ${at} is not an address`);
}

export function textAt(params: readonly unknown[], at: number): string {
  const value = params[at];
  if (typeof value === 'string' && value.length <= 4_096) return value;
  throw invalidParams(`parameter ${at} is not a string`);
}

export function listAt(params: readonly unknown[], at: number, most: number): readonly unknown[] {
  const value = params[at];
  if (Array.isArray(value) && value.length <= most) return value;
  throw invalidParams(`parameter ${at} is not a list of at most ${most}`);
}

export function wholeAt(params: readonly unknown[], at: number): bigint {
  return whole(params[at], `parameter ${at}`);
}

export function whole(value: unknown, name: string): bigint {
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (isWhole && (value as number | bigint) >= 0) return BigInt(value as number | bigint);
  throw invalidParams(`${name} is not a whole number`);
}

export function configAt(params: readonly unknown[], at: number): Config {
  const value = params[at] ?? {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Config;
  throw invalidParams(`parameter ${at} is not an object`);
}

/** Finalized unless the caller says otherwise, as nodes do. */
export function commitmentOf(config: Config, usual: Commitment = 'finalized'): Commitment {
  const wanted = config.commitment ?? usual;
  if ((commitments as readonly unknown[]).includes(wanted)) return wanted as Commitment;
  throw invalidParams(`no commitment ${String(wanted)}`);
}

export function bankOf(ledger: Ledger, config: Config): Block {
  if (config.minContextSlot === undefined) return blockAt(ledger, commitmentOf(config));
  throw invalidParams('minContextSlot is not served here');
}

export const nodeVersion = '3.0.0';

export function inContext(block: Block, value: unknown) {
  return { context: { apiVersion: nodeVersion, slot: block.slot }, value };
}
