// npm run bench -- <name>... [options]
//
// Prints each figure with its limit and the ratio; exit status 1 when one misses its bar. With
// --json one line a row.

import { readFileSync } from 'node:fs';
import { Misused, parsed, understood, wholeNumber } from '../scripts/command.ts';
import { benchBudgets } from './budgets.ts';
import { benchDoctor, doctorStage } from './doctor.ts';
import { benchExchange } from './exchange.ts';
import { benchFeed } from './feed.ts';
import { benchGas } from './gas.ts';
import { benchGrowth } from './growth.ts';
import { benchListing } from './listing.ts';
import { benchQuotes, benchQuotesOfLarge } from './quotes.ts';
import { benchReads, type Effort } from './reads.ts';
import { jsonLine, machine, type Row, textLine } from './report.ts';
import { benchRequests } from './requests.ts';
import { benchScheduled } from './scheduled.ts';
import { benchSignIn } from './sign-in.ts';
import { type Stage, setStage, usualVolume, type Volume } from './stage.ts';
import { benchStart } from './start.ts';
import { benchVerify } from './verify.ts';
import { benchWebhooks } from './webhooks.ts';

const names = [
  'reads',
  'quotes',
  'feed',
  'listing',
  'webhooks',
  'budgets',
  'gas',
  'start',
  'verify',
  'scheduled',
  'doctor',
  'exchange',
  'requests',
  'growth',
  'sign-in',
] as const;
type Name = (typeof names)[number];

const usage = `usage: npm run bench -- [NAME]... [options]
  NAME       ${names.join(', ')}; without one all of them
  --json     one line of JSON a row
  --rounds   default 5; what is shown is their median
  --seconds  of a round, default 3
  --open     of reads and quotes: open RFQs, default 10000; with more, quotes are measured on both
  --ended    of reads and quotes: RFQs that ended, default 0
  --swaps    of the doctor: the larger number of open swaps, default 10000; the other is a tenth
Exit status: 0 all within their bars, 1 one is not, 2 not understood.`;

type Asked = {
  readonly wanted: readonly Name[];
  readonly json: boolean;
  readonly effort: Effort;
  readonly swaps: number;
  readonly volume: Volume;
};

function understand(args: string[]): Asked | null {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
      open: { type: 'string', default: String(usualVolume.open) },
      ended: { type: 'string', default: String(usualVolume.ended) },
      swaps: { type: 'string', default: '10000' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const unknown = positionals.filter((each) => !names.some((name) => name === each));
  if (unknown.length > 0) {
    throw new Misused(`no bench is called "${unknown.join(' ')}"; there are ${names.join(', ')}`);
  }
  const seconds = Number(values.seconds);
  if (!(seconds >= 0.1 && seconds <= 3_600)) {
    throw new Misused(`--seconds is a number from 0.1 to 3600, not "${values.seconds}"`);
  }
  const rounds = wholeNumber('--rounds', values.rounds, { most: 1_000 });
  const wanted = positionals.length === 0 ? [...names] : (positionals as Name[]);
  const swaps = wholeNumber('--swaps', values.swaps, { least: 1_000, most: 1_000_000 });
  const volume = {
    open: wholeNumber('--open', values.open, { least: 1_000, most: 10_000_000 }),
    ended: wholeNumber('--ended', values.ended, { least: 0, most: 100_000_000 }),
  };
  return { wanted, json: values.json, effort: { rounds, seconds }, swaps, volume };
}

const { wanted, json, effort, swaps, volume } = understood({ usage, understand });
const print = (row: Row) => console.log(json ? jsonLine(row) : textLine(row));
const say = (text: string) => {
  if (!json) console.log(text);
};

say(`machine: ${machine()}`);
say(`versions: Node ${process.version}, ${versionsOf(['fastify', 'pg', 'iovalkey', 'ws'])}`);
let missed = 0;
for (const name of wanted) {
  for (const row of await runOne(name)) {
    print(row);
    if (!row.ok) missed += 1;
  }
}
process.exitCode = missed === 0 ? 0 : 1;

async function runOne(name: Name): Promise<Row[]> {
  if (name === 'gas') return benchGas();
  if (name === 'growth') return benchGrowth();
  if (name === 'doctor') {
    say(`doctor: median of ${effort.rounds} rounds; ${doctorStage}`);
    return benchDoctor(effort, swaps);
  }
  if (name === 'scheduled') {
    say(`scheduled: median of ${effort.rounds} rounds`);
    return benchScheduled(effort);
  }
  if (name === 'requests') {
    say(`requests: median of ${effort.rounds} rounds, after one that is not counted`);
    return benchRequests(effort);
  }
  if (name === 'start' || name === 'verify' || name === 'exchange' || name === 'sign-in') {
    say(`${name}: median of ${effort.rounds} rounds`);
    if (name === 'sign-in') return benchSignIn(effort);
    if (name === 'exchange') return benchExchange(effort);
    return name === 'start' ? benchStart(effort) : benchVerify(effort);
  }
  if (name === 'budgets' || name === 'webhooks') {
    say(`${name}: median of ${effort.rounds} rounds of ${effort.seconds} s`);
    return name === 'budgets' ? benchBudgets(effort) : benchWebhooks(effort);
  }
  const isSized = name === 'reads' || name === 'quotes';
  const stage = await setStage(isSized ? volume : usualVolume);
  try {
    say(
      `${name}: median of ${effort.rounds} alternating rounds of ${effort.seconds} s; ${stage.database}`,
    );
    if (name === 'feed') return await benchFeed(stage, effort);
    if (name === 'listing') return await benchListing(stage, effort);
    if (name === 'reads') return await benchReads(stage, effort);
    const rows = await benchQuotes(stage, effort);
    return volume.open > usualVolume.open ? [...rows, await quotesOfBoth(stage)] : rows;
  } finally {
    await stage.stop();
  }
}

async function quotesOfBoth(large: Stage): Promise<Row> {
  const usual = await setStage();
  try {
    return await benchQuotesOfLarge(large, usual, effort);
  } finally {
    await usual.stop();
  }
}

function versionsOf(packages: readonly string[]): string {
  const version = (name: string) => {
    const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  };
  return packages.map((each) => `${each} ${version(each)}`).join(', ');
}
