// The house rules, run as a test: direction of imports, purity of core and of every plan.ts, and
// sizes in tokens. The rules are tried on snippets first, so that a rule which cannot fail is noticed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { families } from '@parley/core/families.ts';
import { filesOf } from '@parley/scripts/sources.ts';
import { packageOf, tokensOf } from '@parley/scripts/tokens.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Tokens, since lines can be packed; the width of lines is the formatter's. */
const limits = { fileTokens: 6_000, functionTokens: 1_000 } as const;

/** A package depends on those of lines above its own. */
const layers: readonly (readonly string[])[] = [
  ['core', 'contracts', 'host'],
  ['tokens'],
  ['chains'],
  ['sdk'],
  ['trader'],
  ['cli', 'maker', 'mcp', 'web', 'watchtower', 'dev'],
  ['market'],
  ['faucet'],
  ['scripts', 'verify', 'bench'],
];
const layerOf = (name: string) => layers.findIndex((names) => names.includes(name));
type Manifest = {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};
const manifests = new Map(
  filesOf(
    '{packages,apps}/*/package.json',
    '{contracts,dev,verify,bench,scripts}/package.json',
  ).map((file) => [dirname(file), JSON.parse(read(file).text) as Manifest]),
);
const ports = ['db', 'settings', 'ports'];
const settled = ['settle', 'restore', ...ports];
/** The same for the rooms inside a folder: one that is not named there is a mistake. */
const rooms: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'packages/chains': {
    nodes: [],
    interface: [],
    gas: ['interface', 'nodes'],
    kit: ['interface', 'nodes', 'adapter.ts'],
    escrows: ['interface', 'kit'],
    'adapter.ts': ['interface'],
    bitcoin: ['interface', 'nodes', 'kit', 'adapter.ts'],
    evm: ['interface', 'nodes', 'gas', 'kit', 'escrows', 'adapter.ts'],
    tron: ['interface', 'nodes', 'gas', 'kit', 'escrows', 'adapter.ts'],
    solana: ['interface', 'nodes', 'gas', 'kit', 'adapter.ts'],
  },
  'apps/market': {
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
    operator: ['doctor', ...ports],
    start: [
      ...settled,
      'edge',
      'doctor',
      'listing',
      'market',
      'messages',
      'operator',
      'people',
      'webhooks',
    ],
    'main.ts': ['start', 'ports', 'settings'],
    'watchtower.ts': ['start', 'ports', 'settings'],
    'ops.ts': ['ops', ...settled],
    ops: [
      ...settled,
      'doctor',
      'edge',
      'listing',
      'market',
      'messages',
      'people',
      'webhooks',
      'start',
    ],
  },
  'packages/web': {
    'live.ts': [],
    texts: ['live.ts'],
    market: ['texts', 'live.ts'],
    wallets: ['texts'],
    engine: ['market', 'wallets', 'texts', 'live.ts'],
    parts: ['market', 'engine', 'wallets', 'texts', 'style', 'live.ts'],
    screens: ['parts', 'market', 'engine', 'wallets', 'texts', 'style'],
    app: [
      'screens',
      'parts',
      'market',
      'engine',
      'wallets',
      'offline',
      'texts',
      'style',
      'live.ts',
    ],
    style: [],
    offline: ['live.ts'],
    'main.tsx': ['app', 'parts', 'market', 'engine', 'offline', 'texts', 'style'],
    'rescue-main.tsx': ['screens', 'parts', 'market', 'engine', 'texts', 'style', 'live.ts'],
    'vite.config.ts': [],
    'env.d.ts': [],
  },
};
/** Limits are data: settings are held against them before anything else is loaded. */
const isData = (file: string) => file.endsWith('/bounds.ts');
/** The wiring: the only files of the market that know the dev network. */
const wiring: readonly string[] = [
  'apps/market/start/boot.ts',
  'apps/market/start/dev-network.ts',
  'apps/market/ops/doctor.ts',
];

const impure = new RegExp(
  [
    /\b(?:Date\.now|Math\.random|performance\.|process\.|fetch\(|setTimeout|setInterval)/,
    /new Date\(\)|\bgetRandomValues|\brandomBytes\(|\basync\b|\bawait\b|from 'node:/,
  ]
    .map((each) => each.source)
    .join('|'),
);
/** The line that may open a function at the top of a file: its head may go over several lines. */
const functionStart =
  /^(?:export )?(?:default )?(?:async )?function\b|^(?:export )?const \w+|^(?:test|timed)\(/;
const functionHead = /^(?:export )?(?:default )?(?:async )?function\b|=>\s*\{$/;

const imported =
  /^(?:import|export)\b[^'"`;()]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function importsOf(text: string): string[] {
  return [...text.matchAll(imported)].map(([, one, two, three]) => one ?? two ?? three ?? '');
}

function isTest(file: string): boolean {
  return /\.test\.ts$|\/testing\/|\/testing\.ts$|\/support\//.test(file);
}

/** The market wires the watchtower in one room; the others know its port and its numbers. */
function seesWatchtower(file: string, target: string): boolean {
  const isWiring = file.startsWith('apps/market/start/') || !file.startsWith('apps/market/');
  return isWiring || target === '@parley/watchtower/port.ts' || isData(target);
}

/** Rooms of the app that a worker or a test in Node can load. */
const withoutReact = ['packages/web/engine/', 'packages/web/wallets/', 'packages/web/texts/'];

/** The faults between the screens of the app, and with its rooms of plain TypeScript. */
function webDirection(file: string, text: string): string[] {
  const names = importsOf(text);
  const isReact = (name: string) => /^(react|@tanstack\/react)/.test(name);
  const isPlain = withoutReact.some((room) => file.startsWith(room));
  const wrong = names.filter((name) => isPlain && (isReact(name) || name.endsWith('.tsx')));
  const screenOf = (path: string) => /^packages\/web\/screens\/([^/]+)\//.exec(path)?.[1];
  const own = screenOf(file);
  // Those of the SDK do not know the language of the page.
  const words = /import \{([^}]*)\} from '@parley\/sdk\/people\.ts'/.exec(text)?.[1] ?? '';
  const ofMachine = !/^packages\/web\/(?!texts)/.test(file)
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

/** The faults in the imports of one file, a sentence each. */
function direction(file: string, text: string): string[] {
  // The snippets below import what they must not.
  if (file === 'verify/test/tidy.test.ts') return [];
  const from = packageOf(file);
  const roomOfFile = file.slice(from.length + 1).split('/')[0] ?? '';
  const manifest = manifests.get(from);
  if (manifest === undefined) return [`${file}: ${from} is no package`];
  const wrong: string[] = isTest(file) ? [] : webDirection(file, text);
  const inside = rooms[from];
  if (inside !== undefined && !(roomOfFile in inside) && !isTest(file)) {
    wrong.push(`${file}: ${from}/${roomOfFile} is no room that a rule covers`);
  }
  for (const name of importsOf(text)) {
    if (!name.startsWith('.')) {
      wrong.push(...dependency(file, manifest, name));
      continue;
    }
    if (!/\.(tsx?|json|mjs|css)$/.test(name)) wrong.push(`${file}: "${name}" has no extension`);
    const target = normalize(`${dirname(file)}/${name}`);
    if (packageOf(target) !== from) {
      wrong.push(`${file}: ${target} is of another package, imported by its name`);
      continue;
    }
    if (isTest(file)) continue;
    const roomOfTarget = target.slice(from.length + 1).split('/')[0] ?? '';
    if (inside !== undefined && roomOfTarget !== roomOfFile && !isData(target)) {
      const allowed = inside[roomOfFile] ?? [];
      if (!allowed.includes(roomOfTarget)) {
        wrong.push(`${file}: ${roomOfFile} may not import ${target}`);
      }
    }
  }
  return wrong;
}

/** Texts for customers that import what they install. */
const snippets = /\/generators\.ts$/;

/** A package that a manifest does not name, or that only tests may import. */
function dependency(file: string, manifest: Manifest, name: string): string[] {
  const [, wanted = ''] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
  if (/^(?:node:|#)/.test(name) || wanted === manifest.name || snippets.test(file)) return [];
  const { dependencies = {}, devDependencies = {} } = manifest;
  const forTests =
    isTest(file) || /^(?:verify|bench|dev|scripts|contracts|packages\/web)\//.test(file);
  const isNamed = wanted in dependencies || (forTests && wanted in devDependencies);
  const wrong = isNamed ? [] : [`${file}: ${manifest.name} does not depend on ${wanted}`];
  if (isTest(file)) return wrong;
  if (wanted === '@parley/dev' && file.startsWith('apps/market/') && !wiring.includes(file)) {
    wrong.push(`${file}: the wiring alone knows the dev network`);
  }
  if (wanted === '@parley/watchtower' && !seesWatchtower(file, name)) {
    wrong.push(`${file}: the market sees @parley/watchtower/port.ts alone, not ${name}`);
  }
  return wrong;
}

/** Dependencies of a manifest that stand in its own layer or in one below. */
function upward({ name, dependencies = {} }: Manifest): string[] {
  const own = layerOf(name.replace('@parley/', ''));
  const ours = Object.keys(dependencies).filter((each) => each.startsWith('@parley/'));
  return ours
    .filter((each) => own === -1 || layerOf(each.replace('@parley/', '')) >= own)
    .map((each) => `${name} may not depend on ${each}`);
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

/** A wait that never ends must fail its test by name, and not end the whole run after minutes. */
function waits(file: string, text: string): string[] {
  const endless = /^ *while \(.*\) await (?:sleep|wait|setTimeout|new Promise)\b.*/gm;
  const found = isTest(file) ? [...text.matchAll(endless)] : [];
  return found.map(
    ([line]) => `${file}: waitUntil of verify/test/support has a limit, not: ${line}`,
  );
}

/** Sentences not held to the style: those of tests and benches so far, and of pinned sources. */
const unstyled = [
  /^(?:verify|bench)\//,
  /^CHANGELOG\.md$/,
  // Comments there are part of the bytes that are compiled and pinned.
  /^(?:contracts|packages\/chains\/evm)\/.*\.(?:sol|rs)$/,
];
const beginsWrongly =
  /^(?:what|whatever|who|whoever|whose|nobody|nothing|none|of|that (?:which|there))\b/i;

/** A sentence begins with its subject, in comments and in documents. */
function beginnings(file: string, text: string): string[] {
  if (unstyled.some((each) => each.test(file))) return [];
  const parts = file.endsWith('.md') ? paragraphsOf(text) : commentsOf(file, text);
  return parts
    .flatMap((part) => part.trim().split(/(?<=[.!?])\s+/))
    .filter((sentence) => beginsWrongly.test(sentence))
    .map((sentence) => `${file}: a sentence begins with no subject: ${sentence.slice(0, 60)}`);
}

/** A file whose path names a family is that family's own. */
const ofOneFamily = new RegExp(`[/-](?:${families.join('|')})[-./]`);
const name = `'(?:${families.join('|')})'`;
const byName = new RegExp(
  [`[!=]== ${name}`, `\\bfamily (?:=|<>|in) \\(?${name}`, `\\[\\s*${name},\\s*${name}`].join('|'),
  'g',
);

/** Families differ by facts of the registry: a name compared or listed decides for all others. */
function facts(file: string, text: string): string[] {
  if (isTest(file) || ofOneFamily.test(file) || !/^(?:apps|packages)\//.test(file)) return [];
  return [...text.matchAll(byName)].map(
    ([found]) => `${file}: "${found}" is a fact of packages/core/families.ts`,
  );
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
const written = filesOf('**/*.{sol,rs,py,md}', '.github/*.md')
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
    [direction, 'apps/watchtower/x.ts', from('@parley/market/db/swaps.ts'), 1],
    [direction, 'apps/market/settle/x.ts', from('@parley/watchtower/sign.ts'), 1],
    [direction, 'apps/market/settle/x.ts', from('@parley/watchtower/port.ts'), 0],
    [direction, 'apps/market/start/x.ts', from('@parley/watchtower/sign.ts'), 0],
    [direction, 'packages/core/x.ts', from('@parley/chains/adapter.ts'), 1],
    [direction, 'packages/chains/kit/x.ts', from('@parley/sdk/client.ts'), 1],
    [direction, 'packages/chains/x.test.ts', from('@parley/sdk/client.ts'), 0],
    [direction, 'packages/chains/nodes/x.ts', from('../evm/node.ts'), 1],
    [direction, 'packages/chains/evm/x.ts', from('@parley/core/terms.ts'), 0],
    [direction, 'packages/chains/evm/x.ts', from('../../core/terms.ts'), 1],
    [direction, 'packages/chains/evm/x.ts', from('fastify'), 1],
    [direction, 'packages/chains/x.ts', '', 1],
    [direction, 'apps/market/x.ts', '', 1],
    [direction, 'elsewhere/x.ts', '', 1],
    [direction, 'apps/market/market/x.ts', from('../edge/app.ts'), 1],
    [direction, 'apps/market/market/x.ts', from('@parley/dev/devnet/a.ts'), 1],
    [direction, 'apps/market/market/x.ts', from('../settle/create.ts'), 0],
    [direction, 'apps/market/settle/x.ts', from('../market/assets.ts'), 1],
    [direction, 'apps/market/settings/x.ts', from('../edge/bounds.ts'), 0],
    [direction, 'packages/core/x.ts', from('./amounts'), 1],
    [direction, 'packages/mcp/x.ts', from('@parley/cli/run.ts'), 1],
    [direction, 'packages/maker/x.ts', from('@parley/web/engine/drive.ts'), 1],
    [direction, 'packages/trader/x.ts', from('@parley/cli/run.ts'), 1],
    [direction, 'packages/sdk/x.ts', from('@parley/trader/places.ts'), 1],
    [direction, 'packages/web/engine/x.ts', from('@parley/trader/places.ts'), 0],
    [direction, 'packages/web/engine/x.ts', from('react'), 1],
    [direction, 'packages/web/parts/x.ts', "import { localTime } from '@parley/sdk/people.ts';", 1],
    [direction, 'packages/web/parts/x.ts', "import { isoTime } from '@parley/sdk/people.ts';", 0],
    [direction, 'packages/web/engine/x.ts', from('../parts/controls.tsx'), 2],
    [direction, 'packages/web/screens/book/x.tsx', from('../help/help.tsx'), 1],
    [direction, 'packages/web/screens/book/x.tsx', from('../../parts/controls.tsx'), 0],
    [direction, 'packages/web/parts/x.tsx', from('../screens/help/help.tsx'), 1],
    [direction, 'packages/web/x.ts', '', 1],
    [purity, 'packages/core/x.ts', 'const now = Date.now();', 1],
    [purity, 'packages/core/x.ts', '// fetch( is not called here\nconst a = 1;', 0],
    [purity, 'packages/chains/evm/plan.ts', 'export async function plan() {}', 1],
    [purity, 'apps/market/x.ts', 'const now = Date.now();', 0],
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
    [opening, 'packages/core/x.ts', 'export const a = 1;', 1],
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
    [beginnings, 'contracts/escrows/src/x.sol', '/// Of two one counts.\n', 0],
    [beginnings, 'apps/market/x.ts', '// Whose it is.\n', 1],
    [beginnings, 'verify/test/x.ts', '// Whose it is.\n', 0],
    [beginnings, 'docs/nodes.md', 'One.\n\n- Two is it. None\n  is left.\n', 1],
    [beginnings, 'docs/nodes.md', '# What it is\n\n| Nothing |\n\nIt is one\nof two.\n', 0],
  ] as const) {
    assert.equal(rule(file, text).length, count, `${file}: ${text.slice(0, 60)}`);
  }
});

test('each package depends on those below it alone', () => {
  assert.deepEqual(upward({ name: '@parley/core', dependencies: { '@parley/sdk': '0.1.0' } }), [
    '@parley/core may not depend on @parley/sdk',
  ]);
  assert.equal(manifests.size, layers.flat().length);
  assert.deepEqual([...manifests.values()].flatMap(upward), []);
});

test('families are told apart by facts alone, outside of files of their own', () => {
  for (const [file, text, count] of [
    ['packages/sdk/x.ts', "if (leg.family === 'evm' || of !== 'tron') return;", 2],
    ['packages/sdk/x.ts', "const all = ['bitcoin', 'evm'];", 1],
    ['apps/market/db/x.ts', "where family in ('evm') or l.family <> 'tron'", 2],
    ['packages/sdk/x.ts', "switch (family) {\n  case 'evm':\n}", 0],
    ['packages/web/wallets/evm.ts', "if (at.family !== 'evm') return;", 0],
    ['packages/sdk/x.test.ts', "if (at.family !== 'evm') return;", 0],
  ] as const) {
    assert.equal(facts(file, text).length, count, `${file}: ${text}`);
  }
});

const rules = { direction, purity, sizes, packing, opening, waits, facts, beginnings };
for (const [name, rule] of Object.entries(rules)) {
  test(`every source keeps the rule of ${name}`, () => {
    assert.ok(sources.length > 30, `only ${sources.length} sources found`);
    const held = rule === beginnings ? [...sources, ...written] : sources;
    const wrong = held.flatMap(({ file, text }) => rule(file, text));
    assert.deepEqual(wrong, [], wrong.join('\n'));
  });
}
