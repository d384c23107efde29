// A program of this machine: its streams, signals and exit status. The first interruption ends what
// runs as it may be ended, the second one ends the process.

import { statuses } from './failures.ts';
import type { Io } from './io.ts';
import { terminalIo } from './terminal.ts';

/** Resolves when it has ended; `run` gives the exit status. */
export async function program(
  run: (args: readonly string[], io: Io) => Promise<number>,
): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(statuses.interrupted);
      stop.abort(new Error('interrupted'));
    });
  }
  // A reader that leaves, such as `head`, ends the program without a word. The interrupted command
  // is not done.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(statuses.interrupted);
      throw error;
    });
  }
  process.exitCode = await run(process.argv.slice(2), terminalIo(stop.signal));
}
