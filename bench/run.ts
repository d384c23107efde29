// npm run bench -- <name>... [options]
//
// Prints each figure with its limit and the ratio; exit status 1 when one misses its bar. With
// --json one line a row.

import { readFileSync } from 'node:fs';
import { Misused, parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { benchEvents } from './events.ts';
import { benchFeed } from './feed.ts';
import { benchGas } from './gas.ts';
import { benchIdle } from './idle.ts';
import { benchNodeCalls } from './node-calls.ts';
import { benchPackage } from './package.ts';
import { benchQuotes, benchQuotesOfLarge } from './quotes.ts';
import { benchReads } from './reads.ts';
import { type Effort, jsonLine, machine, type Row, textLine } from './report.ts';
import { benchRequests } from './requests.ts';
import { benchSignIn } from './sign-in.ts';
import { type Stage, setStage, usualVolume, type Volume } from './stage.ts';
import { benchStart } from './start.ts';
import { benchVerify } from './verify.ts';
import { benchWeb } from './web.ts';
import { benchWebhooks } from './webhooks.ts';

/** Each with what is said of it beforehand. */
const benches: Readonly<Record<string, (name: string) => Promise<Row[]>>> = {
  reads: onStage((stage) => benchReads(stage, effort), 'sized'),
  quotes: onStage(async (stage) => {
    const rows = await benchQuotes(stage, effort);
    if (volume.open <= usualVolume.open) return rows;
    return withStage(usualVolume, async (usual) => [
      ...rows,
      await benchQuotesOfLarge(stage, usual, effort),
    ]);
  }, 'sized'),
  feed: onStage((stage) => benchFeed(stage, effort)),
  webhooks: inRounds(() => benchWebhooks(effort), 'of a time'),
  events: onStage((stage) => benchEvents(stage, effort)),
  gas: async () => benchGas(),
  start: inRounds(() => benchStart(effort)),
  verify: inRounds(() => benchVerify(effort)),
  requests: inRounds(() => benchRequests(effort), 'after one that is not counted'),
  'node-calls': async () => benchNodeCalls(),
  'sign-in': inRounds(() => benchSignIn(effort)),
  idle: inRounds(() => benchIdle(effort)),
  web: inRounds(() => benchWeb(effort)),
  package: async () => benchPackage(),
};

const usage = `usage: npm run bench -- [NAME]... [options]
  NAME       ${Object.keys(benches).join(', ')}; without one all of them
  --json     one line of JSON a row
  --rounds   default 5; what is shown is their median
  --seconds  of a round, default 3
  --open     of reads and quotes: open RFQs, default 10000; with more, quotes are measured on both
  --ended    of reads and quotes: RFQs that ended, default 0
Exit status: 0 all within their bars, 1 one is not, 2 not understood.`;

type Asked = {
  readonly wanted: readonly string[];
  readonly json: boolean;
  readonly effort: Effort;
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
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const names = Object.keys(benches);
  const unknown = positionals.filter((each) => !names.includes(each));
  if (unknown.length > 0) {
    throw new Misused(`no bench is called "${unknown.join(' ')}"; there are ${names.join(', ')}`);
  }
  const seconds = Number(values.seconds);
  if (!(seconds >= 0.1 && seconds <= 3_600)) {
    throw new Misused(`--seconds is a number from 0.1 to 3600, not "${values.seconds}"`);
  }
  const rounds = wholeNumber('--rounds', values.rounds, { most: 1_000 });
  const wanted = positionals.length === 0 ? names : positionals;
  const volume = {
    open: wholeNumber('--open', values.open, { least: 1_000, most: 10_000_000 }),
    ended: wholeNumber('--ended', values.ended, { least: 0, most: 100_000_000 }),
  };
  return { wanted, json: values.json, effort: { rounds, seconds }, volume };
}

const { wanted, json, effort, volume } = understood({ usage, understand });
const print = (row: Row) => console.log(json ? jsonLine(row) : textLine(row));
const say = (text: string) => {
  if (!json) console.log(text);
};

say(`machine: ${machine()}`);
say(`versions: Node ${process.version}, ${versionsOf(['fastify', 'pg', 'ws'])}`);
let missed = 0;
for (const name of wanted) {
  for (const row of (await benches[name]?.(name)) ?? []) {
    print(row);
    if (!row.ok) missed += 1;
  }
}
process.exitCode = missed === 0 ? 0 : 1;

function inRounds(run: () => Promise<Row[]>, how?: string) {
  return async (name: string) => {
    const ofTime = how === 'of a time';
    const more = how === undefined || ofTime ? '' : `; ${how}`;
    say(
      `${name}: median of ${effort.rounds} rounds${ofTime ? ` of ${effort.seconds} s` : ''}${more}`,
    );
    return run();
  };
}

function onStage(run: (stage: Stage) => Promise<Row[]>, size?: 'sized') {
  return (name: string) =>
    withStage(size === undefined ? usualVolume : volume, (stage) => {
      const { rounds, seconds } = effort;
      say(`${name}: median of ${rounds} alternating rounds of ${seconds} s; ${stage.database}`);
      return run(stage);
    });
}

async function withStage<Result>(of: Volume, run: (stage: Stage) => Promise<Result>) {
  const stage = await setStage(of);
  try {
    return await run(stage);
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
