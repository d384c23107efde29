// Measures what users pay on the present and the coming fork: whole transactions on the EVM of
// forks.ts, with calldata, its floor and refunds.
//
//   node contracts/escrows/gas.ts            prints the table
//   node contracts/escrows/gas.ts --write    rewrites gas.snapshot.json
//   node contracts/escrows/gas.ts --check    fails above a limit, or if the snapshot differs

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Abi,
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  maxUint256,
  parseSignature,
  sha256,
  zeroAddress,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { SOLC_VERSION } from '../evm/compile.ts';
import { isEntry } from '../evm/entry.ts';
import { escrowsAbi, initCode } from './artifacts/abi.ts';
import { EVM_VERSION } from './compile.ts';
import { type Chain, createChain, FORKS, type Fork } from './forks.ts';
import { type Escrow, escrowId, legOf, type Terms } from './ids.ts';

const here = import.meta.dirname;
const SNAPSHOT = join(here, 'gas.snapshot.json');
const START = 1_800_000_000n;
const TIMELOCK = START + 86_400n;
const FUND_BEFORE = START + 7_200n;
/** A tag of 8 bytes and an index, as real lanes have. */
const FIRST_LANE = 0x5d1fa3c27be6049800000001n;
const BATCH = 10;

/** The bars of the project, where it has one; of a batch, for each escrow in it. */
const LIMITS = {
  'native fund': { prague: 36_000, amsterdam: 43_000 },
  'native claim': { prague: 42_000, amsterdam: 46_000 },
  'native refund': { prague: 41_000, amsterdam: 45_000 },
  'native fund and claim': { prague: 78_000, amsterdam: null },
  "native fund, a lane's first": { prague: 53_000, amsterdam: 141_000 },
  'token fund, allowance standing': { prague: 56_000, amsterdam: 72_000 },
  'token claim': { prague: 50_000, amsterdam: 66_000 },
  'token refund': { prague: 49_000, amsterdam: 65_000 },
  'token fund and claim': { prague: 106_000, amsterdam: null },
  'token fund and approval of the amount, two transactions': { prague: null, amsterdam: null },
  'token fund by permit, nothing prepared': { prague: 95_000, amsterdam: null },
  'token fund by permit, the second of a funder': { prague: null, amsterdam: null },
  'token fund by authorization, the submitter': { prague: null, amsterdam: null },
  "token fund by authorization, a lane's first": { prague: null, amsterdam: null },
  'native claimMany of ten, each': { prague: 20_000, amsterdam: 20_000 },
  'native refundMany of ten, each': { prague: 20_000, amsterdam: 20_000 },
  'token claimMany of ten, each': { prague: 20_000, amsterdam: null },
  'token refundMany of ten, each': { prague: 20_000, amsterdam: null },
} as const satisfies Record<string, Record<Fork, number | null>>;

type Row = keyof typeof LIMITS;
/** `limit` is null where the project sets none. */
export type GasFigure = { gas: number; limit: number | null };
export type GasFigures = Record<Row, Record<Fork, GasFigure>>;

/** Accounts without zero bytes to speak of, so that calldata costs what it mostly costs. */
const [funder, payout, third] = ['funder', 'payout', 'third'].map((name) =>
  privateKeyToAccount(`0x${createHash('sha256').update(`gas ${name}`).digest('hex')}`),
) as [PrivateKeyAccount, PrivateKeyAccount, PrivateKeyAccount];

/** Secrets whose hashlocks have no zero byte either. */
function secretOf(n: number): Hex {
  let secret = keccak256(Buffer.from(`gas ${n}`));
  while (hasZero(secret) || hasZero(sha256(secret))) secret = keccak256(secret);
  return secret;
}

function hasZero(hex: Hex): boolean {
  return Buffer.from(hex.slice(2), 'hex').includes(0);
}

type Session = {
  readonly chain: Chain;
  readonly escrows: Address;
  readonly coin: Address;
  readonly coinAbi: Abi;
};

function encoded(functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: escrowsAbi as Abi, functionName, args });
}

/** What is of `token`; one number gives secret, lane and counter. */
function escrowOf(token: Address, n: number, counter: number, from: Address): Escrow {
  const native = token === zeroAddress;
  const terms: Terms = {
    hashlock: sha256(secretOf(n)),
    payout: payout.address,
    refund: from,
    token,
    amount: native ? 1_234_567_890_123_456_789n : 12_345_678_901n,
    timelock: TIMELOCK,
    fundBefore: FUND_BEFORE,
  };
  return { terms, lane: FIRST_LANE + BigInt(n), counter };
}

const args = ({ terms, lane, counter }: Escrow) => [terms, lane, counter] as const;

async function session(fork: Fork): Promise<Session> {
  const chain = await createChain(fork);
  const file = readFileSync(join(here, 'artifacts/DevCoin.json'), 'utf8');
  const { abi: coinAbi, bytecode } = JSON.parse(file) as { abi: Abi; bytecode: Hex };
  for (const { address } of [funder, payout, third]) await chain.give(address, 10n ** 24n);
  const escrows = getAddress(await chain.create(initCode, START));
  const coin = getAddress(await chain.create(bytecode, START));
  const made = { chain, escrows, coin, coinAbi };
  // the contract holds the money of others, and the payout holds some too
  for (const to of [funder.address, payout.address, escrows]) {
    await coinCall(made, third.address, 'mint', [to, 10n ** 15n]);
  }
  return made;
}

function coinCall(s: Session, from: Address, functionName: string, args: readonly unknown[]) {
  const data = encodeFunctionData({ abi: s.coinAbi, functionName, args });
  return s.chain.send({ from, to: s.coin, data, at: START });
}

function call(s: Session, from: Address, data: Hex, value = 0n, at = START): Promise<number> {
  return s.chain.send({ from, to: s.escrows, data, value, at });
}

function fund(s: Session, escrow: Escrow): Promise<number> {
  const value = escrow.terms.token === zeroAddress ? escrow.terms.amount : 0n;
  return call(s, escrow.terms.refund, encoded('fund', args(escrow)), value);
}

function claim(s: Session, escrow: Escrow, n: number): Promise<number> {
  return call(s, third.address, encoded('claim', [...args(escrow), secretOf(n)]));
}

function refund(s: Session, escrow: Escrow): Promise<number> {
  return call(s, third.address, encoded('refund', args(escrow)), 0n, TIMELOCK);
}

/** A lane's first funding and claim, then a second of each, then a third that is refunded. */
async function verbs(s: Session, token: Address, n: number) {
  const of = (counter: number) => escrowOf(token, n, counter, funder.address);
  const first = await fund(s, of(1));
  await claim(s, of(1), n);
  const again = await fund(s, of(2));
  const claimed = await claim(s, of(2), n);
  await fund(s, of(3));
  return { first, fund: again, claim: claimed, refund: await refund(s, of(3)) };
}

/** Ten lanes that were used before, funded again and settled in one transaction. */
async function batches(s: Session, token: Address, from: number) {
  const settled = { claims: 0, refunds: 0 };
  for (const counter of [1, 2, 3]) {
    const batch = Array.from({ length: BATCH }, (_, i) =>
      escrowOf(token, from + i, counter, funder.address),
    );
    for (const escrow of batch) await fund(s, escrow);
    if (counter < 3) {
      const legs = batch.map((escrow, i) => legOf(escrow, secretOf(from + i)));
      settled.claims = await call(s, third.address, encoded('claimMany', [legs]));
    } else {
      const legs = batch.map((escrow) => legOf(escrow, escrow.terms.hashlock));
      const data = encoded('refundMany', [legs]);
      settled.refunds = await call(s, third.address, data, 0n, TIMELOCK);
    }
  }
  return { claims: Math.ceil(settled.claims / BATCH), refunds: Math.ceil(settled.refunds / BATCH) };
}

const uint256 = (name: string) => ({ name, type: 'uint256' }) as const;
const address = (name: string) => ({ name, type: 'address' }) as const;
const bytes32 = (name: string) => ({ name, type: 'bytes32' }) as const;
const permitTypes = {
  Permit: [address('owner'), address('spender'), ...['value', 'nonce', 'deadline'].map(uint256)],
};
const authorizationTypes = {
  ReceiveWithAuthorization: [
    ...['from', 'to'].map(address),
    ...['value', 'validAfter', 'validBefore'].map(uint256),
    bytes32('nonce'),
  ],
};

async function signed(
  s: Session,
  primaryType: 'Permit' | 'ReceiveWithAuthorization',
  message: object,
) {
  const types = primaryType === 'Permit' ? permitTypes : authorizationTypes;
  const { chainId } = s.chain;
  const domain = { name: 'Dev Coin', version: '2', chainId, verifyingContract: s.coin };
  const signature = await funder.signTypedData({ domain, types, primaryType, message } as never);
  const { r, s: half, yParity } = parseSignature(signature);
  return [yParity + 27, r, half] as const;
}

async function byPermit(s: Session, escrow: Escrow, nonce: bigint): Promise<number> {
  const value = escrow.terms.amount;
  const deadline = FUND_BEFORE;
  const message = { owner: funder.address, spender: s.escrows, value, nonce, deadline };
  const signature = await signed(s, 'Permit', message);
  const data = encoded('fundWithPermit', [...args(escrow), value, deadline, ...signature]);
  return call(s, funder.address, data);
}

async function byAuthorization(s: Session, escrow: Escrow): Promise<number> {
  const { amount: value, fundBefore: validBefore } = escrow.terms;
  const nonce = escrowId(s.chain.chainId, s.escrows, escrow);
  const message = {
    from: funder.address,
    to: s.escrows,
    value,
    validAfter: 0n,
    validBefore,
    nonce,
  };
  const signature = await signed(s, 'ReceiveWithAuthorization', message);
  return call(s, third.address, encoded('fundWithAuthorization', [...args(escrow), ...signature]));
}

/** Every way to fund a token that needs no standing allowance, on a lane that was used before. */
async function otherWays(s: Session, n: number) {
  const of = (counter: number) => escrowOf(s.coin, n, counter, funder.address);
  const first = await byAuthorization(s, of(1));
  await claim(s, of(1), n);
  const permit = await byPermit(s, of(2), 0n);
  await claim(s, of(2), n);
  const secondPermit = await byPermit(s, of(3), 1n);
  await claim(s, of(3), n);
  const authorization = await byAuthorization(s, of(4));
  await claim(s, of(4), n);
  const approval = await coinCall(s, funder.address, 'approve', [s.escrows, of(5).terms.amount]);
  const two = approval + (await fund(s, of(5)));
  return { first, permit, secondPermit, authorization, two };
}

async function measureOn(fork: Fork): Promise<Record<Row, number>> {
  const s = await session(fork);
  const other = await otherWays(s, 50);
  await coinCall(s, funder.address, 'approve', [s.escrows, maxUint256]);
  const native = await verbs(s, zeroAddress, 1);
  const token = await verbs(s, s.coin, 2);
  const nativeBatch = await batches(s, zeroAddress, 10);
  const tokenBatch = await batches(s, s.coin, 30);
  return {
    'native fund': native.fund,
    'native claim': native.claim,
    'native refund': native.refund,
    'native fund and claim': native.fund + native.claim,
    "native fund, a lane's first": native.first,
    'token fund, allowance standing': token.fund,
    'token claim': token.claim,
    'token refund': token.refund,
    'token fund and claim': token.fund + token.claim,
    'token fund and approval of the amount, two transactions': other.two,
    'token fund by permit, nothing prepared': other.permit,
    'token fund by permit, the second of a funder': other.secondPermit,
    'token fund by authorization, the submitter': other.authorization,
    "token fund by authorization, a lane's first": other.first,
    'native claimMany of ten, each': nativeBatch.claims,
    'native refundMany of ten, each': nativeBatch.refunds,
    'token claimMany of ten, each': tokenBatch.claims,
    'token refundMany of ten, each': tokenBatch.refunds,
  };
}

/** Gas of every row on every fork. Deterministic. */
export async function measureGas(): Promise<GasFigures> {
  const [prague, amsterdam] = await Promise.all(FORKS.map(measureOn));
  if (prague === undefined || amsterdam === undefined) throw new Error('two forks are measured');
  const rows = (Object.keys(LIMITS) as Row[]).map((row) => {
    const limits = LIMITS[row];
    const of = { prague: prague[row], amsterdam: amsterdam[row] };
    return [
      row,
      {
        prague: { gas: of.prague, limit: limits.prague },
        amsterdam: { gas: of.amsterdam, limit: limits.amsterdam },
      },
    ];
  });
  return Object.fromEntries(rows) as GasFigures;
}

function snapshotOf(figures: GasFigures): string {
  const measured =
    'gas that the sender of a whole transaction pays, by @ethereumjs/evm 10 and the rules of ' +
    'forks.ts: intrinsic, calldata, its floor, refunds. The lane was used before, unless said. ' +
    'Fund by the refund address, claim and refund by a third party. The contract and the ' +
    'recipient hold some already. Token: DevCoin, compiled lightly. Balances are compared.';
  const settings = { measured, solc: SOLC_VERSION, evmVersion: EVM_VERSION };
  return `${JSON.stringify({ ...settings, figures }, null, 2)}\n`;
}

/** What is wrong with the figures: nothing, or one sentence each. */
export async function checkGas(): Promise<string[]> {
  const figures = await measureGas();
  const wrong: string[] = [];
  for (const [row, forks] of Object.entries(figures)) {
    for (const fork of FORKS) {
      const { gas, limit } = forks[fork];
      if (limit === null || gas <= limit) continue;
      wrong.push(`${row} takes ${gas} gas on ${fork}, the limit is ${limit}`);
    }
  }
  if (readFileSync(SNAPSHOT, 'utf8') !== snapshotOf(figures)) {
    wrong.push('gas.snapshot.json differs from what was measured; run gas.ts --write and look');
  }
  return wrong;
}

function table(figures: GasFigures): string {
  const cell = ({ gas, limit }: GasFigure) =>
    `${String(gas).padStart(8)} ${limit === null ? ''.padEnd(10) : `<= ${limit}`.padEnd(10)}`;
  const head = `${''.padEnd(56)}${FORKS.map((fork) => fork.padStart(8).padEnd(19)).join('')}`;
  const rows = Object.entries(figures).map(
    ([row, forks]) => row.padEnd(56) + FORKS.map((fork) => cell(forks[fork])).join(''),
  );
  return [head, ...rows].map((line) => `${line.trimEnd()}\n`).join('');
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const wrong = await checkGas();
    for (const sentence of wrong) process.stderr.write(`gas: ${sentence}\n`);
    if (wrong.length > 0) process.exitCode = 1;
    else process.stdout.write('gas: within the limits and as in the snapshot\n');
    return;
  }
  const figures = await measureGas();
  process.stdout.write(table(figures));
  if (process.argv.includes('--write')) writeFileSync(SNAPSHOT, snapshotOf(figures));
}

if (isEntry(import.meta.url)) await main();
