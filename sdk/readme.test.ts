// The examples of README.md, each run by its own command against a market of its own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ownMarket, type Stage } from '../scripts/demo/market.ts';

const root = join(import.meta.dirname, '..');
const limitMs = 90_000;

/** In the shell of a newcomer, who has whatever Node the machine has. */
function run(command: string, env: Record<string, string>) {
  const own = join('node_modules', '.bin');
  const PATH = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.endsWith(own));
  const child = spawn('bash', ['-c', command], {
    cwd: root,
    env: { ...process.env, ...env, PATH: PATH.join(delimiter) },
    timeout: limitMs,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  return new Promise<{ code: number | null; said: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, said }));
  });
}

let readme: string;
let dir: string;
let market: Stage;
before(async () => {
  readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
  dir = await mkdtemp(join(tmpdir(), 'parley-readme-'));
  market = await ownMarket();
});
after(async () => {
  await market.stop();
  await rm(dir, { recursive: true, force: true });
});

/** The first program after the command that names its file, and that command. */
function exampleOf(name: string) {
  const [before = '', after = ''] = readme.split(` ${name}\n`);
  const command = before.slice(before.lastIndexOf('\n') + 1);
  // npm 10 links no `node` into node_modules/.bin, so `npx node` would be the machine's own.
  assert.equal(command, 'DEV=<control address> npm run -s node --');
  const example = /```ts\n([\s\S]*?)```/.exec(after)?.[1] ?? '';
  assert.match(example, /settle\(/);
  return { command, example };
}

/** `first`: what stands before it in its file. */
async function runExample(name: string, env: Record<string, string>, first = '') {
  const { command, example: own } = exampleOf(name);
  const example = first + own;
  const file = join(dir, name);
  const base = pathToFileURL(`${root}/`).href;
  // npm runs it in the repository, which no test writes to.
  const placed = example
    .replaceAll(/(?<=from ')\.\//g, base)
    .replace('.parley/example/', `${dir}/`);
  await writeFile(file, placed);
  return run(`${command.replace(/^DEV=\S+ \S+ /, '')} ${file}`, { URL: market.url, ...env });
}

for (const name of ['example.ts', 'trx-for-sol.ts']) {
  test(`${name} of the README runs as it stands, and both are paid`, {
    timeout: 200_000,
  }, async () => {
    const { code, said } = await runExample(name, { DEV: market.dev });
    assert.equal(code, 0, said);
    assert.match(said, /received and received\n$/);
  });
}

test('refunds.ts of the README, behind the first part of example.ts, leaves signed refunds', {
  timeout: 200_000,
}, async () => {
  const [first = '', rest] = exampleOf('example.ts').example.split(/(?<=\nconst second = .*\n)/);
  assert.ok(rest !== undefined);
  const { code, said } = await runExample('refunds.ts', { DEV: market.dev }, first);
  assert.equal(code, 0, said);
  assert.match(said, /^([0-9a-f]{64}\n){8,12}the market keeps \d+ refunds, 1 to \d/m);
});

test('an example without the address of the dev network says what to give', async () => {
  const { code, said } = await runExample('example.ts', { DEV: '' });
  assert.notEqual(code, 0);
  assert.match(
    said,
    /control address of the dev network is ''.*the market prints when it is ready/s,
  );
});
