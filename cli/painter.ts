// Lines at the foot of a terminal that are drawn again and again, and lines above them that stay.
// Where standard error is no terminal nothing is drawn.

import type { Cli } from './io.ts';
import { oneLine } from './show.ts';

export function painter({ err, columns, json }: Pick<Cli, 'err' | 'columns' | 'json'>) {
  const isLive = columns !== null && !json;
  let drawn: readonly string[] = [];
  const clear = () => {
    if (drawn.length > 0) err(`\u001b[${drawn.length}A\r\u001b[J`);
    drawn = [];
  };
  return {
    isLive,
    clear,
    /** One that stays. */
    line: (text: string) => {
      const again = drawn;
      clear();
      err(`${oneLine(text)}\n`);
      if (again.length > 0) err(again.map((each) => `${oneLine(each)}\n`).join(''));
      drawn = again;
    },
    draw: (lines: readonly string[]) => {
      if (
        !isLive ||
        (lines.length === drawn.length && lines.every((each, at) => each === drawn[at]))
      ) {
        return;
      }
      clear();
      err(lines.map((each) => `${oneLine(each)}\n`).join(''));
      drawn = lines;
    },
    end: clear,
  };
}
