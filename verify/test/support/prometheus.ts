// Debian's Prometheus and its promtool: those of the folder PARLEY_PROMETHEUS, else those on PATH,
// else Debian's package, unpacked into the user's cache: where it is installed it starts a server.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  cacheFolder,
  type DebianProgram,
  obtainDebianProgram,
} from '@parley/dev/devnet/debian-package.ts';
import { isExecutable, programOnPath } from '@parley/dev/devnet/processes.ts';

export const prometheusPackage = {
  program: 'promtool',
  packages: ['prometheus'],
  suites: ['bookworm'],
} as const satisfies DebianProgram;

/** How it is run, and where its pages lie if not where it looks for them. */
export type Prometheus = {
  readonly file: string;
  readonly args: readonly string[];
  readonly pages?: string;
};

/** Throws where there is none: in the folder that was named, or at Debian's. */
export async function findPrometheus(program: 'prometheus' | 'promtool'): Promise<Prometheus> {
  const folder = process.env.PARLEY_PROMETHEUS;
  const named = folder ? join(folder, program) : programOnPath(program);
  if (folder && !isExecutable(join(folder, program))) {
    throw new Error(`PARLEY_PROMETHEUS: ${folder} has no ${program}`);
  }
  if (named !== null) return { file: named, args: [] };
  const cache = await cacheFolder(join(tmpdir(), `parley-programs-${process.getuid?.() ?? 0}`));
  const pages = join(cache, `prometheus-${process.arch}/usr/share/prometheus/web/`);
  const at = (file: string, args: readonly string[]) => Promise.resolve({ file, args, pages });
  return obtainDebianProgram({ ...prometheusPackage, program }, cache, at, undefined);
}
