#!/usr/bin/env node
// `parley`: the program.

import module from 'node:module';
import { isAbsolute, join } from 'node:path';

// Half of a command's time is compiling. Node 20 cannot keep it; and whoever may write there says
// what this program does, so it is below the user's own folder and never in the common one.
const { XDG_CACHE_HOME: cache = '', HOME: home = '' } = process.env;
const folder = isAbsolute(cache) ? cache : isAbsolute(home) ? join(home, '.cache') : null;
if (folder !== null && 'enableCompileCache' in module) {
  module.enableCompileCache(join(folder, 'parley', 'compiled'));
}
const { program } = await import('@parley/trader/program.ts');
const { runParley } = await import('./run.ts');
await program(runParley);
