// `npm run soak`: the tests that `npm test` runs briefly, for as long as they take: random,
// repeated or exhaustive ones. `--list` has its parts, each with what it runs and the minutes that
// it may take. A last line counts; it ends with 1 if any failed.

import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Misused, parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { needsOf } from './needs.ts';
import { provide } from './provide.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

type Outcome = { readonly code: number; readonly output: string };
/** `minutes`: for all of its commands, which run one after the other. */
type Part = {
  readonly minutes: number;
  readonly what: string;
  readonly commands: () => readonly (readonly string[])[];
};

const testFiles = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: ['node_modules', '.parley'] }).sort();

/** Arguments of a process of `node --test`, for test files one after the other. */
const tests = (...files: readonly string[]) => [
  ['--test', '--test-reporter=spec', '--test-concurrency=1', ...files],
];
const propertyFiles = () =>
  testFiles('**/*.test.ts').filter((file) =>
    /\bruns\(/.test(readFileSync(`${root}${file}`, 'utf8')),
  );

const parts: Readonly<Record<string, Part>> = {
  sim: {
    minutes: 780,
    what: 'ten thousand simulated markets, each request and pass ended at each await, and the drivers of a swap, also the one in Python, on nodes that fail and lie',
    commands: () => {
      const from = values.seed === undefined ? [] : ['--from', values.seed];
      const seeds = ['--seeds', values.markets, ...from];
      return [
        ['verify/test/sim/run.ts', '--driver', ...seeds],
        ['verify/test/sim/run.ts', '--python', '--seeds', '1000', ...from],
        ['verify/test/sim/run.ts', '--known', ...seeds],
        ['--max-old-space-size=1024', 'verify/test/sim/crashes/run.ts'],
      ];
    },
  },
  fuzz: {
    minutes: 150,
    what: 'ten thousand requests drawn from the API description, as many over bare sockets, and property tests of every room, twenty times their runs',
    commands: () => tests('verify/test/fuzz.test.ts', ...propertyFiles()),
  },
  planted: {
    minutes: 720,
    what: 'every bug of the registry planted, and looked for by its finders',
    commands: () => {
      const by = values.by === '' ? [] : ['--by', values.by];
      return [['verify/test/planted/run.ts', '--bug', values.bug, ...by]];
    },
  },
  contracts: {
    minutes: 90,
    what: 'the contracts and the Solana program compiled anew and compared, the escrow contract fuzzed three hundred times as long',
    commands: () => [
      ...['escrows', 'evm', 'solana'].map((part) => [`contracts/${part}/build.ts`, '--check']),
      ['contracts/escrows/test/run.ts', '--profile', 'soak'],
    ],
  },
  makers: {
    minutes: 90,
    what: 'an hour of two makers with tiers and skew against takers, kills, price jumps and failing hedges: inventory and profit to the unit',
    commands: () => {
      const from = values.seed === undefined ? [] : ['--seed', values.seed];
      return [['verify/test/maker-soak/run.ts', ...from]];
    },
  },
  nodes: {
    minutes: 90,
    what: 'the adapters’ promises and the demo on a java-tron and a Solana validator of one’s own',
    commands: () =>
      process.env.PARLEY_JAVA_TRON || process.env.PARLEY_SOLANA_VALIDATOR
        ? [
            ['verify/test/adapters/real-nodes.ts'],
            ['dev/demo.ts', '--all', '--minutes', '30'],
            ...tests('verify/test/conformance.test.ts'),
          ]
        : tests('verify/test/conformance.test.ts'),
  },
  web: {
    minutes: 30,
    what: 'the app in a real Chromium: every pair, refund and lost tab',
    commands: () => [['verify/test/web-soak/run.ts']],
  },
  packages: {
    minutes: 120,
    what: 'every package from its tarball or wheel: first trades, Node 20.19 and 22.18, every Python; the release twice and in a bare root',
    commands: () => [
      ['verify/test/package-soak/run.ts'],
      ['verify/test/release-soak/run.ts'],
      ['verify/test/python-soak/run.ts'],
    ],
  },
  trade: {
    minutes: 60,
    what: 'trades of the command line and a file of them, killed at random: each is one swap',
    commands: () => [['verify/test/trade-soak/run.ts']],
  },
  book: {
    minutes: 90,
    what: 'the kept books of the SDK and of Python beside the market’s own list for an hour, under kills, cuts and stops',
    commands: () => {
      const from = values.seed === undefined ? [] : ['--seed', values.seed];
      return [['verify/test/book-soak/run.ts', '--minutes', values.minutes, ...from]];
    },
  },
  postgres: {
    minutes: 60,
    what: 'tests of the database on PostgreSQL 15, 16 and 17',
    commands: () => [['verify/test/postgres-soak/versions.ts']],
  },
  operations: {
    minutes: 75,
    what: 'markets behind nginx, the pages for operators in a bare Debian root',
    commands: () => [['verify/test/proxy-soak/run.ts'], ['verify/test/tasks-soak/run.ts']],
  },
};
const names = Object.keys(parts);

const usage = `usage: npm run soak -- [PART]... [--requests N] [--times N] [--markets N] [--seed N]
                              [--only PATTERN] [--bug PATTERN] [--by KIND] [--minutes N]
       npm run soak -- --list
  PART        ${names.join(', ')}; without one all of them
              (nodes: with PARLEY_JAVA_TRON, PARLEY_SOLANA_VALIDATOR, docs/settings.md)
  --only      of a part the programs whose path fits, such as proxy
  --requests  of the fuzz, default 10000
  --times     as many runs of a property test as usual, default 20
  --markets   simulated, default 10000
  --seed      of the fuzz, and the first one of the markets
  --bug, --by which bugs are planted, by name and by what finds them, default all
  --minutes   of the books, default 60
  --list      what the parts are, as JSON; no part is run
Exit status: 0 all passed, 1 one did not, 2 not understood.`;

function understand(args: string[]) {
  const text = (given: string) => ({ type: 'string', default: given }) as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      requests: text('10000'),
      times: text('20'),
      markets: text('10000'),
      only: text(''),
      bug: text(''),
      by: text(''),
      minutes: text('60'),
      list: flag,
      help: flag,
      seed: { type: 'string' },
    },
  });
  if (values.help) return null;
  const unknown = positionals.filter((each) => !names.includes(each));
  if (unknown.length > 0) {
    throw new Misused(`no part is called "${unknown.join(' ')}"; there are ${names.join(', ')}`);
  }
  for (const name of ['requests', 'times', 'markets', 'minutes'] as const) {
    wholeNumber(`--${name}`, values[name], { most: 100_000_000 });
  }
  wholeNumber('--seed', values.seed ?? '0', { least: 0, most: 2 ** 32 - 1 });
  return { values, positionals };
}

const { values, positionals } = understood({ usage, understand });
const env = {
  ...process.env,
  PATH: [`${root}node_modules/.bin`, dirname(process.execPath), process.env.PATH].join(':'),
  PARLEY_FUZZ_REQUESTS: values.requests,
  PARLEY_TEST_TIMES: values.times,
  PARLEY_TEST_CONFORMANCE: 'all',
  ...(values.seed === undefined ? {} : { PARLEY_FUZZ_SEED: values.seed }),
};

let running: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    running?.kill(signal);
    process.exit(130);
  });
}

function run(args: readonly string[], signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(process.execPath, args, { cwd: root, env, signal, stdio: [...stdio] });
    running = child;
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
      process.stdout.write(chunk);
    });
    child.on('error', (error) => console.error(error.message));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

const said = [
  /^ℹ (\d+ (?:requests|exchanges)|pass \d+|fail \d+)/gm,
  /^(?:forge|sim|crashes|planted|makers|nodes|web|package|release|python): (.*)/gm,
  /^(?:postgres|proxy|tasks|book|trade): (.*)|(\d+) generated,/gm,
];

/** The programs of a part that are wanted. */
const commandsOf = ({ commands }: Part) => {
  const only = new RegExp(values.only);
  return commands().filter((args) => args.some((each) => each.endsWith('.ts') && only.test(each)));
};

async function outcomeOf(name: string, part: Part): Promise<[string, boolean]> {
  console.log(`\n== ${name}`);
  const began = Date.now();
  const all: Outcome[] = [];
  const over = AbortSignal.timeout(part.minutes * 60_000);
  for (const args of commandsOf(part)) all.push(await run(args, over));
  const output = all.map((each) => each.output).join('');
  const counts = said.flatMap((form) =>
    [...output.matchAll(form)].map((each) => each[1] ?? each[2]),
  );
  if (all.length === 0) counts.push(`no program fits ${values.only}`);
  const isWell = all.every(({ code }) => code === 0);
  const seconds = Math.round((Date.now() - began) / 1_000);
  const how = isWell ? 'ok' : 'FAILED';
  return [`${name}: ${how} in ${seconds} s (${counts.join(', ')})`, isWell];
}

if (values.list) {
  const listed = Object.entries(parts).map(([name, { what, minutes }]) => {
    return { name, command: `npm run soak -- ${name}`, minutes, what };
  });
  console.log(JSON.stringify({ parts: listed, properties: propertyFiles() }));
  process.exit(0);
}
const chosen = Object.entries(parts).filter(
  ([name]) => positionals.length === 0 || positionals.includes(name),
);
const programs = chosen.flatMap(([, part]) => commandsOf(part).flat());
// Bugs are looked for by any of the tests.
if (chosen.some(([name]) => name === 'planted')) programs.push(...testFiles('**/*.test.ts'));
const needed = programs.filter((each) => each.endsWith('.ts'));
if (!(await provide(needsOf(root, needed)))) process.exit(1);
const outcomes: [string, boolean][] = [];
for (const [name, part] of chosen) outcomes.push(await outcomeOf(name, part));
const passed = outcomes.filter(([, isWell]) => isWell).length;
console.log(`\n${outcomes.map(([line]) => line).join('\n')}`);
console.log(`soak: ${passed} of ${outcomes.length} parts passed`);
process.exit(passed === outcomes.length ? 0 : 1);
