// Files that are made from sources and committed: written, or compared with what is committed.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Sealed, seal } from './seals.ts';

/** Texts by their paths under a folder. */
type Generated = ReadonlyMap<string, string>;

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Committed files that are not what the sources make. */
function staleIn(folder: string, generated: Generated): string[] {
  return [...generated.keys()].filter((path) => read(join(folder, path)) !== generated.get(path));
}

/** For a build's own command line: writes them, or with --check fails where one differs. */
export function writeOrCheck(folder: string, part: Sealed, generated: Generated): void {
  if (process.argv.includes('--check')) {
    const stale = staleIn(folder, generated);
    if (stale.length === 0) process.stdout.write('build: artifacts are current\n');
    else {
      process.stderr.write(`build: differ from the source: ${stale.join(', ')}\n`);
      process.exitCode = 1;
    }
    return;
  }
  for (const [path, text] of generated) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  seal(part);
  process.stdout.write('build: written\n');
}
