// npm runs it at the end of `npm ci`: the app is built, so that the first `npm start` has it. Plain
// JavaScript, for an older Node. An install never fails by it: the start builds what is missing.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// An install for production has no bundler, and may have no Node that runs the build.
if (existsSync(`${root}node_modules/vite/package.json`)) {
  const build = ['scripts/launch.mjs', 'scripts/web.ts', '--only', 'app', '--unpacked'];
  const { status } = spawnSync(process.execPath, build, { cwd: root, stdio: 'inherit' });
  if (status !== 0) console.error('The app is not built yet. `npm start` builds it.');
}
