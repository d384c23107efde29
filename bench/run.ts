// npm run bench -- <name>... [--json] [--rounds N] [--seconds N]
//
// Prints each figure with its limit and the ratio; exit status 1 when one misses its bar. With
// --json one line a row.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { benchBudgets } from './budgets.ts';
import { benchFeed } from './feed.ts';
import { benchGas } from './gas.ts';
import { benchListing } from './listing.ts';
import { benchQuotes } from './quotes.ts';
import { benchReads, type Effort } from './reads.ts';
import { jsonLine, machine, type Row, textLine } from './report.ts';
import { benchScheduled } from './scheduled.ts';
import { setStage } from './stage.ts';
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
] as const;
type Name = (typeof names)[number];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
  },
});
const wanted = positionals.length === 0 ? [...names] : (positionals as Name[]);
const unknown = wanted.filter((each) => !names.includes(each));
const effort: Effort = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
if (unknown.length > 0 || !(effort.rounds >= 1) || !(effort.seconds >= 0.1)) {
  console.error(
    `usage: npm run bench -- [${names.join('] [')}] [--json] [--rounds N] [--seconds N]`,
  );
  process.exit(2);
}

const print = (row: Row) => console.log(values.json ? jsonLine(row) : textLine(row));
const say = (text: string) => {
  if (!values.json) console.log(text);
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
  if (name === 'scheduled') {
    say(`scheduled: median of ${effort.rounds} rounds`);
    return benchScheduled(effort);
  }
  if (name === 'start' || name === 'verify') {
    say(`${name}: median of ${effort.rounds} rounds`);
    return name === 'start' ? benchStart(effort) : benchVerify(effort);
  }
  if (name === 'budgets' || name === 'webhooks') {
    say(`${name}: median of ${effort.rounds} rounds of ${effort.seconds} s`);
    return name === 'budgets' ? benchBudgets(effort) : benchWebhooks(effort);
  }
  const stage = await setStage();
  try {
    say(
      `${name}: median of ${effort.rounds} alternating rounds of ${effort.seconds} s; ${stage.database}`,
    );
    if (name === 'feed') return await benchFeed(stage, effort);
    if (name === 'listing') return await benchListing(stage, effort);
    return name === 'reads' ? await benchReads(stage, effort) : await benchQuotes(stage, effort);
  } finally {
    await stage.stop();
  }
}

function versionsOf(packages: readonly string[]): string {
  const version = (name: string) => {
    const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  };
  return packages.map((each) => `${each} ${version(each)}`).join(', ');
}
