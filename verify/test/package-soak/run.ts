// `npm run soak -- packages`: SDK, command line and maker as an outsider has them, installed by npm
// from their tarballs. The command makes the first trade of its guide, and the maker its first
// quote. The SDK is bundled by webpack, and every example of its README runs on the oldest Node of
// each line that it names. Asks the registry of this machine's npm.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Packed, pack } from '@parley/scripts/tarballs.ts';
import { everyEntry } from '../support/bundler.ts';
import { firstTrade } from './first-trade.ts';
import { install } from './install.ts';
import { firstQuote } from './maker.ts';

/** The least of `engines`, and the first that runs types as they stand. */
const nodes = ['20.19.0', '22.18.0'];
const webpackVersion = '5.113.0';

type Stats = {
  toJson(options: { all: false; errors: true; assets: true }): {
    readonly errors: readonly { readonly message: string }[];
    readonly assets: readonly { readonly size: number }[];
  };
};
type Webpack = (
  options: object,
  done: (error: Error | null, stats: Stats | undefined) => void,
) => unknown;

async function nodeAt(folder: string, version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  await install(folder, [`${name}@${version}`]);
  return join(folder, 'node_modules', name, 'bin/node');
}

async function bundledByWebpack(folder: string, program: string): Promise<number> {
  const page = join(folder, 'page.js');
  await writeFile(page, program);
  const webpack = createRequire(page)('webpack') as Webpack;
  const options = {
    mode: 'production',
    target: 'web',
    context: folder,
    entry: page,
    experiments: { outputModule: true },
    performance: false,
    output: { path: join(folder, 'out'), library: { type: 'module' } },
  };
  const { errors, assets } = await new Promise<ReturnType<Stats['toJson']>>((resolve, reject) => {
    webpack(options, (error, stats) => {
      if (error !== null || stats === undefined) reject(error ?? new Error('no answer'));
      else resolve(stats.toJson({ all: false, errors: true, assets: true }));
    });
  });
  assert.deepEqual(
    errors.map(({ message }) => message),
    [],
  );
  return assets.reduce((sum, { size }) => sum + size, 0);
}

async function pagesOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'node_modules/@parley/sdk/package.json'), 'utf8');
  const { exports } = JSON.parse(text) as { readonly exports: Readonly<Record<string, unknown>> };
  const names = Object.keys(exports)
    .filter((name) => name !== './package.json')
    .map((name) => name.replace('.', '@parley/sdk'));
  const wanted = "export { formatAmount } from '@parley/sdk/people';";
  const alone = await bundledByWebpack(folder, wanted);
  const beside = await bundledByWebpack(folder, `import '@parley/sdk/settle';\n${wanted}`);
  assert.equal(beside, alone);
  const all = await bundledByWebpack(folder, everyEntry(names));
  return `webpack: ${alone} bytes of people alone, ${all} of every entry`;
}

/** Resolves with the exit code. */
function examples(paths: readonly string[]): Promise<number> {
  const files = ['verify/test/sdk-readme.test.ts', 'verify/test/package.test.ts'];
  const args = ['--test', '--test-reporter=spec', '--test-concurrency=1', ...files];
  const env = { ...process.env, PARLEY_NODES: paths.join(delimiter) };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

const work = await mkdtemp(join(tmpdir(), 'parley-package-soak-'));
try {
  const sums = (made: readonly Packed[]) => made.map(({ sha256 }) => sha256);
  const filesOf = (made: readonly Packed[]) => made.map(({ file }) => file);
  const sdk = await pack('sdk', work);
  assert.deepEqual(sums(await pack('sdk', join(work, 'again'))), sums(sdk));
  const page = join(work, 'page');
  await install(page, [...filesOf(sdk), `webpack@${webpackVersion}`]);
  const brought = (await readdir(join(page, 'node_modules'))).length;
  console.log(await pagesOf(page));
  const outside = join(work, 'outside');
  await install(outside, filesOf(await pack('cli', work)));
  const bin = join(outside, 'node_modules/@parley/cli/dist/main.js');
  console.log(`the command line: first trade in ${await firstTrade(outside, bin)} s`);
  const paths = await Promise.all(nodes.map((each) => nodeAt(join(work, each), each)));
  const seconds = await firstQuote(work);
  console.log(`maker: its first quote ${Math.round(seconds)} s after an empty folder`);
  const code = await examples(paths);
  console.log(`package: ${brought} packages beside it, Node ${nodes.join(' and ')}`);
  process.exitCode = code;
} finally {
  await rm(work, { recursive: true, force: true });
}
