// Measures what users pay on TRON: the energy of each verb, on a TVM with java-tron's prices.
//
//   node contracts/escrows/energy.ts            prints the figures
//   node contracts/escrows/energy.ts --write    rewrites energy.snapshot.json
//   node contracts/escrows/energy.ts --check    fails above a limit or on a difference

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Abi, encodeFunctionData, type Hex, hexToBytes, maxUint256, zeroAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SOLC_VERSION } from '../evm/compile.ts';
import { isEntry } from '../evm/entry.ts';
import { createTvm, type Tvm } from '../tron/tvm/engine.ts';
import { TvmState } from '../tron/tvm/state.ts';
import { escrowsAbi, initCode } from './artifacts/abi.ts';
import { EVM_VERSION } from './build.ts';
import { type Escrow, legOf } from './ids.ts';
import { authorizationBy, permitBy } from './signatures.ts';

const here = import.meta.dirname;
const SNAPSHOT = join(here, 'energy.snapshot.json');
const CHAIN_ID = 728_126_428;
const START = 1_800_000_000n;
const TIMELOCK = START + 86_400n;
const BATCH = 10;
const [ESCROWS, COIN, FALSE_COIN, THIRD, HOLDER] = ['e5', '70', '71', '03', 'aa'].map(
  (byte): Hex => `0x${byte.repeat(20)}`,
) as [Hex, Hex, Hex, Hex, Hex];
const SIGNER = privateKeyToAccount(`0x${'f0'.repeat(32)}`);
const FUNDER = SIGNER.address.toLowerCase() as Hex;
const WHERE = { chainId: CHAIN_ID, escrows: ESCROWS, coin: COIN };

/** null: no bar. "held none": neither contract nor payout hold any of the token. */
const LIMITS = {
  'TRX fund': 11_000,
  'TRX claim': 16_000,
  'TRX refund': null,
  "TRX fund, a lane's first": null,
  'TRX claim, payout not activated': null,
  'token fund, allowance standing': 31_000,
  'token claim': 24_000,
  'token refund': null,
  'token fund, allowance of the amount': 31_000,
  'token approve, before such a funding': null,
  "token fund, a lane's first": null,
  'token that answers false, fund, held none': 46_000,
  'token that answers false, claim, held none': 39_000,
  'token that answers false, fund': 31_000,
  'token that answers false, claim': 24_000,
  'token fund by permit': null,
  'token fund by authorization, the submitter': null,
  'TRX claimMany of ten, each': null,
  'token claimMany of ten, each': null,
} as const satisfies Record<string, number | null>;

type Row = keyof typeof LIMITS;
export type EnergyFigure = { limit: number | null; energy: number };
export type EnergyFigures = Record<Row, EnergyFigure>;

const tokenAbi = ['mint', 'approve'].map((name) => ({
  type: 'function',
  name,
  stateMutability: 'nonpayable',
  inputs: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
  ],
  outputs: [],
})) as unknown as Abi;

function secretOf(n: number): Hex {
  return `0x${createHash('sha256').update(`energy ${n}`).digest('hex')}`;
}

/** One number gives the secret and the lane, which has a tag of 8 bytes as real ones have. */
function escrowOf(n: number, counter: number, token: Hex, payout: Hex): Escrow {
  const hashlock: Hex = `0x${createHash('sha256')
    .update(hexToBytes(secretOf(n)))
    .digest('hex')}`;
  const terms = {
    hashlock,
    payout,
    refund: FUNDER,
    token,
    amount: 12_345_678_901n,
    timelock: TIMELOCK,
    fundBefore: START + 7_200n,
  };
  return { terms, lane: 0x5d1fa3c27be6049800000000n + BigInt(n), counter };
}

type Call = { from?: Hex; to?: Hex; data: Hex; value?: bigint; at?: bigint };

type Send = (call: Call) => Promise<number>;

function sender(tvm: Tvm): Send {
  return async ({ from = THIRD, to = ESCROWS, data, value = 0n, at = START }) => {
    const made = [ESCROWS, COIN, FALSE_COIN].includes(to) && data.startsWith('0x60');
    const result = await tvm.run({
      caller: hexToBytes(from),
      ...(made ? { to: null, creates: hexToBytes(to) } : { to: hexToBytes(to) }),
      value,
      data: hexToBytes(data),
      energyLimit: 10_000_000n,
      txid: new Uint8Array(32),
      block: { number: 60_000_000n, timestamp: at },
    });
    if (result.failure !== 'none') throw new Error(`measured call: ${result.failure}`);
    return Number(result.energyUsed);
  };
}

function bytecodeOf(name: 'DevCoin' | 'FalseCoin'): Hex {
  const file = readFileSync(join(here, `artifacts/${name}.json`), 'utf8');
  return (JSON.parse(file) as { bytecode: Hex }).bytecode;
}

function token(functionName: 'mint' | 'approve', to: Hex, value: bigint): Hex {
  return encodeFunctionData({ abi: tokenAbi, functionName, args: [to, value] });
}

function verb(functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: escrowsAbi as Abi, functionName, args });
}

function approve(send: Send, coin: Hex, amount: bigint): Promise<number> {
  return send({ from: FUNDER, to: coin, data: token('approve', ESCROWS, amount) });
}

function fund(send: Send, { terms, lane, counter }: Escrow): Promise<number> {
  const value = terms.token === zeroAddress ? terms.amount : 0n;
  return send({ from: FUNDER, data: verb('fund', [terms, lane, counter]), value });
}

function claim(send: Send, { terms, lane, counter }: Escrow, n: number): Promise<number> {
  return send({ data: verb('claim', [terms, lane, counter, secretOf(n)]) });
}

/** A lane's first funding and claim, then a second of each, then a third that is refunded. */
async function verbs(send: Send, n: number, asset: Hex, payout: Hex) {
  const of = (counter: number) => escrowOf(n, counter, asset, payout);
  const first = await fund(send, of(1));
  const firstClaim = await claim(send, of(1), n);
  const again = await fund(send, of(2));
  const claimed = await claim(send, of(2), n);
  const { terms, lane, counter } = of(3);
  await fund(send, of(3));
  const refund = await send({ data: verb('refund', [terms, lane, counter]), at: TIMELOCK });
  return { first, firstClaim, fund: again, claim: claimed, refund };
}

async function claimMany(send: Send, from: number, asset: Hex): Promise<number> {
  let energy = 0;
  for (const counter of [1, 2]) {
    const numbers = Array.from({ length: BATCH }, (_, i) => from + i);
    const batch = numbers.map((n) => escrowOf(n, counter, asset, HOLDER));
    for (const escrow of batch) await fund(send, escrow);
    const legs = batch.map((escrow, i) => legOf(escrow, secretOf(from + i)));
    energy = await send({ data: verb('claimMany', [legs]) });
  }
  return Math.ceil(energy / BATCH);
}

/** Of a funder who signed a permit before, without an allowance, in a lane used before. */
async function bySignature(send: Send, n: number) {
  const of = (counter: number) => escrowOf(n, counter, COIN, HOLDER);
  const energies = [];
  for (const counter of [1, 2]) {
    const { terms, lane } = of(counter);
    const permit = { value: terms.amount, nonce: BigInt(counter - 1), deadline: maxUint256 };
    const signature = await permitBy(SIGNER, WHERE, permit);
    const args = [terms, lane, counter, permit.value, permit.deadline, ...signature];
    energies.push(await send({ from: FUNDER, data: verb('fundWithPermit', args) }));
    await claim(send, of(counter), n);
  }
  const { terms, lane, counter } = of(3);
  const signature = await authorizationBy(SIGNER, WHERE, of(3));
  const args = [terms, lane, counter, ...signature];
  return {
    permit: energies[1] ?? 0,
    authorization: await send({ data: verb('fundWithAuthorization', args) }),
  };
}

async function measureEnergy(): Promise<EnergyFigures> {
  const state = new TvmState();
  for (const who of [FUNDER, THIRD, HOLDER]) state.set(`account/${who.slice(2)}`, '1000000000000');
  const send = sender(await createTvm(state, CHAIN_ID, { cancun: true }));
  await send({ to: ESCROWS, data: initCode });
  for (const [coin, name] of [
    [COIN, 'DevCoin'],
    [FALSE_COIN, 'FalseCoin'],
  ] as const) {
    await send({ to: coin, data: bytecodeOf(name) });
    await send({ to: coin, data: token('mint', FUNDER, 10n ** 15n) });
  }
  const trx = await verbs(send, 1, zeroAddress, HOLDER);
  const trxNew = await verbs(send, 2, zeroAddress, `0x${'bb'.repeat(20)}`);
  const settled = escrowOf(1, 4, FALSE_COIN, `0x${'cc'.repeat(20)}`);
  await approve(send, FALSE_COIN, settled.terms.amount);
  const coldFund = await fund(send, settled);
  const coldClaim = await claim(send, settled, 1);
  for (const coin of [COIN, FALSE_COIN]) {
    await approve(send, coin, maxUint256);
    for (const to of [ESCROWS, HOLDER]) await send({ to: coin, data: token('mint', to, 1n) });
  }
  const coin = await verbs(send, 3, COIN, HOLDER);
  const falseCoin = await verbs(send, 4, FALSE_COIN, HOLDER);
  const exact = escrowOf(3, 4, COIN, HOLDER);
  await approve(send, COIN, 0n);
  const approved = await approve(send, COIN, exact.terms.amount);
  const exactly = await fund(send, exact);
  const signed = await bySignature(send, 5);
  const energies: Record<Row, number> = {
    'TRX fund': trx.fund,
    'TRX claim': trx.claim,
    'TRX refund': trx.refund,
    "TRX fund, a lane's first": trx.first,
    'TRX claim, payout not activated': trxNew.firstClaim,
    'token fund, allowance standing': coin.fund,
    'token claim': coin.claim,
    'token refund': coin.refund,
    'token fund, allowance of the amount': exactly,
    'token approve, before such a funding': approved,
    "token fund, a lane's first": coin.first,
    'token that answers false, fund, held none': coldFund,
    'token that answers false, claim, held none': coldClaim,
    'token that answers false, fund': falseCoin.fund,
    'token that answers false, claim': falseCoin.claim,
    'token fund by permit': signed.permit,
    'token fund by authorization, the submitter': signed.authorization,
    'TRX claimMany of ten, each': await claimMany(send, 100, zeroAddress),
    'token claimMany of ten, each': await manyCoins(send),
  };
  const rows = (Object.keys(LIMITS) as Row[]).map((row) => {
    return [row, { limit: LIMITS[row], energy: energies[row] }];
  });
  return Object.fromEntries(rows) as EnergyFigures;
}

async function manyCoins(send: Send): Promise<number> {
  await approve(send, COIN, maxUint256);
  return claimMany(send, 200, COIN);
}

function snapshotOf(figures: EnergyFigures): string {
  const measured =
    'energy of a whole call on the TVM of contracts/tron/tvm: prices of java-tron, no dynamic ' +
    'factor. The lane was used before, unless said. Fund by the refund address, claim and refund ' +
    'by a third party. The contract and the payout hold some of a token, unless said. Tokens: ' +
    'DevCoin and FalseCoin, compiled lightly.';
  const settings = { measured, solc: SOLC_VERSION, evmVersion: EVM_VERSION };
  return `${JSON.stringify({ ...settings, figures }, null, 2)}\n`;
}

export async function checkEnergy(): Promise<string[]> {
  const figures = await measureEnergy();
  const wrong: string[] = [];
  for (const [row, { energy, limit }] of Object.entries(figures)) {
    if (limit === null || energy <= limit) continue;
    wrong.push(`${row} takes ${energy} energy, the limit is ${limit}`);
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
  for (const [row, { energy, limit }] of Object.entries(figures)) {
    const bar = limit === null ? '' : `  <= ${limit}`;
    process.stdout.write(`${row.padEnd(46)}${String(energy).padStart(7)}${bar}\n`);
  }
  if (process.argv.includes('--write')) writeFileSync(SNAPSHOT, snapshotOf(figures));
}

if (isEntry(import.meta.url)) await main();
