// Lines at the foot of a terminal that are drawn again and again, and lines above them that stay.
// Where standard error is no terminal nothing is drawn. While a person is asked nothing is written.

import type { Cli } from '@parley/trader/io.ts';
import { oneLine } from '@parley/trader/show.ts';

/** Lines, while a person thinks: the newest. */
const mostHeld = 1_000;

export function painter({ err, columns, json }: Pick<Cli, 'err' | 'columns' | 'json'>) {
  const isLive = columns !== null && !json;
  let drawn: readonly string[] = [];
  /** The lines that came while it was quiet; null: it is not. */
  let held: string[] | null = null;
  const clear = () => {
    if (drawn.length > 0) err(`\u001b[${drawn.length}A\r\u001b[J`);
    drawn = [];
  };
  /** One that stays. */
  const line = (text: string) => {
    if (held !== null) {
      held = [...held, text].slice(-mostHeld);
      return;
    }
    const again = drawn;
    clear();
    err(`${oneLine(text)}\n`);
    if (again.length > 0) err(again.map((each) => `${oneLine(each)}\n`).join(''));
    drawn = again;
  };
  return {
    isLive,
    clear,
    line,
    /** Until that is settled; then all that came meanwhile is written. */
    quietFor: async <T>(work: () => Promise<T>): Promise<T> => {
      clear();
      held = [];
      try {
        return await work();
      } finally {
        const said: string[] = held;
        held = null;
        for (const each of said) line(each);
      }
    },
    draw: (lines: readonly string[]) => {
      if (
        !isLive ||
        held !== null ||
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
