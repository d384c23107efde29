#!/usr/bin/env node
// `parley`: the program. The first interruption ends what runs as it may be ended, the second one
// ends the process.

import { statuses } from './failures.ts';
import { runParley } from './run.ts';
import { terminalIo } from './terminal.ts';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    if (stop.signal.aborted) process.exit(statuses.interrupted);
    stop.abort(new Error('interrupted'));
  });
}
// A reader that leaves, such as `head`, ends the program without a word. What ran is not done.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(statuses.interrupted);
    throw error;
  });
}
process.exitCode = await runParley(process.argv.slice(2), terminalIo(stop.signal));
