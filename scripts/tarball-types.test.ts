// Declarations of a small package, and those that its tarball has.

import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { declared } from './tarball-types.ts';

const resolve = (file: string, specifier: string) =>
  specifier.startsWith('.')
    ? [join(dirname(file), specifier).replace(/\.js$/, '.d.ts')]
    : specifier === '@b/b.ts'
      ? ['b/dist/b.d.ts']
      : [];

const lines = (...all: string[]) => `${all.join('\n')}\n`;

const left = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(declared(new Map(Object.entries(texts)), resolve, ['a/dist/a.d.ts']));

test('an entry keeps its exports and comments; others keep what these lead to', () => {
  const made = left({
    'a/dist/a.d.ts': lines(
      "import { type Used, idle } from './kit.js';",
      `/** The entry's; a "}" and a \`;\` in words. */`,
      'export declare function ask(of: Used): Promise<import("@b/b.ts").Named>;',
      "export type Unused = 'x; }';",
    ),
    'a/dist/kit.d.ts': lines(
      "import type { Far } from './far.js';",
      '/** Kept. */',
      'export type Used = {',
      '    readonly own: Own;',
      "    /** A member's. */",
      `    readonly text: \`\${string};\`;`,
      '};',
      'type Own = 1;',
      '/** Dropped. */',
      'export interface Idle {',
      '    readonly far: Far;',
      '}',
      'export declare const idle: Idle;',
    ),
    'a/dist/far.d.ts': 'export type Far = 1;\n',
    'b/dist/b.d.ts': 'export type Named = 1;\nexport type Other = 2;\n',
  });
  assert.deepEqual(Object.keys(made).sort(), ['a/dist/a.d.ts', 'a/dist/kit.d.ts', 'b/dist/b.d.ts']);
  const entry = made['a/dist/a.d.ts'] ?? '';
  const kit = made['a/dist/kit.d.ts'] ?? '';
  assert.match(entry, /import \{ ?type Used ?\} from '\.\/kit\.js';/);
  assert.match(entry, /The entry's/);
  assert.match(entry, /Unused/);
  assert.match(kit, /Kept[\s\S]*A member's[\s\S]*type Own/);
  assert.doesNotMatch(kit, /Dropped|Idle|Far/);
  assert.doesNotMatch(made['b/dist/b.d.ts'] ?? '', /Other/);
});

test('lists, renamed names, classes and several names of one statement are followed', () => {
  const made = left({
    'a/dist/a.d.ts': lines(
      "export { Here as There, size } from './kit.js';",
      "export * from './all.js';",
    ),
    'a/dist/kit.d.ts': lines(
      "import { Base } from './base.js';",
      'declare class Here extends Base {',
      '    one(): void;',
      '}',
      'export { Here };',
      'export declare const size = 5, other: { a: 1 };',
      'export type Idle = 1;',
    ),
    'a/dist/base.d.ts': 'export declare class Base {\n}\nexport type Idle = 1;\n',
    'a/dist/all.d.ts': 'export type One = Two;\ntype Two = 2;\n',
  });
  assert.match(
    made['a/dist/kit.d.ts'] ?? '',
    /class Here[\s\S]*export \{ ?Here ?\}[\s\S]*size = 5/,
  );
  assert.match(made['a/dist/base.d.ts'] ?? '', /class Base/);
  assert.match(made['a/dist/all.d.ts'] ?? '', /One[\s\S]*Two = 2/);
  for (const text of Object.values(made)) assert.doesNotMatch(text, /Idle/);
});
