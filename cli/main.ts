#!/usr/bin/env node
// `parley`: the program. The first interruption ends what runs as it may be ended, the second one
// ends the process.

import { runParley } from './run.ts';
import { terminalIo } from './terminal.ts';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort(new Error('interrupted'));
  });
}
// A reader that leaves, such as `head`, ends the program without a word.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runParley(process.argv.slice(2), terminalIo(stop.signal));
