// `ops stats`: a day of the market in numbers.

import type { Database } from '../db/database.ts';
import {
  accountsOfDay,
  assetsOfDay,
  type DayRange,
  rfqsOfDay,
  swapsOfDay,
  threadsOfDay,
} from '../db/day-stats.ts';
import { print, reading } from './operator.ts';

const dayMs = 86_400_000;
const mostRead = 1_000_000;

/** No UUIDv7 of that millisecond or later is smaller. */
function leastId(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

export async function statsOf(db: Database, day: string, from: number) {
  const range: DayRange = {
    from: leastId(from),
    to: leastId(from + dayMs),
    limit: mostRead,
  };
  const rfqs = await rfqsOfDay(db, range);
  const quotes = await threadsOfDay(db, range);
  const swaps = await swapsOfDay(db, range);
  const byStatus = Object.fromEntries(swaps.map(({ status, count }) => [status, count]));
  const agreed = swaps.reduce((sum, { count }) => sum + count, 0);
  const { accounts } = await accountsOfDay(db, range);
  const isCut = [rfqs.rfqs, quotes.threads, agreed, accounts].includes(mostRead);
  const assets = await assetsOfDay(db, range);
  return { day, isCut, accounts, rfqs, quotes, swaps: { agreed, byStatus }, assets };
}

type Stats = Awaited<ReturnType<typeof statsOf>>;

export function statsLines({ day, isCut, accounts, rfqs, quotes, swaps, assets }: Stats): string[] {
  const { cancelled, expired, agreed } = rfqs;
  const states = Object.entries(swaps.byStatus).map(([status, count]) => `${count} ${status}`);
  return [
    `${day}${isCut ? '  (not all of it was read)' : ''}`,
    `accounts  ${accounts} new`,
    `RFQs      ${rfqs.rfqs}, ${rfqs.publicRfqs} of them public; ${agreed} agreed, ` +
      `${cancelled} cancelled, ${expired} expired`,
    `quotes    ${quotes.threads} threads of ${quotes.makers} makers`,
    `swaps     ${swaps.agreed} agreed${states.length === 0 ? '' : `: ${states.join(', ')}`}`,
    ...assets.map((each) => {
      const { chain, symbol, volume, settled, settledVolume, refunded } = each;
      const ends = `${settled} settled with ${settledVolume}, ${refunded} refunded`;
      return `${chain} ${symbol}  ${each.agreed} agreed with ${volume}; ${ends}`;
    }),
  ];
}

export async function stats(
  json: boolean,
  { day = new Date().toISOString().slice(0, 10) }: { readonly day?: string | undefined },
): Promise<number> {
  const found = await reading((db) => statsOf(db, day, Date.parse(`${day}T00:00:00Z`)));
  const money = (_: string, each: unknown) => (typeof each === 'bigint' ? String(each) : each);
  print(json ? JSON.stringify(found, money) : statsLines(found).join('\n'));
  return 0;
}
