// The last lines of the log, for whoever watches the maker.

import type { Writable } from 'node:stream';

const most = 30;

export type Recent = {
  readonly out: Pick<Writable, 'write'>;
  readonly lines: () => readonly string[];
};

/** Published levels come with each price, and would leave no room for a swap. */
const frequent = /"level":"debug"|"level":"info","event":"levels/;

export function recentLines(out: Pick<Writable, 'write'>): Recent {
  const kept: string[] = [];
  const write = (line: string) => {
    if (!frequent.test(line)) kept.push(line.trimEnd());
    if (kept.length > most) kept.shift();
    return out.write(line);
  };
  return { out: { write: write as Writable['write'] }, lines: () => kept };
}
