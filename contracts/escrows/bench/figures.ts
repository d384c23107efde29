// The gas that users pay, of whole transactions: gas on the present and the coming fork, energy on
// TRON.
//
//   node contracts/escrows/bench/figures.ts            prints the tables
//   node contracts/escrows/bench/figures.ts --write    rewrites snapshots and artifacts/gas.ts
//   node contracts/escrows/bench/figures.ts --check    fails above a limit or on a difference

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, maxUint256, zeroAddress } from 'viem';
import { isEntry } from '../../evm/entry.ts';
import { constant } from '../../evm/typescript.ts';
import deployment from '../deployment.json' with { type: 'json' };
import { FORKS, type Fork } from './chain.ts';
import { boltz } from './peers.ts';
import {
  accountOf,
  byAuthorization,
  byPermit,
  claim,
  coinCall,
  escrowOf,
  fund,
  funder,
  fundInLane,
  fundMany,
  inLaneOfPayee,
  many,
  payout,
  refund,
  refundEarly,
  rich,
  type Session,
  secretOf,
  session,
  settleMany,
  third,
} from './session.ts';

const file = (name: string) => join(import.meta.dirname, '..', name);
const BATCH = 10;

const LIMITS = {
  'native fund': { prague: 36_000, amsterdam: 43_000 },
  'native claim': { prague: 42_000, amsterdam: 46_000 },
  'native refund': { prague: 41_000, amsterdam: 45_000 },
  'native fund and claim': { prague: 78_000, amsterdam: boltz['native fund and claim'].amsterdam },
  "native fund, a lane's first": { prague: 53_000, amsterdam: 141_000 },
  'token fund, allowance standing': { prague: 56_000, amsterdam: 72_000 },
  'token claim': { prague: 50_000, amsterdam: 66_000 },
  'token refund': { prague: 49_000, amsterdam: 65_000 },
  'token fund and claim': { prague: 106_000, amsterdam: boltz['token fund and claim'].amsterdam },
  "native first swap, the payee's lane": boltz['native fund and claim'],
  'native first swap, a lane of its own': { prague: null, amsterdam: null },
  "token first swap, the payee's lane": boltz['token fund and claim'],
  'token first swap, a lane of its own': { prague: null, amsterdam: null },
  'native claim by the payee': { prague: null, amsterdam: null },
  'token claim by the payee': { prague: null, amsterdam: null },
  'native refund by consent': { prague: null, amsterdam: null },
  'token refund by consent': { prague: null, amsterdam: null },
  'native claim, payout never used': { prague: null, amsterdam: null },
  'token claim, payout holds none': { prague: null, amsterdam: null },
  'token approval of the amount': { prague: null, amsterdam: null },
  'token fund and approval of the amount, two transactions': { prague: null, amsterdam: null },
  'token fund by permit, nothing prepared': { prague: 95_000, amsterdam: null },
  'token fund by permit, the second of a funder': { prague: null, amsterdam: null },
  'token fund by authorization, the submitter': { prague: null, amsterdam: null },
  "token fund by authorization, a lane's first": { prague: null, amsterdam: null },
  'native fundMany of ten, each': { prague: 20_000, amsterdam: null },
  'token fundMany of ten, each': { prague: 20_000, amsterdam: null },
  'native claimMany of ten, each': { prague: 20_000, amsterdam: 20_000 },
  'native refundMany of ten, each': { prague: 20_000, amsterdam: 20_000 },
  'token claimMany of ten, each': { prague: 20_000, amsterdam: null },
  'token refundMany of ten, each': { prague: 20_000, amsterdam: null },
} as const satisfies Record<string, Record<Fork, number | null>>;

/** "held none": neither contract nor payout hold any; the funding sets its allowance to zero. */
const ENERGY_LIMITS = {
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
  "TRX first swap, the payee's lane": null,
  "token first swap, the payee's lane": null,
  'TRX refund by consent': null,
  'TRX fundMany of ten, each': null,
  'token fundMany of ten, each': null,
  'TRX claimMany of ten, each': null,
  'token claimMany of ten, each': null,
} as const satisfies Record<string, number | null>;

type Row = keyof typeof LIMITS;
type EnergyRow = keyof typeof ENERGY_LIMITS;
export type GasFigure = { gas: number; limit: number | null };
export type GasFigures = Record<Row, Record<Fork, GasFigure>>;
type EnergyFigures = Record<EnergyRow, { limit: number | null; energy: number }>;

/** Swaps of persons who never funded, in a lane of the payee that another one has used. */
async function lent(s: Session, token: Address, n: number) {
  const opened = async (counter: number) => {
    const { address } = accountOf(`person ${counter} ${token}`);
    await s.chain.give(address, rich);
    if (token !== zeroAddress) {
      await coinCall(s, third.address, 'mint', [address, many]);
      await coinCall(s, address, 'approve', [s.escrows, maxUint256]);
    }
    const escrow = inLaneOfPayee(escrowOf(token, n, counter, address));
    return { escrow, paid: await fundInLane(s, escrow) };
  };
  const former = await opened(1);
  await claim(s, former.escrow, n);
  const first = await opened(2);
  const swap = first.paid + (await claim(s, first.escrow, n));
  const own = await opened(3);
  const byPayee = await claim(s, own.escrow, n, payout);
  const last = await opened(4);
  return { swap, byPayee, early: await refundEarly(s, last.escrow) };
}

/** A lane's first funding and claim, then a second of each, then a third that is refunded. */
async function verbs(s: Session, token: Address, n: number, to: Address = payout.address) {
  const of = (counter: number) => escrowOf(token, n, counter, funder.address, to);
  const first = await fund(s, of(1));
  const firstClaim = await claim(s, of(1), n);
  const again = await fund(s, of(2));
  const claimed = await claim(s, of(2), n);
  await fund(s, of(3));
  return { first, firstClaim, fund: again, claim: claimed, refund: await refund(s, of(3)) };
}

/** Each of ten lanes that were used before, funded again and settled, each in one transaction. */
async function batches(s: Session, token: Address, from: number) {
  const each = { funds: 0, claims: 0, refunds: 0 };
  for (const counter of [1, 2, 3]) {
    const batch = Array.from({ length: BATCH }, (_, i) =>
      escrowOf(token, from + i, counter, funder.address),
    );
    each.funds = Math.ceil((await fundMany(s, batch)) / BATCH);
    const secrets = counter < 3 ? batch.map((_, i) => secretOf(from + i)) : null;
    const settled = Math.ceil((await settleMany(s, batch, secrets)) / BATCH);
    each[secrets === null ? 'refunds' : 'claims'] = settled;
  }
  return each;
}

/** Every way to fund a token that needs no standing allowance, on a lane that was used before. */
async function otherWays(s: Session, n: number) {
  const of = (counter: number) => escrowOf(s.coin, n, counter, funder.address);
  const settling = async (counter: number, funding: Promise<number>) => {
    const paid = await funding;
    await claim(s, of(counter), n);
    return paid;
  };
  const first = await settling(1, byAuthorization(s, of(1)));
  const permit = await settling(2, byPermit(s, of(2), 0n));
  const secondPermit = await settling(3, byPermit(s, of(3), 1n));
  const authorization = await settling(4, byAuthorization(s, of(4)));
  const approval = await coinCall(s, funder.address, 'approve', [s.escrows, of(5).terms.amount]);
  const exact = await fund(s, of(5));
  return { first, permit, secondPermit, authorization, approval, exact };
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

async function gasOn(fork: Fork): Promise<Record<Row, number>> {
  const s = await session(fork);
  const other = await otherWays(s, 50);
  await coinCall(s, funder.address, 'approve', [s.escrows, maxUint256]);
  const native = await verbs(s, zeroAddress, 1);
  const token = await verbs(s, s.coin, 2);
  const made = await newcomers(s, 3);
  const nativeLent = await lent(s, zeroAddress, 4);
  const tokenLent = await lent(s, s.coin, 5);
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
    "native first swap, the payee's lane": nativeLent.swap,
    'native first swap, a lane of its own': native.first + native.firstClaim,
    "token first swap, the payee's lane": tokenLent.swap,
    'token first swap, a lane of its own': token.first + token.firstClaim,
    'native claim by the payee': nativeLent.byPayee,
    'token claim by the payee': tokenLent.byPayee,
    'native refund by consent': nativeLent.early,
    'token refund by consent': tokenLent.early,
    'native claim, payout never used': made.native,
    'token claim, payout holds none': made.token,
    'token approval of the amount': other.approval,
    'token fund and approval of the amount, two transactions': other.approval + other.exact,
    'token fund by permit, nothing prepared': other.permit,
    'token fund by permit, the second of a funder': other.secondPermit,
    'token fund by authorization, the submitter': other.authorization,
    "token fund by authorization, a lane's first": other.first,
    'native fundMany of ten, each': nativeBatch.funds,
    'token fundMany of ten, each': tokenBatch.funds,
    'native claimMany of ten, each': nativeBatch.claims,
    'native refundMany of ten, each': nativeBatch.refunds,
    'token claimMany of ten, each': tokenBatch.claims,
    'token refundMany of ten, each': tokenBatch.refunds,
  };
}

/** On the TVM of contracts/tron/testing, which has no charge for calldata. */
async function energies(): Promise<Record<EnergyRow, number>> {
  const s = await session('tron');
  const trx = await verbs(s, zeroAddress, 1);
  const trxNew = await verbs(s, zeroAddress, 2, accountOf('newcomer').address);
  const strange = { ...s, coin: s.falseCoin };
  const cold = escrowOf(s.falseCoin, 1, 4, funder.address, accountOf('cold').address);
  await coinCall(strange, funder.address, 'approve', [s.escrows, cold.terms.amount]);
  const coldFund = await fund(s, cold);
  const coldClaim = await claim(s, cold, 1);
  for (const { coin } of [s, strange]) {
    for (const to of [s.escrows, payout.address]) {
      await coinCall({ ...s, coin }, third.address, 'mint', [to, 1n]);
    }
  }
  const other = await otherWays(s, 50);
  for (const each of [s, strange]) {
    await coinCall(each, funder.address, 'approve', [s.escrows, maxUint256]);
  }
  const coin = await verbs(s, s.coin, 3);
  const falseCoin = await verbs(s, s.falseCoin, 4);
  const trxLent = await lent(s, zeroAddress, 5);
  const trxBatch = await batches(s, zeroAddress, 100);
  const tokenBatch = await batches(s, s.coin, 200);
  return {
    'TRX fund': trx.fund,
    'TRX claim': trx.claim,
    'TRX refund': trx.refund,
    "TRX fund, a lane's first": trx.first,
    'TRX claim, payout not activated': trxNew.firstClaim,
    'token fund, allowance standing': coin.fund,
    'token claim': coin.claim,
    'token refund': coin.refund,
    'token fund, allowance of the amount': other.exact,
    'token approve, before such a funding': other.approval,
    "token fund, a lane's first": coin.first,
    'token that answers false, fund, held none': coldFund,
    'token that answers false, claim, held none': coldClaim,
    'token that answers false, fund': falseCoin.fund,
    'token that answers false, claim': falseCoin.claim,
    'token fund by permit': other.secondPermit,
    'token fund by authorization, the submitter': other.authorization,
    "TRX first swap, the payee's lane": trxLent.swap,
    "token first swap, the payee's lane": (await lent(s, s.coin, 6)).swap,
    'TRX refund by consent': trxLent.early,
    'TRX fundMany of ten, each': trxBatch.funds,
    'token fundMany of ten, each': tokenBatch.funds,
    'TRX claimMany of ten, each': trxBatch.claims,
    'token claimMany of ten, each': tokenBatch.claims,
  };
}

export async function measureGas(): Promise<GasFigures> {
  const [prague, amsterdam] = await Promise.all(FORKS.map(gasOn));
  if (prague === undefined || amsterdam === undefined) throw new Error('two forks are measured');
  const rows = (Object.keys(LIMITS) as Row[]).map((row) => {
    const of = (fork: Fork, gas: number) => ({ gas, limit: LIMITS[row][fork] });
    const both = { prague: of('prague', prague[row]), amsterdam: of('amsterdam', amsterdam[row]) };
    return [row, both];
  });
  return Object.fromEntries(rows) as GasFigures;
}

async function measureEnergy(): Promise<EnergyFigures> {
  const measured = await energies();
  const rows = (Object.keys(ENERGY_LIMITS) as EnergyRow[]).map((row) => {
    return [row, { limit: ENERGY_LIMITS[row], energy: measured[row] }];
  });
  return Object.fromEntries(rows) as EnergyFigures;
}

const gasMeasured =
  'gas that the sender of a whole transaction pays, by @ethereumjs/evm 10 and the rules of ' +
  'bench/chain.ts: intrinsic, calldata, its floor, refunds. The lane was used before, unless said. ' +
  'Fund by the refund address, claim and refund by a third party. The contract and the ' +
  'recipient hold some already. Token: DevCoin, compiled lightly. Balances are compared.';
const energyMeasured =
  'energy of a whole call on the TVM of contracts/tron/testing: prices of java-tron, no dynamic ' +
  'factor. The lane was used before, unless said. Fund by the refund address, claim and refund ' +
  'by a third party. The contract and the payout hold some of a token, unless said. Tokens: ' +
  'DevCoin and FalseCoin, compiled lightly.';

function snapshotOf(measured: string, figures: object): string {
  const { solc, evmVersion } = deployment.compiler;
  return `${JSON.stringify({ measured, solc, evmVersion, figures }, null, 2)}\n`;
}

/** For programs; the cost of a lane's first use or of a payout is apart. */
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
  const head =
    '// Generated by contracts/escrows/bench/figures.ts. Do not edit: --check compares it.\n';
  return [head, constant('measuredGas', why, value)].join('\n');
}

type Written = readonly (readonly [name: string, text: string])[];

const writtenGas = (gas: GasFigures): Written => [
  ['gas.snapshot.json', snapshotOf(gasMeasured, gas)],
  ['artifacts/gas.ts', constantsOf(gas)],
];
const writtenEnergy = (energy: EnergyFigures): Written => [
  ['energy.snapshot.json', snapshotOf(energyMeasured, energy)],
];

type Line = { readonly what: string; readonly value: number; readonly limit: number | null };

const gasLines = (figures: GasFigures): Line[] =>
  Object.entries(figures).flatMap(([row, forks]) =>
    FORKS.map((fork) => ({
      what: `${row} on ${fork}`,
      value: forks[fork].gas,
      limit: forks[fork].limit,
    })),
  );
const energyLines = (figures: EnergyFigures): Line[] =>
  Object.entries(figures).map(([what, { energy, limit }]) => ({ what, value: energy, limit }));

function wrongIn(lines: readonly Line[], written: Written): string[] {
  const above = lines.filter(({ value, limit }) => limit !== null && value > limit);
  const stale = written.filter(([name, text]) => readFileSync(file(name), 'utf8') !== text);
  return [
    ...above.map(({ what, value, limit }) => `${what} takes ${value}, the limit is ${limit}`),
    ...stale.map(([name]) => `${name} differs from what was measured; run figures.ts --write`),
  ];
}

export async function checkGas(): Promise<string[]> {
  const figures = await measureGas();
  return wrongIn(gasLines(figures), writtenGas(figures));
}

export async function checkEnergy(): Promise<string[]> {
  const figures = await measureEnergy();
  return wrongIn(energyLines(figures), writtenEnergy(figures));
}

async function main(): Promise<void> {
  const gas = await measureGas();
  const energy = await measureEnergy();
  const lines = [...gasLines(gas), ...energyLines(energy)];
  const written = [...writtenGas(gas), ...writtenEnergy(energy)];
  if (process.argv.includes('--check')) {
    const wrong = wrongIn(lines, written);
    for (const sentence of wrong) process.stderr.write(`figures: ${sentence}\n`);
    if (wrong.length > 0) process.exitCode = 1;
    return;
  }
  for (const { what, value, limit } of lines) {
    const bar = limit === null ? '' : `  <= ${limit}`;
    process.stdout.write(`${what.padEnd(76)}${String(value).padStart(8)}${bar}\n`);
  }
  if (process.argv.includes('--write')) {
    for (const [name, text] of written) writeFileSync(file(name), text);
  }
}

if (isEntry(import.meta.url)) await main();
