// What a soak of the maker has come to: its figures, and what it was to exercise and has not.

import type { Deal, End } from '../../maker/journal.ts';
import type { Holding } from '../../scripts/demo/ledger.ts';
import { coinNames } from '../../scripts/demo/place.ts';
import type { Line } from '../support/maker.ts';
import type { Trades } from './takers.ts';
import { type Blows, stages } from './world.ts';

export type Run = {
  readonly deals: readonly Deal[];
  readonly all: readonly Trades[];
  readonly lines: readonly Line[];
  readonly blows: Blows;
  /** Base units beyond what is due. */
  readonly difference: Holding;
  readonly seconds: number;
};

const endsOf = ({ deals }: Run, end: End) => deals.filter((deal) => deal.end === end).length;

const tradesOf = ({ all }: Run, end: string) =>
  all.flatMap(({ trades }) => trades).filter((each) => each.end === end).length;

/** Those that a block has. */
function batchesOf({ lines }: Run, verb: 'claim' | 'refund'): number[] {
  return lines
    .filter((line) => line.event === 'batch' && line.state === 'mined' && line.verb === verb)
    .map(({ swaps }) => Number(swaps));
}

const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0);

const refusedBy = ({ lines }: Run, code: string) =>
  lines.filter((line) => /^not_(quoted|accepted)$/.test(String(line.event)) && line.code === code);

/** Requests that came while there was too little for gas. */
const poorIn = (run: Run) =>
  refusedBy(run, 'inventory').filter(({ why }) => /of tron\S* coin are needed/.test(String(why)));

/** Why a swap was refused by the maker itself. */
function refusals({ lines }: Run): string {
  const own = lines.filter(({ event }) => event === 'refused');
  return own.map(({ swapId, code, error }) => `${swapId} (${code}: ${error})`).join(', ');
}

export function told(run: Run): string[] {
  const { deals, all, blows, difference, lines, seconds } = run;
  const claims = batchesOf(run, 'claim');
  const refunds = batchesOf(run, 'refund');
  const met = stages.map((each) => `${each} ${blows.met[each]}`).join(', ');
  const differs = coinNames.map((coin) => `${coin} ${difference[coin]}`).join(', ');
  const faults = lines.filter(({ event }) => event === 'price_fault').length;
  const why = refusals(run);
  const ends = (['received', 'refunded', 'lost', 'nothing', 'lapsed', 'refused'] as const).map(
    (end) => `${endsOf(run, end)} ${end}`,
  );
  return [
    `${deals.length} deals: ${ends.join(', ')}${why === '' ? '' : `: ${why}`}`,
    `takers: ${tradesOf(run, 'received')} settled, ${tradesOf(run, 'refunded')} refunded, ` +
      `${tradesOf(run, 'walked away')} walked away, ${tradesOf(run, 'no swap')} without a swap, ` +
      `${sum(all.map(({ unquoted }) => unquoted))} without a quote`,
    `batches: ${sum(claims)} claims in ${claims.length}, ` +
      `${sum(refunds)} refunds in ${refunds.length}`,
    `refused: ${refusedBy(run, 'day').length} by the day's cap, ${poorIn(run).length} without gas`,
    `${blows.kills} kills of the maker (${met}), ${blows.marketKills} of the market, ` +
      `${blows.priceFaults} wrong prices (${faults} told)`,
    `inventory difference: ${differs}; ${seconds} seconds`,
  ];
}

/** What never happened: a soak that proves nothing of it. */
export function missing(run: Run): string[] {
  const { blows } = run;
  const wanted: readonly (readonly [string, boolean])[] = [
    ['a swap that was settled', endsOf(run, 'received') > 0],
    ['a refund of the maker', endsOf(run, 'refunded') > 0],
    ['a batch of claims', batchesOf(run, 'claim').length > 0],
    ['refunds side by side in a batch', batchesOf(run, 'refund').some((swaps) => swaps > 1)],
    ['a request beyond the cap of the day', refusedBy(run, 'day').length > 0],
    ['a kill of the market', blows.marketKills > 0],
    ['a wrong price', blows.priceFaults > 0],
    ...stages.map((each) => [`a kill of the maker while ${each}`, blows.met[each] > 0] as const),
  ];
  return wanted.filter(([, isThere]) => !isThere).map(([what]) => what);
}
