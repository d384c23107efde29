#!/usr/bin/env node
// `parley-mcp`: the program. docs/mcp.md says how it is started and what it may do. A client that
// is gone ends it: swaps that are driven are taken up by the next start.

import { program } from '@parley/trader/program.ts';
import { runMcp } from './main.ts';

await program(runMcp);
// An input that a client keeps open must not keep the process. A file as standard input keeps none.
if ('unref' in process.stdin) process.stdin.unref();
