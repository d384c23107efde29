#!/usr/bin/env node
// `parley`: the program. The first interruption ends what runs as it may be ended, the second one
// ends the process.

import module from 'node:module';
import { isAbsolute, join } from 'node:path';

// Half of a command's time is compiling. Node 20 cannot keep it; and whoever may write there says
// what this program does, so it is below the user's own folder and never in the common one.
const { XDG_CACHE_HOME: cache = '', HOME: home = '' } = process.env;
const folder = isAbsolute(cache) ? cache : isAbsolute(home) ? join(home, '.cache') : null;
if (folder !== null) module.enableCompileCache?.(join(folder, 'parley', 'compiled'));
const { statuses } = await import('./failures.ts');
const { runParley } = await import('./run.ts');
const { terminalIo } = await import('./terminal.ts');

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
