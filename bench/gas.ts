// Gas of real transactions on a real EVM against the limits, and against the snapshot.

import { checkGas, measureGas } from '../contracts/evm/gas.ts';
import { type Row, rowOf } from './report.ts';

export async function benchGas(): Promise<Row[]> {
  const differences = await checkGas();
  if (differences.length > 0) throw new Error(differences.join('\n'));
  const figures = await measureGas();
  return Object.entries(figures).map(([row, { gas, limit, how }]) =>
    rowOf({
      bench: 'gas',
      row,
      value: gas,
      unit: 'gas',
      limit,
      bar: 1,
      is: 'atMost',
      against: how,
    }),
  );
}
