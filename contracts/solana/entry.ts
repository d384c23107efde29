// Whether a file is what was started, by itself or through scripts/launch.mjs, which imports it:
// `import.meta.main` is false then.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function isEntry(url: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(url);
}
