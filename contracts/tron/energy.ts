// Measures what users pay: the energy of each verb, on a TVM with java-tron's prices (./tvm).
//
//   node contracts/tron/energy.ts            prints the figures
//   node contracts/tron/energy.ts --write    rewrites energy.snapshot.json
//   node contracts/tron/energy.ts --check    fails above a limit or on a difference

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Abi, encodeFunctionData, type Hex, hexToBytes, zeroAddress } from 'viem';
import { EVM_VERSION, SOLC_VERSION } from '../evm/compile.ts';
import { isEntry } from '../evm/entry.ts';
import { escrowsAbi, initCode } from './artifacts/abi.ts';
import { createTvm, type Tvm } from './tvm/engine.ts';
import { TvmState } from './tvm/state.ts';

const SNAPSHOT = join(import.meta.dirname, 'energy.snapshot.json');
const START = 1_800_000_000n;
const TIMELOCK = START + 86_400n;
const ESCROWS = address('e5');
const TOKEN = address('70');
const FUNDER = address('f0');
const THIRD = address('03');

/** The bars of the project, where it has one. */
export const ENERGY_LIMITS = {
  'TRX fund': 27_000,
  'TRX claim': 17_000,
  'TRX refund': 17_000,
  'TRX claim, payout not activated': 42_000,
  'token fund': 47_000,
  'token claim': 25_000,
  'token refund': 25_000,
  'token fund, contract held none': 62_000,
  'token claim, payout held none, contract left empty': 40_000,
  'token approve, before each funding': 23_000,
} as const;

export type EnergyFigure = { limit: number; energy: number };
export type EnergyFigures = Record<keyof typeof ENERGY_LIMITS, EnergyFigure>;

const tokenAbi = [
  ...['mint', 'approve', 'transfer'].map((name) => ({
    type: 'function',
    name,
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [],
  })),
] as unknown as Abi;

function address(byte: string): Hex {
  return `0x${byte.repeat(20)}`;
}

function sha256(bytes: Uint8Array): Hex {
  return `0x${createHash('sha256').update(bytes).digest('hex')}`;
}

function secretOf(n: number): Hex {
  return sha256(Buffer.from(`energy ${n}`));
}

type Terms = {
  hashlock: Hex;
  payout: Hex;
  refund: Hex;
  token: Hex;
  amount: bigint;
  timelock: bigint;
};

type Session = {
  send(from: Hex, to: Hex, data: Hex, value?: bigint, timestamp?: bigint): Promise<number>;
};

async function session(tvm: Tvm): Promise<Session> {
  const run = async (part: {
    from: Hex;
    to: Hex | null;
    creates?: Hex;
    data: Hex;
    value: bigint;
    timestamp: bigint;
  }) => {
    const result = await tvm.run({
      caller: hexToBytes(part.from),
      to: part.to === null ? null : hexToBytes(part.to),
      ...(part.creates === undefined ? {} : { creates: hexToBytes(part.creates) }),
      value: part.value,
      data: hexToBytes(part.data),
      energyLimit: 5_000_000n,
      txid: new Uint8Array(32),
      block: { number: 60_000_000n, timestamp: part.timestamp },
    });
    if (result.failure !== 'none') throw new Error(`measured call: ${result.failure}`);
    return Number(result.energyUsed);
  };
  const file = join(import.meta.dirname, '../evm/artifacts/ReturnsFalse.json');
  const { bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { bytecode: Hex };
  const creation = { from: THIRD, to: null, value: 0n, timestamp: START };
  await run({ ...creation, creates: ESCROWS, data: initCode });
  await run({ ...creation, creates: TOKEN, data: bytecode });
  return {
    send: (from, to, data, value = 0n, timestamp = START) =>
      run({ from, to, data, value, timestamp }),
  };
}

function call(functionName: 'fund' | 'claim' | 'refund', args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: escrowsAbi as Abi, functionName, args });
}

function tokenCall(functionName: 'mint' | 'approve', to: Hex, value: bigint): Hex {
  return encodeFunctionData({ abi: tokenAbi, functionName, args: [to, value] });
}

/**
 * A funding by the refund address as chains/tron/plan.ts builds it, so with an approval of exactly
 * the amount for a token, then a claim or a refund by a third party.
 */
async function swap(
  { send }: Session,
  seed: number,
  token: Hex,
  payout: Hex,
  settle: 'claim' | 'refund',
): Promise<{ approve: number; fund: number; settle: number }> {
  const secret = secretOf(seed);
  const terms: Terms = {
    hashlock: sha256(hexToBytes(secret)),
    payout,
    refund: FUNDER,
    token,
    amount: 12_345_678_901n,
    timelock: TIMELOCK,
  };
  const native = token === zeroAddress;
  const value = native ? terms.amount : 0n;
  const approval = tokenCall('approve', ESCROWS, terms.amount);
  const approve = native ? 0 : await send(FUNDER, TOKEN, approval);
  const fund = await send(FUNDER, ESCROWS, call('fund', [terms]), value);
  const args = settle === 'claim' ? [terms, secret] : [terms];
  const at = settle === 'claim' ? START : TIMELOCK;
  return { approve, fund, settle: await send(THIRD, ESCROWS, call(settle, args), 0n, at) };
}

/** Deterministic. */
async function measureEnergy(): Promise<EnergyFigures> {
  const state = new TvmState();
  for (const who of [FUNDER, THIRD, address('aa')]) {
    state.set(`account/${who.slice(2)}`, '1000000000000');
  }
  const chain = await session(await createTvm(state, 728_126_428));
  await chain.send(THIRD, TOKEN, tokenCall('mint', FUNDER, 10n ** 15n));
  const [holder, newcomer] = [address('aa'), address('bb')];

  const trxClaim = await swap(chain, 1, zeroAddress, holder, 'claim');
  const trxRefund = await swap(chain, 2, zeroAddress, holder, 'refund');
  const trxNew = await swap(chain, 3, zeroAddress, newcomer, 'claim');
  const cold = await swap(chain, 4, TOKEN, newcomer, 'claim');
  await chain.send(THIRD, TOKEN, tokenCall('mint', ESCROWS, 1n)); // as if another swap were open
  const warmClaim = await swap(chain, 5, TOKEN, newcomer, 'claim');
  const warmRefund = await swap(chain, 6, TOKEN, newcomer, 'refund');

  const energies = {
    'TRX fund': Math.max(trxClaim.fund, trxRefund.fund),
    'TRX claim': trxClaim.settle,
    'TRX refund': trxRefund.settle,
    'TRX claim, payout not activated': trxNew.settle,
    'token fund': Math.max(warmClaim.fund, warmRefund.fund),
    'token claim': warmClaim.settle,
    'token refund': warmRefund.settle,
    'token fund, contract held none': cold.fund,
    'token claim, payout held none, contract left empty': cold.settle,
    'token approve, before each funding': Math.max(cold.approve, warmClaim.approve),
  } satisfies Record<keyof typeof ENERGY_LIMITS, number>;
  const figures = Object.entries(energies).map(([name, energy]) => {
    return [name, { limit: ENERGY_LIMITS[name as keyof typeof ENERGY_LIMITS], energy }];
  });
  return Object.fromEntries(figures) as EnergyFigures;
}

function snapshotOf(figures: EnergyFigures): string {
  const measured =
    'energy of a whole call on the TVM of ./tvm: prices of java-tron, no dynamic factor; fund by ' +
    'the refund address, which signs, claim and refund by a third party; token: ReturnsFalse of ' +
    'contracts/evm, approved for exactly the amount of each funding';
  const settings = { measured, solc: SOLC_VERSION, evmVersion: EVM_VERSION };
  return `${JSON.stringify({ ...settings, figures }, null, 2)}\n`;
}

/** What is wrong with the figures: nothing, or one sentence each. */
export async function checkEnergy(): Promise<string[]> {
  const figures = await measureEnergy();
  const wrong: string[] = [];
  for (const [name, { energy, limit }] of Object.entries(figures)) {
    if (energy > limit) wrong.push(`${name} takes ${energy} energy, the limit is ${limit}`);
  }
  if (readFileSync(SNAPSHOT, 'utf8') !== snapshotOf(figures)) {
    wrong.push('energy.snapshot.json differs from what was measured; run energy.ts --write');
  }
  return wrong;
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const wrong = await checkEnergy();
    for (const sentence of wrong) process.stderr.write(`energy: ${sentence}\n`);
    if (wrong.length > 0) process.exitCode = 1;
    else process.stdout.write('energy: within the limits and as in the snapshot\n');
    return;
  }
  const figures = await measureEnergy();
  for (const [name, { energy, limit }] of Object.entries(figures)) {
    process.stdout.write(`${name.padEnd(52)} ${String(energy).padStart(7)}  limit ${limit}\n`);
  }
  if (process.argv.includes('--write')) writeFileSync(SNAPSHOT, snapshotOf(figures));
}

if (isEntry(import.meta.url)) await main();
