// All rows of the matrix.

import { keptRows } from './kept-rows.ts';
import { type Choose, play, type Result, type Row } from './matrix.ts';
import { migrations, playMigrations } from './migrations.ts';
import { passRows } from './pass-rows.ts';
import { requestRows } from './requests.ts';

type Playable = Pick<Row, 'name' | 'of'> & { play(choose: Choose): Promise<Result> };

export const rows: readonly Playable[] = [
  ...[...requestRows, ...keptRows, ...passRows].map((row) => ({
    ...row,
    play: (choose: Choose) => play(row, choose),
  })),
  { ...migrations, play: playMigrations },
];
