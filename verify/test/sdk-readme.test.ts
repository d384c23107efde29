// The examples of packages/sdk/README.md and docs/sdk-trade.md, each party a program in a folder that
// has the package and nothing else of this repository, against a market.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pack } from '@parley/scripts/tarballs.ts';
import { installOffline } from './support/installed.ts';
import { newLog, startMaker } from './support/maker.ts';
import { type RunningMarket, sharedMarket } from './support/market.ts';
import { type OtherNode, otherNodes, thisNode as own } from './support/nodes.ts';

const limitMs = 90_000;
const opened = sharedMarket();

let documents: string;
let dir: string;
let market: RunningMarket;
const running = new Set<ChildProcess>();
before(async () => {
  const names = ['packages/sdk/README.md', 'docs/sdk-trade.md'];
  const texts = names.map((name) => readFile(join(import.meta.dirname, '../..', name), 'utf8'));
  documents = (await Promise.all(texts)).join('');
  dir = await mkdtemp(join(tmpdir(), 'parley-readme-'));
  await installOffline(await pack('sdk', dir), dir);
  market = await opened();
});
after(async () => {
  for (const child of running) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

/** The program after the line that is the file's name alone. */
function fileOf(name: string): string {
  const after = documents.split(`\n\`${name}\`\n`)[1] ?? '';
  const [, program] = /^\n```ts\n([\s\S]*?)```/.exec(after) ?? [];
  return program ?? assert.fail(`the documents have no ${name}`);
}

/** A folder with the examples as they stand; for a Node that takes no types, without them. */
async function folderWith(node: OtherNode, files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(dir, 'party-'));
  for (const [name, text] of Object.entries(files)) {
    if (node.takesTypes) await writeFile(join(folder, name), text);
    else {
      const plain = stripTypeScriptTypes(text).replaceAll('./party.ts', './party.mjs');
      await writeFile(join(folder, name.replace('.ts', '.mjs')), plain);
    }
  }
  return folder;
}

/** Its output when it ends. */
function run(node: OtherNode, folder: string, name: string, env: Record<string, string>) {
  const file = node.takesTypes ? name : name.replace('.ts', '.mjs');
  // npm puts flags of the tests into the environment; and what is in a new folder is in no cache.
  const { NODE_OPTIONS: _, NODE_COMPILE_CACHE: __, ...rest } = process.env;
  const child = spawn(node.path, [file], {
    cwd: folder,
    env: { ...rest, URL: market.ready.url, DEV: market.ready.dev ?? '', ...env },
    timeout: limitMs,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const ended = new Promise<{ code: number | null; said: string }>((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      resolve({ code, said });
    });
  });
  return { child, ended };
}

const filesOf = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, fileOf(name)]));
const sides = ['party.ts', 'maker.ts', 'taker.ts'];

test('the first program is 30 lines, and is paid by the maker of the dev network', {
  timeout: 200_000,
}, async () => {
  const program = fileOf('first.ts');
  const lines = program.split('\n').filter((line) => line.trim() !== '');
  assert.ok(lines.length <= 30, `${lines.length} lines`);
  const { url, dev } = market.ready;
  const env = { PARLEY_HOME: join(dir, 'maker') };
  const args = ['dev', '--url', url, '--dev', dev ?? ''];
  const maker = startMaker(args, newLog(), env);
  try {
    await maker.heard(({ event }) => event === 'started');
    const { code, said } = await run(
      own,
      await folderWith(own, filesOf('first.ts')),
      'first.ts',
      {},
    ).ended;
    assert.equal(code, 0, said);
    assert.match(said, /^received\n$/m);
  } finally {
    await maker.kill();
  }
});

test('BTC for dollars: a taker that is killed once it has funded is paid by restart.ts', {
  timeout: 200_000,
}, async () => {
  const folder = await folderWith(own, filesOf(...sides, 'restart.ts'));
  const maker = run(own, folder, 'maker.ts', {});
  const taker = run(own, folder, 'taker.ts', {});
  taker.child.stdout.on('data', (chunk: Buffer) => {
    if (/^funding of leg b/m.test(chunk.toString())) taker.child.kill('SIGKILL');
  });
  const { code: killed, said: before } = await taker.ended;
  assert.equal(killed, null, before);
  // Without a market to ask.
  const { code, said } = await run(own, folder, 'restart.ts', { URL: '' }).ended;
  assert.equal(code, 0, said);
  assert.match(said, /^\S{36} received\n$/);
  assert.match((await maker.ended).said, /^received\n$/m);
});

// Other Nodes load each entry in verify/test/package.test.ts; those that are named trade here too.
for (const node of process.env.PARLEY_NODES ? otherNodes() : []) {
  test(`TRX for SOL: both parties are paid, on Node ${node.version}`, {
    timeout: 200_000,
  }, async () => {
    const folder = await folderWith(node, filesOf(...sides));
    const pair = { PAIR: 'TRX SOL' };
    const both = ['maker.ts', 'taker.ts'].map((name) => run(node, folder, name, pair).ended);
    for (const { code, said } of await Promise.all(both)) {
      assert.equal(code, 0, said);
      assert.match(said, /^received\n$/m);
    }
  });
}

test('an example without the address of the dev network says what to give', async () => {
  const folder = await folderWith(own, filesOf(...sides));
  const { code, said } = await run(own, folder, 'taker.ts', { DEV: '' }).ended;
  assert.notEqual(code, 0);
  assert.match(
    said,
    /wants the control address of a dev network: the address that "npm start" prints/,
  );
});
