// Lowers budget.json to what the code weighs now: node scripts/budget.ts
// A package whose weight rose keeps its budget, and the command fails, until a decision says why:
// node scripts/budget.ts --decision 0064

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parsed } from '@parley/host/command.ts';
import { kinds, sourceFiles, type Weight, weigh } from './tokens.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const path = `${root}budget.json`;
const { values } = parsed({
  args: process.argv.slice(2),
  options: { decision: { type: 'string' } },
});
const { decision } = values;
const rows = readFileSync(`${root}docs/decisions/README.md`, 'utf8').split('\n');
const isRow = (row: string) =>
  row.startsWith(`| ${decision} `) || row.startsWith(`| [${decision}]`);
if (decision !== undefined && !rows.some(isRow)) {
  throw new Error(`docs/decisions/README.md has no row ${decision}`);
}
const before: Record<string, Weight> = existsSync(path)
  ? JSON.parse(readFileSync(path, 'utf8'))
  : {};
const budget: Record<string, Weight> = {};
for (const [name, now] of Object.entries(weigh(root, sourceFiles()))) {
  const allowed = before[name] ?? now;
  const next = { ...now };
  for (const kind of kinds) {
    if (now[kind] <= allowed[kind]) continue;
    console.error(`${name}: ${now[kind]} tokens of ${kind}, the budget is ${allowed[kind]}`);
    if (decision !== undefined) continue;
    next[kind] = allowed[kind];
    process.exitCode = 1;
  }
  budget[name] = next;
}
writeFileSync(path, `${JSON.stringify(budget, null, 2)}\n`);
