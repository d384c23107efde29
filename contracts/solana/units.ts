// Measures what each verb costs: the compute units of real transactions with nothing else in them,
// in the VM, so with what the token programs take. The address is the first tried (bump 255): each
// further one costs a funding the same again, and is a row of its own.
//
//   node contracts/solana/units.ts            prints the figures
//   node contracts/solana/units.ts --write    rewrites units.snapshot.json
//   node contracts/solana/units.ts --check    fails above a limit or on a difference

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from './build.ts';
import { isEntry } from './entry.ts';
import { AMOUNT, type Asset, assets, expire, HOUR, type Swap, swapIn } from './testing/swaps.ts';
import { createWorld, give, NOW, type Outcome, programFile, send } from './testing/vm.ts';

const SNAPSHOT = join(import.meta.dirname, 'units.snapshot.json');
const verbs = ['fund', 'claim', 'refund', 'close'] as const;

/** The bars of the project for SOL and SPL Token; Token-2022 itself takes about 3,000 more. */
const LIMITS: Readonly<Record<Asset, Readonly<Record<(typeof verbs)[number], number>>>> = {
  SOL: { fund: 8_000, claim: 1_500, refund: 1_500, close: 1_500 },
  'SPL Token': { fund: 12_000, claim: 6_000, refund: 6_000, close: 1_500 },
  'Token-2022': { fund: 12_000, claim: 9_000, refund: 9_000, close: 1_500 },
};

export type Figure = { readonly limit: number; readonly units: number };
export type Figures = Readonly<Record<string, Figure>>;
type Snapshot = { readonly measured: string; readonly program: string; readonly figures: Figures };

/** A swap whose address has this bump: some amount gives it. */
async function swapWithBump(asset: Asset, bump: number): Promise<Swap> {
  const world = await createWorld();
  for (let more = 0n; more < 1_000n; more++) {
    const swap = await swapIn(world, asset, { amount: AMOUNT + more, timelock: NOW + HOUR });
    if (swap.escrow.bump === bump) return swap;
  }
  throw new Error(`no address with bump ${bump}`);
}

function unitsOf({ error, units }: Outcome): number {
  if (error !== undefined) throw new Error(`a measured transaction failed: ${error}`);
  return Number(units);
}

const fundingOf = async (swap: Swap): Promise<number> =>
  unitsOf(await send(swap.world, [swap.fund], [swap.funder]));

export async function measure(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const asset of assets) {
    const limits = LIMITS[asset];
    const swap = await swapWithBump(asset, 255);
    figures[`${asset} fund`] = { limit: limits.fund, units: await fundingOf(swap) };
    const claimed = unitsOf(await send(swap.world, [swap.claim]));
    figures[`${asset} claim`] = { limit: limits.claim, units: claimed };
    expire(swap);
    const closed = unitsOf(await send(swap.world, [swap.close]));
    figures[`${asset} close`] = { limit: limits.close, units: closed };
    const late = await swapWithBump(asset, 255);
    await fundingOf(late);
    expire(late);
    const refunded = unitsOf(await send(late.world, [late.refund]));
    figures[`${asset} refund`] = { limit: limits.refund, units: refunded };
    const strays = await swapWithBump(asset, 255);
    give(strays.world, strays.escrow.escrow, 1n);
    give(strays.world, strays.escrow.vault, 1n);
    const held = await fundingOf(strays);
    figures[`${asset} fund, lamports sent ahead`] = { limit: limits.fund, units: held };
    const lower = await fundingOf(await swapWithBump(asset, 251));
    figures[`${asset} fund, fifth address`] = { limit: limits.fund, units: lower };
  }
  return figures;
}

/** Sentences about what is above a limit or not as recorded. */
export async function wrongUnits(): Promise<readonly string[]> {
  const recorded: Snapshot = JSON.parse(readFileSync(SNAPSHOT, 'utf8'));
  const figures = await measure();
  const wrong: string[] = [];
  for (const [name, { limit, units }] of Object.entries(figures)) {
    if (units >= limit) wrong.push(`${name} takes ${units} units, not under ${limit}`);
    const before = recorded.figures[name]?.units;
    if (before !== units) wrong.push(`${name} takes ${units} units, ${before} in the snapshot`);
  }
  const unknown = Object.keys(recorded.figures).filter((name) => figures[name] === undefined);
  return [...wrong, ...unknown.map((name) => `${name} is in the snapshot and not measured`)];
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const wrong = await wrongUnits();
    for (const sentence of wrong) console.error(`units: ${sentence}`);
    process.exitCode = wrong.length === 0 ? 0 : 1;
    return;
  }
  const figures = await measure();
  for (const [name, { limit, units }] of Object.entries(figures)) {
    console.log(`${name.padEnd(40)} ${units} (under ${limit})`);
  }
  if (!process.argv.includes('--write')) return;
  const snapshot: Snapshot = {
    measured:
      'compute units of whole transactions in litesvm 1.5.0, all but fundings by a third party',
    program: digestOf(readFileSync(programFile)),
    figures,
  };
  writeFileSync(SNAPSHOT, `${JSON.stringify(snapshot, null, 2)}\n`);
}

if (isEntry(import.meta.url)) await main();
