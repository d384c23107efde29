// Gas of whole transactions by the rules of the present and the coming fork, against the limits and
// the snapshot.

import { checkGas, measureGas } from '../contracts/escrows/gas.ts';
import { type Row, rowOf } from './report.ts';

export async function benchGas(): Promise<Row[]> {
  const differences = await checkGas();
  if (differences.length > 0) throw new Error(differences.join('\n'));
  const figures = await measureGas();
  return Object.entries(figures).flatMap(([row, forks]) =>
    Object.entries(forks).map(([fork, { gas, limit }]) =>
      rowOf({
        bench: 'gas',
        row: `${row}, ${fork}`,
        value: gas,
        unit: 'gas',
        limit: limit ?? gas,
        bar: 1,
        is: 'atMost',
        against: limit === null ? 'itself: measured, and no bar is set' : 'its bar',
      }),
    ),
  );
}
