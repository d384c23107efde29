// The cost of a transaction: a price for each signature, and its offer for compute units.

import type { Address } from '@solana/kit';
import type { Wire } from './wire.ts';

const lamportsPerSignature = 5_000n;
const microLamports = 1_000_000n;
const mostUnits = 1_400_000n;
const unitsOfBuiltin = 3_000n;
const unitsOfProgram = 200_000n;

const computeBudget = 'ComputeBudget111111111111111111111111111111';
const builtins: ReadonlySet<string> = new Set([
  computeBudget,
  '11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
]);
const setUnitLimit = 2;
const setUnitPrice = 3;

export function feeOf({ message }: Pick<Wire, 'message'>): bigint {
  const { header, staticAccounts, instructions } = message;
  let usual = 0n;
  let limit: bigint | null = null;
  let price = 0n;
  for (const { programAddressIndex, data } of instructions) {
    const program: Address | undefined = staticAccounts[programAddressIndex];
    usual += builtins.has(program ?? '') ? unitsOfBuiltin : unitsOfProgram;
    if (program !== computeBudget || data === undefined) continue;
    const bytes = Buffer.from(data);
    if (bytes[0] === setUnitLimit && bytes.length >= 5) limit = BigInt(bytes.readUInt32LE(1));
    if (bytes[0] === setUnitPrice && bytes.length >= 9) price = bytes.readBigUInt64LE(1);
  }
  const wanted = limit ?? usual;
  const units = wanted < mostUnits ? wanted : mostUnits;
  const priority = (units * price + microLamports - 1n) / microLamports;
  return lamportsPerSignature * BigInt(header.numSignerAccounts) + priority;
}
