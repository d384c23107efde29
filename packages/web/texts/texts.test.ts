// Every language says the same things with the same values, and the first screen's words are loaded
// with it.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { test } from 'node:test';
import { allLanguages, languageFor, languages, localeOf } from './languages.ts';
import { restOfWords, spoken, type Text, text } from './texts.ts';

type Catalogue = Readonly<Record<string, Text>>;

/** Both parts of each language. */
const catalogues = await Promise.all(
  allLanguages.map(async (name) => {
    const { default: first } = await languages[name].first();
    const { default: rest } = await languages[name].rest();
    return { name, first: first as Catalogue, rest: rest as Catalogue };
  }),
);
const english = catalogues.find(({ name }) => name === 'en') ?? assert.fail();
const all: Catalogue = { ...english.first, ...english.rest };

const keysOf = (catalogue: Catalogue) => Object.keys(catalogue).sort();
const formsOf = (each: Text | undefined) =>
  each === undefined ? [] : typeof each === 'string' ? [each] : Object.values(each);
const valuesOf = (form: string) => [...form.matchAll(/\{(\w+)\}/g)].map(([name]) => name);

test('each language has every text, with the values of the English one', () => {
  for (const { name, first, rest } of catalogues) {
    for (const [key, said] of Object.entries(all)) {
      const wanted = new Set(formsOf(said).flatMap(valuesOf));
      const found = formsOf({ ...first, ...rest }[key]);
      assert.notEqual(found.length, 0, `${name} lacks ${key}`);
      const named = new Set(found.flatMap(valuesOf));
      assert.deepEqual([...named].sort(), [...wanted].sort(), `${name}: ${key}`);
      for (const form of found) assert.notEqual(form.trim(), '', `${name}: ${key}`);
    }
    assert.deepEqual(keysOf(first), keysOf(english.first), `${name}: first`);
    assert.deepEqual(keysOf(rest), keysOf(english.rest), `${name}: rest`);
  }
});

test('each plural form is one of its language, and the last resort is there', () => {
  for (const { name, first, rest } of catalogues) {
    const { pluralCategories } = new Intl.PluralRules(name).resolvedOptions();
    for (const [key, said] of Object.entries({ ...first, ...rest })) {
      const forms = typeof said === 'string' ? ['other'] : Object.keys(said);
      assert.ok(forms.includes('other'), `${name}: ${key}`);
      const unknown = forms.filter((form) => !pluralCategories.some((each) => each === form));
      assert.deepEqual(unknown, [], `${name}: ${key}`);
    }
  }
});

/** Keys in a source: those in quotes, and those that a template completes, as patterns. */
function keysIn(source: string): { keys: Set<string>; patterns: RegExp[] } {
  const quoted = [...source.matchAll(/'([\w.-]+)'/g)].map(([, key = '']) => key);
  const templates = [...source.matchAll(/`([\w.-]*\$\{[^`]*)`/g)].map(([, each = '']) => each);
  const patterns = templates
    .filter((each) => /^[\w-]+[._]/.test(each))
    .map(
      (each) => new RegExp(`^${each.replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '[\\w.]+')}$`),
    );
  return { keys: new Set(quoted.filter((key) => key in all)), patterns };
}

const app = new URL('..', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, app), 'utf8');

/** Files that a file takes along, whether at once or when they are due. */
function importsOf(file: string): string[] {
  const code = read(file).replace(/import type [^;]*;/g, '');
  const found = [...code.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.tsx?)'/g)];
  const paths = found.map(([, name = '']) => normalize(`${dirname(file)}/${name}`));
  // Routes name all screens; this one is the first. The notices about swaps wait for their words by
  // themselves.
  const other = /^screens\/(?!swap-box)|^app\/driving\.tsx$/;
  const isOther = (path: string) => file.startsWith('app/') && other.test(path);
  return paths.filter((path) => !/^\.\.|^texts\//.test(path) && !isOther(path));
}

test('the texts of the first screen come with it', () => {
  const files = new Set(['main.tsx']);
  for (const file of files) for (const each of importsOf(file)) files.add(each);
  assert.ok(files.has('screens/swap-box/swap-box.tsx') && files.size > 50, `${files.size} files`);
  for (const file of files) {
    const { keys, patterns } = keysIn(read(file));
    const said = Object.keys(all).filter(
      (key) => keys.has(key) || patterns.some((each) => each.test(key)),
    );
    const late = said.filter((key) => !(key in english.first));
    assert.deepEqual(late, [], `${file} may be shown before these are loaded`);
  }
});

test('every text is said somewhere', () => {
  const names = readdirSync(app, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.tsx?$/.test(name) && !/^(?:dist|texts)\//.test(name));
  const found = files
    .filter((name) => !name.endsWith('.test.ts'))
    .map((file) => keysIn(read(file)));
  const isSaid = (key: string) =>
    found.some(({ keys, patterns }) => keys.has(key) || patterns.some((each) => each.test(key)));
  assert.deepEqual(
    Object.keys(all).filter((key) => !isSaid(key)),
    [],
  );
});

test('a person is spoken to in the language chosen, else in the first that the browser wants', () => {
  for (const [chosen, wanted, language, locale] of [
    [null, ['en-GB'], 'en', 'en-GB'],
    [null, ['de-CH', 'en-US'], 'de', 'de-CH'],
    [null, ['fr-FR', 'en-US', 'de'], 'en', 'en-US'],
    [null, ['fr-FR'], 'en', 'en'],
    [null, [], 'en', 'en'],
    ['en', ['de-CH'], 'en', 'en'],
    ['de', ['fr-FR', 'de-AT'], 'de', 'de-AT'],
    ['xx', ['EN-us'], 'en', 'EN-us'],
  ] as const) {
    const found = languageFor(chosen, wanted);
    assert.equal(found, language);
    assert.equal(localeOf(found, wanted), locale);
  }
});

test('a text has its values, its plural form, and its key where it is not there', async () => {
  const first = { 'a.b': { one: '{count} swap', other: '{count} swaps of {name}' } };
  spoken.set({ language: 'en', locale: undefined, first, rest: null });
  const said = (count: number) => text('a.b' as never, { count, name: '$&' });
  assert.deepEqual([0, 1, 2].map(said), ['0 swaps of $&', '1 swap', '2 swaps of $&']);
  assert.equal(text('help.title'), 'help.title');
  await restOfWords();
  assert.equal(text('help.title'), all['help.title']);
  assert.equal(restOfWords(), undefined);
  // Other files of the same process read English.
  spoken.set({ language: 'en', locale: undefined, ...english });
});
