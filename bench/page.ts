// Writes docs/benchmarks.md and its picture from what benches printed on this machine:
//
//   npm run -s bench -- --json > rows.jsonl
//   npm run -s node -- bench/page.ts rows.jsonl…

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownOf, table } from './figures.ts';
import { picture } from './picture.ts';
import { machine, type Row, versions } from './report.ts';

const docs = join(import.meta.dirname, '../docs');
const files = process.argv.slice(2);
if (files.length === 0) throw new Error('bench/page.ts wants files that `bench -- --json` printed');

/** Fewer, as of a miniature, say little. Rows without their number are of an earlier version. */
const leastRounds = 3;
type Printed = Row & { readonly rounds?: number };

const rows = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Printed),
);
/** A book that is larger than the usual one, and smaller than the figures say, is none of theirs. */
const isOther = ({ row, against }: Row) =>
  against.startsWith('the same on') && !row.includes('on 1000000 open RFQs and 10000000 ended');
const few = rows.find(({ rounds = leastRounds }) => rounds < leastRounds);
if (few !== undefined) {
  throw new Error(
    `the page shows medians of ${leastRounds} rounds or more, not of ${few.rounds}: ${few.bench}`,
  );
}
const { shown, missing } = shownOf(rows.filter((row) => !isOther(row)));
const lacking = missing.filter(({ command }) => !command.includes(' --open '));
if (lacking.length > 0) {
  const figures = lacking.map(({ says, command }) => `${says} (npm run bench -- ${command})`);
  throw new Error(`the page shows misses too, so it wants all figures: ${figures.join('; ')}`);
}
const at = new Date(Math.max(...files.map((file) => statSync(file).mtimeMs)));
const day = at.toISOString().slice(0, 10);

const without =
  missing.length === 0
    ? ''
    : `\nNot measured in that run: ${missing.map(({ says }) => says).join('; ')}.\n`;
writeFileSync(join(docs, 'pictures/benchmarks.svg'), picture(shown, `${day}, ${machine()}`));
writeFileSync(
  join(docs, 'benchmarks.md'),
  `# Benchmarks

Each figure is a ratio: the market and its peer ran in turns on one machine, and the median of the rounds counts. A figure without a peer has a limit.
[\`bench/bars.ts\`](../bench/bars.ts) has the bars, and a missed one is shown as missed.

![Each figure against its peer or limit](pictures/benchmarks.svg)

Measured on ${day}: ${machine()}; ${versions()}.

${table(shown)}${without}
\`npm run bench\` measures all but the large books and prints more rows. Quotes need \`pgbench\`, for example of Debian's \`postgresql\`. On a machine at work, only ratios of turns hold.
Then draw this page: \`npm run -s bench -- --json > rows.jsonl\` and \`npm run -s node -- bench/page.ts rows.jsonl\`, with a further file for the large books.
`,
);
