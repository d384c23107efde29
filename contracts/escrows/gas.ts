// Measures what users pay on the present and the coming fork: whole transactions on the EVM of
// forks.ts, with calldata, its floor and refunds.
//
//   node contracts/escrows/gas.ts            prints the table
//   node contracts/escrows/gas.ts --write    rewrites gas.snapshot.json and artifacts/gas.ts
//   node contracts/escrows/gas.ts --check    fails above a limit, or if the snapshot differs

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, maxUint256, zeroAddress } from 'viem';
import { SOLC_VERSION } from '../evm/compile.ts';
import { isEntry } from '../evm/entry.ts';
import { constant } from '../evm/typescript.ts';
import { EVM_VERSION } from './build.ts';
import { FORKS, type Fork } from './forks.ts';
import {
  accountOf,
  args,
  call,
  claim,
  coinCall,
  encoded,
  escrowOf,
  FUND_BEFORE,
  fund,
  funder,
  refund,
  type Session,
  secretOf,
  session,
  TIMELOCK,
  third,
} from './gas-session.ts';
import { type Escrow, legOf } from './ids.ts';
import { authorizationBy, permitBy } from './signatures.ts';
import { walletGas } from './wallet-gas.ts';

const here = import.meta.dirname;
const SNAPSHOT = join(here, 'gas.snapshot.json');
/** For the programs that ask wallets for gas: `chains/evm/gas-policy.ts`. */
const CONSTANTS = join(here, 'artifacts/gas.ts');
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
  'native claim, payout never used': { prague: null, amsterdam: null },
  'token claim, payout holds none': { prague: null, amsterdam: null },
  'token approval of the amount': { prague: null, amsterdam: null },
  'token fund and approval of the amount, two transactions': { prague: null, amsterdam: null },
  'token fund by permit, nothing prepared': { prague: 95_000, amsterdam: null },
  'token fund by permit, the second of a funder': { prague: null, amsterdam: null },
  'token fund by authorization, the submitter': { prague: null, amsterdam: null },
  "token fund by authorization, a lane's first": { prague: null, amsterdam: null },
  'native claimMany of ten, each': { prague: 20_000, amsterdam: 20_000 },
  'native refundMany of ten, each': { prague: 20_000, amsterdam: 20_000 },
  'token claimMany of ten, each': { prague: 20_000, amsterdam: null },
  'token refundMany of ten, each': { prague: 20_000, amsterdam: null },
  'native fund by a contract wallet': { prague: null, amsterdam: null },
  'native claim by a contract wallet': { prague: null, amsterdam: null },
  'native claim that pays a contract wallet': { prague: null, amsterdam: null },
  'token fund by a contract wallet, allowance standing': { prague: null, amsterdam: null },
  'token fund and approval by a contract wallet, one transaction': {
    prague: null,
    amsterdam: null,
  },
  'token claim by a contract wallet': { prague: null, amsterdam: null },
  'native fund by an ERC-4337 operation': { prague: null, amsterdam: null },
  'native claim by an ERC-4337 operation': { prague: null, amsterdam: null },
  'token fund and approval by an ERC-4337 operation': { prague: null, amsterdam: null },
  'token claim by an ERC-4337 operation': { prague: null, amsterdam: null },
  'token fund and approval in one batch, a delegated account': { prague: null, amsterdam: null },
  'token claim by a delegated account': { prague: null, amsterdam: null },
} as const satisfies Record<string, Record<Fork, number | null>>;

type Row = keyof typeof LIMITS;
export type GasFigure = { gas: number; limit: number | null };
export type GasFigures = Record<Row, Record<Fork, GasFigure>>;

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

async function byPermit(s: Session, escrow: Escrow, nonce: bigint): Promise<number> {
  const value = escrow.terms.amount;
  const deadline = FUND_BEFORE;
  const signature = await permitBy(funder, whereOf(s), { value, nonce, deadline });
  const data = encoded('fundWithPermit', [...args(escrow), value, deadline, ...signature]);
  return call(s, funder.address, data);
}

async function byAuthorization(s: Session, escrow: Escrow): Promise<number> {
  const signature = await authorizationBy(funder, whereOf(s), escrow);
  return call(s, third.address, encoded('fundWithAuthorization', [...args(escrow), ...signature]));
}

const whereOf = ({ chain, escrows, coin }: Session) => ({
  chainId: chain.chainId,
  escrows,
  coin,
});

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
  return { first, permit, secondPermit, authorization, approval, two };
}

/** Claims that make an account, or the first balance of a token. */
async function newcomers(s: Session, n: number) {
  const paid = async (token: Address) => {
    const { address } = accountOf(`newcomer ${token}`);
    const escrow = escrowOf(token, n, token === zeroAddress ? 1 : 2, funder.address, address);
    await fund(s, escrow);
    return claim(s, escrow, n);
  };
  return { native: await paid(zeroAddress), token: await paid(s.coin) };
}

async function measureOn(fork: Fork): Promise<Record<Row, number>> {
  const s = await session(fork);
  const other = await otherWays(s, 50);
  await coinCall(s, funder.address, 'approve', [s.escrows, maxUint256]);
  const native = await verbs(s, zeroAddress, 1);
  const token = await verbs(s, s.coin, 2);
  const made = await newcomers(s, 3);
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
    'native claim, payout never used': made.native,
    'token claim, payout holds none': made.token,
    'token approval of the amount': other.approval,
    'token fund and approval of the amount, two transactions': other.two,
    'token fund by permit, nothing prepared': other.permit,
    'token fund by permit, the second of a funder': other.secondPermit,
    'token fund by authorization, the submitter': other.authorization,
    "token fund by authorization, a lane's first": other.first,
    'native claimMany of ten, each': nativeBatch.claims,
    'native refundMany of ten, each': nativeBatch.refunds,
    'token claimMany of ten, each': tokenBatch.claims,
    'token refundMany of ten, each': tokenBatch.refunds,
    ...(await walletGas(s)),
  };
}

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

/** What programs reckon with, to the unit; what a lane's first use or a payout makes is apart. */
function constantsOf(figures: GasFigures): string {
  const of = (fork: Fork) => {
    const at = (row: Row) => BigInt(figures[row][fork].gas);
    const larger = (one: bigint, other: bigint) => (one > other ? one : other);
    return {
      native: {
        fund: at('native fund'),
        settle: larger(at('native claim'), at('native refund')),
      },
      token: {
        fund: at('token fund, allowance standing'),
        settle: larger(at('token claim'), at('token refund')),
      },
      approve: at('token approval of the amount'),
      authorized: at("token fund by authorization, a lane's first"),
      newWord: larger(
        at("native fund, a lane's first") - at('native fund'),
        at('token claim, payout holds none') - at('token claim'),
      ),
      newAccount: at('native claim, payout never used') - at('native claim'),
    };
  };
  const value = Object.fromEntries(FORKS.map((fork) => [fork, of(fork)]));
  const why = 'Gas of whole transactions by fork, as gas.snapshot.json has them.';
  const head = '// Generated by contracts/escrows/gas.ts. Do not edit: --check compares it.\n';
  return [head, constant('measuredGas', why, value)].join('\n');
}

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
  if (readFileSync(CONSTANTS, 'utf8') !== constantsOf(figures)) {
    wrong.push('artifacts/gas.ts differs from what was measured; run gas.ts --write and look');
  }
  return wrong;
}

function table(figures: GasFigures): string {
  const cell = ({ gas, limit }: GasFigure) =>
    `${String(gas).padStart(8)} ${limit === null ? ''.padEnd(10) : `<= ${limit}`.padEnd(10)}`;
  const head = `${''.padEnd(64)}${FORKS.map((fork) => fork.padStart(8).padEnd(19)).join('')}`;
  const rows = Object.entries(figures).map(
    ([row, forks]) => row.padEnd(64) + FORKS.map((fork) => cell(forks[fork])).join(''),
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
  if (!process.argv.includes('--write')) return;
  writeFileSync(SNAPSHOT, snapshotOf(figures));
  writeFileSync(CONSTANTS, constantsOf(figures));
}

if (isEntry(import.meta.url)) await main();
