// The figures that docs/benchmarks.md shows, of all rows that the benches print.

import { type Row, rounded } from './report.ts';

export type Figure = {
  readonly says: string;
  /** Behind `npm run bench --`. */
  readonly command: string;
  readonly bench: string;
  /** The worst is shown where several fit. */
  readonly row: RegExp;
  readonly peer: string;
};

const figure = (bench: string, row: RegExp, says: string, peer: string, how = ''): Figure => ({
  bench,
  row,
  says,
  peer,
  command: `${bench}${how}`,
});
const large = ' --open 1000000 --ended 10000000';
const limit = 'a limit';

export const figures: readonly Figure[] = [
  figure('quotes', /^POST \/v1\/rfqs/, 'Durable quotes, one by one', 'pgbench, a row each'),
  figure('quotes', /^POST \/v1\/quotes/, 'Durable quotes, 20 a request', 'pgbench, a row each'),
  figure('quotes', /^a frame/, 'Durable quotes, in frames', 'pgbench, a row each'),
  figure('quotes', /; the same on/, 'Quotes, 1 000 000 open RFQs', '10 000 open RFQs', large),
  figure('reads', /^GET \/v1\/rfqs,/, 'A page of the book', 'bare `node:http`, the same bytes'),
  figure('reads', /^GET \/v1\/swaps\/{id};/, 'One swap', 'its query by `pg` alone'),
  figure('reads', /; the same on/, 'Reads, 1 000 000 open RFQs', '10 000 open RFQs', large),
  figure('feed', /last of .*raw ws/, 'An RFQ at the last of 1 000 makers', 'raw `ws`'),
  figure('feed', /last of .*the limit/, 'The same, 99th percentile', limit),
  figure('feed', /^frames/, 'Frames to 10 000 sockets', 'raw `ws`'),
  figure('feed', /^memory/, 'Memory of a socket', limit),
  figure('webhooks', /^deliveries/, 'Deliveries, one of 100 receivers hangs', 'no receiver hangs'),
  figure('webhooks', /^event/, 'An event at its receiver, 99th percentile', limit),
  figure('webhooks', /^a funding/, 'A funding at its depth, until its webhook', limit),
  figure('accept', /./, 'Both accepted, until there is a swap, 99th percentile', limit),
  figure('events', /./, 'A quote or acceptance at the other side', limit),
  figure('processes', /./, 'A swap, three processes', 'one process'),
  figure('requests', /longest stall/, 'The longest stall of any request', limit),
  figure('requests', /processor \(/, 'Processor time of the dearest request', limit),
  figure(
    'requests',
    /exchanges with nodes \((as|on)/,
    'Exchanges with nodes of the dearest funding',
    limit,
  ),
  figure('idle', /^statements/, 'SQL statements of an idle market', limit),
  figure('idle', /^processor/, 'Processor time of an idle market', limit),
  figure('start', /./, '`npm start` until ready, four chains', limit),
  figure('verify', /./, 'Verifying and signing a claim', limit),
  figure('web', /^script/, 'Script of the first screen, brotli', limit),
  figure('web', /^until/, 'Until one can type, processor 4 times slower', limit),
  figure('web', /^quote/, 'A quote on the screen', limit),
  figure('package', /./, 'The sizes of the package, of which the worst', limit),
  figure('gas', /native first swap, the payee.*prague/, 'Gas of a first swap, coin', 'Boltz v6'),
  figure('gas', /token first swap, the payee.*prague/, 'Gas of a first swap, token', 'Boltz v6'),
];

export type Shown = Figure & { readonly found: Row };

/** Below 1: its bar is missed. */
const distance = ({ is, ratio, bar }: Row) => (is === 'atLeast' ? ratio / bar : bar / ratio);

/** The figures among the rows of one or several runs; the last run of a row counts. */
export function shownOf(rows: readonly Row[]): { shown: Shown[]; missing: Figure[] } {
  const last = new Map(rows.map((row) => [`${row.bench}: ${row.row}; ${row.against}`, row]));
  const shown: Shown[] = [];
  const missing: Figure[] = [];
  for (const each of figures) {
    const fitting = [...last.values()].filter(
      ({ bench, row, against }) => bench === each.bench && each.row.test(`${row}; ${against}`),
    );
    const [found] = fitting.sort((one, other) => distance(one) - distance(other));
    if (found === undefined) missing.push(each);
    else shown.push({ ...each, found });
  }
  return { shown, missing };
}

const amount = (value: number, unit: string) =>
  `${rounded(value).toLocaleString('en-US')} ${unit}`.trimEnd();

/** As the document has it: a limit with its unit, or a ratio. */
export function barWords({ peer, found: { is, bar, limit: most, unit } }: Shown): string {
  const sign = is === 'atLeast' ? '≥' : '≤';
  return `${sign} ${peer === limit ? amount(most * bar, unit) : bar}`;
}

export function table(shown: readonly Shown[]): string {
  const rows = shown.map((each) => {
    const { says, peer, command, found } = each;
    const against = peer === limit ? limit : `${amount(found.limit, '')}, ${peer}`;
    const ratio = found.ratio.toFixed(2);
    const cells = [says, amount(found.value, found.unit), against, ratio, barWords(each)];
    return `| ${[...cells, found.ok ? 'yes' : '**missed**', `\`${command}\``].join(' | ')} |\n`;
  });
  const head = ['Figure', 'Measured', 'Peer', 'Ratio', 'Bar', 'Reached', '`npm run bench --`'];
  return `| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}\n${rows.join('')}`;
}
