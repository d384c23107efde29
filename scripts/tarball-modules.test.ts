// Modules of a small package, and the files that a tarball has of them.

import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { joined } from './tarball-modules.ts';

const resolve = (file: string, specifier: string) =>
  specifier.startsWith('.') ? [join(dirname(file), specifier)] : [];

const files = async (texts: Readonly<Record<string, string>>, ...faces: string[]) =>
  Object.fromEntries(await joined(new Map(Object.entries(texts)), resolve, new Set(faces)));

test('a module is in the file that alone reaches it, and by itself where two do', async () => {
  const made = await files(
    {
      'a/dist/one.js': "import { own } from './own.js';\nexport const one = () => own();\n",
      'a/dist/two.js': "import { both } from './in/both.js';\nexport const two = () => both();\n",
      'a/dist/own.js':
        "import { both } from './in/both.js';\n/** Words. */\nexport const own = () => both() + 1;\n",
      'a/dist/in/both.js': 'export const both = () => 1;\n',
    },
    'a/dist/one.js',
    'a/dist/two.js',
  );
  assert.deepEqual(Object.keys(made).sort(), [
    'a/dist/in/both.js',
    'a/dist/one.js',
    'a/dist/two.js',
  ]);
  const one = made['a/dist/one.js'] ?? '';
  assert.match(one, /^import \{ both \} from "\.\/in\/both\.js";$/m);
  assert.match(one, /^\/\/ module:a\/dist\/own\.js$/m);
  assert.match(one, /both\(\) \+ 1/);
  assert.doesNotMatch(one, /Words/);
});

test('an export that nothing imports is left out, and with it what it alone reaches', async () => {
  const made = await files(
    {
      'a/dist/one.js': "import { used } from './kit.js';\nexport const one = used;\n",
      'a/dist/two.js': "import { used } from './kit.js';\nexport const two = used;\n",
      'a/dist/kit.js':
        "import { dead } from './dead.js';\nexport const used = 1;\nexport const idle = () => dead;\n",
      'a/dist/dead.js': 'export const dead = 2;\n',
    },
    'a/dist/one.js',
    'a/dist/two.js',
  );
  assert.deepEqual(Object.keys(made).sort(), ['a/dist/kit.js', 'a/dist/one.js', 'a/dist/two.js']);
  assert.doesNotMatch(made['a/dist/kit.js'] ?? '', /idle|dead/);
});

test('all exports of what people import stay, and a module that is loaded later is a file', async () => {
  const lazily = ['import', '("./later.js")'].join('');
  const made = await files(
    {
      'a/dist/one.js': `export const one = 1;\nexport const later = () => ${lazily};\n`,
      'a/dist/later.js': 'export const some = 1;\nexport const more = 2;\n',
    },
    'a/dist/one.js',
  );
  assert.match(made['a/dist/one.js'] ?? '', /import\("\.\/later\.js"\)/);
  assert.match(made['a/dist/one.js'] ?? '', /export \{\n {2}later,\n {2}one\n\};/);
  assert.match(made['a/dist/later.js'] ?? '', /more,\n {2}some/);
});

test('a module that is not compiled is an error', async () => {
  const texts = { 'a/dist/one.js': "export { gone } from './gone.js';\n" };
  await assert.rejects(files(texts, 'a/dist/one.js'), /gone\.js is imported, and not compiled/);
});
