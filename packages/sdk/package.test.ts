// The package against its README: each named module can be imported. The picture of the states is
// that of their text, by which every settlement on paper chains goes (testing/paper-scene.ts).

import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drawStates, pictureFile, readStates } from './testing/states.ts';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Without the root, which has names of all. */
function modules(): Record<string, string> {
  type Entry = Readonly<Record<string, string>>;
  const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, Entry> };
  const named = Object.entries(exports).filter(([name]) => !/^\.$|\*|package\.json$/.test(name));
  return Object.fromEntries(named.map(([name, entry]) => [name, entry['@parley/source'] ?? '']));
}

test('the root has every name that a document imports from a module of the table', async () => {
  const imported = /import (type )?\{([^}]*)\} from '@parley\/sdk\/([^']*)'/g;
  const root = (await import('./index-node.ts')) as Record<string, unknown>;
  const types = read('index.ts');
  let found = 0;
  const documents = [
    'README.md',
    ...['trade', 'settle'].map((name) => `../../docs/sdk-${name}.md`),
  ];
  const text = documents.map(read).join('');
  for (const [, ofTypes, names = '', module = ''] of text.matchAll(imported)) {
    // A program of a real network takes nothing of it.
    if (module === 'dev') continue;
    const own = (await import(`./${module}.ts`)) as Record<string, unknown>;
    for (const each of names.split(',').map((name) => name.trim())) {
      const name = each.replace('type ', '');
      if (ofTypes !== undefined || each !== name) assert.match(types, new RegExp(`\\b${name}\\b`));
      else assert.equal(root[name], own[name] ?? assert.fail(name), name);
      found += 1;
    }
  }
  assert.ok(found > 15, `${found} names`);
});

test('the table of the README has every export of the package, and nothing else', () => {
  const exports = modules();
  const [, table = ''] = /\| module \|.*\n(?:\|-.*\n)((?:\|.*\n)+)/.exec(read('README.md')) ?? [];
  const firsts = table.split('\n').map((row) => row.split('|')[1] ?? '');
  const named = firsts.flatMap((cell) => cell.match(/(?<=`)[\w/-]+(?=`)/g) ?? []);
  assert.deepEqual(named.map((name) => `./${name}`).sort(), Object.keys(exports).sort());
  for (const [name, file] of Object.entries(exports)) {
    assert.equal(file, `${name}.ts`);
    assert.ok(existsSync(new URL(file, import.meta.url)), file);
  }
});

test('every import of the package in a document is exported, and nothing of the sources is', () => {
  const exports = modules();
  const root = join(import.meta.dirname, '../..');
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((each) => each.isDirectory() && each.name !== 'node_modules')
    .map(({ name }) => name);
  const documents = globSync(['*.md', `{${folders.join()}}/**/*.md`], { cwd: root });
  const imported = /import (?:type )?\{([^}]*)\} from '(@parley\/sdk|\.\.?)\/([^']*)'/g;
  let found = 0;
  for (const document of documents) {
    for (const [, names = '', of, module = ''] of read(`../../${document}`).matchAll(imported)) {
      const where = `${document}: ${of}/${module}`;
      // A program beside the one that imports it is the document's own.
      if (of !== '@parley/sdk') {
        assert.ok(read(`../../${document}`).includes(`\n\`${module}\`\n`), where);
        continue;
      }
      const source = read(exports[`./${module}`] ?? assert.fail(`${where} is not exported`));
      for (const each of names.split(',').map((name) => name.trim().replace('type ', ''))) {
        if (each === '') continue;
        assert.match(source, new RegExp(`^export [^;]*?\\b${each}\\b`, 'm'), `${where} ${each}`);
        found += 1;
      }
    }
  }
  assert.ok(found > 30, `${found} names`);
});

test('the picture of the states is drawn from their text, and its page explains each', () => {
  const { places, arrows } = readStates();
  assert.equal(readFileSync(pictureFile, 'utf8'), drawStates());
  const page = read('../../docs/sdk-settle.md');
  assert.ok(page.includes('/sdk/states.svg)'));
  for (const state of places.keys()) assert.ok(page.includes(`| \`${state}\` |`), state);
  const named = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  assert.deepEqual([...named].sort(), [...places.keys()].sort());
});
