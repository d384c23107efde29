#!/usr/bin/env node
// `parley-mcp`: the program. docs/mcp.md says how it is started and what it may do.

import { statuses } from '../cli/failures.ts';
import { terminalIo } from '../cli/terminal.ts';
import { runMcp } from './main.ts';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    if (stop.signal.aborted) process.exit(statuses.interrupted);
    stop.abort(new Error('interrupted'));
  });
}
// A client that is gone reads no answer, and swaps that are driven are taken up by the next start.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(statuses.interrupted);
    throw error;
  });
}
process.exitCode = await runMcp(process.argv.slice(2), terminalIo(stop.signal));
// What a client keeps open must not keep the process.
process.stdin.unref?.();
