// The cost of each verb: compute units of real transactions with nothing else in them, in the VM,
// token programs included. The address is the first tried (bump 255); each further one is dearer.

import { AMOUNT, type Asset, assets, expire, HOUR, type Swap, swapIn } from './swaps.ts';
import { createWorld, give, NOW, type Outcome, send } from './vm.ts';

const verbs = ['fund', 'claim', 'refund', 'close'] as const;

/** The bars of the project for SOL and SPL Token; Token-2022 itself takes about 3,000 more. */
const limits: Readonly<Record<Asset, Readonly<Record<(typeof verbs)[number], number>>>> = {
  SOL: { fund: 8_000, claim: 1_500, refund: 1_500, close: 1_500 },
  'SPL Token': { fund: 12_000, claim: 6_000, refund: 6_000, close: 1_500 },
  'Token-2022': { fund: 12_000, claim: 9_000, refund: 9_000, close: 1_500 },
};

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

/** By asset and verb: the limit, and what it takes. */
export async function measure(): Promise<Record<string, { limit: number; units: number }>> {
  const figures: Record<string, { limit: number; units: number }> = {};
  for (const asset of assets) {
    const note = (verb: (typeof verbs)[number], units: number, more = '') => {
      figures[`${asset} ${verb}${more}`] = { limit: limits[asset][verb], units };
    };
    const swap = await swapWithBump(asset, 255);
    note('fund', await fundingOf(swap));
    note('claim', unitsOf(await send(swap.world, [swap.claim])));
    expire(swap);
    note('close', unitsOf(await send(swap.world, [swap.close])));
    const late = await swapWithBump(asset, 255);
    await fundingOf(late);
    expire(late);
    note('refund', unitsOf(await send(late.world, [late.refund])));
    const strays = await swapWithBump(asset, 255);
    give(strays.world, strays.escrow.escrow, 1n);
    give(strays.world, strays.escrow.vault, 1n);
    note('fund', await fundingOf(strays), ', lamports sent ahead');
    note('fund', await fundingOf(await swapWithBump(asset, 251)), ', fifth address');
  }
  return figures;
}
