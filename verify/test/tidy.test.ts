// The house rules, run as a test: direction of imports, purity of core and of every plan.ts, and
// sizes in tokens. The rules are tried on snippets first, so that a rule which cannot fail is noticed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { filesOf } from '@parley/scripts/sources.ts';
import { tokensOf } from '@parley/scripts/tokens.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Tokens, since lines can be packed; the width of lines is the formatter's. */
const limits = { fileTokens: 6_000, functionTokens: 1_000 } as const;

const parts = ['core', 'chains', 'contracts', 'host'];
const product = [...parts, 'sdk', 'devnet', 'server'];
const everything = [
  ...product,
  'web',
  'trader',
  'cli',
  'maker',
  'mcp',
  'simulators',
  'watchtower',
  'scripts',
];
/** What each folder at the root may import from, itself always included. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  host: [],
  core: [],
  contracts: [],
  chains: ['core', 'contracts'],
  sdk: parts,
  trader: ['core', 'sdk'],
  web: ['core', 'sdk', 'trader'],
  cli: ['core', 'sdk', 'trader'],
  mcp: ['core', 'sdk', 'trader'],
  maker: ['core', 'sdk', 'trader'],
  watchtower: ['core', 'chains', 'host'],
  server: [...parts, 'watchtower'],
  simulators: ['core', 'contracts', 'host'],
  devnet: ['core', 'contracts', 'host', 'simulators'],
  scripts: [...product, 'web', 'maker'],
  bench: [...everything.filter((room) => room !== 'watchtower'), 'test'],
  test: everything,
};
const ports = ['db', 'settings', 'ports'];
const settled = ['settle', 'restore', ...ports];
/** The same for the rooms inside a folder: one that is not named there is a mistake. */
const rooms: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  chains: {
    tokens: [],
    nodes: [],
    interface: ['tokens'],
    gas: ['interface', 'nodes'],
    kit: ['interface', 'nodes', 'tokens', 'adapter.ts'],
    escrows: ['interface', 'kit'],
    'adapter.ts': ['interface'],
    bitcoin: ['interface', 'nodes', 'kit', 'adapter.ts'],
    evm: ['interface', 'nodes', 'tokens', 'gas', 'kit', 'escrows', 'adapter.ts'],
    tron: ['interface', 'nodes', 'tokens', 'gas', 'kit', 'escrows', 'adapter.ts'],
    solana: ['interface', 'nodes', 'tokens', 'gas', 'kit', 'adapter.ts'],
  },
  server: {
    db: [],
    settings: [],
    ports: ['db', 'settings'],
    settle: ports,
    restore: ports,
    webhooks: ports,
    messages: ports,
    market: settled,
    listing: ['market', ...ports],
    people: ['market', 'settle', ...ports],
    doctor: settled,
    edge: ['listing', 'market', 'messages', 'people', 'settle', 'webhooks', ...ports],
    start: [...settled, 'edge', 'doctor', 'listing', 'market', 'messages', 'people', 'webhooks'],
    'main.ts': ['start', 'ports', 'settings'],
  },
  web: {
    texts: [],
    market: ['texts'],
    wallets: ['texts'],
    engine: ['market', 'wallets', 'texts'],
    parts: ['market', 'engine', 'wallets', 'texts', 'style'],
    screens: ['parts', 'market', 'engine', 'wallets', 'texts', 'style'],
    app: ['screens', 'parts', 'market', 'engine', 'wallets', 'offline', 'texts', 'style'],
    style: [],
    offline: [],
    'main.tsx': ['app', 'parts', 'market', 'engine', 'offline', 'texts', 'style'],
    'rescue-main.tsx': ['screens', 'parts', 'market', 'engine', 'texts', 'style'],
    'vite.config.ts': [],
    'env.d.ts': [],
  },
};
/** Limits are data: settings are held against them before anything else is loaded. */
const isData = (file: string) => file.endsWith('/bounds.ts');
/** The wiring: the only files of the server that know the dev network. */
const wiring: readonly string[] = ['apps/market/start/boot.ts', 'apps/market/start/dev-network.ts'];

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
  /^(?:export )?(?:default )?(?:async )?function\b|^(?:export )?const \w+|^(?:test|timed)\(/;
const functionHead = /^(?:export )?(?:default )?(?:async )?function\b|=>\s*\{$/;

function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g);
  return [...found].map((each) => each[1] ?? '');
}

function isTest(file: string): boolean {
  return /\.test\.ts$|\/testing\/|\/testing\.ts$|\/support\//.test(file);
}

/** The server wires the watchtower in one room; the others know its port and its numbers. */
function seesWatchtower(file: string, target: string): boolean {
  const isWiring = file.startsWith('apps/market/start/') || !file.startsWith('apps/market/');
  return isWiring || target === 'apps/watchtower/port.ts' || isData(target);
}

/** Rooms of the app that a worker or a test in Node can load. */
const withoutReact = ['packages/web/engine/', 'packages/web/wallets/', 'packages/web/texts/'];

/** What is wrong between the screens of the app, and with its rooms of plain TypeScript. */
function webDirection(file: string, text: string): string[] {
  const names = importsOf(text);
  const isReact = (name: string) => /^(react|@tanstack\/react|react-aria)/.test(name);
  const isPlain = withoutReact.some((room) => file.startsWith(room));
  const wrong = names.filter((name) => isPlain && (isReact(name) || name.endsWith('.tsx')));
  const screenOf = (path: string) => /^web\/screens\/([^/]+)\//.exec(path)?.[1];
  const own = screenOf(file);
  // Those of the SDK do not know the language of the page.
  const words = /import \{([^}]*)\} from '[^']*sdk\/people\.ts'/.exec(text)?.[1] ?? '';
  const ofMachine = !/^web\/(?!texts)/.test(file)
    ? []
    : (words.match(/\b(?:format|local|deadline|from)\w*|\bparseAmount\b/g) ?? []);
  const others = names.filter((name) => {
    const to = screenOf(normalize(`${dirname(file)}/${name}`));
    return own !== undefined && to !== undefined && to !== own;
  });
  return [
    ...wrong.map((name) => `${file}: plain TypeScript may not import ${name}`),
    ...ofMachine.map((name) => `${file}: ${name} comes from packages/web/texts/people.ts`),
    ...others.map((name) => `${file}: a screen may not import another: ${name}`),
  ];
}

/** What is wrong with the imports of one file, a sentence each. */
function direction(file: string, text: string): string[] {
  const [from = '', roomOfFile = ''] = file.split('/');
  // The snippets below import what they must not.
  if (file === 'verify/test/tidy.test.ts') return [];
  const wrong: string[] = isTest(file) ? [] : webDirection(file, text);
  const inside = rooms[from];
  if (!(from in mayImport)) wrong.push(`${file}: ${from} is no folder that a rule covers`);
  if (inside !== undefined && !(roomOfFile in inside) && !isTest(file)) {
    wrong.push(`${file}: ${from}/${roomOfFile} is no room that a rule covers`);
  }
  for (const name of importsOf(text)) {
    if (!name.startsWith('.')) continue;
    if (!/\.(tsx?|json|mjs|css)$/.test(name)) wrong.push(`${file}: "${name}" has no extension`);
    if (isTest(file)) continue;
    const target = normalize(`${dirname(file)}/${name}`);
    const [to = '', roomOfTarget = ''] = target.split('/');
    if (to !== from) {
      const isWired =
        (to === 'devnet' && wiring.includes(file)) ||
        (to === 'server' && file === 'apps/market/watchtower.ts');
      if (!isWired && !(mayImport[from] ?? []).includes(to)) {
        wrong.push(`${file}: ${from} may not import ${target}`);
      }
      if (to === 'watchtower' && !seesWatchtower(file, target)) {
        wrong.push(`${file}: ${from} sees apps/watchtower/port.ts alone, not ${target}`);
      }
    } else if (inside !== undefined && roomOfTarget !== roomOfFile && !isData(target)) {
      const allowed = inside[roomOfFile] ?? [];
      if (!allowed.includes(roomOfTarget)) {
        wrong.push(`${file}: ${roomOfFile} may not import ${target}`);
      }
    }
  }
  return wrong;
}

/** Whether a file must be pure, and what is impure in it. */
function purity(file: string, text: string): string[] {
  const pure = (file.startsWith('packages/core/') || /\/plan\.ts$/.test(file)) && !isTest(file);
  if (!pure) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const found = impure.exec(code);
  return found === null ? [] : [`${file}: "${found[0]}" is not pure`];
}

/** Tokens of each function at the top of a file, test bodies too. */
function functionSizes(text: string): { at: number; tokens: number }[] {
  const lines = text.split('\n');
  const found: { at: number; tokens: number }[] = [];
  lines.forEach((line, index) => {
    if (!functionStart.test(line) || line.endsWith(';')) return;
    const end = lines.findIndex((each, at) => at > index && /^\}|^(?: {2})?[}\])]+;$/.test(each));
    // The head ends with the first line that opens a block or ends a statement.
    const head = lines.slice(index).find((each) => /[{;]$/.test(each)) ?? '';
    const isFunction = functionHead.test(line) || functionHead.test(head);
    if (end === -1 || !isFunction) return;
    found.push({ at: index + 1, tokens: tokensOf(lines.slice(index, end + 1).join('\n')) });
  });
  return found;
}

function sizes(file: string, text: string): string[] {
  const { fileTokens, functionTokens } = limits;
  const tokens = tokensOf(text);
  const wrong = functionSizes(text)
    .filter((each) => each.tokens > functionTokens)
    .map(({ at, tokens }) => `${file}:${at}: ${tokens} tokens, a function has ${functionTokens}`);
  if (tokens > fileTokens) wrong.push(`${file}: ${tokens} tokens, a file has ${fileTokens}`);
  return wrong;
}

const spreadLiteral = /\.\.\.\{|\.\.\.\[[^[\]]*\](?=[,\s)\]])/g;
const listOfLiterals = /\b(?:const|let) \[[^\]=.]+,[^\]=.]*\] = \[[^\];]*\](?: as const)?;/g;

/** One declaration a line: no spread of a literal, no names from a list written out. */
function packing(file: string, text: string): string[] {
  // The snippets below pack.
  if (file === 'verify/test/tidy.test.ts') return [];
  return [...text.matchAll(spreadLiteral), ...text.matchAll(listOfLiterals)].map(
    ([part]) => `${file}: packed: ${part.slice(0, 60)}`,
  );
}

function opening(file: string, text: string): string[] {
  if (isTest(file) || /^(\/\/|\/\*|#!)/.test(text)) return [];
  return [`${file}: does not open with what it is for`];
}

/** What never comes must fail its test by name, and not end the whole run after minutes. */
function waits(file: string, text: string): string[] {
  const endless = /^ *while \(.*\) await (?:sleep|wait|setTimeout|new Promise)\b.*/gm;
  const found = isTest(file) ? [...text.matchAll(endless)] : [];
  return found.map(
    ([line]) => `${file}: waitUntil of verify/test/support has a limit, not: ${line}`,
  );
}

/** Folders and documents whose sentences are held to the style so far. */
const styled = [
  ...[
    'packages/chains/bitcoin/',
    'packages/chains/gas/',
    'packages/chains/interface/',
    'packages/chains/adapter.ts',
  ],
  'packages/web/',
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/'],
];
const beginsWrongly = /^(?:what|whatever|who|whoever|nobody|nothing|none|of)\b/i;

/** A sentence begins with its subject, in comments and in documents. */
function beginnings(file: string, text: string): string[] {
  if (!styled.some((each) => file.startsWith(each))) return [];
  const parts = file.endsWith('.md') ? paragraphsOf(text) : commentsOf(file, text);
  return parts
    .flatMap((part) => part.trim().split(/(?<=[.!?])\s+/))
    .filter((sentence) => beginsWrongly.test(sentence))
    .map((sentence) => `${file}: a sentence begins with no subject: ${sentence.slice(0, 60)}`);
}

function commentsOf(file: string, text: string): string[] {
  const found = file.endsWith('.py')
    ? text.matchAll(/"""(.*?)"""|((?:^[ \t]*#.*?\n)+)/gms)
    : text.matchAll(/\/\*\*?(.*?)\*\/|((?:^[ \t]*\/\/[^\n]*\n?)+)/gms);
  return [...found].map(([, one, other]) =>
    (one ?? other ?? '').replace(/^\s*(?:\*|\/\/+[/!]?|#+)? ?(?:- )?/gm, ''),
  );
}

/** Items of lists each by itself; without code, tables and headings. */
function paragraphsOf(text: string): string[] {
  return text
    .replace(/^ *```.*?```/gms, '')
    .replace(/^(?:\||#| {4}|---).*$/gm, '')
    .split(/\n\s*\n|^ *(?:[-*]|\d+\.) /m)
    .map((part) => part.replace(/\n/g, ' '));
}

const sources = filesOf('**/*.{ts,tsx}')
  .filter((file) => !file.includes('/artifacts/') && !file.includes('/vendor/'))
  .map(read);
const written = filesOf('**/*.{sol,rs,py}', 'docs/**/*.md', '*.md')
  // forge writes folders of such names there.
  .filter((file) => !file.includes('/out/'))
  .map(read);

function read(file: string) {
  return { file, text: readFileSync(`${root}${file}`, 'utf8') };
}

test('the rules catch what they are for', () => {
  const long = (head: string, lines: number, end = '}') =>
    `${head}\n${'  a();\n'.repeat(lines)}${end}\n`;
  const from = (name: string) => `import { a } from '${name}';`;
  for (const [rule, file, text, count] of [
    [direction, 'watchtower/x.ts', from('../server/db/swaps.ts'), 1],
    [direction, 'apps/market/settle/x.ts', from('../../watchtower/sign.ts'), 1],
    [direction, 'apps/market/settle/x.ts', "import type { A } from '../../watchtower/port.ts';", 0],
    [direction, 'apps/market/watchtower.ts', from('../server/start/watchtower.ts'), 0],
    [direction, 'core/x.ts', from('../chains/adapter.ts'), 1],
    [direction, 'packages/chains/kit/x.ts', from('../../sdk/client.ts'), 1],
    [direction, 'packages/chains/nodes/x.ts', from('../evm/node.ts'), 1],
    [direction, 'packages/chains/evm/x.ts', from('../../core/terms.ts'), 0],
    [direction, 'chains/x.ts', '', 1],
    [direction, 'server/x.ts', '', 1],
    [direction, 'elsewhere/x.ts', '', 1],
    [direction, 'sdk/x.ts', from('../devnet/a.ts'), 1],
    [direction, 'apps/market/market/x.ts', from('../edge/app.ts'), 1],
    [direction, 'apps/market/market/x.ts', from('../../devnet/a.ts'), 1],
    [direction, 'apps/market/market/x.ts', from('../settle/create.ts'), 0],
    [direction, 'apps/market/settle/x.ts', "import type { A } from '../market/assets.ts';", 1],
    [direction, 'apps/market/settings/x.ts', from('../keeper/bounds.ts'), 0],
    [direction, 'core/x.ts', from('./amounts'), 1],
    [direction, 'mcp/x.ts', from('../cli/run.ts'), 1],
    [direction, 'maker/x.ts', from('../web/engine/drive.ts'), 1],
    [direction, 'trader/x.ts', from('../cli/run.ts'), 1],
    [direction, 'sdk/x.ts', from('../trader/places.ts'), 1],
    [direction, 'packages/web/engine/x.ts', from('../../trader/places.ts'), 0],
    [direction, 'packages/web/engine/x.ts', from('react'), 1],
    [direction, 'packages/web/parts/x.ts', "import { localTime } from '../../sdk/people.ts';", 1],
    [direction, 'packages/web/parts/x.ts', "import { isoTime } from '../../sdk/people.ts';", 0],
    [direction, 'packages/web/engine/x.ts', from('../parts/button.tsx'), 2],
    [direction, 'packages/web/screens/book/x.tsx', from('../help/help.tsx'), 1],
    [direction, 'packages/web/screens/book/x.tsx', from('../../parts/button.tsx'), 0],
    [direction, 'packages/web/parts/x.tsx', from('../screens/help/help.tsx'), 1],
    [direction, 'web/x.ts', '', 1],
    [purity, 'core/x.ts', 'const now = Date.now();', 1],
    [purity, 'core/x.ts', '// fetch( is not called here\nconst a = 1;', 0],
    [purity, 'packages/chains/evm/plan.ts', 'export async function plan() {}', 1],
    [purity, 'server/x.ts', 'const now = Date.now();', 0],
    [sizes, 'x.ts', 'a b c\n'.repeat(2_001), 1],
    [sizes, 'x.ts', long('function long() {', 250), 1],
    [sizes, 'x.ts', long('const long = async (\n  a: string,\n) => {', 250, '};'), 1],
    [sizes, 'x.ts', long("test('long', async () => {", 250, '});'), 1],
    [sizes, 'x.ts', long('function short() {', 245), 0],
    [sizes, 'x.ts', `const table = [\n${'  1,\n'.repeat(900)}];\n`, 0],
    [packing, 'x.ts', 'f({ ...{ a, b }, c });', 1],
    [packing, 'x.ts', 'f({\n  ...{\n    a,\n  },\n});', 1],
    [packing, 'x.ts', 'const a = [...[b, c], d];', 1],
    [packing, 'x.ts', "const a = [...['b', 'c'].map(d)];", 0],
    [packing, 'x.ts', 'f({ ...a, ...(b && { c }) });', 0],
    [packing, 'x.ts', "const [a, b] = ['c', 'd'];", 1],
    [packing, 'x.ts', 'let [a, b] = [\n  1,\n  2,\n] as const;', 1],
    [packing, 'x.ts', 'const [a, b] = [1, 2].map(String);', 0],
    [packing, 'x.ts', 'const [a, ...b] = [1, 2];', 0],
    [opening, 'core/x.ts', 'export const a = 1;', 1],
    [waits, 'sdk/x.test.ts', 'while (!done()) await sleep(5);', 1],
    [waits, 'sdk/x.test.ts', 'while (a < 2) await new Promise((next) => setTimeout(next, 5));', 1],
    [waits, 'sdk/x.test.ts', 'await waitUntil(() => done());', 0],
    [beginnings, 'packages/chains/gas/x.ts', '// Nobody asks.\nconst a = 1;', 1],
    [beginnings, 'packages/chains/gas/x.ts', '  /** What is paid. */\n', 1],
    [
      beginnings,
      'packages/chains/gas/x.ts',
      '/**\n * It is paid.\n * Who pays\n * is told.\n */',
      1,
    ],
    [
      beginnings,
      'packages/chains/gas/x.ts',
      "// It is paid by\n// nobody.\nconst a = 'What is it?';",
      0,
    ],
    [beginnings, 'packages/chains/gas/x.sol', '/// Of two one counts.\n', 1],
    [beginnings, 'packages/chains/gas/x.py', '# Whoever pays.\n', 1],
    [beginnings, 'docs/nodes.md', 'One.\n\n- Two is it. None\n  is left.\n', 1],
    [beginnings, 'docs/nodes.md', '# What it is\n\n| Nothing |\n\nIt is one\nof two.\n', 0],
  ] as const) {
    assert.equal(rule(file, text).length, count, `${file}: ${text.slice(0, 60)}`);
  }
});

const rules = { direction, purity, sizes, packing, opening, waits, beginnings };
for (const [name, rule] of Object.entries(rules)) {
  test(`every source keeps the rule of ${name}`, () => {
    assert.ok(sources.length > 30, `only ${sources.length} sources found`);
    const held = rule === beginnings ? [...sources, ...written] : sources;
    const wrong = held.flatMap(({ file, text }) => rule(file, text));
    assert.deepEqual(wrong, [], wrong.join('\n'));
  });
}
