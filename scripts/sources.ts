// The files of the project: those that .gitignore leaves. A tree that is no clone has them too, and
// a machine without git, or one whose clone is another user's, can list them.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** A line without a slash before its end fits at any depth. */
const ignored = readFileSync(join(root, '.gitignore'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => line.replace(/\/$/, ''))
  .map((line) => (line.includes('/') ? line.replace(/^\//, '') : `**/${line}`));

/** Those that fit the patterns, sorted. */
export function filesOf(...patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root, exclude: ignored }).sort();
}
