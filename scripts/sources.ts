// The files of the project: those that .gitignore leaves. A tree that is no clone has them too, and
// a machine without git, or one whose clone is another user's, can list them.

import { globSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';

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

/** Paths of the files in a folder, sorted. Links are not followed. */
export async function filesIn(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = all.filter((each) => each.isFile());
  return files.map((each) => relative(folder, join(each.parentPath, each.name))).sort();
}

/** Those of our packages by their names behind `@parley/`. */
export const folders: ReadonlyMap<string, string> = new Map(
  filesOf(
    '{packages,apps}/*/package.json',
    '{contracts,dev,verify,bench,scripts}/package.json',
  ).map((file) => [file.split('/').at(-2) ?? '', dirname(file)]),
);

/**
 * The file that an import of our own names, from the root, such as `packages/core/status.ts` of
 * `@parley/core/status.ts`; null for a package of others and for Node's modules.
 */
export function sourceOf(file: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return normalize(join(file, '..', specifier));
  const [, name = '', path = ''] = /^@parley\/([^/]+)\/(.+)$/.exec(specifier) ?? [];
  const folder = folders.get(name);
  return folder === undefined ? null : `${folder}/${path}`;
}
