// The house rules, run as a test: direction of imports, purity of core and of every plan.ts, and
// sizes. The rules are tried on snippets first, so that a rule which cannot fail is noticed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const limits = { fileLines: 500, functionLines: 70, columns: 100 } as const;

/** What each room may import from, itself always included. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  chains: ['core', 'contracts'],
  contracts: [],
  host: [],
  sdk: ['core', 'chains', 'contracts', 'host'],
  cli: ['sdk', 'core'],
  web: ['sdk', 'core'],
  server: ['core', 'chains', 'contracts', 'host'],
  devnet: ['core', 'contracts', 'host'],
  bench: ['core', 'chains', 'contracts', 'server', 'devnet', 'sdk', 'test', 'scripts'],
  scripts: ['core', 'chains', 'contracts', 'sdk', 'devnet', 'server'],
  test: ['core', 'chains', 'contracts', 'server', 'devnet', 'sdk', 'cli', 'scripts'],
};
/** Rooms inside the server, from the edge inwards. */
const insideServer: Readonly<Record<string, readonly string[]>> = {
  edge: ['keeper', 'listing', 'market', 'messages', 'people', 'settle', 'webhooks', 'db'],
  people: ['market', 'settle', 'db'],
  messages: ['db'],
  doctor: ['settle', 'restore', 'db'],
  keeper: ['settle', 'db'],
  listing: ['market', 'db'],
  webhooks: ['db'],
  market: ['settle', 'restore', 'db'],
  restore: ['db'],
  settle: ['db'],
  db: [],
};
/** The wiring: the only files of the server that know the dev network. */
const wiring: readonly string[] = ['server/start/boot.ts', 'server/start/dev-network.ts'];
const importsServer: readonly string[] = ['bench', 'test', 'scripts'];

const impure = new RegExp(
  [
    /\b(?:Date\.now|Math\.random|performance\.|process\.|fetch\(|setTimeout|setInterval)/,
    /new Date\(\)|\bgetRandomValues|\brandomBytes\(|\basync\b|\bawait\b|from 'node:/,
  ]
    .map((each) => each.source)
    .join('|'),
);
/** What may open a function at the top of a file: its head may go over several lines. */
const functionStart =
  /^(?:export )?(?:default )?(?:async )?function\b|^(?:export )?const \w+|^test\(/;
const functionHead = /^(?:export )?(?:default )?(?:async )?function\b|=>\s*\{$/;

function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g);
  return [...found].map((each) => each[1] ?? '');
}

function isTest(file: string): boolean {
  return /\.test\.ts$|\/testing\/|\/testing\.ts$|\/support\//.test(file);
}

/** What is wrong with the imports of one file, a sentence each. */
export function direction(file: string, text: string): string[] {
  const room = file.split('/')[0] ?? '';
  const wrong: string[] = [];
  // The snippets below import what they must not.
  if (file === 'test/tidy.test.ts') return [];
  for (const name of importsOf(text)) {
    if (!name.startsWith('.')) continue;
    if (!/\.(ts|json|mjs)$/.test(name)) wrong.push(`${file}: "${name}" has no extension`);
    const target = normalize(`${dirname(file)}/${name}`);
    const to = target.split('/')[0] ?? '';
    if (to !== room && !isTest(file)) {
      const wired = to === 'devnet' && wiring.includes(file);
      if (!wired && !(mayImport[room] ?? []).includes(to)) {
        wrong.push(`${file}: ${room} may not import ${target}`);
      }
    }
    if (to === 'server' && room !== 'server' && !isTest(file) && !importsServer.includes(room)) {
      wrong.push(`${file}: nothing imports the server`);
    }
    if (room === 'server' && to === 'server' && !isTest(file)) {
      wrong.push(...serverDirection(file, target));
    }
  }
  return wrong;
}

function serverDirection(file: string, target: string): string[] {
  const from = file.split('/')[1] ?? '';
  const to = target.split('/')[1] ?? '';
  const allowed = insideServer[from];
  if (allowed === undefined || to === from || !(to in insideServer)) return [];
  return allowed.includes(to) ? [] : [`${file}: ${from} may not import ${target}`];
}

/** Whether a file must be pure, and what is impure in it. */
export function purity(file: string, text: string): string[] {
  const pure = (file.startsWith('core/') || /\/plan\.ts$/.test(file)) && !isTest(file);
  if (!pure) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const found = impure.exec(code);
  return found === null ? [] : [`${file}: "${found[0]}" is not pure`];
}

/** Lines of each function at the top of a file, test bodies too. */
function functionLengths(text: string): { at: number; lines: number }[] {
  const lines = text.split('\n');
  const lengths: { at: number; lines: number }[] = [];
  lines.forEach((line, index) => {
    if (!functionStart.test(line) || line.endsWith(';')) return;
    const end = lines.findIndex((each, at) => at > index && /^\}|^(?: {2})?[}\])]+;$/.test(each));
    // The head ends with the first line that opens a block or ends a statement.
    const head = lines.slice(index).find((each) => /[{;]$/.test(each)) ?? '';
    const isFunction = functionHead.test(line) || functionHead.test(head);
    if (end !== -1 && isFunction) lengths.push({ at: index + 1, lines: end - index + 1 });
  });
  return lengths;
}

export function sizes(file: string, text: string): string[] {
  const wrong: string[] = [];
  const lines = text.trimEnd().split('\n');
  if (lines.length > limits.fileLines) {
    wrong.push(`${file}: ${lines.length} lines, more than ${limits.fileLines}`);
  }
  lines.forEach((line, index) => {
    // A long literal (an address, a vector) cannot be broken.
    const breakable = line.replace(/(['"`])[^'"`]{60,}\1/g, '').replace(/https?:\S+/g, '');
    if (breakable.length > limits.columns) {
      wrong.push(`${file}:${index + 1}: ${line.length} columns, more than ${limits.columns}`);
    }
  });
  for (const each of functionLengths(text)) {
    if (each.lines > limits.functionLines) {
      wrong.push(`${file}:${each.at}: a function of ${each.lines} lines`);
    }
  }
  return wrong;
}

export function opening(file: string, text: string): string[] {
  if (isTest(file) || /^(\/\/|\/\*|#!)/.test(text)) return [];
  return [`${file}: does not open with what it is for`];
}

const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.includes('/artifacts/') && !file.includes('/vendor/'))
  .flatMap((file) => {
    try {
      return [{ file, text: readFileSync(`${root}${file}`, 'utf8') }];
    } catch {
      return []; // deleted in the work tree, not yet in the index
    }
  });

test('the rules catch what they are for', () => {
  const bad = (rule: (file: string, text: string) => string[], file: string, text: string) =>
    assert.equal(rule(file, text).length, 1, `${file}: ${text.slice(0, 60)}`);
  const good = (rule: (file: string, text: string) => string[], file: string, text: string) =>
    assert.deepEqual(rule(file, text), []);
  bad(direction, 'core/x.ts', "import { a } from '../chains/adapter.ts';");
  bad(direction, 'chains/x.ts', "import { a } from '../sdk/client.ts';");
  bad(direction, 'sdk/x.ts', "import { a } from '../devnet/a.ts';");
  bad(direction, 'server/db/x.ts', "import { a } from '../edge/app.ts';");
  bad(direction, 'server/market/x.ts', "import { a } from '../edge/app.ts';");
  bad(direction, 'server/market/x.ts', "import { a } from '../../devnet/a.ts';");
  bad(direction, 'server/settle/x.ts', "import type { A } from '../market/assets.ts';");
  bad(direction, 'core/x.ts', "import { a } from './amounts';");
  good(direction, 'server/edge/x.ts', "import { a } from '../market/rfqs.ts';");
  good(direction, 'server/market/x.ts', "import { a } from '../settle/create.ts';");
  good(direction, 'chains/evm/x.ts', "import { a } from '../../core/terms.ts';");
  bad(purity, 'core/x.ts', 'const now = Date.now();');
  bad(purity, 'chains/evm/plan.ts', 'export async function plan() {}');
  bad(purity, 'core/x.ts', "import { readFileSync } from 'node:fs';");
  good(purity, 'core/x.ts', '// fetch( is not called here\nconst a = 1;');
  good(purity, 'server/x.ts', 'const now = Date.now();');
  bad(sizes, 'x.ts', `${'a\n'.repeat(501)}`);
  bad(sizes, 'x.ts', `const a = ${'b + '.repeat(30)}c;`);
  bad(sizes, 'x.ts', `function long() {\n${'  a();\n'.repeat(70)}}\n`);
  bad(sizes, 'x.ts', `const long = async (\n  a: string,\n) => {\n${'  a();\n'.repeat(70)}};\n`);
  bad(sizes, 'x.ts', `test('long', async () => {\n${'  a();\n'.repeat(70)}});\n`);
  good(sizes, 'x.ts', `const table = [\n${'  1,\n'.repeat(90)}];\n`);
  good(sizes, 'x.ts', `function short() {\n${'  a();\n'.repeat(60)}}\n`);
  bad(opening, 'core/x.ts', 'export const a = 1;');
});

for (const [name, rule] of Object.entries({ direction, purity, sizes, opening })) {
  test(`every source keeps the rule of ${name}`, () => {
    assert.ok(sources.length > 30, `only ${sources.length} sources found`);
    const wrong = sources.flatMap(({ file, text }) => rule(file, text));
    assert.deepEqual(wrong, [], wrong.join('\n'));
  });
}
