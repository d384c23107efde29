// Gas of whole transactions by the rules of Prague and of Amsterdam, against the limits and the
// snapshot. First what users really pay, approval included, by every way to fund.

import { checkGas, type GasFigures, measureGas } from '@parley/contracts/escrows/bench/figures.ts';
import { boltz, boltzCommit } from '@parley/contracts/escrows/bench/peers.ts';
import { atMost, type Row } from './report.ts';

/** First and later swaps, the allowance standing; and each way to fund a token leg alone. */
const headlines = [
  "native first swap, the payee's lane",
  'native fund and claim',
  "token first swap, the payee's lane",
  'token fund and claim',
  'token fund by permit, nothing prepared',
  'token fund by authorization, the submitter',
  'token fund and approval of the amount, two transactions',
  'native fundMany of ten, each',
  'token fundMany of ten, each',
  'native claimMany of ten, each',
  'token claimMany of ten, each',
] as const satisfies readonly (keyof GasFigures)[];

export async function benchGas(): Promise<Row[]> {
  const differences = await checkGas();
  if (differences.length > 0) throw new Error(differences.join('\n'));
  const figures = await measureGas();
  const isHeadline = (row: string) => headlines.some((each) => each === row);
  const others = (Object.keys(figures) as (keyof GasFigures)[]).filter((row) => !isHeadline(row));
  return [
    ...headlines.flatMap((row) => rowsOf(row, figures, 'users pay: ')),
    ...others.flatMap((row) => rowsOf(row, figures, '')),
  ];
}

const peers: Readonly<Record<string, Readonly<Record<string, number>>>> = boltz;

/**
 * Boltz's row where it has another name: a first swap costs what a later one does there, and each is
 * funded by itself.
 */
const peerRows: Readonly<Record<string, keyof typeof boltz>> = {
  "native first swap, the payee's lane": 'native fund and claim',
  'native first swap, a lane of its own': 'native fund and claim',
  "token first swap, the payee's lane": 'token fund and claim',
  'token first swap, a lane of its own': 'token fund and claim',
  'native fundMany of ten, each': 'native fund',
  'token fundMany of ten, each': 'token fund, allowance standing',
};

function besides(row: string, fork: string, gas: number): string {
  const peerRow = peerRows[row] ?? row;
  const peer = peers[peerRow]?.[fork];
  if (peer === undefined) return '';
  const name = peerRow === row ? '' : `, ${peerRow}`;
  return `; Boltz v6 (boltz-core ${boltzCommit.slice(0, 7)}${name}): ${peer}, ratio ${(gas / peer).toFixed(2)}`;
}

function rowsOf(row: keyof GasFigures, figures: GasFigures, label: string): Row[] {
  return Object.entries(figures[row]).map(([fork, { gas, limit }]) =>
    atMost(
      `gas: ${label}${row}, ${fork}`,
      { value: gas, unit: 'gas', limit: limit ?? gas, bar: 1 },
      `${limit === null ? 'itself: measured, and no bar is set' : 'its bar'}${besides(row, fork, gas)}`,
    ),
  );
}
