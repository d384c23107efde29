// `npm run soak`: what `npm test` does briefly, for as long as it takes. Ten thousand fuzzed
// requests, the property tests (the Solana program's with them) with twenty times their runs, the
// model of the rules searched further, the contracts fuzzed twenty times as long, ten thousand
// simulated markets, every request and pass ended at every await, every bug of the registry
// planted for its finders, every fault of nodes, network, database, disk and clock at every moment
// of a swap, schemathesis where it is installed, and the adapters' promises and the demo on real
// nodes where these are given. A last line counts; it ends with 1 if any failed.
//
//   npm run soak                                all of it
//   npm run soak -- fuzz properties             these parts only
//   npm run soak -- --list                      what the parts are, nothing run
//   PARLEY_JAVA_TRON=… PARLEY_SOLANA_VALIDATOR=… npm run soak -- nodes   docs/settings.md
//   npm run soak -- --requests 50000 --seed 7   another size; a seed that failed, again

import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Misused, parsed, understood, wholeNumber } from './command.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const partLimitMs = 90 * 60_000;
/** Ten thousand markets of a second or two each. */
const simLimitMs = 10 * 3_600_000;
/** Some hundred bugs of a few seconds each, and sixteen minutes for one that hangs. */
const plantedLimitMs = 12 * 3_600_000;
const names = [
  'fuzz',
  'properties',
  'faults',
  'model',
  'sim',
  'planted',
  'crashes',
  'schemathesis',
  'nodes',
  'contracts/escrows',
] as const;
type Name = (typeof names)[number];

const usage = `usage: npm run soak -- [PART]... [--requests N] [--times N] [--markets N] [--seed N]
                              [--bug PATTERN] [--by KIND]
       npm run soak -- --list
  PART        ${names.join(', ')}; without one all of them
              (nodes: with PARLEY_JAVA_TRON or PARLEY_SOLANA_VALIDATOR, docs/settings.md)
  --requests  of the fuzz, default 10000
  --times     as many runs of a property test as usual, default 20
  --markets   simulated, default 10000
  --seed      of the fuzz, and the first one of the markets
  --bug, --by which bugs are planted, by name and by what finds them, default all
  --list      what the parts are, as JSON; nothing is run
Exit status: 0 all passed, 1 one did not, 2 not understood.`;

function understand(args: string[]) {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      requests: { type: 'string', default: '10000' },
      times: { type: 'string', default: '20' },
      markets: { type: 'string', default: '10000' },
      seed: { type: 'string' },
      bug: { type: 'string', default: '' },
      by: { type: 'string', default: '' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const unknown = positionals.filter((each) => !names.some((name) => name === each));
  if (unknown.length > 0) {
    throw new Misused(`no part is called "${unknown.join(' ')}"; there are ${names.join(', ')}`);
  }
  for (const name of ['requests', 'times', 'markets'] as const) {
    wholeNumber(`--${name}`, values[name], { most: 100_000_000 });
  }
  if (values.seed !== undefined)
    wholeNumber('--seed', values.seed, { least: 0, most: 2 ** 32 - 1 });
  return { values, positionals };
}

const { values, positionals } = understood({ usage, understand });
const bin = [`${root}node_modules/.bin`, dirname(process.execPath), process.env.PATH];
const env = {
  ...process.env,
  PATH: bin.join(delimiter),
  PARLEY_FUZZ_REQUESTS: values.requests,
  PARLEY_TEST_TIMES: values.times,
  PARLEY_FAULTS: 'all',
  ...(values.seed === undefined ? {} : { PARLEY_FUZZ_SEED: values.seed }),
};

type Outcome = { readonly code: number; readonly output: string };

let running: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    running?.kill(signal);
    process.exit(130);
  });
}

function run(args: readonly string[], limitMs = partLimitMs): Promise<Outcome> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(limitMs);
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

/** Test files one after the other: each uses what the machine has. */
function tests(files: readonly string[]): Promise<Outcome> {
  const options = ['--test-reporter=spec', '--test-concurrency=1', `--test-timeout=${partLimitMs}`];
  return run(['--test', ...options, ...files]);
}

const propertyFiles = () =>
  globSync('**/*.test.ts', { cwd: root, exclude: ['node_modules', '.parley'] })
    .filter((file) => /\bruns\(/.test(readFileSync(`${root}${file}`, 'utf8')))
    .sort();

/** What a part says of itself in its last lines. */
const parting = 'forge|schemathesis|model|sim|planted|crashes|nodes';
const saidOfParts = new RegExp(`^(?:${parting}): (.*)|(\\d+) generated,|(left out)$`, 'gm');

async function onRealNodes(): Promise<Outcome> {
  if (process.env.PARLEY_JAVA_TRON || process.env.PARLEY_SOLANA_VALIDATOR) {
    const promises = await run(['test/adapters/real-nodes.ts']);
    const demo = await run(['scripts/demo.ts', '--all', '--minutes', '30']);
    return { code: promises.code || demo.code, output: promises.output + demo.output };
  }
  const output = 'no real node is given, neither java-tron nor a Solana validator: left out';
  console.log(output);
  return { code: 0, output };
}

const parts: Readonly<Record<Name, () => Promise<Outcome>>> = {
  fuzz: () => tests(['test/fuzz.test.ts', 'test/fuzz-sockets.test.ts']),
  properties: () => tests(propertyFiles()),
  faults: () =>
    tests([
      ...globSync('test/faults-*.test.ts', { cwd: root }).sort(),
      ...['test/crashes.test.ts', 'test/crash-matrix/processes.test.ts'],
    ]),
  model: () => run(['test/model/run.ts']),
  sim: () => {
    const from = values.seed === undefined ? [] : ['--from', values.seed];
    return run(['test/sim/run.ts', '--known', '--seeds', values.markets, ...from], simLimitMs);
  },
  planted: () => {
    const { bug, by } = values;
    const kind = by === '' ? [] : ['--by', by];
    return run(['test/planted/run.ts', '--bug', bug, ...kind], plantedLimitMs);
  },
  crashes: () => run(['--max-old-space-size=1024', 'test/crash-matrix/run.ts', '--told']),
  schemathesis: () => run(['scripts/schemathesis.ts']),
  nodes: onRealNodes,
  'contracts/escrows': () => run(['contracts/escrows/test.ts', '--profile', 'soak']),
};

if (values.list) {
  console.log(JSON.stringify({ parts: Object.keys(parts), properties: propertyFiles() }));
  process.exit(0);
}
const outcomes: string[] = [];
let failed = 0;
for (const [name, part] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`\n== ${name}`);
  const began = Date.now();
  const { code, output } = await part();
  if (code !== 0) failed += 1;
  const counts = [...output.matchAll(/^ℹ (\d+ (?:requests|exchanges)|pass \d+|fail \d+)/gm)];
  const more = output.matchAll(saidOfParts);
  const said = [...counts, ...more].map((each) => each.slice(1).find((part) => part));
  const seconds = Math.round((Date.now() - began) / 1_000);
  outcomes.push(`${name}: ${code === 0 ? 'ok' : 'FAILED'} in ${seconds} s (${said.join(', ')})`);
}
console.log(`\n${outcomes.join('\n')}`);
console.log(`soak: ${outcomes.length - failed} of ${outcomes.length} parts passed`);
process.exit(failed === 0 ? 0 : 1);
