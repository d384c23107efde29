// docs/log.md is the dictionary of the server's log: every field that any line of it may have, and
// no other. The fields are read from the calls in the sources.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { filesOf } from '@parley/scripts/sources.ts';
import { parseAst } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The rooms that run in the process of a market or of its watchtower. */
const rooms = [
  'apps/market',
  'apps/watchtower',
  'packages/chains',
  'packages/tokens',
  'packages/host',
  'dev/devnet',
  'dev/simulators',
];
const levels = /^(?:trace|debug|info|warn|error|fatal)$/;

/** How a field is written, with its unit where it has one. */
const types = new Set([
  'text',
  'id',
  'number',
  'object',
  'list',
  'address',
  'text or integer',
  'RFC 3339',
  'integer',
  'integer, ms',
  'integer, height',
  'base units',
]);

/** Fields of pino, of an error, and of `mixin` in apps/market/ports/log.ts. */
const everywhere = ['level', 'time', 'msg', 'err', 'requestId', 'traceId'];

// biome-ignore lint/suspicious/noExplicitAny: a node of a syntax tree, of whatever kind
type Node = any;

type Found = { readonly names: Set<string>; readonly unread: string[] };

/** All nodes below, itself included. */
function* nodesOf(node: Node): Generator<Node> {
  if (node === null || typeof node !== 'object') return;
  if (typeof node.type === 'string') yield node;
  for (const each of Object.values(node)) yield* nodesOf(each);
}

const bare = (node: Node): Node =>
  /^TS(?:As|NonNull|Satisfies)/.test(node?.type) ? bare(node.expression) : node;

/** Whether it writes a line: `log.warn(…)`, `deps.log[level](…)`, and `log(…)` of a chain. */
function factsOf(call: Node): Node | null {
  const { callee, arguments: given } = call;
  const isLog = (node: Node) => (node?.property?.name ?? node?.name) === 'log';
  if (callee.type === 'MemberExpression' && isLog(callee.object)) {
    const level = callee.computed || levels.test(callee.property.name);
    return level && given[0]?.type !== 'Literal' && given[0]?.type !== 'TemplateLiteral'
      ? (given[0] ?? null)
      : null;
  }
  // `once` of packages/chains/nodes/sources.ts says it the first time.
  if (callee.name === 'once' && given.length === 3) return given[2];
  return isLog(callee) && given.length === 2 ? given[1] : null;
}

/** Names of the fields of what is written, by the declarations of its file. */
function fieldsOf(given: Node, declared: ReadonlyMap<string, Node[]>, found: Found, at: string) {
  const node = bare(given);
  switch (node?.type) {
    case 'ObjectExpression':
      for (const each of node.properties) {
        if (each.type === 'SpreadElement') fieldsOf(each.argument, declared, found, at);
        else if (each.computed) found.unread.push(`${at} [${each.key.name}]`);
        else found.names.add(each.key.name ?? each.key.value);
      }
      return;
    case 'ConditionalExpression':
      fieldsOf(node.consequent, declared, found, at);
      fieldsOf(node.alternate, declared, found, at);
      return;
    case 'CallExpression':
    case 'Identifier': {
      const isCall = node.type === 'CallExpression';
      const name = isCall ? (node.callee.name ?? '?') : node.name;
      const known = declared.get(name) ?? [];
      // A function returns one of several; a name stands for what it was given last.
      const last = known.filter((each) => each.start < node.start).slice(-1);
      const meant = isCall ? known : last;
      if (meant.length === 0) found.unread.push(`${at} ${name}`);
      for (const each of meant) fieldsOf(each, declared, found, at);
      return;
    }
    default:
      found.unread.push(`${at} ${node?.type}`);
  }
}

/** The value of a name in the file: the object it was given, or what its function returns. */
function declarationsOf(tree: Node): Map<string, Node[]> {
  const all = new Map<string, Node[]>();
  const add = (name: string, node: Node) => all.set(name, [...(all.get(name) ?? []), node]);
  for (const node of nodesOf(tree)) {
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init) {
      if (/Object|Conditional|TS|Call/.test(node.init.type)) add(node.id.name, node.init);
    }
    if (node.type !== 'FunctionDeclaration') continue;
    for (const inner of nodesOf(node.body)) {
      if (inner.type === 'ReturnStatement' && inner.argument) add(node.id.name, inner.argument);
    }
  }
  return all;
}

/** Fields that the reader above cannot see, since another file gave them, by where they are met. */
const besides: Readonly<Record<string, readonly string[]>> = {
  // Handed on: read where they are given.
  'packages/chains/nodes/sources.ts facts': [],
  'apps/market/ports/chains.ts facts': [],
  // `requestId` and `traceId`.
  'apps/market/edge/app.ts causeOf': [],
  'packages/chains/solana/watch.ts transaction': ['txid', 'why'],
  // Fields of a DevnetError.
  'dev/devnet/devnet.ts MemberExpression': ['file', 'found'],
  // `sealedKinds` of the watchtower.
  'apps/market/start/watchtower.ts [kind]': ['attempts', 'jobs'],
};

test('the dictionary of the log has every field that a line may have, and no other', () => {
  const files = filesOf(...rooms.map((room) => `${room}/**/*.ts`)).filter(
    (path) => !/\.test\.ts$|\/testing\/|\/testing\.ts$/.test(path),
  );
  const names = new Set(everywhere);
  const unread = new Set<string>();
  for (const file of files) {
    const text = readFileSync(root + file, 'utf8');
    if (!/\blog\b/.test(text)) continue;
    const tree = parseAst(text, { lang: 'ts' });
    const declared = declarationsOf(tree);
    for (const node of nodesOf(tree)) {
      const facts = node.type === 'CallExpression' ? factsOf(node) : null;
      if (facts === null) continue;
      const found: Found = { names, unread: [] };
      fieldsOf(facts, declared, found, file);
      for (const each of found.unread) unread.add(each);
    }
  }
  assert.deepEqual([...unread].sort(), Object.keys(besides).sort());
  for (const each of Object.values(besides).flat()) names.add(each);
  const rows = readFileSync(`${root}docs/log.md`, 'utf8').matchAll(
    /^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$/gm,
  );
  const told = [...rows].map(([, name, type]) => {
    assert.ok(types.has(type ?? ''), `${name}: ${type}`);
    return name;
  });
  assert.deepEqual(told.sort(), [...names].sort());
});
