// `ops stats`: a day of the market in numbers.

import { Misused, parsed, usualOptions } from '@parley/host/command.ts';
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

const usage = `usage: npm run ops -- stats [--day YYYY-MM-DD] [--json]
  --day   of this day (UTC); default today
RFQs, quotes, accounts and swaps that began on that day, as they stand now: a swap of the evening is
settled on the next one. By asset both legs count, in base units. What ended with nothing at stake
is kept for 30 days, so an older day shows fewer of them. At most 1000000 rows of each are read.
Exit status: 0 done, 2 not understood. Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a
running market.`;

const dayMs = 86_400_000;
const mostRead = 1_000_000;

function understand(args: string[]) {
  const options = { ...usualOptions, day: { type: 'string' } } as const;
  const { values } = parsed({ args, options });
  if (values.help === true) return null;
  const { day = new Date().toISOString().slice(0, 10), json = false } = values;
  const at = new Date(`${day}T00:00:00Z`);
  // Ids begin with the milliseconds since 1970.
  const isDay = at.getTime() >= 0 && at.toISOString().startsWith(day);
  if (!isDay || day.length !== 'YYYY-MM-DD'.length) {
    throw new Misused(`--day is one like 2026-11-21, not "${day}"`);
  }
  return { day, from: at.getTime(), json };
}

/** No UUIDv7 of that millisecond or later is smaller. */
function leastId(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

async function statsOf(db: Database, day: string, from: number) {
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

function statsLines({ day, isCut, accounts, rfqs, quotes, swaps, assets }: Stats): string[] {
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

async function run({ day, from, json }: NonNullable<ReturnType<typeof understand>>) {
  const stats = await reading((db) => statsOf(db, day, from));
  const money = (_: string, each: unknown) => (typeof each === 'bigint' ? String(each) : each);
  print(json ? JSON.stringify(stats, money) : statsLines(stats).join('\n'));
  return 0;
}

export const command = { usage, understand, run };
