// Debian's Prometheus and its promtool: of the folder PARLEY_PROMETHEUS, else those on PATH.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const folder = process.env.PARLEY_PROMETHEUS;

/** How it is run; null where there is none. Throws where the folder that was named has none. */
export function prometheusProgram(name: 'prometheus' | 'promtool'): string | null {
  const file = folder ? join(folder, name) : name;
  const { error, status } = spawnSync(file, ['--version'], { timeout: 60_000 });
  if (error === undefined && status === 0) return file;
  if (folder) throw new Error(`PARLEY_PROMETHEUS: ${file} does not run`, { cause: error });
  return null;
}
