// The SDK as a package: its contents, that it loads in every Node of the machine, that its types
// stand by themselves, and that a bundler takes of it what a page imports and no more.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { packageRows } from '@parley/bench/package.ts';
import { faces, type Packed, packAll } from '@parley/scripts/tarballs.ts';
import { goEnvironment } from '@parley/scripts/types.ts';
import { bundled, everyEntry } from './support/bundler.ts';
import { installOffline } from './support/installed.ts';
import { otherNodes } from './support/nodes.ts';

const run = promisify(execFile);
// A program of a new folder is in no cache, and would be written to one in vain.
const { NODE_OPTIONS: _, NODE_COMPILE_CACHE: __, ...env } = process.env;
const root = join(import.meta.dirname, '../..');

type Manifest = {
  readonly exports: Readonly<Record<string, string | { types: string; default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts?: object;
};
type Failed = { readonly code: number; readonly stdout: string; readonly stderr: string };
let dir: string;
/** By the order of `faces`. */
let packages: readonly (readonly Packed[])[];
let made: readonly Packed[];
let manifest: Manifest;
let names: readonly string[];
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-package-test-'));
  packages = await packAll(faces, dir);
  [made = []] = packages;
  await installOffline(made, dir);
  await writeFile(join(dir, 'package.json'), '{ "type": "module", "private": true }');
  const text = await readFile(join(dir, 'node_modules/@parley/sdk/package.json'), 'utf8');
  manifest = JSON.parse(text) as Manifest;
  names = Object.keys(manifest.exports)
    .filter((name) => !/\*|package\.json/.test(name))
    .map((name) => name.replace('.', '@parley/sdk'));
});
after(() => rm(dir, { recursive: true, force: true }));

test('inside are modules and types that an entry reaches, and nothing of market or tests', () => {
  const names = made.map(({ file }) => /parley-(\w+)-[\d.]+\.tgz$/.exec(file)?.[1]);
  assert.deepEqual(names.toSorted(), ['chains', 'contracts', 'core', 'host', 'sdk', 'tokens']);
  const files = made.flatMap((each) => each.files);
  const kinds = /^(?:package\.json|README\.md|LICENSE|dist\/.*\.(?:js|d\.ts))$/;
  assert.deepEqual(
    files.filter((file) => !kinds.test(file)),
    [],
  );
  const strange = /test|\bfork\/|checks\/(?!ask)|gas-account|\/inspect\.|postgres/;
  assert.deepEqual(
    files.filter((file) => strange.test(file) && file.endsWith('.js')),
    [],
  );
  assert.equal(manifest.scripts, undefined);
});

test('its bench weighs it', async () => {
  assert.ok((await packageRows(made, dir)).length > 0);
});

test('every entry loads in each Node of the machine, by its own conditions', async () => {
  const program = `for (const name of ${JSON.stringify(names)}) await import(name);`;
  await writeFile(join(dir, 'all.mjs'), program);
  for (const path of [process.execPath, ...otherNodes().map((each) => each.path)]) {
    const { stderr } = await run(path, ['all.mjs'], { cwd: dir, env });
    assert.equal(stderr, '', path);
  }
});

test('the types of every entry and the examples compile in a strict program of others', async () => {
  const documents = ['packages/sdk/README.md', 'docs/sdk-trade.md'];
  const texts = await Promise.all(documents.map((name) => readFile(join(root, name), 'utf8')));
  const programs = [...texts.join('').matchAll(/\n`([\w-]+)\.ts`\n\n```ts\n([\s\S]*?)```/g)];
  const used = new Map<string, number>();
  const files: string[] = [];
  const write = async (file: string, text: string) => {
    files.push(file);
    await writeFile(join(dir, file), text);
  };
  for (const [, name = '', text = ''] of programs) {
    const nth = used.get(name) ?? 0;
    used.set(name, nth + 1);
    await write(nth === 0 ? `${name}.ts` : `${name}-${nth}.ts`, text);
  }
  assert.ok(files.length >= 5, files.join());
  await write('all.ts', names.map((name, at) => `export * as a${at} from '${name}';`).join('\n'));
  const options = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--target', 'es2022'];
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const tsc = join(root, 'node_modules/.bin/tsc');
  // Several checkers read what they share once each.
  const module = ['--module', 'nodenext', '--ignoreConfig', '--checkers', '1'];
  const said = await run(tsc, [...options, ...types, ...module, ...files], {
    cwd: dir,
    env: { ...process.env, ...goEnvironment },
  }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
  // Types of the packages beside it are their own makers'.
  const ours = said
    .split('\n')
    .filter((line) => /^(?:node_modules\/@parley|[\w-]+\.ts)/.test(line));
  assert.deepEqual(ours, []);
});

test('a page with `people` alone has no more, whatever it imports', async () => {
  const wanted = "export { formatAmount } from '@parley/sdk/people';";
  const alone = await bundled(dir, wanted);
  const beside = await bundled(dir, `import '@parley/sdk/settle';\n${wanted}`);
  const bytes = alone.code.length;
  assert.ok(bytes > 100 && bytes < 6_000, `${bytes} bytes`);
  assert.equal(beside.code.length, bytes);
  const strange = beside.modules.filter(
    (file) => !/page\.js$|\/(?:people|amounts|formats|remembered)\.js$/.test(file),
  );
  assert.deepEqual(strange, []);
});

test('every entry but the file store is bundled without a module of Node', async () => {
  const { ofNode, modules } = await bundled(dir, everyEntry(names));
  assert.deepEqual(ofNode, []);
  assert.ok(modules.some((file) => file.endsWith('bytes-web.js')));
});

const installFace = (name: (typeof faces)[number], folder: string) =>
  installOffline(packages[faces.indexOf(name)] ?? [], folder);

test('the maker starts from its own package in an empty folder, and names what its settings lack', async () => {
  const folder = join(dir, 'maker');
  await installFace('maker', folder);
  await writeFile(
    join(folder, 'maker.toml'),
    'store = "store"\n[market]\nurl = "http://a.example"\n',
  );
  const bin = 'node_modules/@parley/maker/dist/bin.js';
  for (const path of [process.execPath, ...otherNodes().map((each) => each.path)]) {
    const asked = run(path, [bin, 'maker.toml'], { cwd: folder, env });
    await assert.rejects(asked, ({ code, stderr }: { code: number; stderr: string }) => {
      assert.match(stderr, /market\.url: must be https, or http of this machine/);
      assert.match(stderr, /market\.login: is missing/);
      return code === 2;
    });
  }
});

for (const [name, main, args] of [
  ['cli', 'main.js', ['settle']],
  ['mcp', 'bin.js', ['--read-only']],
] as const) {
  test(`the ${name} runs from its own package in an empty folder, on each Node`, async () => {
    const folder = join(dir, name);
    await installFace(name, folder);
    const bin = `node_modules/@parley/${name}/dist/${main}`;
    const options = { cwd: folder, env: { ...env, HOME: folder } };
    for (const path of [process.execPath, ...otherNodes().map((each) => each.path)]) {
      const asked = run(path, [bin, ...args], options);
      await assert.rejects(asked, ({ code, stdout: out, stderr: said }: Failed) => {
        assert.match(said, /there is no profile: make one with "parley init"/);
        assert.equal(out, '', 'standard output is the protocol’s');
        return code === 7;
      });
    }
  });
}
