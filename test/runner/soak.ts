// `npm run soak`: what `npm test` does briefly, for as long as it takes: what is random, repeated
// or exhaustive. `--list` has its parts, each with what it runs and the minutes
// that it may take. A last line counts; it ends with 1 if any failed.

import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Misused, parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { needsOf } from './needs.ts';
import { provide } from './provide.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Outcome = { readonly code: number; readonly output: string };
/** `commands`: one after the other, of which each uses what the machine has. */
type Part = {
  readonly minutes: number;
  readonly what: string;
  readonly commands: () => readonly (readonly string[])[];
};

const testFiles = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: ['node_modules', '.parley'] }).sort();

/** What of a process of `node --test`, for test files one after the other. */
const tests = (...files: readonly string[]) => [
  ['--test', '--test-reporter=spec', '--test-concurrency=1', ...files],
];
const propertyFiles = () =>
  testFiles('**/*.test.ts').filter((file) =>
    /\bruns\(/.test(readFileSync(`${root}${file}`, 'utf8')),
  );
const others = ['test/crashes.test.ts', 'test/conformance.test.ts'];

const parts: Readonly<Record<string, Part>> = {
  fuzz: {
    minutes: 60,
    what: 'ten thousand requests drawn from the API description, and as many over bare sockets',
    commands: () => tests('test/fuzz.test.ts', 'test/fuzz-sockets.test.ts'),
  },
  properties: {
    minutes: 90,
    what: 'property tests of every room, twenty times their runs, random markets on the feed too',
    commands: () => tests(...propertyFiles()),
  },
  faults: {
    minutes: 90,
    what: 'every fault of nodes, network, database, disk and clock at every moment of a swap',
    commands: () => tests(...testFiles('test/faults-*.test.ts'), ...others),
  },
  model: {
    minutes: 60,
    what: 'the model of the rules, searched further',
    commands: () => [['test/model/run.ts']],
  },
  sim: {
    minutes: 600,
    what: 'ten thousand simulated markets, and the driver of a swap on nodes that fail and lie',
    commands: () => {
      const from = values.seed === undefined ? [] : ['--from', values.seed];
      const seeds = ['--seeds', values.markets, ...from];
      return [
        ['test/sim/run.ts', '--driver', ...seeds],
        ['test/sim/run.ts', '--known', ...seeds],
      ];
    },
  },
  planted: {
    minutes: 720,
    what: 'every bug of the registry planted, and looked for by what should find it',
    commands: () => {
      const by = values.by === '' ? [] : ['--by', values.by];
      return [['test/planted/run.ts', '--bug', values.bug, ...by]];
    },
  },
  crashes: {
    minutes: 180,
    what: 'every request and pass of the server ended at every await',
    commands: () => [['--max-old-space-size=1024', 'test/crash-matrix/run.ts']],
  },
  nodes: {
    minutes: 90,
    what: 'the adapters’ promises and the demo on a java-tron and a Solana validator of one’s own',
    commands: () =>
      process.env.PARLEY_JAVA_TRON || process.env.PARLEY_SOLANA_VALIDATOR
        ? [['test/adapters/real-nodes.ts'], ['scripts/demo.ts', '--all', '--minutes', '30']]
        : [],
  },
  testnet: {
    minutes: 60,
    what: 'a test market by its configuration on stand-ins of four networks: faucet, maker, swaps',
    commands: () => [['test/testnet-soak/run.ts']],
  },
  web: {
    minutes: 30,
    what: 'the app in a real Chromium: every pair, refund, lost tab, and the rescue drill',
    commands: () => [['test/web-soak/run.ts'], ...tests('test/web-soak/drill.ts')],
  },
  package: {
    minutes: 30,
    what: 'tarballs by npm: a first trade, the SDK’s examples on Node 20.19 and 22.18, a maker',
    commands: () => [['test/package-soak/run.ts']],
  },
  release: {
    minutes: 30,
    what: 'the release built twice, and run in a read-only root without a shell: a trade, its unit',
    commands: () => [['test/release-soak/run.ts']],
  },
  tasks: {
    minutes: 45,
    what: 'the pages for operators, command by command, in a bare Debian root: install to restore',
    commands: () => [['test/tasks-soak/run.ts']],
  },
  fresh: {
    minutes: 60,
    what: 'the README’s two commands in a bare Debian root with Node and npm, every test',
    commands: () => [['test/fresh-soak/run.ts', '--whole']],
  },
  maker: {
    minutes: 45,
    what: 'an hour of a market of the maker program: kills of both, wrong prices, little gas',
    commands: () => [['test/maker-soak/run.ts']],
  },
  generators: {
    minutes: 20,
    what: 'clients made of the API description by others, and the snippets of its reference',
    commands: () => [['test/api-soak/generators.ts']],
  },
  schemathesis: {
    minutes: 40,
    what: 'every operation and link of the API description by schemathesis, with two customers',
    commands: () => [['test/api-soak/schemathesis.ts']],
  },
  python: {
    minutes: 20,
    what:
      'the Python package: swaps and refunds of every family, its fuzz for longer, beside ' +
      'eth-account and web3, and with the least version of each dependency',
    commands: () => [['test/python-soak/run.ts']],
  },
  mcp: {
    minutes: 20,
    what: 'the MCP server’s tarball by npm: first trade, an agent killed at random, the SDK 1.x',
    commands: () => [['test/mcp-soak/run.ts']],
  },
  upgrade: {
    minutes: 30,
    what: 'three processes of the version before replaced one by one under load, and back again',
    commands: () => [['test/upgrade-soak/run.ts']],
  },
  failover: {
    minutes: 30,
    what: 'a primary killed under load, with a standby that is waited for or not; archive, replica',
    commands: () => [['test/postgres-soak/failover.ts']],
  },
  postgres: {
    minutes: 60,
    what: 'schema, migrations and statements on PostgreSQL 15, 16 and 17',
    commands: () => [['test/postgres-soak/versions.ts']],
  },
  rows: {
    minutes: 60,
    what: 'ten million RFQs that ended, half of them dropped and made again: reads, vacuum, room',
    commands: () => [['test/postgres-soak/rows.ts']],
  },
  alerts: {
    minutes: 60,
    what: 'each thing that an alert names broken, until a real Prometheus fires it, and mended',
    commands: () => [['test/alerts-soak/run.ts']],
  },
  proxy: {
    minutes: 30,
    what: 'markets behind Debian’s nginx and Caddy: TLS, feed, limits, smuggling, dying processes',
    commands: () => [['test/proxy-soak/run.ts']],
  },
  three: {
    minutes: 40,
    what: 'one process and three behind nginx: costs, load, and each part killed or cut off',
    commands: () => [['test/three-soak/run.ts']],
  },
  'contracts/escrows': {
    minutes: 90,
    what: 'the escrow contract fuzzed forty times as long',
    commands: () => [['contracts/escrows/test/run.ts', '--profile', 'soak']],
  },
};
const names = Object.keys(parts);

const usage = `usage: npm run soak -- [PART]... [--requests N] [--times N] [--markets N] [--seed N]
                              [--bug PATTERN] [--by KIND]
       npm run soak -- --list
  PART        ${names.join(', ')}; without one all of them
              (nodes, testnet: with PARLEY_JAVA_TRON, PARLEY_SOLANA_VALIDATOR, docs/settings.md)
  --requests  of the fuzz, default 10000
  --times     as many runs of a property test as usual, default 20
  --markets   simulated, default 10000
  --seed      of the fuzz, and the first one of the markets
  --bug, --by which bugs are planted, by name and by what finds them, default all
  --list      what the parts are, as JSON; nothing is run
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
      bug: text(''),
      by: text(''),
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
  for (const name of ['requests', 'times', 'markets'] as const) {
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
  PARLEY_FAULTS: 'all',
  ...(values.seed === undefined ? {} : { PARLEY_FUZZ_SEED: values.seed }),
};

let running: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    running?.kill(signal);
    process.exit(130);
  });
}

function run(args: readonly string[], minutes: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(minutes * 60_000);
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
  /^(?:forge|model|sim|planted|crashes|nodes|package|web|maker): (.*)|(\d+) generated,/gm,
  /^(?:generators|schemathesis|python|mcp|alerts|release|proxy|fresh): (.*)/gm,
  /^(?:upgrade|failover|postgres|rows|testnet|tasks|three): (.*)/gm,
];

async function outcomeOf(name: string, { minutes, commands }: Part): Promise<[string, boolean]> {
  console.log(`\n== ${name}`);
  const began = Date.now();
  const all: Outcome[] = [];
  for (const args of commands()) all.push(await run(args, minutes));
  const output = all.map((each) => each.output).join('');
  const counts = said.flatMap((form) =>
    [...output.matchAll(form)].map((each) => each[1] ?? each[2]),
  );
  if (all.length === 0) counts.push('left out: no real node is given');
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
const programs = chosen.flatMap(([, { commands }]) => commands().flat());
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
