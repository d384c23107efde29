// A bug planted in a copy of the sources, so that a test can be seen to find it.

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const rooms = [
  ...['core', 'chains', 'contracts', 'devnet', 'simulators', 'server', 'scripts', 'test', 'host'],
  'package.json',
];

/** `find` is in the file exactly once. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string };

export const edit =
  (file: string) =>
  (find: string, put: string): Edit => ({ file, find, put });

/** The same edits in the tree itself, which stays as it is: throws where one does not fit. */
export function mustFit(edits: readonly Edit[]): void {
  const sources = new Map<string, string>();
  for (const each of edits) {
    const { file, find, put } = each;
    const source = sources.get(file) ?? readFileSync(join(root, file), 'utf8');
    if (find === put) throw new Error(`${file}: changes nothing: ${find}`);
    sources.set(file, planted(source, each));
  }
}

function planted(source: string, { file, find, put }: Edit): string {
  if (source.split(find).length !== 2) throw new Error(`${file}: not exactly once: ${find}`);
  return source.replace(find, () => put);
}

export type Copied = {
  readonly tree: string;
  /** Returns what takes the bug out again. */
  plant(edits: readonly Edit[]): () => void;
  remove(): void;
};

/** The sources alone, at the depth where node_modules is found. */
export function copyOfTree(): Copied {
  const tree = mkdtempSync(join(tmpdir(), 'parley-planted-'));
  for (const room of rooms) {
    const filter = (path: string) => !/\/(out|cache|node_modules|target)$/.test(path);
    cpSync(join(root, room), join(tree, room), { recursive: true, filter });
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  return {
    tree,
    plant: (edits) => plantIn(tree, edits),
    remove: () => rmSync(tree, { recursive: true, force: true }),
  };
}

function plantIn(tree: string, edits: readonly Edit[]): () => void {
  const before = new Map<string, string>();
  for (const each of edits) {
    const path = join(tree, each.file);
    const source = readFileSync(path, 'utf8');
    if (!before.has(path)) before.set(path, source);
    writeFileSync(path, planted(source, each));
  }
  return () => {
    for (const [path, source] of before) writeFileSync(path, source);
  };
}
