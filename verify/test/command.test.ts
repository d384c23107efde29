// Every command of package.json that takes arguments, as a program: an argument it does not
// understand is exit status 2 and a first line with the wrong part in it; --help is how to use it,
// and 0.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Misused, parsed, wholeNumber } from '@parley/host/command.ts';
import { type Commands, startCommands } from './support/commands.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Wrong arguments besides an unknown flag, and what the first line has to name. */
const wrong: Readonly<Record<string, readonly [args: string[], named: RegExp]>> = {
  start: [['here'], /"here"/],
  demo: [['--url', 'market'], /--url .*"market"/],
  wallet: [['relay', 'a', 'b', 'id', 'c', '00'], /"c"/],
  parley: [['ask', 'sel', '1', 'a', 'b'], /'sel'/],
  maker: [['dev', '--metrics', 'x'], /--metrics .*"x"/],
  faucet: [['a.json', 'b.json'], /one file/],
  package: [['market'], /"market"/],
  test: [['core/nothing-of-that-name'], /"core\/nothing-of-that-name"/],
  assets: [['reopen', 'BTC', 'ETH'], /too many arguments for 'reopen'/],
  doctor: [['--swap', 'abc'], /--swap .*'abc'.*UUID/],
  halt: [['evm-dev'], /too many arguments for 'halt'/],
  resume: [['--chain', 'a', '--asset', 'b'], /--chain .*--asset/],
  ops: [['audit', '--limit', '0'], /--limit .*'0'/],
  sim: [['--seeds', '-1'], /"-1" .*--seeds/],
  soak: [['fuzzy'], /"fuzzy"/],
  bench: [['--seconds', 'x'], /--seconds .*"x"/],
  deploy: [['--rpc', 'http://127.0.0.1:1', '--network', '../x'], /no name of a network/],
  'deploy:tron': [
    ['--url', 'http://127.0.0.1:1', '--network', '../x'],
    /name of a network, not "\.\.\/x"/,
  ],
  conformance: [['--key-file', 'k', '--contract', 'c'], /--url/],
  check: [['core'], /core/],
  watchtower: [['here'], /"here"/],
  web: [['here'], /"?here"?/],
  mcp: [['--here'], /--here/],
};
/** One runs whatever program it is given, the other is `check` with an argument. */
const without = ['prepare', 'node', 'format'];

/** With nothing to reach: a command that goes on would fail, or hang. */
const nothing = { DATABASE_URL: '', PARLEY_HOME: '/nowhere', PARLEY_CHAINS: '' };

function lineOf(name: string): string[] {
  const [, ...line] = (scripts[name] ?? '').replace(/^exec node /, 'node ').split(' ');
  return line;
}

/** As npm runs it. */
async function said(name: string, args: readonly string[]) {
  const line = lineOf(name);
  const options = { cwd: root, env: { ...process.env, ...nothing }, timeout: 120_000 };
  return run(process.execPath, [...line, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, out: stdout, err: stderr }),
  );
}

test('every command that takes arguments is tried here', () => {
  assert.deepEqual(
    Object.keys(wrong).sort(),
    Object.keys(scripts)
      .filter((name) => !without.includes(name))
      .sort(),
  );
});

/** The output of a command's own file, in a process that has loaded what commands import. */
function saidBy(commands: Commands, name: string, args: readonly string[]) {
  const [file = '', ...own] = lineOf(name).filter((word) => !isForNode(word));
  return commands.run(file, [...own, ...args], nothing);
}

const isForNode = (word: string) => word.startsWith('--') || word === 'scripts/launch.mjs';

/** One tells all it catches, the end of a process too; one asks how it was run; one is a sample. */
const isProgram = new Set(['start', 'check', 'wallet', 'watchtower']);

/** So many programs at once. */
const lanes = 3;

test('a command that is not understood is 2 and named in the first line; --help is 0', async (t) => {
  const commands = startCommands();
  t.after(() => commands.stop());
  const speak = (name: string, args: readonly string[]) =>
    isProgram.has(name) ? said(name, args) : saidBy(commands, name, args);
  const waiting = Object.entries(wrong).flatMap(([name, own]) => [
    async () => {
      const { code, out, err } = await speak(name, ['--help']);
      assert.deepEqual([code, err], [0, ''], name);
      assert.match(out, /^usage: (?:npm|parley|parley-mcp) /, name);
    },
    ...[own, [['--quickly'], /--quickly/] as const].map(([args, named]) => async () => {
      const { code, out, err } = await speak(name, args);
      const which = `${name} ${args.join(' ')}: ${err}`;
      assert.deepEqual([code, out], [2, ''], which);
      const [first = '', second = ''] = err.split('\n');
      assert.match(first, named, which);
      assert.match(second, /^usage: (?:npm|parley|parley-mcp) /, which);
    }),
  ]);
  const lane = async () => {
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) await work();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
});

test('a whole number is one within its bounds, written as one', () => {
  const bounds = { least: 2, most: 10 };
  for (const good of ['2', '10']) assert.equal(wholeNumber('--n', good, bounds), Number(good));
  for (const bad of ['1', '11', '', ' 3', '3 ', '+3', '03', '3.0', '3e0', '0x3', '-3', 'x']) {
    const sentence = `--n is a whole number from 2 to 10, not "${bad}"`;
    assert.throws(() => wholeNumber('--n', bad, bounds), new Misused(sentence));
  }
});

test('an option without its value says so in one line', () => {
  const of = (...args: string[]) => {
    const options = { n: { type: 'string' }, flag: { type: 'boolean' } } as const;
    return parsed({ args, options, allowPositionals: true });
  };
  assert.throws(() => of('--n'), new Misused('--n wants a value'));
  assert.throws(() => of('--n', '--flag'), new Misused('"--flag" is no value for --n'));
  assert.throws(() => of('--m'), new Misused(`Unknown option '--m'`));
  assert.deepEqual({ ...of('--n=-1', '--flag').values }, { n: '-1', flag: true });
  assert.deepEqual(of('--', '--n').positionals, ['--n']);
});
