// npm run bench -- <name>... [options]
//
// Prints each figure with its limit and the ratio; exit status 1 when one misses its bar. With
// --json one line a row.

import { Misused, parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { benchAccept } from './accept.ts';
import { benchEvents } from './events.ts';
import { benchFeed } from './feed.ts';
import { benchGas } from './gas.ts';
import { benchIdle } from './idle.ts';
import { elsewhere, isMiniature, stopShared } from './miniature.ts';
import { benchNodeCalls } from './node-calls.ts';
import { benchPackage } from './package.ts';
import { benchProcesses } from './processes.ts';
import { benchQuotes, benchQuotesOfLarge } from './quotes.ts';
import { benchReads, benchReadsOfLarge } from './reads.ts';
import { type Effort, jsonLine, machine, type Row, textLine, versions } from './report.ts';
import { benchRequests } from './requests.ts';
import { benchSignIn } from './sign-in.ts';
import { type Stage, setStage, usualVolume, type Volume } from './stage.ts';
import { benchStart } from './start.ts';
import { benchVerify } from './verify.ts';
import { benchWeb } from './web.ts';
import { benchWebhooks } from './webhooks.ts';

/** Each with what is said of it beforehand. */
const benches: Readonly<Record<string, (name: string) => Promise<Row[]>>> = {
  reads: onStage(async (stage) => {
    const rows = await benchReads(stage, effort);
    return [...rows, ...(await besideUsual(stage, benchReadsOfLarge))];
  }, 'sized'),
  quotes: onStage(async (stage) => {
    const rows = await benchQuotes(stage, effort);
    return [...rows, ...(await besideUsual(stage, benchQuotesOfLarge))];
  }, 'sized'),
  feed: onStage((stage) => benchFeed(stage, effort)),
  webhooks: inRounds(() => benchWebhooks(effort), 'of a time'),
  accept: onStage((stage) => benchAccept(stage, effort)),
  events: onStage((stage) => benchEvents(stage, effort)),
  gas: async () => benchGas(),
  start: inRounds(() => benchStart(effort)),
  verify: inRounds(() => benchVerify(effort)),
  requests: inRounds(() => benchRequests(effort), 'after one that is not counted'),
  'node-calls': async () => benchNodeCalls(),
  'sign-in': inRounds(() => benchSignIn(effort)),
  idle: inRounds(() => benchIdle(effort, dev)),
  processes: inRounds(() => benchProcesses(effort), 'in turns'),
  web: inRounds(() => benchWeb(effort)),
  package: async () => benchPackage(),
};

const usage = `usage: npm run bench -- [NAME]... [options]
  NAME       ${Object.keys(benches).join(', ')}; without one all of them
  --json     one line of JSON a row
  --rounds   default 5; what is shown is their median
  --seconds  of a round, default 3
  --open     of reads and quotes: open RFQs, default 10000; with more, both are measured on both
  --miniature  few of everything and no bar: does each run? All but ${Object.keys(elsewhere)}
  --dev      of idle: the control of a dev network that runs, instead of one of its own
  --ended    of reads and quotes: RFQs that ended, default 0
Exit status: 0 all within their bars, 1 one is not, 2 not understood.`;

const few: Effort = { rounds: 1, seconds: 0.1 };

type Asked = {
  readonly wanted: readonly string[];
  readonly json: boolean;
  readonly effort: Effort;
  readonly volume: Volume;
  readonly dev: string;
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
      miniature: { type: 'boolean', default: false },
      dev: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const names = Object.keys(benches);
  const unknown = positionals.filter((each) => !names.includes(each));
  if (unknown.length > 0) {
    throw new Misused(`no bench is called "${unknown.join(' ')}"; there are ${names.join(', ')}`);
  }
  const all = isMiniature ? names.filter((each) => !(each in elsewhere)) : names;
  const wanted = positionals.length === 0 ? all : positionals;
  const seconds = Number(values.seconds);
  if (!(seconds >= 0.1 && seconds <= 3_600)) {
    throw new Misused(`--seconds is a number from 0.1 to 3600, not "${values.seconds}"`);
  }
  const { json, dev } = values;
  if (values.miniature) return { wanted, json, effort: few, volume: usualVolume, dev };
  const rounds = wholeNumber('--rounds', values.rounds, { most: 1_000 });
  const volume = {
    open: wholeNumber('--open', values.open, { least: 1_000, most: 10_000_000 }),
    ended: wholeNumber('--ended', values.ended, { least: 0, most: 100_000_000 }),
  };
  return { wanted, json, effort: { rounds, seconds }, volume, dev };
}

const { wanted, json, effort, volume, dev } = understood({ usage, understand });
const print = (row: Row) => console.log(json ? jsonLine(row, effort) : textLine(row, !isMiniature));
const say = (text: string) => {
  if (!json) console.log(text);
};

say(`machine: ${machine()}`);
say(`versions: ${versions()}`);
let missed = 0;
for (const name of wanted) {
  const rows = (await benches[name]?.(name)) ?? [];
  if (rows.length === 0) throw new Error(`${name} has measured nothing`);
  for (const row of rows) {
    print(row);
    if (!row.ok && !isMiniature) missed += 1;
  }
}
await stopShared();
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

/** The rows of a book that is larger than the usual one, against that. */
async function besideUsual(
  stage: Stage,
  bench: (large: Stage, usual: Stage, effort: Effort) => Promise<Row | Row[]>,
): Promise<Row[]> {
  if (volume.open <= usualVolume.open && !isMiniature) return [];
  return withStage(usualVolume, async (usual) => [await bench(stage, usual, effort)].flat());
}

async function withStage<Result>(of: Volume, run: (stage: Stage) => Promise<Result>) {
  const stage = await setStage(of);
  try {
    return await run(stage);
  } finally {
    await stage.stop();
  }
}
