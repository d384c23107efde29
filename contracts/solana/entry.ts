// Whether a file is what was started, also through scripts/launch.mjs, where import.meta.main is
// false.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function isEntry(url: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(url);
}
